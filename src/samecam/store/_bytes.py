"""Rows of one byte a pixel in memory, as they are stored."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats
from samecam.frames import Frame
from samecam.store._encoded import EncodedRows


class ByteRows(EncodedRows):
    """Rows of int8 in memory: row i is scales[i] · values[i]; nothing can be added.

    Keys are the numbers of the rows, and there are no hashes.

    Parameters
    ----------
    values, scales : see below
    frame : width and height, if they are known

    Attributes
    ----------
    values : (n, d) int8
    scales : (n,) float32
    """

    def __init__(
        self, values: npt.NDArray[np.int8], scales: npt.ArrayLike, frame: Frame | None = None
    ) -> None:
        factors: Floats = np.array(scales, dtype=np.float32)
        if values.dtype != np.int8 or factors.shape != (len(values),):
            raise ValueError(
                f"values have shape {values.shape} and dtype {values.dtype}, and scales "
                f"{factors.shape}; give int8 and a scale for each row"
            )
        super().__init__(values, factors, values.shape[1], frame=frame)

    @property
    def row_bytes(self) -> int:
        """Bytes that reading one row takes."""
        return 4 * self.n_pixels

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
