"""Each photo against each group, the photo itself left out: all evidence comes from these."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from samecam import correlate
from samecam.arrays import Doubles, Gram, Labels
from samecam.represent import check_range

# A share of the memory that is left over goes to blocks of correlations that are looked at, and
# a number there takes so many bytes with what is made of it.
_BLOCK_SHARE, _WORK_BYTES = 4, 8
# What rounding leaves of the squared norm of an emptied group is no group.
_EMPTY = 1e-6


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Correlation of each photo with the fingerprint of each group, its own part left out.

    With s_ic = Σ_{j∈c} g_ij and t_c = Σ_{i∈c} s_ic, the squared norm of a group's sum,

        r_ic = s_ic / √t_c                              if i is not in c,
        r_ic = (s_ic − g_ii) / √(t_c − 2 s_ic + g_ii)   if it is;

    0 where nothing is left of a group.

    Attributes
    ----------
    labels : (n,) group of each photo, −1 is none
    norms : (n,) g_ii, 1 but for rounding
    correlations : (k, n) r_ic, a row a group
    between : (k, k) Σ_{i∈b} s_ia, the inner products of the groups' summed fingerprints
    totals : (k,) t_c
    own : (n,) r_ic with the photo's own group; NaN without one
    other : (n,) the other group of the highest r_ic; −1 if there is none
    other_correlation : (n,) that; NaN if there is none
    memory : bytes that looking at them may take
    """

    labels: Labels
    norms: Doubles
    correlations: correlate.DoubleMatrix
    between: correlate.DoubleMatrix
    totals: Doubles
    own: Doubles
    other: Labels
    other_correlation: Doubles
    memory: int

    @property
    def n_groups(self) -> int:
        """Number of groups k."""
        return self.correlations.shape[0]

    @property
    def sizes(self) -> Labels:
        """Photos in each group, (k,)."""
        inside = self.labels[self.labels >= 0]
        return np.bincount(inside, minlength=self.n_groups).astype(np.intp)

    def products(self, groups: Labels) -> Doubles:
        """(g, g) of `between`, of some groups."""
        return np.array([self.between.read(g, g + 1)[0, groups] for g in groups.tolist()])

    def blocks(self) -> Iterator[tuple[int, Doubles]]:
        """(first group, correlations of some groups with all photos), from the first to the last.

        They are not to be written to.
        """
        return self.correlations.blocks(self.memory // _BLOCK_SHARE // _WORK_BYTES)

    def array(self) -> Doubles:
        """All r_ic in memory, (n, k)."""
        return np.ascontiguousarray(self.correlations.read(0, self.n_groups).T)


def comparisons_from_gram(gram: Gram, labels: npt.ArrayLike) -> Comparisons:
    """Comparisons from the (n, n) correlations of all photos."""
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1]:
        raise ValueError(f"gram has shape {gram.shape}; give the (n, n) correlations of all photos")
    check_range(gram)
    groups = _checked(labels, len(gram))
    members = correlate.Membership(groups)
    products = np.asarray(gram @ members.dense(0, members.count, "F").T, dtype=np.float64)
    shape = (members.count, len(gram))
    sums = correlate.DoubleMatrix(shape, array=np.ascontiguousarray(products.T))
    norms = np.diag(gram).astype(np.float64)
    return _compared(sums, norms, groups, correlate.DEFAULT_MEMORY, None)


def comparisons_from_rows(
    source: correlate.Source,
    labels: npt.ArrayLike,
    *,
    memory: int = correlate.DEFAULT_MEMORY,
    folder: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    gram: correlate.KeptGram | None = None,
) -> Comparisons:
    """The same from fingerprints, without the Gram matrix and within `memory` bytes.

    Parameters
    ----------
    source : a store, or an (n, d) array; rows of zero mean and unit norm
    labels : (n,) groups from 0 without gaps, −1 for none
    memory : bytes for everything held at a time, see `correlate.photo_sums`; the result does
        not depend on it
    folder : for a temporary file, if the comparisons do not fit; default the system's
    progress : called with photos done and all photos
    gram : correlations of all photos, if they are kept; the result does not depend on it
    """
    groups = _checked(labels, len(source))
    sums = correlate.photo_sums(
        source, groups, memory=memory, folder=folder, progress=progress, gram=gram
    )
    return _compared(sums.products, sums.norms, groups, sums.memory, folder)


def intra_correlations(given: Comparisons) -> Doubles:
    """Mean correlation ρ_c over the pairs of each group, (k,); 0 for groups of one."""
    size = given.sizes.astype(np.float64)
    inside = np.flatnonzero(given.labels >= 0)
    own = np.bincount(
        given.labels[inside], weights=given.norms[inside], minlength=given.n_groups
    ).astype(np.float64)
    pairs = size * (size - 1)
    total = given.totals - own
    return np.divide(total, pairs, out=np.zeros_like(total), where=pairs > 0)


def fingerprint_quality(size: npt.ArrayLike, intra: npt.ArrayLike) -> Doubles:
    """Expected correlation of a mean of n fingerprints with the true pattern.

    √(nρ / (1 + (n−1)ρ)), 0 where ρ is not positive.
    """
    n = np.asarray(size, dtype=np.float64)
    rho = np.maximum(np.asarray(intra, dtype=np.float64), 0.0)
    return np.asarray(np.sqrt(n * rho / (1 + np.maximum(n - 1, 0) * rho)))


def fingerprint_correlations(given: Comparisons) -> Iterator[tuple[int, Doubles]]:
    """(first group, correlations of some groups' fingerprints with all groups'), block by block.

    The correlation of a group with itself is 1.
    """
    norms = np.sqrt(np.maximum(given.totals, 1e-12))
    block = given.memory // _BLOCK_SHARE // _WORK_BYTES
    for first, rows in given.between.blocks(block):
        last = first + len(rows)
        across = given.between.read(0, given.n_groups, columns=slice(first, last)).T
        result = (rows + across) / 2 / np.outer(norms[first:last], norms)
        result[np.arange(last - first), np.arange(first, last)] = 1.0
        yield first, result


def _compared(
    sums: correlate.DoubleMatrix,
    norms: Doubles,
    labels: Labels,
    memory: int,
    folder: Path | None,
) -> Comparisons:
    """Turn sums into correlations, group by group and in their place."""
    count, n = sums.shape
    small = 8 * count * count <= memory // 2
    between = correlate.DoubleMatrix((count, count), in_memory=small, folder=folder)
    left = memory - (8 * count * count if small else 0)
    given = Comparisons(
        labels=labels,
        norms=norms,
        correlations=sums,
        between=between,
        totals=np.zeros(count),
        own=np.full(n, np.nan),
        other=np.full(n, -1, dtype=np.intp),
        other_correlation=np.full(n, -np.inf),
        memory=left,
    )
    inside = np.flatnonzero(labels >= 0)
    for first, block in given.blocks():
        for c, row in enumerate(block, first):
            products = np.bincount(labels[inside], weights=row[inside], minlength=count)
            between.write(c, products[np.newaxis].astype(np.float64))
            given.totals[c] = products[c]
            _leave_out(row, np.flatnonzero(labels == c), norms, given.totals[c])
            _note(given, c, row)
        sums.write(first, block)
    given.other_correlation[given.other < 0] = np.nan
    return given


def _leave_out(row: Doubles, members: Labels, norms: Doubles, total: float) -> None:
    """Correlations of all photos with one group from their sums, in the place of these."""
    sums, own = row[members], norms[members]
    squares = total + (own - 2 * sums)
    left = np.zeros_like(sums)
    np.divide(sums - own, np.sqrt(np.abs(squares)), out=left, where=squares > _EMPTY)
    if total > _EMPTY:
        row /= np.sqrt(total)
    else:
        row[:] = 0
    row[members] = left


def _note(given: Comparisons, group: int, row: Doubles) -> None:
    """Keep what a photo has with its own group, and the best with another."""
    mine = given.labels == group
    given.own[mine] = row[mine]
    better = (row > given.other_correlation) & ~mine
    given.other[better] = group
    given.other_correlation[better] = row[better]


def _checked(labels: npt.ArrayLike, n: int) -> Labels:
    values = correlate.checked_labels(labels, n)
    count = int(values.max(initial=-1)) + 1
    missing = np.setdiff1d(np.arange(count), values)
    if len(missing) or values.min(initial=0) < -1:
        raise ValueError(
            f"labels run from {values.min()} to {count - 1} with {len(missing)} missing; number "
            "groups from 0 without gaps, −1 for none"
        )
    return values
