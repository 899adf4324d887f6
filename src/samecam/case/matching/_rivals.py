"""Cameras to compare photos with: the rows of one frame, and what chance does with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam import correlate, evidence
from samecam.arrays import Doubles, Floats, Labels
from samecam.case.matching._orientations import Orientation
from samecam.case.matching._shifts import SHIFTS, square_shifts
from samecam.store import BitRows, ByteRows, FingerprintStore

# What rounding leaves of the squared norm of an emptied camera is no camera.
_EMPTY = 1e-6


@dataclass(slots=True)
class Rivals:
    """Cameras whose fingerprints are of one frame.

    Attributes
    ----------
    rows : fingerprints of the photos that theirs are the sums of
    labels : (n,) which camera's each is, from 0
    names : (k,) of the cameras: group numbers; None for a reference
    totals : (k,) squared norms of the sums
    null : the law of chance, measured; None: from shifts, photo by photo
    hashes : numbers of the rows by the SHA-256 of their photos
    colours : (k,) how smooth the rows of each camera are, of whole frames; None: unknown
    """

    rows: FingerprintStore
    labels: Labels
    names: Sequence[int | None]
    totals: Doubles
    null: evidence.Null | None
    hashes: Mapping[str, int]
    colours: Doubles | None = None
    _kept: tuple[int, Floats | correlate.RowSum] | None = None

    def source(self, orientations: Sequence[Orientation], row: int | None) -> correlate.Source:
        """Orientations of a photo, and the row `row` if it is given, to be compared with all."""
        values = [one.values for one in orientations]
        scales = [one.scale for one in orientations]
        if row is not None and values[0].dtype == np.float32:
            values, scales = [*values, self.rows.read([row])[0]], [*scales, 1.0]
        elif row is not None:
            stored, scale = np.empty((1, values[0].size), values[0].dtype), np.empty(1, np.float32)
            self.rows.read_stored(np.array([row]), stored, scale)
            values, scales = [*values, stored[0]], [*scales, float(scale[0])]
        return in_memory(values, scales, self.rows.n_pixels)

    def correlations(self, products: Doubles, row: int | None) -> tuple[Doubles, Doubles]:
        """Of m orientations of a photo with each camera, (m, k), and the squared norms of these.

        Parameters
        ----------
        products : (m, n) of the orientations with all rows; if `row` is given, that row's are last
        row : that of the photo itself, which is left out of its camera; None if there is none
        """
        order = np.argsort(self.labels, kind="stable")
        starts = np.searchsorted(self.labels[order], np.arange(len(self.names)))
        sums, squares = np.add.reduceat(products[:, order], starts, axis=1), self.totals.copy()
        if row is not None:
            own = self.labels[row]
            squares[own] += products[-1, row] - 2 * sums[-1, own]
            sums = sums[:-1]
            sums[:, own] -= products[:-1, row]
        some = np.broadcast_to(squares > _EMPTY, sums.shape)
        norms = np.sqrt(np.maximum(squares, _EMPTY))
        return np.divide(sums, norms, out=np.zeros_like(sums), where=some), squares

    def measure_colours(self, colours: Doubles) -> None:
        """Take in how smooth each row is."""
        self.colours = np.bincount(self.labels, weights=colours) / np.bincount(self.labels)

    def scales(self, orientations: Sequence[Orientation], measured: Doubles) -> Doubles:
        """What correlations of m orientations with the cameras scatter by for chance, (m, k).

        As measured on other photos, (k,), but not below what smooth residuals make it; see
        `correlate.photo_scales`.
        """
        if self.colours is None:
            return np.broadcast_to(measured, (len(orientations), len(measured)))
        own = np.array([one.colour for one in orientations])
        least = np.sqrt(np.outer(own, self.colours) / self.rows.n_pixels)
        return np.maximum(measured, least)

    def shifted(
        self, orientations: Sequence[Orientation], camera: int, square: float, row: int | None
    ) -> Doubles:
        """Correlations of a photo's orientations with a camera's fingerprint at many shifts.

        Parameters
        ----------
        camera : its number here
        square : squared norm of its sum
        row : of the photo itself, which is left out; None if there is none
        """
        if square <= _EMPTY:
            return np.zeros(0)
        whole = orientations[0].values.dtype != np.float32
        total = self._sum(camera, row, whole=whole)
        if isinstance(total, np.ndarray):
            return np.concatenate([square_shifts(one.values, total) for one in orientations])
        offsets = evidence.shifts(orientations[0].frame, SHIFTS)
        values = [total.shifted(one.values, one.scale, offsets) for one in orientations]
        return np.asarray(np.concatenate(values) / np.sqrt(square))

    def _sum(self, camera: int, row: int | None, *, whole: bool) -> Floats | correlate.RowSum:
        """A camera's sum, of squares or whole frames; the last one that leaves out none is kept."""
        if row is not None and self.labels[row] != camera:
            row = None
        if row is None and self._kept is not None and self._kept[0] == camera:
            return self._kept[1]
        members = np.flatnonzero(self.labels == camera)
        members = members[members != row] if row is not None else members
        total: Floats | correlate.RowSum
        if whole:
            total = correlate.sum_rows(self.rows, members)
        else:
            total = np.zeros(self.rows.n_pixels, dtype=np.float32)
            for member in members:
                total += self.rows.read([int(member)])[0]
        if row is None:
            self._kept = camera, total
        return total

    def close(self) -> None:
        """Let go of files and of what is kept."""
        self._kept = None
        self.rows.close()


def in_memory(
    values: Sequence[npt.NDArray[Any]], scales: Sequence[float], n_pixels: int
) -> BitRows | ByteRows | Floats:
    """Rows of a photo as they are stored; an array of those that are floats."""
    rows = np.stack(values)
    if rows.dtype == np.uint64:
        return BitRows(rows, n_pixels)
    return ByteRows(rows, scales) if rows.dtype == np.int8 else rows
