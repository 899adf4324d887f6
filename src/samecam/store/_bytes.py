"""Rows of one byte a pixel in memory, as they are stored."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats
from samecam.store._base import FingerprintStore, Record


class ByteRows(FingerprintStore):
    """Rows of int8 in memory: row i is scales[i] · values[i]; nothing can be added.

    Keys are the numbers of the rows, and there are no hashes.

    Attributes
    ----------
    values : (n, d) int8
    scales : (n,) float32
    """

    def __init__(self, values: npt.NDArray[np.int8], scales: npt.ArrayLike) -> None:
        self.values = np.ascontiguousarray(values)
        self.scales: Floats = np.array(scales, dtype=np.float32)
        n, self.n_pixels = values.shape
        if values.dtype != np.int8 or self.scales.shape != (n,):
            raise ValueError(
                f"values have shape {values.shape} and dtype {values.dtype}, and scales "
                f"{self.scales.shape}; give int8 and a scale for each row"
            )

    @property
    def keys(self) -> Sequence[str]:
        """Keys of the rows, sorted."""
        return [f"{i:09d}" for i in range(len(self.values))]

    @property
    def hashes(self) -> Sequence[str]:
        """None is known."""
        return [""] * len(self.values)

    @property
    def row_bytes(self) -> int:
        """Bytes that reading one row takes."""
        return 4 * self.n_pixels

    @property
    def kind(self) -> np.dtype[Any]:
        """Bytes."""
        return np.dtype(np.int8)

    def __len__(self) -> int:
        return len(self.values)

    def records(self) -> list[Record]:
        """One record a row."""
        return [Record(key, frame=self.frame) for key in self.keys]

    def columns(
        self, width: int, rows: npt.NDArray[np.intp] | None = None
    ) -> Iterator[tuple[int, Floats]]:
        """See `FingerprintStore.columns`."""
        chosen = slice(None) if rows is None else rows
        scales = self.scales[chosen, np.newaxis]
        for start in range(0, self.n_pixels, width):
            yield start, self.values[:, start : start + width][chosen] * scales

    def read_into(self, rows: npt.NDArray[np.intp], out: Floats) -> None:
        """See `FingerprintStore.read_into`."""
        for target, row in enumerate(rows):
            np.multiply(self.values[row], self.scales[row], out=out[target])

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
        scales[:] = self.scales[rows]
