"""How good likelihood ratios are, given some of one source and some of two.

`same` are log10 likelihood ratios of comparisons of which the first proposition holds (one camera),
`different` those of which the second does (two cameras). +∞ and −∞ are allowed, NaN is not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Labels

_LN10, _LN2 = np.log(10.0), np.log(2.0)
# Grid on which the bounds of support are looked for, and what stands for 0 and ∞ there.
_STEP, _EXTREME = 0.01, 9.0


@dataclass(frozen=True, slots=True)
class Counted:
    """A claimed rate, and how often it was exceeded.

    Attributes
    ----------
    claimed : probability that a comparison of two sources reaches this far, as it is stated
    n : comparisons of two sources
    count : of these, how many did
    low, high : Clopper–Pearson interval of the rate that was counted
    """

    claimed: float
    n: int
    count: int
    low: float
    high: float

    @property
    def rate(self) -> float:
        """Share that was counted."""
        return self.count / self.n


def cllr(same: npt.ArrayLike, different: npt.ArrayLike) -> float:
    """Cost of log likelihood ratios (Brümmer and du Preez), in bits.

    ½ (mean log₂(1 + 1/LR) over `same` + mean log₂(1 + LR) over `different`): 0 is perfect, 1 is
    what a system costs that always says LR = 1; ∞ if an infinite ratio misleads.
    """
    one, two = _checked(same, "same"), _checked(different, "different")
    return float((_bits(-one).mean() + _bits(two).mean()) / 2)


def cllr_min(same: npt.ArrayLike, different: npt.ArrayLike) -> float:
    """The cost that is left after the best monotone calibration: what discrimination lacks."""
    return cllr(*pav(same, different))


def pav(same: npt.ArrayLike, different: npt.ArrayLike) -> tuple[Doubles, Doubles]:
    """Log10 likelihood ratios after pool-adjacent-violators, of `same` and of `different`.

    The monotone calibration that fits these very comparisons best: within each pool the ratio of
    the shares of `same` and `different` that fall into it; ±∞ in a pool of one kind.
    """
    one, two = _checked(same, "same"), _checked(different, "different")
    pools, of_one, of_two = _pools(one, two)
    ratios = _pool_ratios(pools, of_one, of_two)
    return ratios[: len(one)], ratios[len(one) :]


def equal_error_rate(same: npt.ArrayLike, different: npt.ArrayLike) -> float:
    """Rate at which as large a share of `same` is missed as of `different` is taken for same.

    On the convex hull of the operating points, so that it depends on the order of the ratios
    alone.
    """
    one, two = _checked(same, "same"), _checked(different, "different")
    _, of_one, of_two = _pools(one, two)
    missed = np.concatenate([[0.0], np.cumsum(of_one) / len(one)])
    taken = np.concatenate([[1.0], 1 - np.cumsum(of_two) / len(two)])
    after = int(np.argmax(missed >= taken))
    before = after - 1
    gap = taken[before] - missed[before]
    step = gap + missed[after] - taken[after]
    share = gap / step
    return float(missed[before] + share * (missed[after] - missed[before]))


def elub(same: npt.ArrayLike, different: npt.ArrayLike) -> tuple[float, float]:
    """Empirical lower and upper bound of log10 likelihood ratios that the comparisons support.

    After Vergeer et al. (Science & Justice 56, 2016): with one misleading comparison more of
    either kind, at every threshold between the bounds a decision by these ratios costs no more
    than one by LR = 1. Looked for in steps of 0.01; ratios beyond 10⁹ and 10⁻⁹ count as these.

    Returns
    -------
    lower, upper : at most 0 and at least 0
    """
    one = np.clip(_checked(same, "same"), -_EXTREME, _EXTREME)
    two = np.clip(_checked(different, "different"), -_EXTREME, _EXTREME)
    least = max(min(one.min(), two.min()), -np.log10(len(one) + 1))
    most = min(max(one.max(), two.max()), np.log10(len(two) + 1))
    first = min(0, int(least // _STEP))
    last = max(0, int(most // _STEP) + 1)
    grid = np.linspace(first * _STEP, last * _STEP, last - first + 1)
    # Decisions in favour of one source, where one more of either kind is decided wrongly.
    hits = _above(one, grid) / (len(one) + 1)
    alarms = (_above(two, grid) + 1) / (len(two) + 1)
    cost = 1 - hits + 10**grid * alarms
    neutral = np.where(10**grid < 1, 10**grid, 1.0)
    worse = neutral / cost < 1
    lower = np.max(grid[(grid <= 0) & worse] + _STEP, initial=grid[0])
    upper = np.min(grid[(grid >= 0) & worse] - _STEP, initial=grid[-1])
    return min(float(lower), 0.0), max(float(upper), 0.0)


def tippett(values: npt.ArrayLike, at: npt.ArrayLike) -> Doubles:
    """Share of `values` that are at least as large as each entry of `at`."""
    ordered = np.sort(_checked(values, "values"))
    places = np.searchsorted(ordered, np.asarray(at, dtype=np.float64), side="left")
    return np.asarray(1 - places / len(ordered), dtype=np.float64)


def counted(
    strangers_p: npt.ArrayLike, claimed: Sequence[float], *, level: float = 0.95
) -> list[Counted]:
    """Claimed rates against counted ones.

    Parameters
    ----------
    strangers_p : of comparisons of two sources, the probability that such a comparison reaches as
        far, as it is stated
    claimed : rates to look at
    level : of the Clopper–Pearson interval, which takes comparisons to be independent
    """
    from scipy.stats import beta

    values = _checked(strangers_p, "strangers_p")
    if values.min() < 0 or values.max() > 1:
        raise ValueError("strangers_p holds values outside of 0 to 1; give probabilities")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; give a probability between 0 and 1")
    n, tail = len(values), (1 - level) / 2
    result = []
    for rate in claimed:
        count = int(np.count_nonzero(values <= rate))
        low = float(beta.ppf(tail, count, n - count + 1)) if count else 0.0
        high = float(beta.isf(tail, count + 1, n - count)) if count < n else 1.0
        result.append(Counted(float(rate), n, count, low, high))
    return result


def _bits(log_ratio: Doubles) -> Doubles:
    """log₂(1 + LR), without overflow."""
    return np.asarray(np.logaddexp(0.0, log_ratio * _LN10) / _LN2)


def _above(values: Doubles, grid: Doubles) -> Doubles:
    """How many ratios exceed each threshold."""
    ordered = np.sort(10**values)
    return np.asarray(len(values) - np.searchsorted(ordered, 10**grid, side="right"), np.float64)


def _pools(one: Doubles, two: Doubles) -> tuple[Labels, Doubles, Doubles]:
    """Pool of every ratio, `one` before `two`, and how many of each fall into each pool."""
    from sklearn.isotonic import isotonic_regression

    distinct, place = np.unique(np.concatenate([one, two]), return_inverse=True)
    of_one = np.bincount(place[: len(one)], minlength=len(distinct)).astype(np.float64)
    of_two = np.bincount(place[len(one) :], minlength=len(distinct)).astype(np.float64)
    # Both kinds weigh the same as a whole, however many there are.
    heavy, light = of_one / len(one), of_two / len(two)
    fitted = isotonic_regression(heavy / (heavy + light), sample_weight=heavy + light)
    pool = np.concatenate([[0], np.cumsum(np.diff(fitted) > 0)]).astype(np.intp)
    ones = np.bincount(pool, weights=of_one).astype(np.float64)
    twos = np.bincount(pool, weights=of_two).astype(np.float64)
    return pool[place], ones, twos


def _pool_ratios(pools: Labels, of_one: Doubles, of_two: Doubles) -> Doubles:
    with np.errstate(divide="ignore"):
        ratios = np.log10(of_one / of_one.sum()) - np.log10(of_two / of_two.sum())
    return np.asarray(ratios[pools], dtype=np.float64)


def _checked(values: npt.ArrayLike, name: str) -> Doubles:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; give one number a comparison")
    if not len(array):
        raise ValueError(f"{name} is empty; give at least one comparison")
    if np.isnan(array).any():
        raise ValueError(f"{name} holds NaN; leave out what was not compared")
    return array
