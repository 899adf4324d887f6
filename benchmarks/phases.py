"""Time and memory of each phase of the consolidated method against the number of photos.

python -m benchmarks.phases [--most 16000]

Each size runs in a process of its own. Cameras have 10 to 50 photos, mean correlation .02.
Correlations are computed from fingerprints of 16,384 pixels and the time is also given for
512², where it is in proportion. The floor of a phase is what the machine itself needs: for
correlations n²·d operations at its own ssyrk rate, for everything after them reading all
correlations once at its own rate of reading.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np
from scipy.linalg.blas import ssyrk

from benchmarks.record import write
from samecam import correlate
from samecam.cluster.consolidate._cpu import GramSums
from samecam.cluster.consolidate._loop import Loop, Rates
from samecam.cluster.consolidate._steps import Groups, start_groups
from samecam.metrics import scores
from samecam.represent import represent
from samecam.simulate import gram

SIZES = (500, 1000, 2000, 4000, 8000, 16000)
PIXELS = 16384


def timed(function, *args, **options):
    began = time.perf_counter()
    answer = function(*args, **options)
    return answer, time.perf_counter() - began


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def rates(_):
    """Operations of ssyrk and bytes of reading, per second."""
    X = np.ones((2048, 8192), dtype=np.float32)
    ssyrk(1.0, X.T, trans=1)
    seconds = min(timed(ssyrk, 1.0, X.T, trans=1)[1] for _ in range(3))
    big = np.ones(2**28, dtype=np.float32)
    reading = min(timed(big.sum)[1] for _ in range(3))
    return {
        "operations_per_second": 2048**2 * 8192 / seconds,
        "bytes_per_second": big.nbytes / reading,
    }


def correlating(n):
    X = np.random.default_rng(0).standard_normal((n, PIXELS), dtype=np.float32)
    before = peak()
    seconds = timed(correlate.gram, X)[1]
    return {"correlate": seconds, "correlate_memory": peak() - before}


def grouping(n):
    rng = np.random.default_rng(0)
    sizes = []
    while sum(sizes) < n:
        sizes.append(int(rng.integers(10, 51)))
    sizes[-1] -= sum(sizes) - n
    G, truth = gram(sizes, 0.02, seed=0)
    before = peak()
    scale, null_seconds = timed(correlate.null_scale, G, 512**2)
    scales, scale_seconds = timed(correlate.photo_scales, G, scale)
    (coefficients, _), solving = timed(represent, G, 2 * scale)
    first, starting = timed(start_groups, coefficients)
    good = np.ones(n, dtype=bool)
    loop = Loop(Rates(0.001, 0.01, 0.001), n)
    began = time.perf_counter()
    groups = Groups.make(GramSums(G, scales), first)
    loop.run(groups, good)
    return {
        "cameras": len(sizes),
        "chance": null_seconds + scale_seconds,
        "represent": solving,
        "start": starting,
        "consolidate": time.perf_counter() - began,
        "group_memory": peak() - before,
        "gram_bytes": G.nbytes,
        "F": scores(truth, groups.labels).f,
    }


def one(what, n):
    represent(np.eye(8, dtype=np.float32), 0.1)  # compiled code
    small = gram([20] * 5, 0.05)
    groups = Groups.make(GramSums(small.gram, np.full(100, 0.05)), small.labels)
    Loop(Rates(0.001, 0.01, 0.001), 100).run(groups, np.ones(100, dtype=bool))
    return {"group": grouping, "correlate": correlating, "rates": rates}[what](n)


def apart(what, n):
    """In a process of its own, so that its peak memory is its own."""
    command = [sys.executable, "-m", "benchmarks.phases", "--one", what, str(n)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=SIZES[-1])
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one[0], int(options.one[1]))))
        return
    rows = []
    for n in (size for size in SIZES if size <= options.most):
        row = {"n": n, "pixels": PIXELS}
        for what in ("group", "correlate", "rates"):
            row |= apart(what, n)
        row["correlate_floor"] = n * n * PIXELS / row["operations_per_second"]
        row["correlate_512"] = row["correlate"] * 512**2 / PIXELS
        row["reading_floor"] = 4 * n * n / row["bytes_per_second"]
        rows.append(row)
        print({key: round(value, 4) for key, value in row.items()}, flush=True)
    write("phases", rows)


if __name__ == "__main__":
    main()
