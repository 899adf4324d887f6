"""Sums of rows of bits over groups, and inner products with them, in whole numbers.

The sum over a group, S = Σ q_i b_i with bits b_i and whole weights q_i, is a number for each
pixel. It is kept as its binary digits, one row of bits for each: planes. Products with it are
then popcounts, as those of two rows are, and there are about log₂ m planes for m members; where
these are fewer, the members themselves stand in their place. Either way the columns k of a group
have bits c_k and whole weights v_k with S = Σ v_k c_k. With Q = Σ q_i, V = Σ v_k and ±1 in place
of bits, the sum is Σ v_k (2c_k − 1) + (V − Q).

A row of two bits a pixel is 2a + b of two rows of one bit, so that a group has twice as many of
these, with the weights 2q_i and q_i. The scales of rows go into the weights then, and are rounded.

All counts are whole numbers: neither threads, strips nor budgets change a result.
"""

from collections.abc import Iterator
from copy import copy

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Floats, Rows, Words
from samecam.correlate._bits import Counts, Differences, Tile
from samecam.correlate._membership import Membership, even_blocks, whole_weights
from samecam.correlate._progress import PhotoCount
from samecam.correlate._strips import bit_strips, row_scales, word_width
from samecam.store import FingerprintStore

Wholes = npt.NDArray[np.int64]

# Products of sums are added up in whole numbers below this, else in doubles.
_EXACT = 2**62
# Weights of rows of two bits, times their scales: twelve binary digits.
LEVELS = 4095


class BitMembers:
    """Who is in which group, of rows of bits.

    Parameters
    ----------
    source : the rows
    members : who is in which group
    levels : to which scales of rows of two bits are rounded

    Attributes
    ----------
    members : the same, for numbers ±1 (or ±1 and ±3 of two bits a pixel) in place of rows: the
        weights are whole multiples of the unit
    planes : bits a pixel
    parts : (n,) what each row is multiplied with in the sum of its group: its weight, of rows of
        two bits rounded
    norms : (n,) what products of a sum with each row are divided by
    square : what products of two sums are divided by
    pixels : of a row
    """

    def __init__(self, source: FingerprintStore, members: Membership, levels: int = LEVELS) -> None:
        self.members, self.planes, self.pixels = members, source.planes, source.n_pixels
        self.square = float(self.pixels)
        self.norms: Doubles = np.full(len(members), self.square)
        self.parts: Doubles = members.row_weights.astype(np.float64)
        if self.planes == 2:
            scales = row_scales(source).astype(np.float64)
            weights, unit = whole_weights(members.row_weights * scales, levels)
            self.members = Membership(members.labels, members.count, weights, unit)
            self.norms, self.square = 1 / scales, 1.0
            self.parts = np.rint(weights / unit) * unit * self.norms

    @property
    def scale(self) -> float:
        """What sums of numbers are multiplied with."""
        return float(self.square**-0.5 * self.members.unit)

    def only(self, groups: Rows) -> "BitMembers":
        """Some groups alone, counted from 0, of all photos."""
        result = copy(self)
        result.members = self.members.only(groups)
        return result

    def columns(self, rows: Rows | None = None) -> "Columns":
        """The columns of all groups, with some photos alone."""
        return Columns(
            as_bits(self.members if rows is None else self.members.of(rows), self.planes)
        )

    def width(self, rows: int, memory: int) -> int:
        """Words of so many rows and of the columns that fit into `memory` bytes."""
        held = held_rows(rows, self.planes) + -(-len(self.columns()) // 2)
        return word_width(held, memory)


def as_bits(members: Membership, planes: int) -> Membership:
    """Of rows of two bits, the membership of the rows of one bit that they are made of."""
    if planes == 1:
        return members
    weights = np.repeat(members.row_weights, 2)
    weights[::2] *= 2
    return Membership(np.repeat(members.labels, 2), members.count, weights, members.unit)


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

    def write(self, columns: Words, scale: float, out: Floats, differences: Differences) -> None:
        """Put the sums of a strip, times `scale`, into `out`, (groups, pixels)."""
        from samecam.correlate._bit_kernels import write_sums

        def work(start: int, stop: int) -> None:
            words, pixels = columns[:, start:stop], out[:, 64 * start : 64 * stop]
            write_sums(words, self.weight, self._first, self.size, scale, pixels)

        differences.share(work, 0, columns.shape[1])

    def ones(self, ones: Wholes) -> Wholes:
        """(groups,) Σ over pixels of S, from the bits of each row that are 1."""
        sums = np.zeros(self.count, dtype=np.int64)
        groups = np.repeat(np.arange(self.count), np.diff(self._edges))
        np.add.at(sums, groups, self._whole * ones[self._order])
        return sums


def sum_strips(
    source: FingerprintStore, members: Membership, memory: int, levels: int = LEVELS
) -> Iterator[tuple[int, Floats]]:
    """See `correlate.sum_strips`."""
    given = BitMembers(source, members, levels)
    columns = given.columns(members.inside)
    width = word_width(held_rows(len(members.inside), given.planes) + len(columns), memory)
    buffer = np.empty(len(columns) * width, dtype=np.uint64)
    with Differences((0, 0), _ignore) as differences:
        for start, part in bit_strips(source, width, members.inside):
            some = _shaped(buffer, len(columns), part.shape[1])
            columns.fill(part, some, differences)
            pixels = min(64 * part.shape[1], source.n_pixels - 64 * start)
            sums = np.empty((members.count, pixels), dtype=np.float32)
            columns.write(some, given.scale, sums, differences)
            yield 64 * start, sums


def row_products(source: FingerprintStore, members: Membership, rows: Rows, width: int) -> Doubles:
    """See `correlate.row_products`; the width in words."""
    out = np.zeros((members.count, len(rows)))
    fill_products(source, BitMembers(source, members), out, width, rows=rows)
    return out.T


def other_products(source: FingerprintStore, members: Membership, memory: int) -> Floats:
    """See `correlate.other_products`: some groups at a time if not all fit."""
    n, given = len(members), BitMembers(source, members)
    out = np.zeros((members.count, n), dtype=np.float32)
    room = memory - out.nbytes
    for first, last in even_blocks(members.count, max(1, room // 2 // max(8 * n, 1))):
        some = given.only(np.arange(first, last))
        groups, inside = some.members.groups, some.members.inside
        products = np.zeros((some.members.count, n))
        fill_products(source, some, products, some.width(n, room - products.nbytes))
        products[groups, inside] -= given.parts[inside]
        out[first:last] = products
    return out


def group_products(source: FingerprintStore, members: Membership, width: int) -> Doubles:
    """See `correlate.group_products`; the width in words."""
    return _group_products(source, BitMembers(source, members), width)


def _group_products(source: FingerprintStore, given: BitMembers, width: int) -> Doubles:
    from samecam.correlate._bit_kernels import add_between, count_ones

    members, d = given.members, source.n_pixels
    columns = given.columns(members.inside)
    result = np.zeros((members.count, members.count))
    exact = d * int(columns.size.max(initial=0)) ** 2 < _EXACT
    counts = result.view(np.int64) if exact else result
    ones = np.zeros(given.planes * len(members.inside), dtype=np.int64)
    buffer = np.empty(len(columns) * width, dtype=np.uint64)

    def take(tile: Tile, part: Counts) -> None:
        add_between(part, tile[0], tile[2], columns.group, columns.weight, counts)

    with Differences((len(columns), len(columns)), take, lower=True) as differences:
        for _, part in bit_strips(source, width, members.inside):
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
        result[a] = line.astype(np.float64) * members.unit**2 / given.square
    return result


def other_group_products(
    source: FingerprintStore, members: Membership, own: Doubles, memory: int
) -> Doubles:
    """See `correlate.other_group_products`."""
    given, inside = BitMembers(source, members), members.inside
    width = given.width(len(inside), memory - 8 * members.count**2)
    result = _group_products(source, given, width)
    squares = own if given.planes == 1 else np.square(given.parts)
    diagonal = np.bincount(members.groups, weights=squares[inside], minlength=members.count)
    result[np.diag_indices(members.count)] -= diagonal
    return result


def fill_products(
    source: FingerprintStore,
    given: BitMembers,
    out: Doubles,
    width: int,
    *,
    rows: Rows | None = None,
    count: PhotoCount | None = None,
) -> None:
    """Inner products s_c·x_i of groups with photos into `out`, which is zero before.

    What a photo has with itself is `given.parts`: its norm counts as 1 to the last digit.

    Parameters
    ----------
    source : rows of bits
    given : who is in which group
    out : (groups, photos) in C order
    width : words of 64 pixels that are read at a time
    rows : numbers of the photos, rising, default all
    count : told of words · photos
    """
    from samecam.correlate._bit_kernels import add_weighted, count_ones, count_unlike

    d, counts, planes = source.n_pixels, out.view(np.int64), given.planes
    wanted = None if rows is None else given.members.with_members(rows)
    at = None if rows is None or wanted is None else as_pairs(np.searchsorted(wanted, rows), planes)
    columns = given.columns(wanted)
    ones = np.zeros(planes * out.shape[1], dtype=np.int64)
    small = np.zeros(out.shape[1], dtype=np.int64)
    buffer = np.empty(len(columns) * width, dtype=np.uint64)

    def take(tile: Tile, part: Counts) -> None:
        add_weighted(part, tile[0], tile[2], columns.group, columns.weight, planes, counts)

    with Differences((len(columns), planes * out.shape[1]), take) as differences:
        for _, part in bit_strips(source, width, wanted):
            photos = part if at is None else part[at]
            some = _shaped(buffer, len(columns), part.shape[1])
            columns.fill(part, some, differences)
            differences.add(some, photos, 0, part.shape[1])
            count_ones(photos, ones)
            if planes == 2:
                count_unlike(photos, small)
            if count is not None:
                count.add(photos.size)
    centred, most = 2 * ones - d, d
    if planes == 2:
        centred, most = 2 * centred[::2] + centred[1::2], 3 * d
    chosen = slice(None) if rows is None else rows
    norms, labels, unit = given.norms[chosen], given.members.labels[chosen], given.members.unit
    own = np.rint(given.members.row_weights[chosen] / unit).astype(np.int64) * (9 * d - 8 * small)
    spare = columns.total - columns.size
    for c in range(given.members.count):
        line = columns.total[c] * most - 2 * counts[c] + spare[c] * centred
        mine = np.flatnonzero(labels == c) if planes == 2 else slice(0)
        line[mine] -= own[mine]
        out[c] = line * unit / norms
        out[c, mine] += given.parts[chosen][mine]


def as_pairs(rows: Rows, planes: int) -> Rows:
    """Numbers of the rows of one bit that rows of two bits are made of."""
    return rows if planes == 1 else (2 * rows[:, np.newaxis] + np.arange(2)).ravel()


def held_rows(rows: int, planes: int) -> int:
    """Rows of words that are held while so many are read: those of two bits as pairs too."""
    return rows if planes == 1 else 3 * rows


def _shaped(buffer: Words, rows: int, width: int) -> Words:
    """The beginning of a buffer as an array in C order."""
    return buffer[: rows * width].reshape(rows, width)


def _ignore(tile: Tile, counts: Counts) -> None:
    """Take no counts."""
