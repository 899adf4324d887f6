"""Rows in memory as they are stored: what rows of bits and of bytes have in common."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats
from samecam.frames import Frame
from samecam.store._base import FingerprintStore, Record


class EncodedRows(FingerprintStore):
    """Row i is scales[i] · values[i]; nothing can be added.

    Parameters
    ----------
    values : (n, items) as they are stored
    scales : (n,)
    n_pixels : length of a row
    keys : of the rows, rising; default their numbers
    hashes : of what the rows were made from; default empty
    frame : width and height, if they are known
    """

    def __init__(
        self,
        values: npt.NDArray[Any],
        scales: Floats,
        n_pixels: int,
        keys: Sequence[str] | None = None,
        hashes: Sequence[str] | None = None,
        frame: Frame | None = None,
    ) -> None:
        n = len(values)
        self.n_pixels, self._frame = n_pixels, frame or Frame(n_pixels, 1)
        if self._frame.n_pixels != n_pixels:
            raise ValueError(f"frame is {frame}; rows have {n_pixels} pixels")
        self.values, self.scales = np.ascontiguousarray(values), scales
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
    def kind(self) -> np.dtype[Any]:
        """Number type that `read_stored` gives."""
        return self.values.dtype

    def records(self) -> list[Record]:
        """One record a row."""
        pairs = zip(self._keys, self._hashes, strict=True)
        return [Record(key, sha256, {}, self.frame) for key, sha256 in pairs]

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
        for target, row in zip(out, rows.tolist(), strict=True):
            target[:] = self.values[row, start : start + len(target)]
        scales[:] = self.scales[rows]
