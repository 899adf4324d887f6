"""The start of the consolidated method: LASSO on few candidates against the exact one.

python -m benchmarks.start

Both start from the same correlations in one process; seconds are of the LASSO alone. What the
start is worth is seen at the end: F, P and R of the groups that grow out of either.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.consolidated_sets import LabelledSet
from benchmarks.consolidated_variants import Variant, grouped
from benchmarks.record import folder_of, parser, timed, write
from samecam.arrays import Labels
from samecam.cluster.consolidate._start import CANDIDATES, GAMMA
from samecam.cluster.consolidate._steps import start_groups
from samecam.metrics import scores
from samecam.represent import represent
from samecam.simulate import gram

# Cameras, photos of each from … to …, mean correlation, pixels.
SHAPES = (
    (5, 400, 400, 0.01, 512**2),
    (400, 5, 15, 0.01, 512**2),
    (400, 5, 15, 0.002, 12_000_000),
    (200, 10, 50, 0.01, 512**2),
    (400, 10, 50, 0.01, 512**2),
    (74, 83, 340, 0.02, 512**2),
)
QUICK_SHAPES = ((6, 10, 20, 0.03, 512**2),)
SEED = 200
STARTS = {"exact": None, "candidates": CANDIDATES}


def begun(coefficients: Any, given: LabelledSet) -> Labels:  # noqa: ARG001
    return start_groups(coefficients)


def measured(shape: tuple[int, int, int, float, int]) -> dict[str, Any]:
    count, low, high, mean, n_pixels = shape
    sizes = np.random.default_rng(SEED).integers(low, high + 1, count).tolist()
    G, truth = gram(sizes, mean, seed=SEED, n_pixels=n_pixels)
    given = LabelledSet(f"{count} × {low}–{high}, m = {mean}", G, truth, n_pixels)
    solve = partial(represent, G, GAMMA * given.scale)
    row: dict[str, Any] = {"set": given.family, "n": len(G), "n_pixels": n_pixels}
    for name, most in STARTS.items():
        (coefficients, _), seconds = timed(solve, candidates=most)
        start = Variant("", name, start=partial(begun, coefficients))
        score = scores(truth, grouped(given, start))
        row[name] = {"seconds": seconds, "F": score.f, "P": score.precision, "R": score.recall}
    row["ratio"] = row["exact"]["seconds"] / row["candidates"]["seconds"]
    return row


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__).parse_args(arguments)
    rows: list[dict[str, Any]] = []
    measured(QUICK_SHAPES[0])  # compiled code
    for shape in QUICK_SHAPES if options.quick else SHAPES:
        rows.append(measured(shape))
        print(rows[-1], flush=True)
    write("start", rows, folder=folder_of(options), candidates=CANDIDATES, seed=SEED)


if __name__ == "__main__":
    main()
