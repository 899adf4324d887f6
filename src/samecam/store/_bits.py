"""Rows of one bit a pixel: how they are packed into words, and a store of them in memory."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats, Words
from samecam.frames import Frame
from samecam.store._base import FingerprintStore, Record
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


class BitRows(FingerprintStore):
    """Rows of bits in memory; nothing can be added.

    Parameters
    ----------
    values : (n, n_words) words as `pack` makes them
    n_pixels : length of a row
    keys : of the rows, rising; default their numbers
    hashes : of what the rows were made from; default empty
    frame : width and height, if they are known

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
        self.n_pixels = n_pixels
        self._frame = frame or Frame(n_pixels, 1)
        if self._frame.n_pixels != n_pixels:
            raise ValueError(f"frame is {frame}; rows have {n_pixels} pixels")
        self.values = np.ascontiguousarray(values)
        n = len(values)
        if self.values.shape != (n, self.n_words) or values.dtype != np.uint64:
            raise ValueError(
                f"words have shape {values.shape} and dtype {values.dtype}; rows of {n_pixels} "
                f"pixels have {self.n_words} of uint64"
            )
        self._keys = [f"{i:09d}" for i in range(n)] if keys is None else list(keys)
        self._hashes = [""] * n if hashes is None else list(hashes)
        if len(self._keys) != n or sorted(set(self._keys)) != self._keys:
            raise ValueError(f"give {n} keys, rising")

    @property
    def frame(self) -> Frame:
        """See `FingerprintStore.frame`."""
        return self._frame

    @property
    def keys(self) -> Sequence[str]:
        """Keys of the rows, sorted."""
        return self._keys

    @property
    def hashes(self) -> Sequence[str]:
        """Hashes of the rows, in the same order."""
        return self._hashes

    @property
    def row_bytes(self) -> int:
        """Bytes that reading one row takes."""
        return 4 * self.n_pixels + 8 * self.n_words

    @property
    def kind(self) -> np.dtype[Any]:
        """Words."""
        return np.dtype(np.uint64)

    def records(self) -> list[Record]:
        """One record a row."""
        pairs = zip(self._keys, self._hashes, strict=True)
        return [Record(key, sha256, {}, self.frame) for key, sha256 in pairs]

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

    def read_stored(
        self,
        rows: npt.NDArray[np.intp],
        out: npt.NDArray[Any],
        scales: Floats,
        *,
        start: int = 0,
        checks: npt.NDArray[np.uint32] | None = None,
        n_threads: int = 1,
    ) -> None:
        """See `FingerprintStore.read_stored`."""
        del checks, n_threads  # for stores that lie on a disk
        out[:] = self.values[:, start : start + out.shape[1]][rows]
        scales[:] = self.n_pixels**-0.5
