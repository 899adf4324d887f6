"""What chance does: the measured law of correlations with groups of other cameras."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Mask, Rows
from samecam.evidence._sums import (
    GroupSums,
    fingerprint_correlations,
    fingerprint_quality,
    intra_correlations,
    leave_one_out,
)

_MAD = 1.482602218505602
# A group's own scale counts as much as the pooled one once 10 strangers were compared.
_POOLED = 10.0
# Two groups are not used as each other's strangers if their fingerprints correlate beyond
# chance (over all pairs of groups) and by at least a tenth of what one camera would show; but
# no more than a twentieth of all pairs: what many groups share is no camera cut in two.
_SHARED = 0.1
_SHARED_RATE = 0.01
_MOST_SHARED = 0.05
_FIT_FROM = 1000
_FEWEST_IN_TAIL = 50
_SHAPES = (-0.25, 0.45)
_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Null:
    """The law of z = r / (group's scale) for photos of other cameras.

    Attributes
    ----------
    group_scale : (k,) robust standard deviation of strangers' correlations with each group
    scale : the same over all groups
    comparisons : N, photos times groups that they do not belong to
    design_effect : how much less than N independent comparisons these are worth
    floor : smallest bound that is ever stated, 3·design_effect/N (1 if N is 0): with none of N
        independent comparisons counted, a rate is below 3/N with 95 % confidence
    threshold, tail_share, shape, spread : beyond the threshold u,
        P(z) = tail_share·(1 + shape·(z−u)/spread)^(−1/shape); a spread of 0: no tail fitted
    body_z, body_p : measured P(z) up to the threshold, z rising
    left_out : (m, 2) pairs of groups that look like parts of one camera
    """

    group_scale: Doubles
    scale: float
    comparisons: int
    design_effect: float
    floor: float
    threshold: float
    tail_share: float
    shape: float
    spread: float
    body_z: Doubles
    body_p: Doubles
    left_out: Rows


def measured_null(given: GroupSums, *, null_scale: float | None = None) -> Null:
    """Measure the law of chance on photos against groups that they do not belong to.

    Only clustered photos are strangers to the other groups: photos in no group may belong
    to any of them, and those that exceeded the entry threshold are no longer among them, so
    they show no tail. Rows of groups that look like parts of one camera are left out.

    Parameters
    ----------
    given : sums of correlations with each group
    null_scale : standard deviation of chance to use where nothing can be measured (a single
        group); no p-value below 1 is stated then
    """
    r = leave_one_out(given)
    strangers, left_out = _strangers(given, r)
    scale = _robust(r[strangers]) if strangers.any() else 0.0
    if not scale > 0:
        return _unmeasured(given, r, null_scale)
    groups = _group_scales(r, strangers, scale)
    z = r / groups
    values = np.sort(z[strangers])[::-1]
    count = len(values)
    in_tail = _tail_count(count)
    threshold = float(values[in_tail - 1])
    effect = _design_effect((z >= threshold) & strangers, strangers)
    fitted = count >= _FIT_FROM
    shape, spread = _pareto(values[:in_tail] - threshold) if fitted else (0.0, 0.0)
    ranks = _ranks(in_tail if fitted else 1, count)
    return Null(
        group_scale=groups,
        scale=scale,
        comparisons=count,
        design_effect=effect,
        floor=float(_upper(np.zeros(1), count / effect)[0]),
        threshold=threshold,
        tail_share=in_tail / count,
        shape=shape,
        spread=spread,
        body_z=values[ranks - 1][::-1].copy(),
        body_p=(ranks / count)[::-1].copy(),
        left_out=left_out,
    )


def false_alarm(z: npt.ArrayLike, null: Null, *, bound: bool = True) -> Doubles:
    """Probability that one photo of another camera reaches z: its upper bound, or the estimate.

    The estimate is the larger of the normal tail and the measured share of strangers
    (beyond the threshold: the fitted tail). The bound is the upper end of its one-sided
    95 % interval, as if N·estimate/design_effect had been counted among
    N/design_effect, so it is never below the floor. NaN stays NaN.
    """
    from scipy.special import ndtr

    values = np.asarray(z, dtype=np.float64)
    if null.comparisons == 0:
        return np.where(np.isnan(values), np.nan, 1.0)
    measured = np.interp(values, null.body_z, null.body_p, left=1.0, right=0.0)
    if null.spread > 0:
        beyond = np.maximum(values - null.threshold, 0.0) / null.spread
        tail = null.tail_share * _pareto_survival(beyond, null.shape)
        measured = np.where(values > null.threshold, tail, measured)
    rate = np.maximum(ndtr(-values), measured)
    if bound:
        rate = _upper(rate, null.comparisons / null.design_effect)
    return np.asarray(np.where(np.isnan(values), np.nan, rate))


def _upper(rate: Doubles, count: float) -> Doubles:
    """Upper 95 % limit of a rate of which rate·count events were seen (Poisson), at most 1."""
    from scipy.special import gammaincinv

    return np.asarray(np.minimum(gammaincinv(rate * count + 1, _CONFIDENCE) / count, 1.0))


def _strangers(given: GroupSums, r: Doubles) -> tuple[Mask, Rows]:
    """(n, k) True where a photo stands in another group, and the pairs of groups left out."""
    result = np.broadcast_to((given.labels >= 0)[:, np.newaxis], r.shape).copy()
    inside = np.flatnonzero(given.labels >= 0)
    result[inside, given.labels[inside]] = False
    if not result.any():
        return result, np.zeros((0, 2), dtype=np.intp)
    pairs = _one_camera(given, _robust(r[result]))
    apart = np.ones((given.n_groups, given.n_groups), dtype=bool)
    apart[pairs[:, 0], pairs[:, 1]] = apart[pairs[:, 1], pairs[:, 0]] = False
    result[inside] &= apart[given.labels[inside]]
    return result, pairs


def _one_camera(given: GroupSums, scale: float) -> Rows:
    """(m, 2) pairs of groups that look like parts of one camera, in order."""
    from scipy.special import ndtri

    count = given.n_groups
    every = count * (count - 1) // 2
    quality = fingerprint_quality(given.sizes, intra_correlations(given))
    observed = fingerprint_correlations(given)
    chance = -float(ndtri(_SHARED_RATE / every)) * scale
    share = observed / np.maximum(np.outer(quality, quality), 1e-12)
    related = np.argwhere(np.triu((observed > chance) & (share > _SHARED), 1))
    strongest = np.argsort(-observed[related[:, 0], related[:, 1]], kind="stable")
    return related[np.sort(strongest[: max(1, int(_MOST_SHARED * every))])]


def _robust(values: Doubles) -> float:
    """1.4826 · median |value|: chance is symmetric round zero."""
    return _MAD * float(np.median(np.abs(values)))


def _group_scales(r: Doubles, strangers: Mask, scale: float) -> Doubles:
    """Robust scale of each group's strangers, drawn to the pooled one where they are few."""
    result = np.full(r.shape[1], scale)
    for c in range(r.shape[1]):
        rows = strangers[:, c]
        count = int(np.count_nonzero(rows))
        if count:
            variance = (_POOLED * scale**2 + count * _robust(r[rows, c]) ** 2) / (_POOLED + count)
            result[c] = np.sqrt(variance)
    return result


def _tail_count(count: int) -> int:
    """Largest values that make the tail: a twentieth, fewer of very many."""
    wanted = min(count // 20, int(20 * np.sqrt(count)))
    return max(1, min(count, max(wanted, _FEWEST_IN_TAIL)))


def _ranks(first: int, last: int) -> npt.NDArray[np.intp]:
    """Up to 400 ranks from `first` to `last`, close together where few values lie above."""
    some = np.geomspace(first, last, 400).round()
    return np.unique(np.clip(some, first, last)).astype(np.intp)


def _design_effect(exceeds: Mask, strangers: Mask) -> float:
    """Variance of the exceedances per photo, or per group, over that of independent ones."""
    share = np.count_nonzero(exceeds) / np.count_nonzero(strangers)
    effect = 1.0
    for axis in (0, 1):
        made, counted = strangers.sum(axis=axis), exceeds.sum(axis=axis)
        expected = float(made.sum() * share * (1 - share))
        if expected > 0:
            effect = max(effect, float(((counted - made * share) ** 2).sum()) / expected)
    return effect


def _pareto(excess: Doubles) -> tuple[float, float]:
    """Shape ξ and spread β of a generalised Pareto law, by probability-weighted moments.

    a₀ = mean excess, a₁ = mean of excess·(1 − F): ξ = 2 − a₀/(a₀ − 2a₁), held between
    −.25 and .45, and β = a₀(1 − ξ), which keeps the mean.
    """
    rising = np.sort(excess)
    m = len(rising)
    mean = float(rising.mean())
    if mean <= 0:
        return 0.0, 0.0
    weights = 1 - (np.arange(1, m + 1) - 0.35) / m
    weighted = float((rising * weights).mean())
    shape = float(np.clip(2 - mean / max(mean - 2 * weighted, 1e-12), *_SHAPES))
    return shape, mean * (1 - shape)


def _pareto_survival(scaled: Doubles, shape: float) -> Doubles:
    if abs(shape) < 1e-6:
        return np.asarray(np.exp(-scaled))
    base = np.maximum(1 + shape * scaled, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.power(base, -1 / shape))


def _unmeasured(given: GroupSums, r: Doubles, null_scale: float | None) -> Null:
    """No photo is known to be of another camera: a scale for z, but no p-value below 1."""
    alone = given.labels < 0
    if null_scale is None and alone.any() and given.n_groups:
        null_scale = _robust(r[alone])
    if null_scale is None or not null_scale > 0:
        raise ValueError(
            f"chance cannot be measured on {given.n_groups} groups of {len(given.labels)} photos; "
            "give a positive null_scale"
        )
    empty = np.zeros(0)
    return Null(
        group_scale=np.full(given.n_groups, null_scale),
        scale=null_scale,
        comparisons=0,
        design_effect=1.0,
        floor=1.0,
        threshold=np.inf,
        tail_share=1.0,
        shape=0.0,
        spread=0.0,
        body_z=empty,
        body_p=empty,
        left_out=np.zeros((0, 2), dtype=np.intp),
    )
