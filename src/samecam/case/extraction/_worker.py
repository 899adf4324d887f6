"""One photo to one row: what a worker process does, and all it does."""

import errno
import hashlib
import io
import os
import stat
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from samecam.arrays import Pixels
from samecam.case.extraction._scene import keep_scene
from samecam.case.folder._settings import ExtractionSettings
from samecam.errors import SamecamError
from samecam.fingerprint import NoResidualError, fingerprint
from samecam.photos import (
    READ,
    PhotoError,
    PhotoInfo,
    exposure,
    looks_like_picture,
    read_header,
    read_photo,
)
from samecam.provenance import versions
from samecam.store import Placement, ShardWriter

LARGEST_FILE = 2**30
_CHUNK = 2**20
_HEAD = 32
_HEADER = 2**17


@dataclass(frozen=True, slots=True)
class Task:
    """One file, and the hashes of files that look like its twins and came before it."""

    path: str
    file: str
    twins: frozenset[str] = frozenset()


@dataclass(slots=True)
class Outcome:
    """What became of a file.

    `passing`: worth trying again another time; `lacking`: it was memory that failed.
    """

    path: str
    status: str = "skipped"
    reason: str = ""
    sha256: str = ""
    bytes: int | None = None
    modified: int | None = None
    info: PhotoInfo = field(default_factory=PhotoInfo)
    dark: float | None = None
    saturated: float | None = None
    scene: str | None = None
    passing: bool = False
    lacking: bool = False
    place: Placement | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    def meta(self) -> dict[str, Any]:
        """As it is kept in the catalogue: columns of `images.csv` and what resuming needs."""
        return {
            "status": self.status,
            "reason": self.reason,
            "bytes": self.bytes,
            "modified": self.modified,
            "passing": self.passing,
            "width": self.info.width,
            "height": self.info.height,
            "format": self.info.format,
            **asdict(self.info.exif),
            "dark": self.dark,
            "saturated": self.saturated,
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
_writer: ShardWriter | None = None


def start(settings: ExtractionSettings, store: Path | None) -> None:
    """Prepare this process; without a store fingerprints are made and dropped."""
    global _settings, _writer
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # decoder libraries print there as they like
    _settings = settings
    _writer = None if store is None else ShardWriter(store, settings.n_pixels, settings.dtype)


def extract(task: Task) -> Outcome:
    """Read, hash, decode, screen, fingerprint and write one file.

    Every trouble with the file is an `Outcome` with its reason; what is raised is
    trouble with the store, and ends the run.
    """
    return _tried(task, _fingerprint)[0]


def decode(task: Task) -> tuple[Outcome, Pixels | None]:
    """As `extract` up to the crop: its pixels, if a fingerprint is to be made of them."""
    return _tried(task, _decode)


def _tried(
    task: Task, work: Callable[[bytes, Outcome, _Clock], Pixels | None]
) -> tuple[Outcome, Pixels | None]:
    """What became of a file, and what `work` makes of its bytes."""
    outcome, pixels = Outcome(task.path), None
    clock = _Clock(outcome.seconds)
    try:
        data = _read(task.file, outcome)
        clock.lap("read")
        if outcome.sha256 in task.twins:
            outcome.status = "duplicate"
        elif data is not None:
            pixels = work(data, outcome, clock)
    except FileNotFoundError:
        outcome.reason, outcome.passing = "no longer there, or a link to nothing", True
    except OSError as error:
        outcome.reason, outcome.passing = f"cannot be read: {_words(error)}", True
    except MemoryError:
        outcome.status, outcome.reason = "skipped", "needs more memory than a worker may use"
        outcome.lacking = True
    return outcome, pixels


def _open(file: str) -> io.FileIO:
    """Open for reading alone: a pipe must not block, an input is never written to."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0)
    return open(os.open(file, flags), "rb", buffering=0)


def _read(file: str, outcome: Outcome) -> bytes | None:
    """Bytes of a file that may be a picture, hashed; None, with a reason, for any other."""
    with _open(file) as stream:
        status = os.fstat(stream.fileno())
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "a folder that cannot be entered")
        if not stat.S_ISREG(status.st_mode):
            outcome.reason = "not a regular file"
            return None
        outcome.bytes, outcome.modified = status.st_size, status.st_mtime_ns
        head = stream.read(_HEAD)
        if looks_like_picture(head) and status.st_size <= LARGEST_FILE:
            data = head + stream.readall()
            outcome.bytes, outcome.sha256 = len(data), hashlib.sha256(data).hexdigest()
            return data
        digest = hashlib.sha256(head)
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
        outcome.sha256 = digest.hexdigest()
        if not status.st_size:
            outcome.reason = "empty file"
        elif not looks_like_picture(head):
            outcome.reason = f"not a picture samecam reads ({READ})"
        else:
            outcome.reason = f"larger than {LARGEST_FILE // 2**20} MB"
        return None


def _decode(data: bytes, outcome: Outcome, clock: _Clock) -> Pixels | None:
    """The crop, looked over; None, with a reason, if no fingerprint can be made of it."""
    crop = _settings
    try:
        photo = read_photo(data, size=crop.side, offset=crop.offset, portrait=crop.portrait)
    except PhotoError as error:
        outcome.info, outcome.reason = error.info, error.reason
        outcome.passing, outcome.lacking = error.passing, _for_memory(error)
        return None
    shares = exposure(photo.pixels)
    outcome.scene = keep_scene(photo.pixels)
    clock.lap("decode")
    outcome.info, outcome.reason = photo.info, photo.note
    outcome.dark, outcome.saturated = shares.dark, shares.saturated
    outcome.status = shares.status
    if outcome.status != "good":
        outcome.reason = shares.reason
    return None if outcome.status == "unusable" else photo.pixels


def _fingerprint(data: bytes, outcome: Outcome, clock: _Clock) -> None:
    pixels = _decode(data, outcome, clock)
    if pixels is None:
        return
    try:
        vector = fingerprint(pixels, **_settings.steps)
    except NoResidualError:
        outcome.status, outcome.reason = "unusable", "no noise residual: the crop is flat"
        return
    clock.lap("residual")
    if _writer is not None:
        outcome.place = _writer.append(vector)
    clock.lap("write")


def look_around(store: Path, files: dict[str, int], wanted: dict[str, str]) -> str:
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


def settle(store: Path, answers: list[Any]) -> None:
    """Let the rows of these outcomes reach the disk, where another machine will name them.

    (A machine can do that for what it has written itself, and no other can for it.)
    """
    places = (answer.place for answer in answers if isinstance(answer, Outcome))
    for shard in {place.shard for place in places if place is not None}:
        for path in (store / "shards").glob(f"{shard:05d}.*"):
            try:
                fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                os.fsync(fd)
                os.close(fd)
            except OSError as error:
                words = _words(error)
                raise SamecamError(f"{str(path)!r} cannot be written: {words}.") from None


def measure(files: tuple[str, ...]) -> list[tuple[int, int] | None]:
    """Stored (width, height) of files, from their headers; None for what is no picture."""
    return [_dimensions(file) for file in files]


def _dimensions(file: str) -> tuple[int, int] | None:
    """Read the first part of a file and, if the header is longer than that, all of it."""
    try:
        with _open(file) as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_FILE:
                return None
            data = stream.read(_HEADER)
            if not looks_like_picture(data[:_HEAD]):
                return None
            size = header_size(data)
            if size is None and len(data) < status.st_size:
                size = header_size(data + stream.readall())
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


def _words(error: OSError) -> str:
    return " ".join((error.strerror or type(error).__name__).split())
