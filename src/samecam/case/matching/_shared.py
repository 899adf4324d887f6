"""Photos against groups, without a pattern that these share with groups of other cameras."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from samecam import evidence
from samecam.arrays import Doubles, Labels
from samecam.case.folder import Group
from samecam.case.matching._orientations import Orientation, fingerprint_of
from samecam.store import FingerprintStore


class SharedPatterns:
    """What groups of one frame share, and correlations without it.

    Parameters
    ----------
    rows : fingerprints of one frame
    labels : (n,) groups of the rows, from 0
    patterns : of the groups that share something, by their numbers
    memory : bytes for what is held at a time
    """

    def __init__(
        self,
        rows: FingerprintStore,
        labels: Labels,
        patterns: Mapping[int, evidence.SharedPattern],
        memory: int,
    ) -> None:
        self._rows, self._labels, self._patterns = rows, labels, patterns
        self._parts: dict[int, evidence.BoxParts] = {}
        self._between: evidence.Comparisons | None = None
        if any(pattern.everywhere for pattern in patterns.values()):
            self._between = evidence.comparisons_from_rows(rows, labels, memory=memory)

    def __contains__(self, group: int) -> bool:
        return group in self._patterns

    def correlation(
        self,
        one: Orientation,
        group: int,
        correlations: Doubles,
        squares: Doubles,
        row: int | None,
    ) -> float:
        """Of an orientation of a photo with a group that shares something, without that.

        0 where too few groups are left to tell that by.

        Parameters
        ----------
        correlations, squares : (k,) with all groups, and squared norms of their sums
        row : that of the photo itself, which is left out of its group; None if there is none
        """
        pattern, own = self._patterns[group], None if row is None else self._labels[row]
        others = [other for other in pattern.everywhere if other != own]
        groups = np.array([group, *others], dtype=np.intp)
        between = np.zeros((1, 1)) if self._between is None else self._between.products(groups)
        products = evidence.GroupProducts(
            groups=groups,
            labels=np.array([-1]),  # its row is not among the sums
            with_groups=(correlations[groups] * np.sqrt(squares[groups]))[:, np.newaxis],
            squares=squares[groups][:, np.newaxis],
            photos=np.ones(1),
            between=between,
        )
        if pattern.boxes:
            parts = self._boxes(group, groups, row)
            products.leave_out(parts, [fingerprint_of(one)[parts.pixels].astype(np.float64)])
        return float(np.nan_to_num(products.correlations()[0]))

    def _boxes(self, group: int, groups: Labels, row: int | None) -> evidence.BoxParts:
        """The boxes of a group's pattern; kept, unless a photo is left out there."""
        boxes = self._patterns[group].boxes
        if row is not None:
            labels = self._labels.copy()
            labels[row] = -1
            return evidence.BoxParts(self._rows, labels, groups, boxes)
        if group not in self._parts:
            self._parts[group] = evidence.BoxParts(self._rows, self._labels, groups, boxes)
        return self._parts[group]


def case_patterns(groups: Sequence[Group]) -> dict[int, evidence.SharedPattern]:
    """What groups share, as their case says it, by their numbers."""
    return {
        group.id: evidence.SharedPattern(
            tuple(shared.groups), shared.score or 0.0, tuple(shared.everywhere), shared.places
        )
        for group in groups
        if (shared := group.shared) is not None
    }


def patterns_at(
    patterns: Mapping[int, evidence.SharedPattern], names: Sequence[int]
) -> dict[int, evidence.SharedPattern]:
    """The same by the places of groups among some, those of one frame."""
    places = {name: place for place, name in enumerate(names)}

    def at(some: Sequence[int]) -> tuple[int, ...]:
        return tuple(places[name] for name in some if name in places)

    return {
        places[name]: replace(pattern, groups=at(pattern.groups), everywhere=at(pattern.everywhere))
        for name, pattern in patterns.items()
        if name in places
    }


def cut_patterns(
    patterns: Mapping[int, evidence.SharedPattern], first: int, side: int
) -> dict[int, evidence.SharedPattern]:
    """The same on a smaller square of `side` pixels that begins at (first, first)."""
    result = {}
    for group, pattern in patterns.items():
        cut = (tuple(min(max(edge - first, 0), side) for edge in box) for box in pattern.boxes)
        boxes = tuple((a, b, c, d) for a, b, c, d in cut if a < b and c < d)
        if boxes or pattern.everywhere:
            result[group] = replace(pattern, boxes=boxes)
    return result
