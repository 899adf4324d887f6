"""Choosing γ on photos of known cameras."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from samecam import correlate
from samecam.arrays import Gram
from samecam.cluster._gamma import cost_gamma, null_gamma
from samecam.cluster._ssc import SSCNC
from samecam.cluster.tuning._cameras import numbers
from samecam.errors import ParameterValueError
from samecam.metrics import Scores, scores
from samecam.represent import Solver

Progress = Callable[[str, int, int], None]

CANDIDATES = tuple(float(gamma) for gamma in np.geomspace(1e-4, 0.02, 25))
# Values of F this close are alike.
_ALIKE = 0.01


class GammaSelection(NamedTuple):
    """The chosen `gamma`, and for every candidate what SSC-NC makes of it.

    Attributes
    ----------
    gamma : chosen by `by`
    by : "f" or "cost"
    candidates : values tried, ascending
    costs : cost of Phan 2017 of each; infinite where it has no number of groups
    f, precision, recall : of SSC-NC with each, against the known cameras
    by_f, by_cost : what either way chooses
    default : γ of twice the scale of chance, which needs no cameras
    plateau : smallest and largest of the candidates round the best F that are as good
    at_edge : whether that plateau ends where the candidates do, so that `by_f` is the one of it
        nearest to `default`, and not its middle
    """

    gamma: float
    by: str
    candidates: tuple[float, ...]
    costs: tuple[float, ...]
    f: tuple[float, ...]
    precision: tuple[float, ...]
    recall: tuple[float, ...]
    by_f: float
    by_cost: float
    default: float
    plateau: tuple[float, float]
    at_edge: bool


def select_gamma(
    gram: Gram,
    cameras: npt.ArrayLike,
    *,
    candidates: Sequence[float] = CANDIDATES,
    by: Literal["f", "cost"] = "f",
    solver: Solver = "exact",
    n_pixels: int | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> GammaSelection:
    """Choose γ on photos of known cameras.

    "cost" is the paper's way: the smallest J = Ncuts_K + 1/Δ_K + Δ_{K+1} + Δ_{K−1} (`cost_gamma`),
    which does not look at the cameras. "f" does: the middle, on a log scale, of the candidates
    round the best F of SSC-NC that are within .01 of it without a gap. Candidates as good that
    go to the end of the range have no middle, only one that depends on the range: then it is the
    one of them nearest, on a log scale, to γ = 2σ₀, twice the scale of chance.

    Parameters
    ----------
    gram : (n, n) correlations
    cameras : (n,) camera of each photo; two cameras or more
    candidates : positive numbers; default 25 from 1e-4 to .02, the paper's range
    by : what decides
    solver : of the representation; γ of "authors" is half of that of the others
    n_pixels : length of the fingerprints, if known, for the scale of chance
    random_state : of k-means
    progress : called as progress("gamma", done, total)
    """
    if by not in ("f", "cost"):
        raise ParameterValueError("by", f"{{name}} is {by!r}; choose 'f' or 'cost'")
    known = numbers(cameras, len(gram))
    tried = tuple(sorted(float(gamma) for gamma in candidates))
    if not tried or not 0 < tried[0] <= tried[-1] < np.inf:
        raise ValueError(f"candidates are {tried}; give one positive number or more")
    costs, reached = [], []
    for done, gamma in enumerate(tried):
        if progress is not None:
            progress("gamma", done, len(tried))
        choice = cost_gamma(gram, candidates=[gamma], solver=solver, random_state=random_state)
        costs.append(choice.costs[gamma])
        method = SSCNC(
            gamma=gamma, solver=solver, metric="precomputed", random_state=random_state,
            null_scale=1.0,
        )  # fmt: skip
        reached.append(scores(known, method.fit(gram).labels_))
    if progress is not None:
        progress("gamma", len(tried), len(tried))
    default = null_gamma(correlate.null_scale(gram, n_pixels), solver)
    return _selected(by, tried, costs, reached, default)


def _selected(
    by: str,
    tried: tuple[float, ...],
    costs: list[float],
    reached: list[Scores],
    default: float,
) -> GammaSelection:
    f = tuple(score.f for score in reached)
    low, high = plateau(f)
    by_f, by_cost = tried[best_of_plateau(f, tried, default)], tried[int(np.argmin(costs))]
    return GammaSelection(
        by_f if by == "f" else by_cost,
        by,
        tried,
        tuple(costs),
        f,
        tuple(score.precision for score in reached),
        tuple(score.recall for score in reached),
        by_f,
        by_cost,
        default,
        (tried[low], tried[high]),
        _at_edge(low, high, len(tried)),
    )


def plateau(values: Sequence[float], alike: float = _ALIKE) -> tuple[int, int]:
    """First and last of the neighbours of the largest value that are within `alike` of it."""
    best = int(np.argmax(values))
    low = high = best
    while low > 0 and values[low - 1] >= values[best] - alike:
        low -= 1
    while high + 1 < len(values) and values[high + 1] >= values[best] - alike:
        high += 1
    return low, high


def best_of_plateau(values: Sequence[float], candidates: Sequence[float], default: float) -> int:
    """The middle of the plateau, or, if it ends where the candidates do, the nearest to `default`.

    The largest value alone may be luck; its neighbourhood is not. Of two middles the lower one.
    Where a plateau would end beyond the candidates is not known, so its middle is not either.
    """
    low, high = plateau(values)
    if not _at_edge(low, high, len(values)):
        return (low + high) // 2
    away = np.abs(np.log(np.asarray(candidates[low : high + 1]) / default))
    return low + int(np.argmin(away))


def _at_edge(low: int, high: int, count: int) -> bool:
    return low == 0 or high == count - 1
