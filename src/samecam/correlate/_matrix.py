"""A matrix of doubles that is in memory or, where it does not fit, in a temporary file."""

import os
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from samecam.arrays import Doubles
from samecam.compute import format_bytes
from samecam.errors import SamecamError


class DoubleMatrix:
    """A float64 matrix that is read and written by rows.

    Parameters
    ----------
    shape : rows and columns
    in_memory : whether it is an array; else it lies in a temporary file without a name, whose
        room is taken at once
    folder : for that file; default where the system keeps temporary files
    array : values that are used as they are, in memory; default zeros
    """

    def __init__(
        self,
        shape: tuple[int, int],
        *,
        in_memory: bool = True,
        folder: Path | None = None,
        array: Doubles | None = None,
    ) -> None:
        self.shape = shape
        self._array = array
        if in_memory and array is None:
            self._array = np.zeros(shape)
        if not in_memory:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed with the matrix
            weakref.finalize(self, self._file.close)
            self._reserve(folder)

    @property
    def in_memory(self) -> bool:
        """Whether it is an array."""
        return self._array is not None

    def read(self, first: int, last: int, *, columns: slice = slice(None)) -> Doubles:
        """Rows first … last − 1, or some columns of them; in memory this is a view."""
        if self._array is not None:
            return self._array[first:last, columns]
        start, stop, _ = columns.indices(self.shape[1])
        out = np.empty((last - first, stop - start))
        if (start, stop) == (0, self.shape[1]):
            self._fetch(out.reshape(-1), first * stop)
            return out
        for row, line in enumerate(out, first):
            self._fetch(line, row * self.shape[1] + start)
        return out

    def write(self, first: int, values: Doubles, *, column: int = 0) -> None:
        """Put values into the rows from `first` on and the columns from `column` on."""
        rows, columns = values.shape
        if self._array is not None:
            self._array[first : first + rows, column : column + columns] = values
            return
        lines = np.ascontiguousarray(values)
        if columns == self.shape[1]:
            lines = lines.reshape(1, -1)
        for row, line in enumerate(lines, first):
            self._put(line, row * self.shape[1] + column)

    def blocks(self, memory: int) -> Iterator[tuple[int, Doubles]]:
        """(first row, rows) one block after another, each within `memory` bytes or of one row."""
        step = max(1, memory // max(8 * self.shape[1], 1))
        for first in range(0, self.shape[0], step):
            yield first, self.read(first, min(first + step, self.shape[0]))

    def _reserve(self, folder: Path | None) -> None:
        need = 8 * self.shape[0] * self.shape[1]
        try:
            if hasattr(os, "posix_fallocate") and need:
                os.posix_fallocate(self._file.fileno(), 0, need)
            else:
                self._file.truncate(need)
        except OSError as error:
            where = str(folder or tempfile.gettempdir())
            raise SamecamError(
                f"A temporary file of {format_bytes(need)} cannot be made in {where!r} "
                f"({error.strerror}): raise the memory budget, or make room there."
            ) from None

    def _fetch(self, out: Doubles, at: int) -> None:
        view, place = out.view(np.uint8).data, 8 * at
        while len(view):
            got = os.preadv(self._file.fileno(), [view], place)
            if not got:
                raise RuntimeError("a temporary file ends before its matrix does")
            view, place = view[got:], place + got

    def _put(self, values: Doubles, at: int) -> None:
        view, place = values.view(np.uint8).data, 8 * at
        while len(view):
            done = os.pwrite(self._file.fileno(), view, place)
            view, place = view[done:], place + done
