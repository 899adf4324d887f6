"""A case as large as the README's table says, from the array to the report, within its budget."""

import json
import subprocess
import sys

import numpy as np
import pytest

from samecam.metrics import scores

CAMERAS, EACH, LENGTH = 1800, 100, 400
BUDGET = 8 * 2**30
# Beside the budget: the interpreter with its libraries, records and tables (about 10 kB a photo).
BESIDE = 3 * 2**30


@pytest.mark.long
def test_180_000_fingerprints_from_the_array_to_the_report(tmp_path):
    """The groups and their evidence: nothing is lost at the end for want of memory."""
    rng = np.random.default_rng(7)
    n = CAMERAS * EACH
    rows = np.lib.format.open_memmap(
        tmp_path / "rows.npy", mode="w+", dtype=np.float16, shape=(n, LENGTH)
    )
    cameras = rng.normal(size=(CAMERAS, LENGTH)).astype(np.float32)
    order = rng.permutation(n)
    truth = order // EACH
    for start in range(0, n, 10_000):
        part = truth[start : start + 10_000]
        noise = rng.normal(size=(len(part), LENGTH)).astype(np.float32)
        rows[start : start + 10_000] = 0.7 * cameras[part] + noise
    rows.flush()
    code = (
        "import resource, sys; from samecam.cli import cli; cli.main(sys.argv[1:], "
        "standalone_mode=False); print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    words = ("cluster", "--fingerprints", tmp_path / "rows.npy", "-o", tmp_path / "case")
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words), "--memory", "8G", "--device", "cpu", "-q"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert int(done.stdout.split()[-1]) * 1024 < BUDGET + BESIDE
    assert (tmp_path / "case" / "report.html").exists()
    info = json.loads((tmp_path / "case" / "case.json").read_text())
    assert info["state"] == "clustered"
    print({"timings": info["timings"], "peak_bytes": int(done.stdout.split()[-1]) * 1024})
    labels = np.loadtxt(
        tmp_path / "case" / "clusters.csv", delimiter=",", skiprows=1, usecols=2, dtype=int
    )
    assert scores(truth.tolist(), labels).f > 0.95
