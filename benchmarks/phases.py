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
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg.blas import ssyrk

from benchmarks.record import best, folder_of, parser, timed, write
from samecam import correlate
from samecam.cluster.consolidate._cpu import GramSums
from samecam.cluster.consolidate._loop import Loop, Rates
from samecam.cluster.consolidate._start import CANDIDATES, GAMMA
from samecam.cluster.consolidate._steps import Groups, start_groups
from samecam.metrics import scores
from samecam.represent import represent
from samecam.simulate import gram

SIZES, QUICK_SIZES = (500, 1000, 2000, 4000, 8000, 16000), (100,)
PIXELS = 16384


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def rates(n: int) -> dict[str, float]:
    """Operations of ssyrk and bytes of reading, per second; of less where n is small."""
    side, amount = (2048, 2**28) if n >= SIZES[0] else (256, 2**22)
    X = np.ones((side, 4 * side), dtype=np.float32)
    ssyrk(1.0, X.T, trans=1)
    seconds = best(lambda: ssyrk(1.0, X.T, trans=1))
    big = np.ones(amount, dtype=np.float32)
    return {
        "operations_per_second": side**2 * 4 * side / seconds,
        "bytes_per_second": big.nbytes / best(big.sum),
    }


def correlating(n: int) -> dict[str, float]:
    X = np.random.default_rng(0).standard_normal((n, PIXELS), dtype=np.float32)
    before = peak()
    seconds = timed(correlate.gram, X)[1]
    return {"correlate": seconds, "correlate_memory": peak() - before}


def grouping(n: int) -> dict[str, float]:
    rng = np.random.default_rng(0)
    sizes: list[int] = []
    while sum(sizes) < n:
        sizes.append(int(rng.integers(10, 51)))
    sizes[-1] -= sum(sizes) - n
    G, truth = gram(sizes, 0.02, seed=0)
    before = peak()
    scale, null_seconds = timed(correlate.null_scale, G, 512**2)
    scales, scale_seconds = timed(correlate.photo_scales, G, scale)
    (coefficients, _), solving = timed(represent, G, GAMMA * scale, candidates=CANDIDATES)
    first, starting = timed(start_groups, coefficients)
    good = np.ones(n, dtype=bool)
    loop = Loop(Rates(0.001, 0.01, 0.001), n)

    def consolidate() -> Groups:
        groups = Groups.make(GramSums(G, scales), first)
        loop.run(groups, good)
        return groups

    groups, consolidating = timed(consolidate)
    return {
        "cameras": len(sizes),
        "chance": null_seconds + scale_seconds,
        "represent": solving,
        "start": starting,
        "consolidate": consolidating,
        "group_memory": peak() - before,
        "gram_bytes": G.nbytes,
        "F": scores(truth, groups.labels).f,
    }


def one(what: str, n: int) -> dict[str, float]:
    if what == "correlate":
        return correlating(n)
    represent(np.eye(8, dtype=np.float32), 0.1, candidates=CANDIDATES)  # compiled code
    small = gram([20] * 5, 0.05)
    groups = Groups.make(GramSums(small.gram, np.full(100, 0.05)), small.labels)
    Loop(Rates(0.001, 0.01, 0.001), 100).run(groups, np.ones(100, dtype=bool))
    return grouping(n)


def apart(what: str, n: int) -> dict[str, float]:
    """In a process of its own, so that its peak memory is its own."""
    command = [sys.executable, "-m", "benchmarks.phases", "--one", what, str(n)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, float] = json.loads(run.stdout)
    return figures


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--most", type=int, default=SIZES[-1])
    asked.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = asked.parse_args(arguments)
    if options.one:
        print(json.dumps(one(options.one[0], int(options.one[1]))))
        return
    sizes = QUICK_SIZES if options.quick else [n for n in SIZES if n <= options.most]
    rows = []
    for n in sizes:
        row: dict[str, Any] = {"n": n, "pixels": PIXELS}
        for what in ("group", "correlate"):
            row |= apart(what, n)
        row |= rates(n)
        row["correlate_floor"] = n * n * PIXELS / row["operations_per_second"]
        row["correlate_512"] = row["correlate"] * 512**2 / PIXELS
        row["reading_floor"] = 4 * n * n / row["bytes_per_second"]
        rows.append(row)
        print({key: round(value, 4) for key, value in row.items()}, flush=True)
    write("phases", rows, folder=folder_of(options))


if __name__ == "__main__":
    main()
