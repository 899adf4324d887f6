"""Square fingerprints, seen on a smaller square: what smaller photos are compared with."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats, Mask, Rows
from samecam.frames import Frame
from samecam.photos import At
from samecam.store import FingerprintStore, Subset


class Cropped(Subset):
    """A store of square fingerprints, seen on squares of `side` pixels at a corner or the centre.

    What is cut out of a row is brought to zero mean and unit norm again. Away from its lower
    and right border it is what extraction from the smaller crop gives: the denoiser sees
    only some pixels around, and row, column and phase means hardly differ.
    """

    def __init__(self, store: FingerprintStore, side: int, at: At = "corner") -> None:
        super().__init__(store, np.arange(len(store)))
        self.whole = math.isqrt(store.n_pixels)
        if self.whole**2 != store.n_pixels or side > self.whole:
            raise ValueError(f"side is {side}; fingerprints have {store.n_pixels} numbers")
        self.side = side
        self.first = (self.whole - side) // 2 if at == "centre" else 0
        self.n_pixels = side * side
        self._mean = np.zeros(len(store), dtype=np.float32)
        self._norm = np.ones(len(store), dtype=np.float32)
        self._measure()

    @property
    def frame(self) -> Frame:
        """The smaller square."""
        return Frame(self.side, self.side)

    @property
    def kind(self) -> np.dtype[Any]:
        """Floats, whatever is stored."""
        return np.dtype(np.float32)

    def _measure(self) -> None:
        """Means and norms of what is cut out, in one pass."""
        total, square = np.zeros(len(self)), np.zeros(len(self))
        for _, part in self._cut(8192, None):
            total += part.sum(axis=1, dtype=np.float64)
            square += np.einsum("ij,ij->i", part, part, dtype=np.float64)
        mean = total / self.n_pixels
        self._mean = mean.astype(np.float32)
        spread = np.sqrt(np.maximum(square - self.n_pixels * mean**2, 0))
        self._norm = np.where(spread > 0, spread, 1).astype(np.float32)

    def _cut(self, width: int, rows: Rows | None) -> Iterator[tuple[int, Floats]]:
        """Parts of rows, without the pixels outside the square."""
        at = 0
        for start, part in self.store.columns(width, rows):
            pixel = np.arange(start, start + part.shape[1])
            inside = self._inside(pixel % self.whole) & self._inside(pixel // self.whole)
            if inside.any():
                yield at, np.ascontiguousarray(part[:, inside])
                at += int(np.count_nonzero(inside))

    def _inside(self, place: Rows) -> Mask:
        return (place >= self.first) & (place < self.first + self.side)

    def on_disk(self, rows: Rows) -> None:
        """See `FingerprintStore.on_disk`: what is cut out is not there as it is."""

    def columns(self, width: int, rows: Rows | None = None) -> Iterator[tuple[int, Floats]]:
        """See `FingerprintStore.columns`."""
        chosen = slice(None) if rows is None else rows
        mean, norm = self._mean[chosen, np.newaxis], self._norm[chosen, np.newaxis]
        for at, part in self._cut(width, rows):
            yield at, (part - mean) / norm

    def read_into(self, rows: Rows, out: Floats) -> None:
        """See `FingerprintStore.read_into`."""
        whole = np.empty((1, self.store.n_pixels), dtype=np.float32)
        some = slice(self.first, self.first + self.side)
        for target, row in enumerate(rows):
            self.store.read_into(np.array([row]), whole)
            square = whole.reshape(self.whole, self.whole)[some, some]
            out[target] = (square.ravel() - self._mean[row]) / self._norm[row]

    def read_stored(
        self,
        rows: Rows,
        out: npt.NDArray[Any],
        scales: Floats,
        *,
        start: int = 0,
        checks: npt.NDArray[np.uint32] | None = None,
        n_threads: int = 1,
    ) -> None:
        """See `FingerprintStore.read_stored`."""
        FingerprintStore.read_stored(
            self, rows, out, scales, start=start, checks=checks, n_threads=n_threads
        )
