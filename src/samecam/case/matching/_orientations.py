"""A photo in its four orientations: what is compared with groups and references."""

import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from samecam import compute
from samecam.arrays import Floats, Rows
from samecam.case.extraction import (
    Outcome,
    failure,
    header_size,
    read_file,
    refuse_exposure,
    refuse_flat,
    refuse_for_memory,
    refuse_unreadable,
)
from samecam.case.folder import ExtractionSettings
from samecam.fingerprint import NoResidualError, fingerprint
from samecam.photos import SMALLEST, PhotoError, PhotoFile, exposure, read_photo
from samecam.store import FingerprintStore, Subset

TURNS = (0, 90, 180, 270)
PHASE = "Comparing"
# Common crops are multiples of this: the JPEG grid is removed in phases of 16 pixels.
_STEP = 16


@dataclass(frozen=True, slots=True)
class Orientation:
    """The fingerprint of a photo turned clockwise by `turned` degrees, on `side`² pixels."""

    turned: int
    side: int
    vector: Floats


@dataclass(slots=True)
class TurnedPhoto:
    """A photo to compare: what became of the file, and its orientations."""

    outcome: Outcome
    orientations: list[Orientation] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TurnTask:
    """A file to read, and how: in which orientations, and whether smaller than the crop."""

    path: str
    file: str
    settings: ExtractionSettings
    turns: Sequence[int] = TURNS
    smaller: bool = True


def turn(task: TurnTask) -> TurnedPhoto:
    """Read, hash, decode and fingerprint one file in each orientation (in a worker)."""
    photo = TurnedPhoto(Outcome(task.path))
    try:
        data = read_file(task.file, photo.outcome)
        if data is not None:
            _fill(data, task, photo)
    except OSError as error:
        refuse_unreadable(photo.outcome, error)
    except MemoryError:
        refuse_for_memory(photo.outcome)
    return photo


def _fill(data: bytes, task: TurnTask, photo: TurnedPhoto) -> None:
    """Fill in the orientations; where there is none, the first one's reason."""
    outcome, size = photo.outcome, header_size(data)
    refused: Outcome | None = None
    for turned in task.turns:
        attempt = Outcome(task.path)
        vector, side = _orientation(data, size, task, turned, attempt)
        outcome.info = attempt.info
        if vector is None:
            refused = refused or attempt
            continue
        photo.orientations.append(Orientation(turned, side, vector))
        if outcome.status != "good":
            outcome.status = attempt.status
    if not photo.orientations and refused is not None:
        outcome.refuse(refused.status, refused.code, refused.reason)


def _orientation(
    data: bytes, size: tuple[int, int] | None, task: TurnTask, turned: int, attempt: Outcome
) -> tuple[Floats | None, int]:
    """Fingerprint of the picture turned so, and its side; None, with a reason in `attempt`."""
    side, offset = _place(size, task, turned)
    try:
        photo = read_photo(data, size=side, offset=offset, portrait="keep")
    except PhotoError as error:
        attempt.info = error.info
        attempt.refuse("skipped", error.code, error.reason)
        return None, side
    attempt.info, shares = photo.info, exposure(photo.pixels)
    attempt.status = shares.status
    if shares.status == "unusable":
        refuse_exposure(attempt, shares)
        return None, side
    pixels = np.ascontiguousarray(np.rot90(photo.pixels, k=-(turned // 90)))
    try:
        return fingerprint(pixels, **task.settings.steps), side
    except NoResidualError:
        refuse_flat(attempt)
        return None, side


def _place(
    size: tuple[int, int] | None, task: TurnTask, turned: int
) -> tuple[int, tuple[int, int]]:
    """Side and top-left corner, in the stored picture, of what is the crop once it is turned.

    Turned clockwise once, turned[y, x] = stored[H−1−x, y]; the crop of side s at (x, y) is the
    stored square at (y, H−x−s). Of a picture that is too small, the largest square at the
    offset, rounded down to 16 pixels, if `smaller` ones are wanted.
    """
    (x, y), side = task.settings.offset, task.settings.side
    if size is None:
        return side, (x, y)
    width, height = size
    across, down = (height, width) if turned % 180 else (width, height)
    room = min(across - x, down - y)
    if task.smaller and SMALLEST <= room // _STEP * _STEP < side and room < side:
        side = room // _STEP * _STEP
    left, top = {
        0: (x, y),
        90: (y, height - x - side),
        180: (width - x - side, height - y - side),
        270: (width - y - side, x),
    }[turned]
    if room < side:  # too small all the same: let the reader say so
        return side, (x, y)
    return side, (left, top)


def turned_photos(
    files: Sequence[PhotoFile],
    settings: ExtractionSettings,
    resources: compute.Resources,
    progress: compute.Progress,
    stop: threading.Event,
    *,
    turns: Sequence[int] = TURNS,
    smaller: bool = True,
) -> Iterator[TurnedPhoto]:
    """Files in their orientations, as they become ready, made in other processes.

    A file that makes the decoder hang or crash costs itself alone.
    """
    pool = compute.LocalPool(
        min(resources.n_workers, max(len(files), 1)),
        timeout=resources.timeout,
        memory=compute.worker_memory(settings.side),
        preload="samecam._preload",
    )
    tasks = [TurnTask(f.path, f.file, settings, turns, smaller) for f in files]
    for done, (task, future) in enumerate(compute.completed(pool, turn, tasks, stop), start=1):
        try:
            photo = future.result()
        except Exception as error:  # of this file alone: time, crash, or a bug that it met
            photo = TurnedPhoto(Outcome(task.path))
            photo.outcome.refuse("skipped", *failure(error, resources.timeout))
        yield photo
        progress(PHASE, done, len(files))


class Cropped(Subset):
    """A store of square fingerprints, seen on their top-left squares of `side` pixels.

    What is cut out of a row is brought to zero mean and unit norm again. Away from its lower
    and right border it is what extraction from the smaller crop gives: the denoiser sees
    only some pixels around, and row, column and phase means hardly differ.
    """

    def __init__(self, store: FingerprintStore, side: int) -> None:
        super().__init__(store, np.arange(len(store)))
        self.whole = math.isqrt(store.n_pixels)
        if self.whole**2 != store.n_pixels or side > self.whole:
            raise ValueError(f"side is {side}; fingerprints have {store.n_pixels} numbers")
        self.side = side
        self.n_pixels = side * side
        self._mean = np.zeros(len(store), dtype=np.float32)
        self._norm = np.ones(len(store), dtype=np.float32)
        self._measure()

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
            inside = (pixel % self.whole < self.side) & (pixel // self.whole < self.side)
            if inside.any():
                yield at, np.ascontiguousarray(part[:, inside])
                at += int(np.count_nonzero(inside))

    def columns(self, width: int, rows: Rows | None = None) -> Iterator[tuple[int, Floats]]:
        """See `FingerprintStore.columns`."""
        chosen = slice(None) if rows is None else rows
        mean, norm = self._mean[chosen, np.newaxis], self._norm[chosen, np.newaxis]
        for at, part in self._cut(width, rows):
            yield at, (part - mean) / norm

    def read_into(self, rows: Rows, out: Floats) -> None:
        """See `FingerprintStore.read_into`."""
        whole = np.empty((1, self.store.n_pixels), dtype=np.float32)
        for target, row in enumerate(rows):
            self.store.read_into(np.array([row]), whole)
            square = whole.reshape(self.whole, self.whole)[: self.side, : self.side]
            out[target] = (square.ravel() - self._mean[row]) / self._norm[row]
