"""A photo in its four orientations: what is compared with groups and references."""

import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam import compute
from samecam.arrays import Floats, Pixels
from samecam.case.extraction import (
    Outcome,
    failure,
    frame_kind,
    header_size,
    read_file,
    refuse_exposure,
    refuse_flat,
    refuse_for_memory,
    refuse_unreadable,
    take_row,
)
from samecam.case.folder import ExtractionSettings
from samecam.fingerprint import NoResidualError, fingerprint, frame_row
from samecam.frames import Frame
from samecam.photos import (
    SIDE,
    SMALLEST,
    Crop,
    PhotoError,
    PhotoFile,
    exposure,
    frame_exposure,
    low_pass,
    read_frame,
    read_photo,
)
from samecam.store import BitRows, ByteRows, FingerprintStore

TURNS = (0, 90, 180, 270)
PHASE = "Comparing"
# Common crops at a corner are multiples of this: the JPEG grid is removed in phases of 16 pixels.
# In the centre as much is left out on either side.
_STEP = 16
_WHOLE = 4096**2


@dataclass(frozen=True, slots=True)
class Orientation:
    """The fingerprint of a photo turned clockwise by `turned` degrees.

    Attributes
    ----------
    frame : width and height of what it is of, turned
    values, scale : the row as it is stored, of whole frames; of squares a float32 vector
    colour : how smooth the row of a whole frame is
    """

    turned: int
    frame: Frame
    values: npt.NDArray[Any]
    scale: float = 1.0
    colour: float = 1.0


@dataclass(slots=True)
class TurnedPhoto:
    """A photo to compare: what became of the file, and its orientations.

    Attributes
    ----------
    outcome : of the file
    orientations : those that there is something to compare with pixel by pixel
    apart : the photo as it is stored, if there is none and views are to be searched
    scene : (32, 32) what is seen in it, if that was asked for and it is not too small
    """

    outcome: Outcome
    orientations: list[Orientation] = field(default_factory=list)
    apart: Orientation | None = None
    scene: Floats | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of its fingerprints."""
        return sum(one.values.nbytes for one in (self.apart, *self.orientations) if one)


@dataclass(frozen=True, slots=True)
class TurnTask:
    """A file to read, and how.

    Attributes
    ----------
    frames : whole frames that there is something to compare with; None: any
    turns : orientations that are wanted
    smaller : whether a photo that is smaller than the square is to be had too
    views : whether a photo of none of the frames is to be had too
    scenes : whether what is seen in a whole frame is to be had too
    """

    path: str
    file: str
    settings: ExtractionSettings
    frames: Collection[Frame] | None = None
    turns: Sequence[int] = TURNS
    smaller: bool = True
    views: bool = False
    scenes: bool = False


def turn(task: TurnTask) -> TurnedPhoto:
    """Read, hash, decode and fingerprint one file in each orientation (in a worker)."""
    photo = TurnedPhoto(Outcome(task.path))
    try:
        data = read_file(task.file, photo.outcome)
        if data is not None:
            (_fill_whole if task.settings.size is None else _fill)(data, task, photo)
    except OSError as error:
        refuse_unreadable(photo.outcome, error)
    except MemoryError:
        refuse_for_memory(photo.outcome)
    return photo


def _fill_whole(data: bytes, task: TurnTask, photo: TurnedPhoto) -> None:
    """Fill in the orientations of the whole frame that there is something to compare with."""
    outcome = photo.outcome
    try:
        picture = read_frame(data)
    except PhotoError as error:
        outcome.info = error.info
        outcome.refuse("skipped", error.code, error.reason)
        return
    shares = frame_exposure(picture.pixels)
    outcome.info, outcome.reason, outcome.status = picture.info, picture.note, shares.status
    outcome.dark, outcome.saturated = shares.dark, shares.saturated
    if outcome.status != "good":
        refuse_exposure(outcome, shares)
    if task.scenes and min(picture.pixels.shape[:2]) >= SIDE:
        photo.scene = low_pass(picture.pixels)
    for turned in task.turns if outcome.status != "unusable" else ():
        pixels = _turned(picture.pixels, turned)
        frame = Frame(pixels.shape[1], pixels.shape[0])
        if task.frames is not None and frame not in task.frames:
            continue
        one = _whole_row(pixels, turned, task, outcome)
        if one is None:
            return
        photo.orientations.append(one)
    if task.views and not photo.orientations and outcome.status != "unusable":
        photo.apart = _whole_row(picture.pixels, 0, task, outcome)


def _whole_row(pixels: Pixels, turned: int, task: TurnTask, outcome: Outcome) -> Orientation | None:
    """As extraction makes it; None, with a reason, of a picture that has no residual."""
    frame = Frame(pixels.shape[1], pixels.shape[0])
    kind = frame_kind(frame, task.settings)
    try:
        row = frame_row(pixels, key=outcome.sha256, dtype=kind, **task.settings.filter)
    except NoResidualError:
        refuse_flat(outcome)
        return None
    take_row(outcome, frame, row, None)
    if outcome.status == "unusable":
        return None
    return Orientation(turned, frame, row.values, row.scale, row.colour)


def _fill(data: bytes, task: TurnTask, photo: TurnedPhoto) -> None:
    """Fill in the squares; where there is none, the first orientation's reason."""
    outcome, size = photo.outcome, header_size(data)
    refused: Outcome | None = None
    for turned in task.turns:
        attempt = Outcome(task.path)
        one = _square(data, size, task, turned, attempt)
        outcome.info = attempt.info
        if one is None:
            refused = refused or attempt
            continue
        photo.orientations.append(one)
        if outcome.status != "good":
            outcome.status = attempt.status
    if not photo.orientations and refused is not None:
        outcome.refuse(refused.status, refused.code, refused.reason)


def _square(
    data: bytes, size: tuple[int, int] | None, task: TurnTask, turned: int, attempt: Outcome
) -> Orientation | None:
    """The square of the picture turned so; None, with a reason in `attempt`."""
    crop = _place(size, task, turned)
    try:
        photo = read_photo(data, size=crop.size, offset=crop.offset, at=crop.at)
    except PhotoError as error:
        attempt.info = error.info
        attempt.refuse("skipped", error.code, error.reason)
        return None
    attempt.info, shares = photo.info, exposure(photo.pixels)
    attempt.status = shares.status
    if shares.status == "unusable":
        refuse_exposure(attempt, shares)
        return None
    try:
        vector = fingerprint(_turned(photo.pixels, turned), **task.settings.steps)
    except NoResidualError:
        refuse_flat(attempt)
        return None
    return Orientation(turned, Frame(crop.size, crop.size), vector)


def _turned(pixels: Pixels, turned: int) -> Pixels:
    return np.ascontiguousarray(np.rot90(pixels, k=-(turned // 90)))


def _place(size: tuple[int, int] | None, task: TurnTask, turned: int) -> Crop:
    """The square of the stored picture that is the crop once it is turned.

    Turned clockwise once, turned[y, x] = stored[H−1−x, y]; the crop of side s at (x, y) is the
    stored square at (y, H−x−s). Of a picture that is too small, the largest square of `sides`
    that it holds, if `smaller` ones are wanted.
    """
    wanted = task.settings
    crop = Crop(wanted.size or 0, wanted.offset, "keep", wanted.at)
    if size is None:
        return crop
    width, height = size
    across, down = (height, width) if turned % 180 else (width, height)
    for side in sides(crop) if task.smaller else (crop.size,):
        x, y = crop._replace(size=side).place(across, down)
        if x + side <= across and y + side <= down:
            offset = {
                0: (x, y),
                90: (y, height - x - side),
                180: (width - x - side, height - y - side),
                270: (width - y - side, x),
            }[turned]
            return Crop(side, offset, "keep", "corner")
    return crop  # too small all the same: let the reader say so


def sides(crop: Crop) -> Iterator[int]:
    """Sides of the squares that photos are compared on, that of the case first.

    At a corner multiples of 16; in the centre such as leave a multiple of 16 on either side.
    """
    yield crop.size
    first = crop.size - 2 * _STEP if crop.at == "centre" else (crop.size - 1) // _STEP * _STEP
    yield from range(first, SMALLEST - 1, -2 * _STEP if crop.at == "centre" else -_STEP)


def turned_photos(
    files: Sequence[PhotoFile],
    settings: ExtractionSettings,
    resources: compute.Resources,
    progress: compute.Progress,
    stop: threading.Event,
    *,
    frames: Collection[Frame] | None = None,
    turns: Sequence[int] = TURNS,
    smaller: bool = True,
    views: bool = False,
    scenes: bool = False,
) -> Iterator[TurnedPhoto]:
    """Files in their orientations, as they become ready, made in other processes.

    A file that makes the decoder hang or crash costs itself alone. See `TurnTask`.
    """
    pool = compute.LocalPool(
        min(resources.n_workers, max(len(files), 1)),
        timeout=resources.timeout,
        memory=compute.worker_memory(_WHOLE if settings.size is None else settings.size**2),
        preload="samecam._preload",
    )
    how = (settings, frames, turns, smaller, views, scenes)
    tasks = [TurnTask(item.path, item.file, *how) for item in files]
    for done, (task, future) in enumerate(compute.completed(pool, turn, tasks, stop), start=1):
        try:
            photo = future.result()
        except Exception as error:  # of this file alone: time, crash, or a bug that it met
            photo = TurnedPhoto(Outcome(task.path))
            photo.outcome.refuse("skipped", *failure(error, resources.timeout))
        yield photo
        progress(PHASE, done, len(files))


def in_memory(
    values: Sequence[npt.NDArray[Any]], scales: Sequence[float], frame: Frame
) -> BitRows | ByteRows | Floats:
    """Rows of a photo as they are stored; an array of those that are floats."""
    rows = np.stack(values)
    if rows.dtype == np.uint64:
        return BitRows(rows, frame.n_pixels, frame=frame)
    return ByteRows(rows, scales, frame) if rows.dtype == np.int8 else rows


def fingerprint_of(one: Orientation) -> Floats:
    """The numbers of a row, as it is turned."""
    rows = in_memory([one.values], [one.scale], one.frame)
    row: Floats = rows.read()[0] if isinstance(rows, FingerprintStore) else rows[0]
    return row
