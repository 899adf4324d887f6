"""Choosing K and the rounds of recycling of LS-SSC on photos of known cameras."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Gram, Labels
from samecam.cluster.large_scale import LargeScaleSSC, Threshold
from samecam.cluster.tuning._cameras import numbers
from samecam.errors import ParameterValueError
from samecam.metrics import scores

Progress = Callable[[str, int, int], None]
Preset = Literal["default", "paper"]

PUBLISHED_NEIGHBOURS = 5
NEIGHBOURS = (3, 4, 5, 6, 8, 10)
ROUNDS = 6
BATCHES = 6
# Harmonic means this close are alike.
_ALIKE = 0.01
_SEEDS = 2**32


class RecyclingSelection(NamedTuple):
    """The chosen K and R, and what led there.

    Attributes
    ----------
    n_neighbours, recycling : K and R
    neighbours : values of K tried; those of R are 0, 1, …
    precision, discovered : (K, R, runs) precision of the groups, and L_d/L_g, after merging
    """

    n_neighbours: int
    recycling: int
    neighbours: tuple[int, ...]
    precision: Doubles
    discovered: Doubles


def recycled_labels(
    gram: Gram,
    n_neighbours: int,
    rounds: int,
    *,
    n_batches: int = BATCHES,
    preset: Preset = "default",
    gamma: float | Literal["auto", "paper"] | None = None,
    n_pixels: int | None = None,
    threshold: Threshold | None = None,
    random_state: int = 0,
) -> Labels:
    """Groups of LS-SSC after merging with 0, 1, …, `rounds` rounds of recycling, (rounds + 1, n).

    Attraction and what comes after it, are left out, so that it shows what recycling
    is worth. Row r is what a run with r rounds and the same seed has after merging.

    Parameters
    ----------
    gram : (n, n) correlations
    n_neighbours : K
    rounds : most rounds of recycling
    n_batches, preset, gamma, n_pixels, threshold, random_state : see `LargeScaleSSC`
    """
    if rounds < 0:
        raise ParameterValueError("rounds", f"{{name}} is {rounds}; give 0 or more")
    method = LargeScaleSSC(
        preset=preset,
        n_batches=n_batches,
        gamma=gamma,
        n_neighbours=n_neighbours,
        recycling=1,
        threshold=threshold,
        metric="precomputed",
        n_pixels=n_pixels,
        random_state=random_state,
    )
    run = method.start_run(gram)
    result = []
    for done in range(rounds + 1):
        if done:
            run.recycle()
        before = run.labels.copy()
        run.merge()
        result.append(run.labels.copy())
        run.labels = before
    return np.stack(result)


def select_k_and_recycling(
    gram: Gram,
    cameras: npt.ArrayLike,
    *,
    neighbours: Sequence[int] = NEIGHBOURS,
    rounds: int = ROUNDS,
    runs: int = 10,
    n_batches: int = BATCHES,
    preset: Preset = "default",
    gamma: float | Literal["auto", "paper"] | None = None,
    n_pixels: int | None = None,
    threshold: Threshold | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> RecyclingSelection:
    """Choose K and R such that groups are pure and all cameras are discovered, as the paper asks.

    LS-SSC is run up to merging with every K and as many seeds as `runs`, on so many batches (the
    paper: six of about 182 photos), and `choose_k_and_recycling` decides.

    Parameters
    ----------
    gram : (n, n) correlations
    cameras : (n,) camera of each photo; two cameras or more
    neighbours : values of K to try
    rounds : largest R to try
    runs : splits into batches
    n_batches, preset, gamma, n_pixels, threshold : see `LargeScaleSSC`; K and R hold for the
        threshold they were chosen with
    random_state : s; the seeds are s·runs, s·runs + 1, …, so no split is that of another s
    progress : called as progress("K and recycling", done, total)
    """
    known = numbers(cameras, len(gram))
    tried = tuple(int(k) for k in neighbours)
    if not tried or min(tried) < 2 or runs < 1:
        raise ValueError(
            f"neighbours are {tried} and runs is {runs}; give 2 or more for each, and 1 run or more"
        )
    precision, discovered = np.empty((2, len(tried), rounds + 1, runs))
    for place, k in enumerate(tried):
        for run in range(runs):
            if progress is not None:
                progress("K and recycling", place * runs + run, len(tried) * runs)
            labels = recycled_labels(
                gram, k, rounds, n_batches=n_batches, preset=preset, gamma=gamma,
                n_pixels=n_pixels, threshold=threshold,
                random_state=(random_state * runs + run) % _SEEDS,
            )  # fmt: skip
            reached = [scores(known, row) for row in labels]
            precision[place, :, run] = [score.precision for score in reached]
            discovered[place, :, run] = [score.ld_over_lg for score in reached]
    if progress is not None:
        progress("K and recycling", len(tried) * runs, len(tried) * runs)
    chosen = choose_k_and_recycling(tried, precision.mean(axis=2), discovered.mean(axis=2))
    return RecyclingSelection(*chosen, tried, precision, discovered)


def choose_k_and_recycling(
    neighbours: Sequence[int], precision: Doubles, discovered: Doubles, alike: float = _ALIKE
) -> tuple[int, int]:
    """K and R of the best harmonic mean of precision and L_d/L_g, both (K, R), means over runs.

    The paper asks for both to come near 1 and gives no rule. Of means within `alike` of the
    best, the fewest rounds win, which are the cheapest, and then the K nearest to 5, the
    published one.
    """
    total = np.maximum(precision + discovered, np.finfo(float).tiny)
    both = 2 * precision * discovered / total
    places = np.argwhere(both >= both.max() - alike)
    best = [(int(neighbours[row]), int(rounds)) for row, rounds in places]
    return min(best, key=lambda pair: (pair[1], abs(pair[0] - PUBLISHED_NEIGHBOURS), pair[0]))
