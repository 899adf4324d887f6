"""Cameras to compare photos with: the rows of one frame, and what chance does with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from samecam import correlate, evidence
from samecam.arrays import Doubles, Floats, Labels
from samecam.case.matching._orientations import Orientation, in_memory
from samecam.case.matching._shared import SharedPatterns, patterns_at
from samecam.case.matching._shifts import square_shifts
from samecam.store import FingerprintStore

# Bytes of cameras' sums that are kept.
_KEPT = 2**28
# Of a photo's scores so many are measured, and all from this one on.
_TOP, _CLOSE = 3, 2.0
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
    hashes : numbers of the rows by the SHA-256 of their photos
    members : (k,) what is known of the scores of each camera's photos
    shared : what is no sensor's, and correlations without it; None: it is not looked for
    """

    rows: FingerprintStore
    labels: Labels
    names: Sequence[int | None]
    totals: Doubles
    hashes: Mapping[str, int]
    members: Sequence[evidence.Members]
    shared: SharedPatterns | None = None
    _kept: dict[int, Floats | correlate.RowSum] = field(default_factory=dict)

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
        return in_memory(values, scales, self.rows.frame)

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

    def scores(
        self,
        orientations: Sequence[Orientation],
        correlations: Doubles,
        squares: Doubles,
        row: int | None,
    ) -> tuple[Doubles, Doubles, int]:
        """Scores of m orientations of a photo with the cameras, (m, k), and the fewest shifts.

        Chance is measured by shifts for those that may matter, the highest and all that are beyond
        what usual scatter does; the others are taken in units of that. The second scores are
        without what is no sensor's, NaN where there is nothing or the score is of the others.

        Parameters
        ----------
        correlations, squares : see `correlations`
        row : of the photo itself, which is left out; None if there is none
        """
        usual = correlations * np.sqrt(self.rows.n_pixels)
        scores, without, fewest = usual.copy(), np.full(usual.shape, np.nan), 0
        least = min(_CLOSE, float(np.sort(usual, axis=None)[-min(_TOP, usual.size)]))
        for c in np.flatnonzero((usual >= least).any(axis=0)).tolist():
            some = np.flatnonzero(usual[:, c] >= least)
            shown = self._shifted([orientations[int(k)] for k in some], c, float(squares[c]), row)
            for k, values in zip(some.tolist(), shown, strict=True):
                usually, spread = 0.0, correlate.usual_scale(self.rows.n_pixels)
                if len(values) >= evidence.FEWEST:
                    fewest = min(fewest or len(values), len(values))
                    usually = max(0.0, float(values.mean()))
                    spread = max(float(values.std(ddof=1)), 1e-30)
                scores[k, c] = (correlations[k, c] - usually) / spread
                if self.shared is not None:
                    given = (orientations[k], c, correlations[k], squares, row)
                    left = self.shared.correlation(*given, look=scores[k, c] > _CLOSE)
                    without[k, c] = (left - usually) / spread
        return scores, without, fewest

    def _shifted(
        self, orientations: Sequence[Orientation], camera: int, square: float, row: int | None
    ) -> list[Doubles]:
        """Correlations of each of a photo's orientations with a camera's fingerprint at shifts."""
        if square <= _EMPTY:
            return [np.zeros(0)] * len(orientations)
        whole = orientations[0].values.dtype != np.float32
        total = self._sum(camera, row, whole=whole)
        if isinstance(total, np.ndarray):
            return [square_shifts(one.values, total) for one in orientations]
        offsets = evidence.shifts(orientations[0].frame, bits=self.rows.is_bits)
        norm = float(np.sqrt(square))
        return [total.shifted(one.values, one.scale, offsets) / norm for one in orientations]

    def _sum(self, camera: int, row: int | None, *, whole: bool) -> Floats | correlate.RowSum:
        """A camera's sum, of squares or whole frames; some that leave out none are kept."""
        if row is not None and self.labels[row] != camera:
            row = None
        if row is None and camera in self._kept:
            return self._kept[camera]
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
            while self._kept and sum(each.nbytes for each in self._kept.values()) > _KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[camera] = total
        return total

    def close(self) -> None:
        """Let go of files and of what is kept."""
        self._kept.clear()
        if self.shared is not None:
            self.shared.close()
        self.rows.close()


def rivals_of(
    rows: FingerprintStore,
    groups: Labels,
    scores: Mapping[int, Sequence[float]],
    patterns: Mapping[int, evidence.SharedPattern],
    memory: int,
) -> Rivals:
    """The groups of some rows, each of which is in one.

    Parameters
    ----------
    rows : fingerprints of one frame
    groups : their groups
    scores : of the members of groups, as far as they are known
    patterns : that groups share, with the groups' numbers
    memory : bytes for what is held at a time
    """
    names, labels = evidence.local_groups(groups)
    totals = correlate.squared_norms(rows, labels, memory=memory)
    hashes = {sha256: row for row, sha256 in enumerate(rows.hashes)}
    known = [scores.get(int(name), ()) for name in names]
    usual = evidence.usual_members(rows.n_pixels)
    members = [evidence.known_members(each) if len(each) else usual for each in known]
    shared = SharedPatterns(rows, labels, patterns_at(patterns, names.tolist()), memory)
    return Rivals(rows, labels, names.tolist(), totals, hashes, members, shared)
