"""Clustering keeps the memory budget: measured in a process of its own."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest

from samecam.frames import Frame
from samecam.metrics import scores
from samecam.simulate import fingerprints
from samecam.store import DiskStore

SCRIPT = """
import json, sys
import numpy as np
from samecam.cluster import METHODS
from samecam.simulate import fingerprints
from samecam.store import DiskStore

def peak():
    with open("/proc/self/status") as stream:
        return next(int(line.split()[1]) * 1024 for line in stream if line.startswith("VmHWM"))

path, method, memory = sys.argv[1], sys.argv[2], int(sys.argv[3])
X, _ = fingerprints([30] * 10, 0.1, 1024, seed=0)
METHODS[method](memory=100_000).fit(X)  # code is loaded and compiled
before = peak()
with DiskStore.open(path) as store:
    labels = METHODS[method](memory=memory).fit(store.rows()).labels_
print(json.dumps({"grown": peak() - before, "labels": labels.tolist()}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["consolidated"])
def test_peak_memory_is_the_budget(tmp_path, method):
    X, truth = fingerprints([100] * 30, 0.05, 8192, seed=1)
    store = DiskStore.create(tmp_path / "store", frame=Frame(8192, 1), dtype="float16")
    for i, row in enumerate(X):
        store.add(f"{i:05}", row)
    store.commit()
    store.close()
    memory = 24 * 2**20  # all correlations: 34 MiB; all fingerprints: 94 MiB
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "store"), method, str(memory)],
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(run.stdout)
    assert scores(truth, np.array(answer["labels"])).f > 0.85
    assert answer["grown"] < memory + 24 * 2**20


@pytest.mark.long
def test_five_thousand_fingerprints_of_512_within_two_gigabytes(tmp_path):
    """The whole command, peak of the process: the budget and 300 MB for the interpreter."""
    cameras, each, d = 100, 50, 512**2
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(
        tmp_path / "X.npy", mode="w+", dtype=np.float16, shape=(cameras * each, d)
    )
    for c in range(cameras):
        pattern = rng.standard_normal(d, dtype=np.float32)
        rows = 0.12 * pattern + rng.standard_normal((each, d), dtype=np.float32)
        X[c * each : (c + 1) * each] = rows
    X.flush()
    del X
    # Not ru_maxrss, which begins with what the parent had when it was forked.
    code = (
        "from samecam.cli import cli; cli.main(standalone_mode=False)\n"
        "print(*(line.split()[1] for line in open('/proc/self/status') if 'VmHWM' in line))"
    )
    words = ["cluster", "--fingerprints", str(tmp_path / "X.npy"), "-o", str(tmp_path / "case")]
    run = subprocess.run(
        [sys.executable, "-c", code, *words, "--memory", "2G", "--quiet"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    peak = int(run.stdout) * 1024
    print(f"peak {peak / 1e6:.0f} MB")
    with open(tmp_path / "case" / "clusters.csv", encoding="utf-8", newline="") as stream:
        labels = [int(row["cluster"]) for row in csv.DictReader(stream)]
    assert scores(np.repeat(np.arange(cameras), each), np.array(labels)).f > 0.99
    assert peak < 2 * 2**30 + 300 * 10**6
