"""Scores: how far a photo's correlation with a fingerprint is above chance, by shifts of both.

A camera's pattern lies at no shift; what a photo and a fingerprint show at shifts by multiples of
8 pixels is what chance does with these two, however smooth, noisy or blocky they are, and what all
photos have in common that repeats with 8 pixels. With the correlation C₀ in place, and mean m and
standard deviation s of those at shifts, the score is z = (C₀ − max(0, m)) / s.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from samecam import correlate
from samecam.arrays import Doubles, Labels, Rows
from samecam.evidence._comparisons import Comparisons
from samecam.frames import Frame
from samecam.store import FingerprintStore

# Rows are shifted by multiples of 8 pixels down and across, so that blocks of JPEG, and what else
# repeats with 8 pixels, lie on themselves; those of bits by whole words of 64. What leaves a row on
# the right comes in on the left one row lower, where blocks do not: shifts across are short.
STEP, WORD, SHIFTS = 8, 64, 64
_ACROSS = (8, 4, 2, 1)  # of the width, as long as there are too few
NEAR = 16
# Shifts from which a scatter is measured, at least.
FEWEST = 8


@dataclass(frozen=True, slots=True)
class Chance:
    """What correlations of each photo with one fingerprint are at shifts; NaN: not measured.

    Attributes
    ----------
    mean, spread : (n,) mean and standard deviation
    energy : (n,) mean square
    shifts : how many there were
    """

    mean: Doubles
    spread: Doubles
    energy: Doubles
    shifts: int

    @classmethod
    def unknown(cls, n: int, shifts: int = 0) -> "Chance":
        """Of n photos, nothing."""
        mean, spread, energy = (np.full(n, np.nan) for _ in range(3))
        return cls(mean, spread, energy, shifts)

    def put(self, photos: Rows, values: Doubles) -> None:
        """Take in (photos, shifts) correlations of some photos."""
        self.mean[photos] = values.mean(axis=1)
        self.spread[photos] = values.std(axis=1, ddof=1)
        self.energy[photos] = np.square(values).mean(axis=1)

    def scores(self, correlation: Doubles) -> Doubles:
        """(n,) z of correlations in place; NaN where chance is not known."""
        above = correlation - np.maximum(self.mean, 0)
        return np.asarray(above / np.maximum(self.spread, 1e-30))

    def peaks(self, correlation: Doubles) -> Doubles:
        """(n,) peak-to-correlation energy, sign(C₀)·C₀² over the mean of C² at shifts."""
        energy = np.maximum(self.energy, 1e-30)
        return np.asarray(np.sign(correlation) * np.square(correlation) / energy)


def shifts(frame: Frame, *, bits: bool) -> Rows:
    """Up to 64 offsets in pixels by which rows of a frame are shifted, spread over the frame.

    Parameters
    ----------
    frame : of the rows
    bits : whether they are of bits, whose pixels are shifted by whole words
    """
    step = WORD if bits else STEP
    down = STEP if not bits or frame.width * STEP % WORD == 0 else WORD
    flat = np.zeros(0, dtype=np.intp)
    for part in _ACROSS:
        flat = _grid(frame, down, step, frame.width // part)
        if len(flat) >= SHIFTS:
            return flat[np.linspace(0, len(flat) - 1, SHIFTS).round().astype(np.intp)]
    return flat


def _grid(frame: Frame, down: int, across: int, most: int) -> Rows:
    """Offsets by multiples of these, the second up to so many, not within 16 pixels of none."""
    height, width = frame.height, frame.width
    rows = np.arange(0, height - height % down, down)
    columns = np.arange(0, min(most + 1, width - width % across), across)
    near_rows = np.minimum(rows, height - rows) <= NEAR
    near_columns = np.minimum(columns, width - columns) <= NEAR
    flat = rows[:, np.newaxis] * width + columns
    return flat[~np.outer(near_rows, near_columns)].astype(np.intp)


def frame_chances(
    source: FingerprintStore,
    given: Comparisons,
    several: Sequence[Labels],
    *,
    frame: Frame | None = None,
    memory: int = correlate.DEFAULT_MEMORY,
    progress: Callable[[int, int], None] | None = None,
) -> list[Chance]:
    """What chance does with each photo and the fingerprint of a group, itself left out.

    Parameters
    ----------
    source : rows of bits or int8, of whole frames
    given : each photo against each group
    several : each (n,) the group that each photo is compared with; −1: none. A group's sum is made
        once for all of them
    frame : of the rows, if they do not know it
    memory : bytes for what is held at a time, but for one row and one group's sum
    progress : called with photos done and all, of the first of these
    """
    offsets = shifts(frame or source.frame, bits=source.is_bits)
    results = [Chance.unknown(len(source), len(offsets)) for _ in several]
    total = int(np.count_nonzero(several[0] >= 0))
    done = 0
    for group in np.unique(np.concatenate([groups[groups >= 0] for groups in several])).tolist():
        members = np.flatnonzero(given.labels == group)
        asked = [np.flatnonzero(groups == group) for groups in several]
        some = [p[len(members) > (given.labels[p] == group)] for p in asked]
        photos = np.concatenate(some)
        if len(offsets) >= FEWEST and len(photos):
            values = correlate.shifted_correlations(
                source, members, photos, _squares(given, photos, group), offsets, memory=memory
            )
            parts = np.split(values, np.cumsum([len(each) for each in some])[:-1])
            for result, each, part in zip(results, some, parts, strict=True):
                result.put(each, part)
        done += len(asked[0])
        if progress is not None:
            progress(done, total)
    return results


def _squares(given: Comparisons, photos: Rows, group: int) -> Doubles:
    """Squared norms of a group's sum without each photo, if it is in it.

    With the square t of all, g of the photo and its correlation r with the others, x = √square has
    t = x² + 2rx + g.
    """
    total, own = given.totals[group], given.own[photos]
    left = -own + np.sqrt(np.maximum(np.square(own) + total - given.norms[photos], 0))
    return np.asarray(np.where(given.labels[photos] == group, np.square(left), total))
