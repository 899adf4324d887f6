"""What chance does: the measured law of correlations with groups of other cameras."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Labels, Mask, Rows
from samecam.evidence._comparisons import (
    Comparisons,
    fingerprint_correlations,
    fingerprint_quality,
    intra_correlations,
)
from samecam.evidence._order import median_size, ranked

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
# Values that may be sorted: these, or a share of the memory.
_LEAST_HELD = 2**16
_HELD_SHARE = 4


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


def measured_null(given: Comparisons, *, null_scale: float | None = None) -> Null:
    """Measure the law of chance on photos against groups that they do not belong to.

    Only clustered photos are strangers to the other groups: photos in no group may belong
    to any of them, and those that exceeded the entry threshold are no longer among them, so
    they show no tail. Rows of groups that look like parts of one camera are left out.

    Parameters
    ----------
    given : each photo against each group
    null_scale : standard deviation of chance to use where nothing can be measured (a single
        group); no p-value below 1 is stated then
    """
    return measured_nulls([given], [1.0], [null_scale])[0]


def measured_nulls(
    givens: Sequence[Comparisons], units: Sequence[float], null_scales: Sequence[float | None]
) -> list[Null]:
    """The law of chance of several frames: one law, measured on all, with each frame's scales.

    Parameters
    ----------
    givens : photos of each frame against its groups
    units : what correlations of a frame are multiplied by to be comparable with others', √d
    null_scales : see `measured_null`; of each frame
    """
    every = Strangers(givens, units)
    pairs: list[Rows] = [np.zeros((0, 2), dtype=np.intp) for _ in givens]
    if every.count:
        pairs = _one_camera(givens, [every.scale() / unit for unit in units])
    strangers = Strangers(givens, units, pairs)
    scale = strangers.scale() if strangers.count else 0.0
    if not scale > 0:
        return [_unmeasured(*each) for each in zip(givens, null_scales, strict=True)]
    groups = strangers.group_scales(scale)
    law = _law(strangers, groups)
    return [
        Null(group_scale=scales / unit, scale=scale / unit, left_out=some, **law)
        for scales, unit, some in zip(groups, units, pairs, strict=True)
    ]


def _law(strangers: "Strangers", groups: Sequence[Doubles]) -> dict[str, Any]:
    """What is common to all frames: how often z is how large."""
    count = strangers.count
    in_tail = _tail_count(count)
    fitted = count >= _FIT_FROM
    ranks = _ranks(in_tail if fitted else 1, count)
    # Ranks count from the highest; the threshold is the lowest value of the tail.
    wanted = count - np.append(ranks, in_tail)
    order = np.argsort(wanted)
    values = np.empty(len(wanted))
    values[order] = strangers.ranked(groups, wanted[order])
    threshold = float(values[-1])
    tail, effect = strangers.tail(groups, threshold, in_tail)
    shape, spread = _pareto(tail - threshold) if fitted else (0.0, 0.0)
    return {
        "comparisons": count,
        "design_effect": effect,
        "floor": float(_upper(np.zeros(1), count / effect)[0]),
        "threshold": threshold,
        "tail_share": in_tail / count,
        "shape": shape,
        "spread": spread,
        "body_z": values[:-1][::-1].copy(),
        "body_p": (ranks / count)[::-1].copy(),
    }


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


class Strangers:
    """Photos against groups that they do not belong to, some groups at a time.

    Parameters
    ----------
    givens : photos of each frame against its groups
    units : what correlations of a frame are multiplied by
    pairs : (m, 2) groups of each frame that are not used as each other's strangers

    Attributes
    ----------
    count : N, how many there are
    """

    def __init__(
        self,
        givens: Sequence[Comparisons],
        units: Sequence[float],
        pairs: Sequence[Rows] | None = None,
    ) -> None:
        self._givens, self._units = givens, units
        self._related: list[list[list[int]]] = []
        self.count = 0
        for k, given in enumerate(givens):
            related: list[list[int]] = [[] for _ in range(given.n_groups)]
            for a, b in np.zeros((0, 2), dtype=np.intp) if pairs is None else pairs[k]:
                related[a].append(int(b))
                related[b].append(int(a))
            self._related.append(related)
            sizes = given.sizes
            left_out = sum(int(sizes[others].sum()) for others in related if others)
            self.count += int(sizes.sum()) * max(given.n_groups - 1, 0) - left_out
        memory = min((given.memory for given in givens), default=0)
        self._capacity = max(_LEAST_HELD, memory // _HELD_SHARE // 8)

    def scale(self) -> float:
        """Robust standard deviation of all of them: 1.4826 · median |r|."""
        return _MAD * median_size(self._values, self.count, self._capacity)

    def group_scales(self, scale: float) -> list[Doubles]:
        """The same for each group of each frame, drawn to the pooled one where they are few."""
        result = [np.full(given.n_groups, scale) for given in self._givens]
        for k, c, row, strangers in self._groups():
            values = row[strangers]
            count = len(values)
            if count:
                own = _MAD * float(np.median(np.abs(values)))
                variance = (_POOLED * scale**2 + count * own**2) / (_POOLED + count)
                result[k][c] = np.sqrt(variance)
        return result

    def ranked(self, scales: Sequence[Doubles], ranks: Rows) -> Doubles:
        """Values of z = r / (group's scale) at some rising ranks, 0 the lowest."""

        def values() -> Iterator[Doubles]:
            return (row[strangers] / scales[k][c] for k, c, row, strangers in self._groups())

        return ranked(values, ranks, self.count, self._capacity)

    def tail(
        self, scales: Sequence[Doubles], threshold: float, count: int
    ) -> tuple[Doubles, float]:
        """The `count` highest z, of which the threshold is the lowest; and the design effect.

        That is the variance of the numbers of z in the tail per photo, or per group, over what
        independent comparisons would give.
        """
        above: list[Doubles] = []
        shape = [(given.n_groups, len(given.labels)) for given in self._givens]
        compared = [tuple(np.zeros(many, dtype=np.intp) for many in each) for each in shape]
        counted = [tuple(np.zeros(many, dtype=np.intp) for many in each) for each in shape]
        for k, c, row, strangers in self._groups():
            z = row / scales[k][c]
            in_tail = strangers & (z >= threshold)
            compared[k][0][c], counted[k][0][c] = strangers.sum(), in_tail.sum()
            compared[k][1][strangers] += 1
            counted[k][1][in_tail] += 1
            above.append(z[in_tail & (z > threshold)])
        highest = np.concatenate(above)
        tail = np.concatenate([highest, np.full(count - len(highest), threshold)])
        return tail, _design_effect(_joined(compared), _joined(counted))

    def _groups(self) -> Iterator[tuple[int, int, Doubles, Mask]]:
        """Group after group: frame, number, correlations with all photos, who is a stranger."""
        for k, (given, unit) in enumerate(zip(self._givens, self._units, strict=True)):
            for first, block in given.blocks():
                for c, row in enumerate(block, first):
                    apart = np.ones(given.n_groups + 1, dtype=bool)
                    apart[[c, *self._related[k][c], -1]] = False  # the last: photos in no group
                    yield k, c, row if unit == 1 else row * unit, apart[given.labels]

    def _values(self) -> Iterator[Doubles]:
        return (row[strangers] for _, _, row, strangers in self._groups())


def _joined(each: Sequence[tuple[Labels, ...]]) -> tuple[Labels, Labels]:
    """Counts of all frames, for groups and for photos."""
    groups, photos = (np.concatenate(parts) for parts in zip(*each, strict=True))
    return groups, photos


def _one_camera(givens: Sequence[Comparisons], scales: Sequence[float]) -> list[Rows]:
    """(m, 2) pairs of groups of each frame that look like parts of one camera, in order."""
    from scipy.special import ndtri

    counts = [given.n_groups for given in givens]
    every = max(1, sum(count * (count - 1) // 2 for count in counts))
    most = max(1, int(_MOST_SHARED * every))
    chance = -float(ndtri(_SHARED_RATE / every))
    pairs, strength = np.zeros((0, 3), dtype=np.intp), np.zeros(0)
    for k, (given, scale) in enumerate(zip(givens, scales, strict=True)):
        quality = fingerprint_quality(given.sizes, intra_correlations(given))
        for first, observed in fingerprint_correlations(given):
            last = first + len(observed)
            share = observed / np.maximum(np.outer(quality[first:last], quality), 1e-12)
            later = np.arange(counts[k]) > np.arange(first, last)[:, np.newaxis]
            a, b = np.nonzero((observed > chance * scale) & (share > _SHARED) & later)
            pairs = np.concatenate([pairs, np.column_stack([np.full(len(a), k), a + first, b])])
            strength = np.concatenate([strength, observed[a, b] / scale])
            strongest = np.sort(np.argsort(-strength, kind="stable")[:most])
            pairs, strength = pairs[strongest], strength[strongest]
    return [pairs[pairs[:, 0] == k, 1:] for k in range(len(givens))]


def _tail_count(count: int) -> int:
    """Largest values that make the tail: a twentieth, fewer of very many."""
    wanted = min(count // 20, int(20 * np.sqrt(count)))
    return max(1, min(count, max(wanted, _FEWEST_IN_TAIL)))


def _ranks(first: int, last: int) -> npt.NDArray[np.intp]:
    """Up to 400 ranks from `first` to `last`, close together where few values lie above."""
    some = np.geomspace(first, last, 400).round()
    return np.unique(np.clip(some, first, last)).astype(np.intp)


def _design_effect(compared: tuple[Labels, Labels], counted: tuple[Labels, Labels]) -> float:
    """Variance of what was counted per group, or per photo, over that of independent counts.

    Of the comparisons, for each group and for each photo, some counted.
    """
    share = int(counted[0].sum()) / int(compared[0].sum())
    effect = 1.0
    for total, some in zip(compared, counted, strict=True):
        expected = float(total.sum() * share * (1 - share))
        if expected > 0:
            effect = max(effect, float(((some - total * share) ** 2).sum()) / expected)
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


def _unmeasured(given: Comparisons, null_scale: float | None) -> Null:
    """No photo is known to be of another camera: a scale for z, but no p-value below 1."""
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
