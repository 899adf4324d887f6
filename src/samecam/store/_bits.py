"""Rows of one bit a pixel: how they are packed into words, and a store of them in memory."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats, Words
from samecam.frames import Frame
from samecam.store._encoded import EncodedRows
from samecam.store._kernels import unpack_bits

_WORD = 64


def pack(signs: npt.ArrayLike) -> Words:
    """Words of 64 pixels from signs, (n, d) bool or numbers: 1 for True and for what is positive.

    Bits beyond the last pixel are 0; see `FingerprintStore.is_bits`.
    """
    given = np.asarray(signs)
    n, d = given.shape
    ones = given if given.dtype == np.bool_ else given > 0
    packed = np.zeros((n, 8 * -(-d // _WORD)), dtype=np.uint8)
    packed[:, : -(-d // 8)] = np.packbits(ones, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64, copy=False)


def unpack(words: Words, n_pixels: int, out: Floats, *, first: int = 0) -> None:
    """Pixels of rows of bits, ±1/√d, into `out`.

    Parameters
    ----------
    words : (n, k) words, of whole rows or from any word on
    n_pixels : length d of a whole row
    out : (n, width) float32
    first : bit of the first word that is the first pixel of `out`
    """
    unpack_bits(words, first, np.float32(n_pixels**-0.5), out)


class BitRows(EncodedRows):
    """Rows of bits in memory; nothing can be added.

    Parameters
    ----------
    values : (n, n_words) words as `pack` makes them
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
        if values.shape != (n, width) or values.dtype != np.uint64:
            raise ValueError(
                f"words have shape {values.shape} and dtype {values.dtype}; rows of {n_pixels} "
                f"pixels have {width} of uint64"
            )
        scales = np.full(n, n_pixels**-0.5, dtype=np.float32)
        super().__init__(values, scales, n_pixels, keys, hashes, frame)

    @property
    def row_bytes(self) -> int:
        """Bytes that reading one row takes."""
        return 4 * self.n_pixels + 8 * self.n_words

    def words(
        self, width: int, rows: npt.NDArray[np.intp] | None = None
    ) -> Iterator[tuple[int, Words]]:
        """See `FingerprintStore.words`; of all rows these are views."""
        chosen = slice(None) if rows is None else rows
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
            part = self.values[:, start // _WORD : -(-(start + width) // _WORD)][chosen]
            unpack(part, self.n_pixels, out, first=start % _WORD)
            yield start, out

    def read_into(self, rows: npt.NDArray[np.intp], out: Floats) -> None:
        """See `FingerprintStore.read_into`."""
        for target, row in enumerate(rows):
            unpack(self.values[row : row + 1], self.n_pixels, out[target : target + 1])
