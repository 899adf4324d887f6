"""Clustering keeps the memory budget: measured in a process of its own."""

import json
import subprocess
import sys

import numpy as np
import pytest

from samecam.metrics import scores
from samecam.simulate import fingerprints
from samecam.store import DiskStore

SCRIPT = """
import json, resource, sys
import numpy as np
from samecam.cluster import METHODS
from samecam.simulate import fingerprints
from samecam.store import DiskStore

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

path, method, memory = sys.argv[1], sys.argv[2], int(sys.argv[3])
X, _ = fingerprints([30] * 10, 0.1, 1024, seed=0)
METHODS[method](memory=100_000).fit(X)  # code is loaded and compiled
before = peak()
with DiskStore.open(path) as store:
    labels = METHODS[method](memory=memory).fit(store).labels_
print(json.dumps({"grown": peak() - before, "labels": labels.tolist()}))
"""


@pytest.mark.parametrize("method", ["consolidated"])
def test_peak_memory_is_the_budget(tmp_path, method):
    X, truth = fingerprints([100] * 30, 0.05, 8192, seed=1)
    store = DiskStore.create(tmp_path / "store", n_pixels=8192)
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
