"""What correlations with groups of other cameras scatter by."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from samecam.arrays import Doubles, Mask, Rows
from samecam.evidence._comparisons import (
    Comparisons,
    fingerprint_correlations,
    fingerprint_quality,
    intra_correlations,
)
from samecam.evidence._order import median_size

_MAD = 1.482602218505602
# A group's own scale counts as much as the pooled one once 10 strangers were compared.
_POOLED = 10.0
# Two groups are not used as each other's strangers if their fingerprints correlate beyond
# chance (over all pairs of groups) and by at least a tenth of what one camera would show; but
# no more than a twentieth of all pairs: what many groups share is no camera cut in two.
_SHARED = 0.1
_SHARED_RATE = 0.01
_MOST_SHARED = 0.05
# Values that may be sorted: these, or a share of the memory.
_LEAST_HELD = 2**16
_HELD_SHARE = 4


@dataclass(frozen=True, slots=True)
class Null:
    """What correlations of photos with groups of other cameras scatter by, in this case.

    Attributes
    ----------
    group_scale : (k,) robust standard deviation of strangers' correlations with each group
    scale : the same over all groups
    comparisons : N, photos times groups that they do not belong to
    left_out : (m, 2) pairs of groups that look like parts of one camera
    """

    group_scale: Doubles
    scale: float
    comparisons: int
    left_out: Rows


def measured_null(given: Comparisons, *, null_scale: float | None = None) -> Null:
    """Measure what chance does on photos against groups that they do not belong to.

    Only clustered photos are strangers to the other groups: photos in no group may belong
    to any of them, and those that exceeded the entry threshold are no longer among them, so
    they show no tail. Rows of groups that look like parts of one camera are left out.

    Parameters
    ----------
    given : each photo against each group
    null_scale : standard deviation of chance to use where nothing can be measured (a single
        group)
    """
    return measured_nulls([given], [1.0], [null_scale])[0]


def measured_nulls(
    givens: Sequence[Comparisons], units: Sequence[float], null_scales: Sequence[float | None]
) -> list[Null]:
    """The same of several frames, which lean on each other where their photos are few.

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
    return [
        Null(scales / unit, scale / unit, strangers.count, some)
        for scales, unit, some in zip(groups, units, pairs, strict=True)
    ]


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


def _unmeasured(given: Comparisons, null_scale: float | None) -> Null:
    """No photo is known to be of another camera."""
    if null_scale is None or not null_scale > 0:
        raise ValueError(
            f"chance cannot be measured on {given.n_groups} groups of {len(given.labels)} photos; "
            "give a positive null_scale"
        )
    none = np.zeros((0, 2), dtype=np.intp)
    return Null(np.full(given.n_groups, null_scale), null_scale, 0, none)
