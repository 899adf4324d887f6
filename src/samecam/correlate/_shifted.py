"""Inner products of rows with sums of rows that are shifted: what chance does there.

All is counted in whole numbers: neither threads nor budgets change a result.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Rows, Words
from samecam.compute import thread_count
from samecam.correlate._bit_sums import Columns, as_bits, held_rows
from samecam.correlate._bits import Differences
from samecam.correlate._membership import Membership, whole_weights
from samecam.correlate._strips import DEFAULT_MEMORY, bit_strips, row_scales, word_width
from samecam.store import FingerprintStore

Wholes = npt.NDArray[np.int64]
Encoded = npt.NDArray[Any]  # a row as it is stored: words, or int8

_WORD = 64
_LARGEST = 127  # of int8
# Scales of rows of int8 are rounded to so many steps: few enough for sums of 32 bits.
_STEPS, _LARGEST_SUM = 4095, 2**31 - 1
# Of two bits to fewer: each binary digit is a plane more.
_LEVELS = 255
_LEAST = 2**10  # bytes of each row that are read at a time, at least


class RowSum(Protocol):
    """The sum of some rows of one frame, made by `sum_rows`."""

    @property
    def nbytes(self) -> int:
        """Bytes it takes."""

    def shifted(
        self, values: Encoded, scale: float, offsets: Rows, *, member: bool = False
    ) -> Doubles:
        """Inner products of a row with the sum, shifted by each offset.

        Parameters
        ----------
        values, scale : the row, as it is stored
        offsets : pixels, multiples of 64; see `shifted_products`
        member : whether the row is one of those that were added up; it is left out of the sum then
        """


def sum_rows(source: FingerprintStore, members: Rows, *, memory: int = DEFAULT_MEMORY) -> RowSum:
    """The sum of some rows of bits or int8, to be shifted.

    Rows of one bit a pixel are added up exactly, as planes of binary digits. Of others the scales
    are rounded: of two bits to 1/255 of the largest, of int8 to 1/4095 (somewhat more, if there are
    thousands of rows).

    Parameters
    ----------
    source : rows of one frame
    members : their numbers
    memory : bytes for what is read at a time
    """
    if source.is_bits:
        return _BitSum(source, members, memory)
    if source.kind == np.int8:
        return _ByteSum(source, members)
    raise TypeError(f"rows are of kind {source.kind}; those of bits and int8 can be shifted")


def shifted_products(
    source: FingerprintStore,
    members: Rows,
    offsets: Rows,
    *,
    memory: int = DEFAULT_MEMORY,
    among: Rows | None = None,
) -> Doubles:
    """Inner product of each member with the sum of the others, shifted by each offset.

    Pixel k of a row is multiplied with pixel k + offset of the sum, which begins again after its
    end. Rows of bits are shifted by whole words: where the last word is filled in part, what is
    beyond the last pixel counts as pixels that are 0 in both.

    Parameters
    ----------
    source : rows of bits or int8, of one frame
    members : their numbers
    offsets : pixels, multiples of 64, from 0 to less than those of a row
    memory : bytes for what is held at a time, but for the sum and one row a thread
    among : which of the members, by their places; None: all

    Returns
    -------
    (members, offsets) float64; of those among them
    """
    total, threads = sum_rows(source, members, memory=memory), thread_count()
    work = partial(total.shifted, offsets=offsets, member=True)
    some = members if among is None else members[among]
    out = np.empty((len(some), len(offsets)))
    step = max(threads, memory // _row_bytes(source))
    with ThreadPoolExecutor(threads) as pool:
        for first in range(0, len(some), step):
            values, scales = _stored(source, some[first : first + step])
            for k, line in enumerate(pool.map(work, values, scales.tolist()), first):
                out[k] = line
    return out


def _row_bytes(source: FingerprintStore) -> int:
    return (source.n_words if source.is_bits else source.n_pixels) * source.kind.itemsize


def _stored(source: FingerprintStore, rows: Rows) -> tuple[Encoded, Encoded]:
    """Rows as they are stored, and their scales."""
    values = np.empty((len(rows), _row_bytes(source) // source.kind.itemsize), dtype=source.kind)
    scales = np.empty(len(rows), dtype=np.float32)
    source.read_stored(rows, values, scales)
    return values, scales


class _BitSum:
    """Of rows of bits: S = Σ b_j, kept as planes c_k with weights v_k, S = Σ v_k c_k.

    With b the bits of a row, Q rows in the sum and ±1 in place of bits, a product over n pixels is
    Σ (2b − 1)(2S − Q) = 4 Σ bS − 2Q Σ b − 2 Σ S + Qn. The first sum is one of popcounts; b and S
    are 0 beyond the last pixel, so it is right as it is. Pixels that meet none are left out of the
    others: with bits beyond the last pixel in the last word, those are pixels of the row that meet
    these bits of the sum, and pixels of the sum that meet those of the row.

    A row of two bits a pixel is 2a + b of two rows of one bit, each of which is multiplied so.
    """

    def __init__(self, source: FingerprintStore, members: Rows, memory: int) -> None:
        bits, self._d = source.planes, source.n_pixels
        self._factors = np.array([2, 1] if bits == 2 else [1])
        weights, self._unit = np.ones(len(members), dtype=np.float32), 1.0
        if bits == 2:
            weights, self._unit = whole_weights(row_scales(source, members), _LEVELS)
        labels = np.zeros(len(members), dtype=np.intp)
        columns = Columns(as_bits(Membership(labels, None, weights, self._unit), bits))
        self._planes = np.zeros((len(columns), source.n_words // bits), dtype=np.uint64)
        self._weights, self._size = columns.weight, int(columns.size.sum())
        rows = held_rows(len(members), bits) + len(columns)
        width = word_width(rows, max(memory, _LEAST * rows))
        with Differences((0, 0), lambda *_: None) as threads:
            for start, part in bit_strips(source, width, members) if len(members) else ():
                some = np.empty((len(columns), part.shape[1]), dtype=np.uint64)
                columns.fill(part, some, threads)
                self._planes[:, start : start + part.shape[1]] = some
        self._ones = int(self._weights @ _ones(self._planes))

    @property
    def nbytes(self) -> int:
        """See `RowSum`."""
        return self._planes.nbytes

    def shifted(
        self, values: Words, scale: float, offsets: Rows, *, member: bool = False
    ) -> Doubles:
        """See `RowSum`."""
        rows, weight, factors = values[np.newaxis], 1, self._factors
        if len(factors) == 2:
            rows, weight = _pair(values), max(1, round(float(scale) / self._unit))
        ones = _ones(rows)
        given = (self._planes, self._weights, self._size, self._ones)
        counts = factors @ self._products(rows, ones, *given, offsets)
        if member:
            given = (rows, factors, int(factors.sum()), int(factors @ ones))
            counts -= weight * (factors @ self._products(rows, ones, *given, offsets))
        if len(factors) == 2:
            return np.asarray(counts * (float(scale) * self._unit))
        return np.asarray(counts / self._d)

    def _products(
        self,
        rows: Words,
        ones: Wholes,
        planes: Words,
        weights: Wholes,
        size: int,
        ones_of_sum: int,
        offsets: Rows,
    ) -> Wholes:
        """(rows, offsets)."""
        from samecam.correlate._shifted_kernels import count_common

        shifts, length, d = offsets // _WORD, rows.shape[1], self._d
        common = np.zeros((len(rows), len(shifts), len(planes)), dtype=np.int64)
        count_common(rows, planes, shifts, common)
        beyond = np.uint64(2**64 - 2 ** ((d - 1) % _WORD + 1))
        ends = rows[:, (length - 1 - shifts) % length] & beyond
        lost = np.array([_ones(end[:, np.newaxis]) for end in ends])
        met = planes[:, (length - 1 + shifts) % length] & beyond
        lost_of_sum = sum(v * _ones(c[:, np.newaxis]) for v, c in zip(weights, met, strict=True))
        pixels = np.where(shifts > 0, 2 * d - _WORD * length, d)
        return np.asarray(
            4 * common @ weights
            - 2 * size * (ones[:, np.newaxis] - lost)
            - 2 * (ones_of_sum - lost_of_sum)
            + size * pixels
        )


def _pair(values: Words) -> Words:
    """The two rows of one bit that a row of two bits is made of."""
    from samecam.correlate._bit_kernels import split_pairs

    rows = np.empty((2, values.size // 2), dtype=np.uint64)
    split_pairs(values[np.newaxis], rows)
    return rows


def _ones(words: Words) -> Wholes:
    """Bits of each row that are 1."""
    from samecam.correlate._bit_kernels import count_ones

    out = np.zeros(len(words), dtype=np.int64)
    count_ones(np.ascontiguousarray(words), out)
    return out


class _ByteSum:
    """Of rows of int8: Σ w_j q_j, with w_j the rows' scales in whole multiples of a unit."""

    def __init__(self, source: FingerprintStore, members: Rows) -> None:
        from samecam.correlate._shifted_kernels import add_weighted

        scales = np.empty(len(members), dtype=np.float32)
        source.read_stored(members, np.empty((len(members), 0), dtype=np.int8), scales)
        steps = min(_STEPS, _LARGEST_SUM // (_LARGEST * max(len(members), 1)))
        self._unit = float(scales.max(initial=0)) / steps or 1.0
        self._total = np.zeros(source.n_pixels, dtype=np.int32)
        for k in range(len(members)):
            values, _ = _stored(source, members[k : k + 1])
            add_weighted(values[0], self._weight(scales[k]), self._total)

    def _weight(self, scale: float) -> int:
        return round(float(scale) / self._unit)

    @property
    def nbytes(self) -> int:
        """See `RowSum`."""
        return self._total.nbytes

    def shifted(
        self,
        values: npt.NDArray[np.int8],
        scale: float,
        offsets: Rows,
        *,
        member: bool = False,
    ) -> Doubles:
        """See `RowSum`."""
        from samecam.correlate._shifted_kernels import dots

        out = np.zeros(len(offsets), dtype=np.int64)
        dots(values, self._total, offsets, out)
        if member:
            own = np.zeros(len(offsets), dtype=np.int64)
            dots(values, values, offsets, own)
            out -= self._weight(scale) * own
        return np.asarray(out * (scale * self._unit))
