"""Sums of rows of bits over groups, and inner products with them, in whole numbers.

The sum over a group, S = Σ q_i b_i with bits b_i and whole weights q_i, is a number for each
pixel. It is kept as its binary digits, one row of bits for each: planes. Products with it are
then popcounts, as those of two rows are, and there are about log₂ m planes for m members; where
these are fewer, the members themselves stand in their place. Either way the columns k of a group
have bits c_k and whole weights v_k with S = Σ v_k c_k. With Q = Σ q_i, V = Σ v_k and ±1 in place
of bits, the sum is Σ v_k (2c_k − 1) + (V − Q).

All counts are whole numbers: neither threads, strips nor budgets change a result.
"""

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Floats, Rows, Words
from samecam.correlate._bits import Counts, Differences, Tile
from samecam.correlate._membership import Membership, even_blocks
from samecam.correlate._progress import PhotoCount
from samecam.correlate._strips import word_strips, word_width
from samecam.store import FingerprintStore

Wholes = npt.NDArray[np.int64]

# Products of sums are added up in whole numbers below this, else in doubles.
_EXACT = 2**62


class Columns:
    """The columns of all groups of a membership.

    Attributes
    ----------
    count : groups
    weight, group : (columns,) v_k and the group
    size, total : (groups,) Q and V
    """

    def __init__(self, members: Membership) -> None:
        self.count = members.count
        by_group = np.argsort(members.groups, kind="stable")
        self._order = members.inside[by_group]
        self._whole = members.whole[by_group]
        groups, sizes = members.groups[by_group], members.sizes
        self._edges = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self.size: Wholes = np.zeros(self.count, dtype=np.int64)
        np.add.at(self.size, groups, self._whole)
        digits = np.array([int(q).bit_length() for q in self.size], dtype=np.intp)
        self._as_rows = sizes <= digits
        many = np.minimum(sizes, digits)
        self._first = np.concatenate([[0], np.cumsum(many)]).astype(np.intp)
        self.group: Rows = np.repeat(np.arange(self.count), many)
        place = np.arange(len(self.group)) - self._first[self.group]
        self.weight: Wholes = np.left_shift(1, place).astype(np.int64)
        self.weight[self._as_rows[self.group]] = self._whole[self._as_rows[groups]]
        self.total: Wholes = np.zeros(self.count, dtype=np.int64)
        np.add.at(self.total, self.group, self.weight)

    def __len__(self) -> int:
        return len(self.group)

    def fill(self, part: Words, out: Words, differences: Differences) -> None:
        """Put the columns of a strip of all rows into `out`, (columns, width)."""
        from samecam.correlate._bit_kernels import fill_columns

        def work(start: int, stop: int) -> None:
            fill_columns(
                part,
                start,
                stop,
                self._order,
                self._whole,
                self._edges,
                self._first,
                self._as_rows,
                out,
            )

        differences.share(work, 0, part.shape[1])

    def write(self, columns: Words, scale: float, out: Floats) -> None:
        """Put the sums of a strip, times `scale`, into `out`, (groups, pixels)."""
        from samecam.correlate._bit_kernels import write_sums

        write_sums(columns, self.weight, self._first, self.size, scale, out)

    def ones(self, ones: Wholes) -> Wholes:
        """(groups,) Σ over pixels of S, from the bits of each row that are 1."""
        sums = np.zeros(self.count, dtype=np.int64)
        groups = np.repeat(np.arange(self.count), np.diff(self._edges))
        np.add.at(sums, groups, self._whole * ones[self._order])
        return sums


def group_sums(source: FingerprintStore, members: Membership, memory: int) -> Floats:
    """See `correlate.group_sums`."""
    columns, d = Columns(members), source.n_pixels
    sums = np.zeros((members.count, d), dtype=np.float32)
    width = word_width(len(source) + len(columns), memory)
    buffer = np.empty(len(columns) * width, dtype=np.uint64)
    with Differences((0, 0), _ignore) as differences:
        for start, part in word_strips(source, width):
            some = _shaped(buffer, len(columns), part.shape[1])
            columns.fill(part, some, differences)
            pixels = slice(64 * start, 64 * start + 64 * part.shape[1])
            columns.write(some, d**-0.5 * members.unit, sums[:, pixels])
    return sums


def row_products(source: FingerprintStore, members: Membership, rows: Rows, width: int) -> Doubles:
    """See `correlate.row_products`; the width in words."""
    out = np.zeros((members.count, len(rows)))
    fill_products(source, members, out, width, rows=rows)
    return out.T


def other_products(source: FingerprintStore, members: Membership, memory: int) -> Floats:
    """See `correlate.other_products`: some groups at a time if not all fit."""
    n = len(members)
    out = np.zeros((members.count, n), dtype=np.float32)
    room = memory - out.nbytes
    for first, last in even_blocks(members.count, max(1, room // 2 // max(8 * n, 1))):
        some = members.only(first, last)
        products = np.zeros((some.count, n))
        fill_products(source, some, products, product_width(n, some, room - products.nbytes))
        products[some.groups, some.inside] -= some.weights
        out[first:last] = products
    return out


def group_products(source: FingerprintStore, members: Membership, width: int) -> Doubles:
    """See `correlate.group_products`; the width in words."""
    from samecam.correlate._bit_kernels import add_between, count_ones

    inside, d = members.inside, source.n_pixels
    columns = Columns(members.of(inside))
    result = np.zeros((members.count, members.count))
    exact = d * int(columns.size.max(initial=0)) ** 2 < _EXACT
    counts = result.view(np.int64) if exact else result
    ones = np.zeros(len(inside), dtype=np.int64)
    buffer = np.empty(len(columns) * width, dtype=np.uint64)

    def take(tile: Tile, part: Counts) -> None:
        add_between(part, tile[0], tile[2], columns.group, columns.weight, counts)

    with Differences((len(columns), len(columns)), take, lower=True) as differences:
        for _, part in word_strips(source, width, inside):
            some = _shaped(buffer, len(columns), part.shape[1])
            columns.fill(part, some, differences)
            differences.add(some, some, 0, part.shape[1])
            count_ones(part, ones)
    kind = counts.dtype
    total, spare = columns.total.astype(kind), (columns.total - columns.size).astype(kind)
    centred = 2 * columns.ones(ones).astype(kind) - total * d  # Σ over pixels of Σ v_k (2c_k − 1)
    for a in range(members.count):
        line = d * (total[a] * total + spare[a] * spare) - 2 * counts[a]
        line += spare * centred[a] + spare[a] * centred
        result[a] = line.astype(np.float64) * members.unit**2 / d
    return result


def other_group_products(
    source: FingerprintStore, members: Membership, own: Doubles, memory: int
) -> Doubles:
    """See `correlate.other_group_products`."""
    room = memory - 8 * members.count**2
    width = product_width(len(members.inside), members, room)
    result = group_products(source, members, width)
    diagonal = np.bincount(members.groups, weights=own[members.inside], minlength=members.count)
    result[np.diag_indices(members.count)] -= diagonal
    return result


def product_width(rows: int, members: Membership, memory: int) -> int:
    """Words of so many rows and the columns of all groups that fit into `memory` bytes."""
    return word_width(rows + -(-len(Columns(members)) // 2), memory)


def fill_products(
    source: FingerprintStore,
    members: Membership,
    out: Doubles,
    width: int,
    *,
    rows: Rows | None = None,
    count: PhotoCount | None = None,
) -> None:
    """Inner products s_c·x_i of groups with photos into `out`, which is zero before.

    Parameters
    ----------
    source : rows of bits
    members : who is in which group
    out : (groups, photos) in C order
    width : words that are read at a time
    rows : numbers of the photos, rising, default all
    count : told of words · photos
    """
    from samecam.correlate._bit_kernels import add_weighted, count_ones

    d, counts = source.n_pixels, out.view(np.int64)
    wanted = None if rows is None else members.with_members(rows)
    at = None if rows is None or wanted is None else np.searchsorted(wanted, rows)
    columns = Columns(members if wanted is None else members.of(wanted))
    ones = np.zeros(out.shape[1], dtype=np.int64)
    buffer = np.empty(len(columns) * width, dtype=np.uint64)

    def take(tile: Tile, part: Counts) -> None:
        add_weighted(part, tile[0], tile[2], columns.group, columns.weight, counts)

    with Differences((len(columns), out.shape[1]), take) as differences:
        for _, part in word_strips(source, width, wanted):
            photos = part if at is None else part[at]
            some = _shaped(buffer, len(columns), part.shape[1])
            columns.fill(part, some, differences)
            differences.add(some, photos, 0, part.shape[1])
            count_ones(photos, ones)
            if count is not None:
                count.add(photos.size)
    centred, spare = 2 * ones - d, columns.total - columns.size
    for c in range(members.count):
        line = columns.total[c] * d - 2 * counts[c] + spare[c] * centred
        out[c] = line * members.unit / d


def _shaped(buffer: Words, rows: int, width: int) -> Words:
    """The beginning of a buffer as an array in C order."""
    return buffer[: rows * width].reshape(rows, width)


def _ignore(tile: Tile, counts: Counts) -> None:
    """Take no counts."""
