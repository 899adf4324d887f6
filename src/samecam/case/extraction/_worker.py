"""One photo to one row: what a worker process does, and all it does."""

import errno
import hashlib
import os
import stat
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from samecam.arrays import Floats, Pixels
from samecam.case.extraction._scene import keep_scene
from samecam.case.folder import ExtractionSettings
from samecam.errors import SamecamError
from samecam.files import open_own
from samecam.fingerprint import FrameKind, FrameRow, NoResidualError, fingerprint, frame_row
from samecam.frames import Frame
from samecam.inputs import open_input, read_some
from samecam.photos import (
    READ,
    Exposure,
    Photo,
    PhotoError,
    PhotoInfo,
    exposure,
    frame_exposure,
    likely_service,
    looks_like_picture,
    read_frame,
    read_header,
    read_photo,
)
from samecam.provenance import versions
from samecam.store import FrameWriters, Placement, frame_dtype

LARGEST_FILE = 2**30
_CHUNK = 2**20
_HEAD = 32
_HEADER = 2**17


@dataclass(frozen=True, slots=True)
class ExtractionTask:
    """One file, and the hashes of files of the case that may be the same."""

    path: str
    file: str
    known: frozenset[str] = frozenset()


@dataclass(slots=True)
class Outcome:
    """What became of a file.

    `code` is the kind of its reason; `passing`: worth trying again another time; `lacking`:
    it was memory that failed.
    """

    path: str
    status: str = "skipped"
    reason: str = ""
    code: str = ""
    sha256: str = ""
    bytes: int | None = None
    modified: int | None = None
    info: PhotoInfo = field(default_factory=PhotoInfo)
    dark: float | None = None
    saturated: float | None = None
    flat: float | None = None
    even: float | None = None
    colour: float | None = None
    service: str = ""
    scene: str | None = None
    passing: bool = False
    lacking: bool = False
    place: Placement | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    def refuse(self, status: str, code: str, reason: str) -> None:
        """Say why the file is not used, or used with care."""
        self.status, self.code, self.reason = status, code, reason

    def meta(self) -> dict[str, Any]:
        """As it is kept in the catalogue: columns of `images.csv` and what resuming needs."""
        return {
            "status": self.status,
            "reason": self.reason,
            "code": self.code,
            "bytes": self.bytes,
            "modified": self.modified,
            "passing": self.passing,
            "width": self.info.width,
            "height": self.info.height,
            "format": self.info.format,
            **asdict(self.info.exif),
            "dark": self.dark,
            "saturated": self.saturated,
            "flat": self.flat,
            "even": self.even,
            **({} if self.colour is None else {"colour": self.colour}),
            "service": self.service,
            "scene": self.scene,
        }


class _Clock:
    """Adds up the seconds of named stretches of work."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self._seconds = seconds
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self._seconds[name] = now - self._last
        self._last = now


_settings = ExtractionSettings()
_writers: FrameWriters | None = None


def start(settings: ExtractionSettings, store: Path | None) -> None:
    """Prepare this process; without a store fingerprints are made and dropped."""
    global _settings, _writers
    _settings = settings
    _writers = None if store is None else FrameWriters(store, settings.rows)


def extract(task: ExtractionTask) -> Outcome:
    """Read, hash, decode, screen, fingerprint and write one file.

    Every trouble with the file is an `Outcome` with its reason; what is raised is
    trouble with the store, and ends the run.
    """
    return _tried(task, _fingerprint)[0]


def decode(task: ExtractionTask) -> tuple[Outcome, Pixels | None]:
    """As `extract` up to the pixels that are used, if a fingerprint is to be made of them."""
    return _tried(task, _decode)


def _tried(
    task: ExtractionTask, work: Callable[[bytes, Outcome, _Clock], Pixels | None]
) -> tuple[Outcome, Pixels | None]:
    """What became of a file, and what `work` makes of its bytes."""
    outcome, pixels = Outcome(task.path), None
    clock = _Clock(outcome.seconds)
    try:
        data = read_file(task.file, outcome)
        clock.lap("read")
        if outcome.sha256 in task.known:
            outcome.status = "duplicate"
        elif data is not None:
            pixels = work(data, outcome, clock)
    except FileNotFoundError:
        outcome.refuse("skipped", "gone", "no longer there, or a link to nothing")
        outcome.passing = True
    except OSError as error:
        refuse_unreadable(outcome, error)
        outcome.passing = True
    except MemoryError:
        refuse_for_memory(outcome)
        outcome.lacking = True
    return outcome, pixels


def refuse_unreadable(outcome: Outcome, error: OSError) -> None:
    """The file could not be opened or read."""
    outcome.refuse("skipped", "unreadable", f"cannot be read: {error_text(error)}")


def refuse_for_memory(outcome: Outcome) -> None:
    """The file needs more than a worker has."""
    outcome.refuse("skipped", "memory", "needs more memory than a worker may use")


def refuse_flat(outcome: Outcome) -> None:
    """No fingerprint can be made of the picture."""
    outcome.refuse("unusable", "flat", "no noise residual: the picture is flat")


def read_file(file: str, outcome: Outcome) -> bytes | None:
    """Bytes of a file that may be a picture, hashed; None, with a reason, for any other."""
    with open_input(file) as stream:
        status = os.fstat(stream.fileno())
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "a folder that cannot be entered")
        if not stat.S_ISREG(status.st_mode):
            outcome.refuse("skipped", "not-a-file", "not a regular file")
            return None
        outcome.bytes, outcome.modified = status.st_size, status.st_mtime_ns
        head = read_some(stream, _HEAD)
        if looks_like_picture(head) and status.st_size <= LARGEST_FILE:
            data = head + read_some(stream)
            outcome.bytes, outcome.sha256 = len(data), hashlib.sha256(data).hexdigest()
            return data
        digest = hashlib.sha256(head)
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
        outcome.sha256 = digest.hexdigest()
        if not head:
            outcome.refuse("skipped", "empty", "empty file")
        elif not looks_like_picture(head):
            outcome.refuse("skipped", "not-a-picture", f"not a picture samecam reads ({READ})")
        else:
            limit = f"larger than {LARGEST_FILE // 2**20} MB"
            outcome.refuse("skipped", "too-large", limit)
        return None


def _decode(data: bytes, outcome: Outcome, clock: _Clock) -> Pixels | None:
    """The pixels that are used, looked over; None, with a reason, if they are of no use."""
    try:
        photo = _read(data)
    except PhotoError as error:
        outcome.info = error.info
        outcome.refuse("skipped", error.code, error.reason)
        outcome.passing, outcome.lacking = error.passing, _for_memory(error)
        return None
    shares = (frame_exposure if _settings.size is None else exposure)(photo.pixels)
    outcome.scene, outcome.service = keep_scene(photo.pixels), likely_service(data)
    clock.lap("decode")
    outcome.info, outcome.reason = photo.info, photo.note
    outcome.dark, outcome.saturated = shares.dark, shares.saturated
    outcome.even = shares.even if shares.whole else None
    outcome.status = shares.status
    if outcome.status != "good":
        refuse_exposure(outcome, shares)
    return None if outcome.status == "unusable" else photo.pixels


def _read(data: bytes) -> Photo:
    """The whole frame, or the square."""
    wanted = _settings
    if wanted.size is None:
        return read_frame(data)
    return read_photo(
        data, size=wanted.size, offset=wanted.offset, portrait=wanted.portrait, at=wanted.at
    )


def refuse_exposure(outcome: Outcome, shares: Exposure) -> None:
    """So much is over-exposed or flat that the photo is weak, or unusable."""
    outcome.refuse(shares.status, shares.code, shares.reason)


def _fingerprint(data: bytes, outcome: Outcome, clock: _Clock) -> None:
    pixels = _decode(data, outcome, clock)
    if pixels is None:
        return
    frame = Frame(pixels.shape[1], pixels.shape[0])
    try:
        row: FrameRow | Floats
        if _settings.size is None:
            kind = frame_kind(frame, _settings)
            row = frame_row(pixels, key=outcome.sha256, dtype=kind, **_settings.filter)
        else:
            row = fingerprint(pixels, **_settings.steps)
    except NoResidualError:
        refuse_flat(outcome)
        return
    clock.lap("residual")
    take_row(outcome, frame, row, _writers)
    clock.lap("write")


def frame_kind(frame: Frame, settings: ExtractionSettings) -> FrameKind:
    """How the row of a whole frame is kept."""
    dtype = frame_dtype(frame, settings.rows)
    return dtype if dtype == "bits" or dtype == "2bits" else "int8"


def take_row(
    outcome: Outcome, frame: Frame, row: FrameRow | Floats, writers: FrameWriters | None
) -> None:
    """Write the fingerprint of a photo, unless hardly any of the frame has one."""
    if not isinstance(row, FrameRow):
        outcome.place = None if writers is None else writers[frame].append(row)
        return
    outcome.flat, outcome.colour = round(row.flat, 6), row.colour
    known = (outcome.dark or 0.0, outcome.saturated or 0.0)
    shares = Exposure(*known, row.flat, outcome.even or 0.0, whole=True)
    if shares.status != "good":
        refuse_exposure(outcome, shares)
    if shares.status != "unusable" and writers is not None:
        outcome.place = writers[frame].append_encoded(row.values, row.scale)


def check_machine(store: Path, files: dict[str, int], wanted: dict[str, str]) -> str:
    """What keeps this machine from working on a case: "", or what a worker fails to do.

    `files` are some of the photos, with their lengths; `wanted` are versions of what changes
    numbers, as `versions` gives them.
    """
    found = versions()
    for name in set(wanted) & {"numpy", "numba", "pillow", "libjpeg"}:
        if found[name] != wanted[name]:
            there = f"has {name} {found[name]}, and this machine {wanted[name]}"
            return f"{there}: install the same versions on all machines."
    mount = "mount the folder there under the same path."
    if not (store / "store.json").exists():
        return f"does not see the case in {str(store.parent)!r}: {mount}"
    if not os.access(store / "shards", os.W_OK):
        return f"may not write to {str(store / 'shards')!r}: let its user do so."
    for file, length in files.items():
        try:
            seen = os.stat(file).st_size
        except OSError:
            return f"does not see the photo {file!r}: {mount}"
        if seen != length:
            return f"sees another file as {file!r} ({seen} bytes, not {length}): {mount}"
    return ""


def flush_rows(store: Path, answers: list[Any]) -> None:
    """Let the rows of these outcomes reach the disk, where another machine will name them.

    (A machine can do that for what it has written itself, and no other can for it.)
    """
    places = (answer.place for answer in answers if isinstance(answer, Outcome))
    names = {f"{p.frame.name}/{p.shard:05d}" for p in places if p is not None}
    for name in sorted(names):
        for path in (store / "shards").glob(f"{name}.*"):
            try:
                with open(open_own(path), "rb") as stream:
                    os.fsync(stream.fileno())
            except OSError as error:
                raise SamecamError(
                    f"{str(path)!r} cannot be written: {error_text(error)}."
                ) from None


def measure(files: tuple[str, ...]) -> list[tuple[int, int] | None]:
    """Stored (width, height) of files, from their headers; None for what is no picture."""
    return [_dimensions(file) for file in files]


def _dimensions(file: str) -> tuple[int, int] | None:
    """Read the first part of a file and, if the header is longer than that, all of it."""
    try:
        with open_input(file) as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_FILE:
                return None
            data = read_some(stream, _HEADER)
            if not looks_like_picture(data[:_HEAD]):
                return None
            size = header_size(data)
            if size is None and len(data) < status.st_size:
                size = header_size(data + read_some(stream))
            return size
    except (OSError, MemoryError):
        return None


def header_size(data: bytes) -> tuple[int, int] | None:
    """Stored (width, height) of a picture, or None if its header does not say."""
    try:
        return read_header(data).size
    except PhotoError:
        return None


def _for_memory(error: BaseException | None) -> bool:
    """Whether want of memory lies behind an error."""
    while error is not None and not isinstance(error, MemoryError):
        error = error.__cause__
    return error is not None


def error_text(error: OSError) -> str:
    """What the system says of an error, on one line."""
    return " ".join((error.strerror or type(error).__name__).split())
