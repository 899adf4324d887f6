"""Photos against groups, without what is no sensor's: what groups share, places that stand out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from samecam import evidence
from samecam.arrays import Doubles, Labels, Rows
from samecam.case.folder import Group
from samecam.case.matching._orientations import Orientation, fingerprint_of
from samecam.store import FingerprintStore

# Photos of a group in which places are looked for; of larger ones their case knows them.
_FEW = 16
# Bytes of groups' parts in places that are kept.
_KEPT = 2**28
_NOTHING = evidence.SharedPattern((), 0.0, (), ())


class SharedPatterns:
    """What is no sensor's in groups of one frame, and correlations without it.

    That is what a group shares with others, and places in which a photo and a group of few photos
    are far more alike than elsewhere, as by a logo.

    Parameters
    ----------
    rows : fingerprints of one frame
    labels : (n,) groups of the rows, from 0
    patterns : of the groups that share something, by their numbers
    memory : bytes for what is held at a time
    few : photos of a group in which places are looked for, at most
    """

    def __init__(
        self,
        rows: FingerprintStore,
        labels: Labels,
        patterns: Mapping[int, evidence.SharedPattern],
        memory: int,
        few: int = _FEW,
    ) -> None:
        self._rows, self._labels, self._patterns, self._few = rows, labels, patterns, few
        self._memory = memory
        self._kept: dict[int, list[evidence.BoxParts]] = {}
        self._between: evidence.Comparisons | None = None
        if any(pattern.everywhere for pattern in patterns.values()):
            self._between = evidence.comparisons_from_rows(rows, labels, memory=memory)

    def correlation(
        self,
        one: Orientation,
        group: int,
        correlations: Doubles,
        squares: Doubles,
        row: int | None,
        *,
        look: bool,
    ) -> float:
        """Of an orientation of a photo with a group, without what is no sensor's; NaN: nothing is.

        0 where too few groups are left to tell a pattern by.

        Parameters
        ----------
        correlations, squares : (k,) with all groups, and squared norms of their sums
        row : that of the photo itself, which is left out of its group; None if there is none
        look : whether to look for places that stand out, if its case knows none
        """
        pattern, labels = self._patterns.get(group, _NOTHING), self._labels
        if row is not None:
            labels = labels.copy()
            labels[row] = -1
        boxes = pattern.boxes
        if look and not boxes:
            boxes = tuple(self._places(one, np.flatnonzero(labels == group)))
        if not boxes and not pattern.everywhere:
            return float("nan")
        own = None if row is None else self._labels[row]
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
        if boxes:
            values = fingerprint_of(one)
            keep = row is None and bool(pattern.boxes)
            for parts in self._parts(labels, groups, boxes, keep=keep):
                products = products.without(parts, [values[parts.pixels].astype(np.float64)])
        return float(np.nan_to_num(products.correlations()[0]))

    def _places(self, one: Orientation, members: Rows) -> list[evidence.Box]:
        """Where a photo and few others are far more alike than elsewhere."""
        shape = self._rows.frame.shape
        if not 0 < len(members) <= self._few or shape != one.frame.shape:
            return []
        total = np.zeros((1, self._rows.n_pixels), dtype=np.float32)
        values = np.empty_like(total)
        for member in members:
            self._rows.read_into(np.array([member]), values)
            total += values
        return evidence.standing_out(fingerprint_of(one).reshape(shape), total.reshape(shape))

    def _parts(
        self, labels: Labels, groups: Labels, boxes: Sequence[evidence.Box], *, keep: bool
    ) -> Iterable[evidence.BoxParts]:
        """Groups in some boxes; those of a group's pattern are kept if they are not large."""
        group = int(groups[0])
        if keep and group in self._kept:
            return self._kept[group]
        parts = evidence.box_parts(self._rows, labels, groups, boxes, memory=self._memory)
        pixels = np.count_nonzero(evidence.inside_boxes(self._rows, boxes))
        most = min(_KEPT, self._memory // 4)
        if not keep or 8 * pixels * (len(groups) + 1) > most:
            return parts
        self._kept[group] = list(parts)
        while sum(each.nbytes for some in self._kept.values() for each in some) > most:
            self._kept.pop(next(iter(self._kept)))
        return self._kept[group]

    def close(self) -> None:
        """Let go of what is kept."""
        self._kept.clear()


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
