"""Inner products of rows with sums of rows that are shifted: what chance does there.

All is counted in whole numbers: neither threads nor budgets change a result.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Rows, Words
from samecam.compute import thread_count
from samecam.correlate._bit_sums import Columns, as_bits, held_rows
from samecam.correlate._bits import Differences
from samecam.correlate._each_row import Encoded, each_row, stored_rows
from samecam.correlate._membership import Membership, whole_weights
from samecam.correlate._strips import DEFAULT_MEMORY, bit_strips, row_scales, word_width
from samecam.store import FingerprintStore

Wholes = npt.NDArray[np.int64]

_WORD = 64
_LARGEST = 127  # of int8
# Scales of rows of int8 are rounded to so many steps: few enough for sums of 32 bits.
_STEPS, _LARGEST_SUM = 4095, 2**31 - 1
# Of two bits to fewer: each binary digit is a plane more.
_LEVELS = 255
# Rows from which a photo stays in the sum, whose share of it is small then.
_MANY = 8
_EMPTY = 1e-12
# Words from which the spread of a sum is measured.
_SOME_WORDS = 2**10
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

    def correlations(self, values: Encoded, scale: float, offsets: Rows) -> Doubles:
        """Correlations of a row with the sum of all, shifted by each offset.

        Of rows of bits the sum is rounded to two bits a pixel: a tenth of the work, and chance does
        the same. It has eight rows or more, and `prepare` was called.
        """

    def prepare(self) -> None:
        """Make what correlations need, before threads ask for them."""


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
    memory : bytes for what is held at a time, but for the sum and two rows a thread

    Returns
    -------
    (members, offsets) float64
    """
    total = sum_rows(source, members, memory=memory)

    def work(_: int, values: Encoded, scale: float) -> Doubles:
        return total.shifted(values, scale, offsets, member=True)

    return each_row(source, members, work, len(offsets), memory)


def shifted_correlations(
    source: FingerprintStore,
    members: Rows,
    photos: Rows,
    squares: Doubles,
    offsets: Rows,
    *,
    memory: int = DEFAULT_MEMORY,
) -> Doubles:
    """Correlations of some photos with the sum of some rows, shifted by each offset.

    What chance does with each photo: their pattern lies at no shift. Of eight rows or more, a photo
    that is one of them stays in the sum, which of rows of bits is rounded to two bits a pixel.

    Parameters
    ----------
    source : rows of one frame, of bits or int8
    members : numbers of the rows that are added up
    photos : numbers of the photos
    squares : (photos,) squared norm of the sum, without the photo if it is in it
    offsets : pixels, as for `shifted_products`; none is 0
    memory : bytes for what is held at a time, but for the sum and two rows a thread

    Returns
    -------
    (photos, offsets) float64
    """
    total = sum_rows(source, members, memory=memory)
    many = len(members) >= _MANY
    inside = np.isin(photos, members).tolist()
    norms = np.sqrt(np.maximum(squares, _EMPTY))
    if many and len(photos):
        total.prepare()

    def work(k: int, values: Encoded, scale: float) -> Doubles:
        if many:
            return total.correlations(values, scale, offsets)
        return np.asarray(total.shifted(values, scale, offsets, member=inside[k]) / norms[k])

    return each_row(source, photos, work, len(offsets), memory)


class _Planes(NamedTuple):
    """Numbers S = Σ v_k c_k for each pixel, as planes c_k; S is 0 beyond the last pixel.

    Attributes
    ----------
    planes, weights : c_k and v_k
    size : Q, twice what is taken off S to make it a number about 0
    ones : Σ S over all pixels
    """

    planes: Words
    weights: Wholes
    size: int
    ones: int


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
        planes = np.zeros((len(columns), source.n_words // bits), dtype=np.uint64)
        rows = held_rows(len(members), bits) + len(columns)
        width = word_width(rows, max(memory, _LEAST * rows))
        with Differences((0, 0), lambda *_: None) as threads:
            for start, part in bit_strips(source, width, members) if len(members) else ():
                some = np.empty((len(columns), part.shape[1]), dtype=np.uint64)
                columns.fill(part, some, threads)
                planes[:, start : start + part.shape[1]] = some
        size, ones = int(columns.size.sum()), int(columns.weight @ _ones(planes))
        self._total = _Planes(planes, columns.weight, size, ones)

    @property
    def nbytes(self) -> int:
        """See `RowSum`."""
        return self._total.planes.nbytes

    def shifted(
        self, values: Words, scale: float, offsets: Rows, *, member: bool = False
    ) -> Doubles:
        """See `RowSum`."""
        rows, weight, factors = values[np.newaxis], 1, self._factors
        if len(factors) == 2:
            rows, weight = _pair(values), max(1, round(float(scale) / self._unit))
        ones = _ones(rows)
        counts = factors @ _products(rows, ones, self._total, offsets, self._d)
        if member:
            own = _Planes(rows, factors, int(factors.sum()), int(factors @ ones))
            counts -= weight * (factors @ _products(rows, ones, own, offsets, self._d))
        if len(factors) == 2:
            return np.asarray(counts * (float(scale) * self._unit))
        return np.asarray(counts / self._d)

    def correlations(self, values: Words, scale: float, offsets: Rows) -> Doubles:
        """See `RowSum`."""
        rows, factors = values[np.newaxis], self._factors
        norm = self._d**-0.5
        if len(factors) == 2:
            rows, norm = _pair(values), float(scale)
        rounded = self._rounded
        counts = factors @ _products(rows, _ones(rows), rounded.total, offsets, self._d)
        return np.asarray(counts * (norm / rounded.norm))

    def prepare(self) -> None:
        """See `RowSum`."""
        self._rounded = _RoundedSum(self._total, self._d)


class _RoundedSum:
    """A sum rounded to −3, −1, 1 and 3 about its mean, which is 2a + b of two rows of bits ±1."""

    def __init__(self, total: _Planes, d: int) -> None:
        from samecam.correlate._shifted_kernels import round_sum

        mean, spread = total.ones / d, _spread(total, d)
        edges = np.floor(mean + np.array([-spread, 0, spread])).astype(np.int64)
        planes = np.zeros((2, total.planes.shape[1]), dtype=np.uint64)
        parts = np.linspace(0, planes.shape[1], thread_count() + 1).astype(int)
        with ThreadPoolExecutor(len(parts) - 1) as pool:
            work = partial(round_sum, total.planes, np.maximum(edges, 0), planes)
            list(pool.map(work, parts[:-1].tolist(), parts[1:].tolist()))
        weights, ones = np.array([2, 1]), _ones(planes)
        self.total = _Planes(planes, weights, 3, int(weights @ ones))
        unlike = int(_ones((planes[0] ^ planes[1])[np.newaxis])[0])
        self.norm = float(np.sqrt(9 * d - 8 * unlike))


def _spread(total: _Planes, d: int) -> float:
    """Standard deviation of a sum, from pixels all over the frame."""
    words = np.unique(np.linspace(0, max(d // _WORD - 1, 0), _SOME_WORDS).round().astype(np.intp))
    some = np.ascontiguousarray(total.planes[:, words])
    bits = np.unpackbits(some.view(np.uint8), axis=1)
    return float((total.weights.astype(np.float64) @ bits).std())


def _products(rows: Words, ones: Wholes, total: _Planes, offsets: Rows, d: int) -> Wholes:
    """(rows, offsets) of rows of bits ±1, of which so many are 1, with 2S − Q."""
    from samecam.correlate._shifted_kernels import count_common

    planes, weights, size, ones_of_sum = total
    shifts, length = offsets // _WORD, rows.shape[1]
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
            values, _ = stored_rows(source, members[k : k + 1])
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

    def correlations(self, values: npt.NDArray[np.int8], scale: float, offsets: Rows) -> Doubles:
        """See `RowSum`."""
        return np.asarray(self.shifted(values, scale, offsets) / self._norm)

    def prepare(self) -> None:
        """See `RowSum`."""
        square = np.einsum("i,i->", self._total, self._total, dtype=np.float64)
        self._norm = max(self._unit * float(np.sqrt(square)), _EMPTY)
