"""A photo in its four orientations: what is compared with groups and references."""

import math
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from samecam import compute
from samecam.arrays import Floats
from samecam.case.extraction import _worker
from samecam.case.extraction._prepare import Progress
from samecam.case.extraction._worker import Outcome
from samecam.case.folder._settings import ExtractionSettings
from samecam.fingerprint import NoResidualError, fingerprint
from samecam.photos import SMALLEST, Found, PhotoError, exposure, read_photo
from samecam.store import FingerprintStore, Subset

TURNS = (0, 90, 180, 270)
PHASE = "Looking"
# Common crops are multiples of this: the JPEG grid is removed in phases of 16 pixels.
_STEP = 16


@dataclass(frozen=True, slots=True)
class View:
    """The fingerprint of a photo turned clockwise by `turned` degrees, on `side`² pixels."""

    turned: int
    side: int
    vector: Floats


@dataclass(slots=True)
class Seen:
    """What was seen of a photo: what became of the file, and its views."""

    outcome: Outcome
    views: list[View] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Look:
    """A file to look at, and how: in which orientations, up to which size."""

    path: str
    file: str
    settings: ExtractionSettings
    turns: Sequence[int] = TURNS
    smaller: bool = True


def look(task: Look) -> Seen:
    """Read, hash, decode and fingerprint one file in each orientation (in a worker)."""
    seen = Seen(Outcome(task.path))
    try:
        data = _worker._read(task.file, seen.outcome)
        if data is not None:
            _see(data, task, seen)
    except OSError as error:
        seen.outcome.reason = f"cannot be read: {_worker._words(error)}"
    except MemoryError:
        seen.outcome.reason = "needs more memory than a worker may use"
    return seen


def _see(data: bytes, task: Look, seen: Seen) -> None:
    """Fill in the views; the first reason stays where there is none."""
    outcome, size = seen.outcome, _worker._header(data)
    reasons = []
    for turned in task.turns:
        side, offset = _place(size, task, turned)
        try:
            photo = read_photo(data, size=side, offset=offset, portrait="keep")
        except PhotoError as error:
            reasons.append(("skipped", error.reason))
            continue
        outcome.info, shares = photo.info, exposure(photo.pixels)
        if shares.status == "unusable":
            reasons.append(("unusable", f"{shares.saturated:.1%} of the crop is over-exposed"))
            continue
        pixels = np.ascontiguousarray(np.rot90(photo.pixels, k=-(turned // 90)))
        try:
            vector = fingerprint(pixels, **task.settings.steps)
        except NoResidualError:
            reasons.append(("unusable", "no noise residual: the crop is flat"))
            continue
        seen.views.append(View(turned, side, vector))
        if outcome.status != "good":
            outcome.status = shares.status
    if not seen.views:
        outcome.status, outcome.reason = reasons[0]


def _place(size: tuple[int, int] | None, task: Look, turned: int) -> tuple[int, tuple[int, int]]:
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


def look_at(
    found: Sequence[Found],
    settings: ExtractionSettings,
    *,
    turns: Sequence[int] = TURNS,
    smaller: bool = True,
    workers: int,
    timeout: float,
    progress: Progress,
    stop: threading.Event | None = None,
) -> Iterator[Seen]:
    """Views of files, in the order given, made in other processes.

    A file that makes the decoder hang or crash costs itself alone.
    """
    stop = stop or threading.Event()
    pool = compute.LocalPool(
        workers,
        timeout=timeout,
        memory=compute.worker_memory(settings.side),
        preload="samecam._preload",
    )
    try:
        running: deque[tuple[Future[Seen], Look]] = deque()
        waiting = deque(Look(f.path, f.file, settings, turns, smaller) for f in found)
        done = 0
        while running or (waiting and not stop.is_set()):
            while waiting and len(running) < 2 * workers and not stop.is_set():
                task = waiting.popleft()
                running.append((pool.submit(look, task), task))
            future, task = running.popleft()
            wait([future], return_when=FIRST_COMPLETED)
            yield _seen(future, task, timeout)
            done += 1
            progress(PHASE, done, len(found))
    except BaseException:
        pool.stop()
        raise
    pool.close()


def _seen(future: "Future[Seen]", task: Look, timeout: float) -> Seen:
    try:
        return future.result()
    except compute.TaskTimeoutError:
        reason = f"took longer than {timeout:g} s"
    except compute.WorkerDiedError as error:
        reason = f"its decoder crashed (exit code {error.exit_code})"
    return Seen(Outcome(task.path, reason=reason))


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

    def _cut(self, width: int, rows: npt.NDArray[np.intp] | None) -> Iterator[tuple[int, Floats]]:
        """Parts of rows, without the pixels outside the square."""
        at = 0
        for start, part in self.store.columns(width, rows):
            pixel = np.arange(start, start + part.shape[1])
            inside = (pixel % self.whole < self.side) & (pixel // self.whole < self.side)
            if inside.any():
                yield at, np.ascontiguousarray(part[:, inside])
                at += int(np.count_nonzero(inside))

    def columns(
        self, width: int, rows: npt.NDArray[np.intp] | None = None
    ) -> Iterator[tuple[int, Floats]]:
        """See `FingerprintStore.columns`."""
        chosen = slice(None) if rows is None else rows
        mean, norm = self._mean[chosen, np.newaxis], self._norm[chosen, np.newaxis]
        for at, part in self._cut(width, rows):
            yield at, (part - mean) / norm

    def read_into(self, rows: npt.NDArray[np.intp], out: Floats) -> None:
        """See `FingerprintStore.read_into`."""
        whole = np.empty((1, self.store.n_pixels), dtype=np.float32)
        for target, row in enumerate(rows):
            self.store.read_into(np.array([row]), whole)
            square = whole.reshape(self.whole, self.whole)[: self.side, : self.side]
            out[target] = (square.ravel() - self._mean[row]) / self._norm[row]
