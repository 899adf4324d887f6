"""What persons decided about photos, as the steps of consolidation ask for it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Labels, Mask, Rows
from samecam.cluster._labels import numbered

# (photos, groups) → (n,) sums of photos, each over one group
Strengths = Callable[[Rows, Labels], Doubles]


@dataclass(frozen=True)
class Constraints:
    """What persons decided about photos, which grouping honours.

    A photo that is alone with its number in `together` is free.

    Attributes
    ----------
    together : (n,) photos with the same number ≥ 0 are in one group; −1: free
    apart : pairs (photos, others) of arrays of row numbers: none of `photos` may be in the group
        that holds most of `others`, of several the one with the lowest number in `labels_`. Where
        both contradict each other `together` holds
    """

    together: Labels
    apart: tuple[tuple[Rows, Rows], ...] = ()


class Counts(NamedTuple):
    """(pairs, groups) how many photos of each pair of `apart` are in each group.

    Attributes
    ----------
    photos, others : those that are kept out, and those of whose group
    pinned_photos, pinned_others : of these the pinned ones
    """

    photos: Labels
    others: Labels
    pinned_photos: Labels
    pinned_others: Labels

    @classmethod
    def none(cls, count: int) -> "Counts":
        """Of no pairs."""
        return cls(*(np.zeros((0, count), dtype=np.intp) for _ in range(4)))


class Bonds:
    """Constraints, checked and in an order of their own.

    Attributes
    ----------
    pinned : (n,) photos that stay where others of their set are
    """

    def __init__(self, constraints: Constraints, n: int) -> None:
        together = _together(constraints.together, n)
        sizes = np.bincount(together[together >= 0], minlength=1)
        self.pinned: Mask = (together >= 0) & (sizes[together] >= 2)
        self._sets = numbered(np.where(self.pinned, together, -1))
        pairs = [(_rows(photos, n), _rows(others, n)) for photos, others in constraints.apart]
        pairs = [(self._with_sets(a), b) for a, b in pairs if len(a) and len(b)]
        unique = {(tuple(a.tolist()), tuple(b.tolist())): (a, b) for a, b in pairs}
        self._apart = [unique[key] for key in sorted(unique)]

    def _with_sets(self, photos: Rows) -> Rows:
        """Photos, and those that are pinned to any of them."""
        sets = np.unique(self._sets[photos[self.pinned[photos]]])
        return np.union1d(photos, np.flatnonzero(np.isin(self._sets, sets)))

    @property
    def void(self) -> bool:
        """Whether nothing is asked for."""
        return not self._apart and not self.pinned.any()

    def among(self, rows: Rows) -> "Bonds | None":
        """What is asked of some rows alone, numbered in their order; None: nothing."""
        number = np.full(len(self.pinned), -1, dtype=np.intp)
        number[rows] = np.arange(len(rows))
        pairs = tuple((number[a], number[b]) for a, b in self._apart)
        apart = tuple((a[a >= 0], b[b >= 0]) for a, b in pairs)
        return bonds(Constraints(self._sets[rows], apart), len(rows))

    def begun(self, labels: Labels) -> Labels:
        """Groups to begin with: the pinned photos of each set are one of their own."""
        first = int(labels.max(initial=-1)) + 1
        return np.where(self.pinned, first + self._sets, labels)

    def without_edges(self, coefficients: Any, rows: Rows) -> Any:
        """Coefficients of some rows without those between `photos` and `others` of a pair."""
        from scipy import sparse

        edges = coefficients.tocoo()
        first, second = rows[edges.row], rows[edges.col]
        kept = np.ones(len(first), dtype=bool)
        for photos, others in self._apart:
            mine, theirs = (_mask(some, len(self.pinned)) for some in (photos, others))
            kept &= ~((mine[first] & theirs[second]) | (theirs[first] & mine[second]))
        places = edges.row[kept], edges.col[kept]
        return sparse.csr_array((edges.data[kept], places), shape=edges.shape)

    def stays(self, labels: Labels, count: int) -> Mask:
        """(count,) groups that hold pinned photos."""
        stays = np.zeros(count, dtype=bool)
        stays[labels[self.pinned & (labels >= 0)]] = True
        return stays

    def counts(self, labels: Labels, count: int) -> Counts:
        """How many photos of each pair are in each group."""

        def counted(rows: list[Rows]) -> Labels:
            made = np.zeros((len(rows), count), dtype=np.intp)
            for k, some in enumerate(rows):
                groups = labels[some]
                made[k] = np.bincount(groups[groups >= 0], minlength=count)
            return made

        both = [[pair[side] for pair in self._apart] for side in (0, 1)]
        pinned = [[some[self.pinned[some]] for some in rows] for rows in both]
        return Counts(*(counted(rows) for rows in (*both, *pinned)))

    def forbidden(self, labels: Labels) -> tuple[Rows, Labels]:
        """Photos that are not pinned, and for each a group where it may not be."""
        sizes = _Sizes.of(labels)
        places = [self._places(k, labels, sizes) for k in range(len(self._apart))]
        rows = [np.empty(0, dtype=np.intp), *(rows for rows, _ in places)]
        groups = [np.empty(0, dtype=np.intp), *(groups for _, groups in places)]
        return np.concatenate(rows), np.concatenate(groups)

    def _places(self, k: int, labels: Labels, sizes: "_Sizes") -> tuple[Rows, Labels]:
        """Of one pair: `photos` not with most of `others`.

        Nor do `others` join groups that belong to `photos`, by half or by pinned ones: these
        would have to leave, and cannot.
        """
        photos, others = self._apart[k]
        pinned = self.pinned[photos]
        holder = sizes.holder(labels[others])
        free = photos[~pinned] if holder >= 0 else photos[:0]
        there, many = _counted(labels[photos])
        own = there[(2 * many >= sizes.size[there]) | np.isin(there, labels[photos[pinned]])]
        rest = others[~self.pinned[others]]
        rows = np.concatenate([free, np.tile(rest, len(own))])
        groups = np.concatenate([np.full(len(free), holder), np.repeat(own, len(rest))])
        return rows, groups

    def apart(self, labels: Labels, strengths: Strengths | None = None) -> Labels:
        """Labels without the photos that are where they may not be: they are in no group.

        Where pairs contradict each other, as of two photos that may not be together, first those
        of which fewer photos have to go, then the weaker ones.
        """
        labels = labels.copy()
        while True:
            sizes = _Sizes.of(labels)
            order = []
            for k in range(len(self._apart)):
                rows = self._wrong(k, labels, sizes)
                if len(rows):
                    bond = 0.0 if strengths is None else float(strengths(rows, labels[rows]).mean())
                    order.append((len(rows), bond, k))
            if not order:
                return labels
            for *_, k in sorted(order):
                labels[self._wrong(k, labels, sizes)] = -1

    def _wrong(self, k: int, labels: Labels, sizes: "_Sizes") -> Rows:
        """Photos that may not be where they are, by one pair."""
        rows, groups = self._places(k, labels, sizes)
        return np.unique(rows[labels[rows] == groups])

    def settled(self, labels: Labels) -> Labels:
        """Labels as they are shown, in which no photo is where it may not be."""
        while True:
            labels = numbered(labels)
            inside = labels >= 0
            single = np.bincount(labels[inside], minlength=1) < 2
            kept = self.apart(np.where(inside & ~single[labels], labels, -1))
            if (kept == labels).all():
                return labels
            labels = kept


def bonds(constraints: Constraints | None, n: int) -> Bonds | None:
    """What the steps have to honour; None: nothing."""
    if constraints is None:
        return None
    made = Bonds(constraints, n)
    return None if made.void else made


class _Sizes(NamedTuple):
    """(groups,) photos of each group, and its number in an answer."""

    size: Labels
    number: Labels

    @classmethod
    def of(cls, labels: Labels) -> "_Sizes":
        inside = labels >= 0
        size = np.bincount(labels[inside], minlength=1)
        number = np.zeros_like(size)
        number[labels[inside]] = numbered(labels)[inside]
        return cls(size, number)

    def holder(self, groups: Labels) -> int:
        """The group that most photos are in, of several the first in an answer; −1: none."""
        there, many = _counted(groups)
        if not len(there):
            return -1
        return int(there[np.lexsort((self.number[there], -many))[0]])


def _counted(groups: Labels) -> tuple[Labels, Labels]:
    """Groups that photos are in, and how many in each."""
    there, many = np.unique(groups[groups >= 0], return_counts=True)
    return there, many


def _mask(rows: Rows, n: int) -> Mask:
    mask = np.zeros(n, dtype=bool)
    mask[rows] = True
    return mask


def _together(together: npt.ArrayLike, n: int) -> Labels:
    """Checked numbers of sets, from 0."""
    given = np.asarray(together)
    if given.shape != (n,) or given.dtype.kind not in "iu":
        raise ValueError(
            f"together has shape {given.shape} and dtype {given.dtype}; give a whole number for "
            f"each of {n} rows"
        )
    return numbered(given)


def _rows(rows: npt.ArrayLike, n: int) -> Rows:
    """Checked numbers of rows, each once."""
    given = np.asarray(rows)
    if given.size == 0:
        return np.empty(0, dtype=np.intp)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ValueError(
            f"apart has rows of shape {given.shape} and dtype {given.dtype}; give row numbers"
        )
    if given.min() < 0 or given.max() >= n:
        wrong = int(given.min() if given.min() < 0 else given.max())
        raise ValueError(f"apart has row {wrong}; give rows from 0 to {n - 1}")
    return np.unique(given).astype(np.intp)
