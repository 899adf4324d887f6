"""Rows of one or two bits a pixel: how they are packed into words, and kept in memory."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats, Words
from samecam.frames import Frame
from samecam.store._encoded import EncodedRows

_WORD = 64


def pack(signs: npt.ArrayLike, small: npt.ArrayLike | None = None) -> Words:
    """Words of 64 pixels from signs, (n, d) bool or numbers: 1 for True and for what is positive.

    With `small`, (n, d) bool, there are two bits a pixel, and words of signs and of these
    alternate. Bits beyond the last pixel are 0; see `FingerprintStore.is_bits`.
    """
    given = np.asarray(signs)
    if small is not None:
        both = np.stack([pack(given), pack(small)], axis=2)
        return both.reshape(len(given), 2 * both.shape[1])
    n, d = given.shape
    ones = given if given.dtype == np.bool_ else given > 0
    packed = np.zeros((n, 8 * -(-d // _WORD)), dtype=np.uint8)
    packed[:, : -(-d // 8)] = np.packbits(ones, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64, copy=False)


def pair_scales(words: Words, n_pixels: int) -> Floats:
    """What makes the norm 1 of rows of two bits a pixel, (n,) float32."""
    small = np.bitwise_count(words[:, 1::2]).sum(axis=1, dtype=np.int64)
    return np.asarray((9 * n_pixels - 8 * small) ** -0.5, dtype=np.float32)


def unpack(
    words: Words, n_pixels: int, out: Floats, *, first: int = 0, scales: Floats | None = None
) -> None:
    """Pixels of rows of bits into `out`: ±1/√d, or with `scales` those of two bits.

    Parameters
    ----------
    words : (n, k) words, of whole rows or from any word on
    n_pixels : length d of a whole row
    out : (n, width) float32
    first : bit of the first word that is the first pixel of `out`
    scales : (n,), of rows of two bits a pixel
    """
    from samecam.store._kernels import unpack_bits, unpack_pairs

    if scales is not None:
        unpack_pairs(words, first, scales, out)
        return
    unpack_bits(words, first, np.float32(n_pixels**-0.5), out)


class BitRows(EncodedRows):
    """Rows of bits in memory; nothing can be added.

    Parameters
    ----------
    values : (n, n_words) words as `pack` makes them, of one bit a pixel or of two
    n_pixels : length of a row
    keys, hashes, frame : see `EncodedRows`

    Attributes
    ----------
    values, n_pixels : as above
    """

    def __init__(
        self,
        values: Words,
        n_pixels: int,
        keys: Sequence[str] | None = None,
        hashes: Sequence[str] | None = None,
        frame: Frame | None = None,
    ) -> None:
        n, width = len(values), -(-n_pixels // _WORD)
        if values.shape not in ((n, width), (n, 2 * width)) or values.dtype != np.uint64:
            raise ValueError(
                f"words have shape {values.shape} and dtype {values.dtype}; rows of {n_pixels} "
                f"pixels have {width} of uint64, or {2 * width} of two bits a pixel"
            )
        self._planes = values.shape[1] // width
        scales = np.full(n, n_pixels**-0.5, dtype=np.float32)
        if self._planes == 2:
            scales = pair_scales(values, n_pixels)
        super().__init__(values, scales, n_pixels, keys, hashes, frame)

    @property
    def planes(self) -> int:
        """Bits a pixel."""
        return self._planes

    @property
    def row_bytes(self) -> int:
        """Bytes that reading one row takes."""
        return 4 * self.n_pixels + 8 * self.n_words

    def words(
        self, width: int, rows: npt.NDArray[np.intp] | None = None
    ) -> Iterator[tuple[int, Words]]:
        """See `FingerprintStore.words`; of all rows these are views."""
        chosen = slice(None) if rows is None else rows
        width = self.whole_words(width)
        for start in range(0, self.n_words, width):
            yield start, self.values[:, start : start + width][chosen]

    def columns(
        self, width: int, rows: npt.NDArray[np.intp] | None = None
    ) -> Iterator[tuple[int, Floats]]:
        """See `FingerprintStore.columns`."""
        chosen = slice(None) if rows is None else rows
        n = len(self) if rows is None else len(rows)
        for start in range(0, self.n_pixels, width):
            out = np.empty((n, min(width, self.n_pixels - start)), dtype=np.float32)
            first, last = start // _WORD, -(-(start + width) // _WORD)
            part = self.values[:, self.planes * first : self.planes * last][chosen]
            self._unpack(part, self.scales[chosen], out, start % _WORD)
            yield start, out

    def read_into(self, rows: npt.NDArray[np.intp], out: Floats) -> None:
        """See `FingerprintStore.read_into`."""
        for target, row in enumerate(rows):
            one = slice(row, row + 1)
            self._unpack(self.values[one], self.scales[one], out[target : target + 1])

    def _unpack(self, words: Words, scales: Floats, out: Floats, first: int = 0) -> None:
        pairs = None if self.planes == 1 else scales
        unpack(words, self.n_pixels, out, first=first, scales=pairs)
