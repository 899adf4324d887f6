"""Append-only files of fixed-length records: one open file per writing process."""

import errno
import fcntl
import os
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.errors import SamecamError
from samecam.files import open_own, refuse_link
from samecam.frames import Frame
from samecam.store import _codec

SHARD_BYTES = 2 * 2**30
_OPEN_FRAMES = 8
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class StoreFullError(SamecamError):
    """No room is left where the store lives."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a row lies: frame, shard number, record number, CRC-32 of the record, scale."""

    frame: Frame
    shard: int
    row: int
    crc: int
    scale: float


@lru_cache(maxsize=1024)  # asked for again with every row
def shard_path(folder: Path, frame: Frame, number: int, dtype: str) -> Path:
    """File of one shard; each frame has a folder of its own."""
    return folder / "shards" / frame.name / f"{number:05d}.{_codec.ending(dtype)}"


def shards(folder: Path) -> list[Path]:
    """All shards of a store, sorted; whatever else lies there is none."""
    return sorted(path for path in (folder / "shards").glob("*/*.*") if _is_shard(path))


def _is_shard(path: Path) -> bool:
    number, _, ending = path.name.partition(".")
    try:
        Frame.named(path.parent.name)
    except ValueError:
        return False
    return number.isascii() and number.isdigit() and ending in _codec.endings()


def has_rows(folder: Path) -> bool:
    """Whether anything was ever written to the shards of a store, committed or not."""
    return any(shard_bytes(path) for path in shards(folder))


def shard_bytes(path: Path) -> int:
    """Length of a shard; 0 if there is none."""
    try:
        fd = open_own(path)
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise read_error(path, error) from None
    try:
        return os.fstat(fd).st_size
    finally:
        os.close(fd)


def record_bytes(n_pixels: int, dtype: str) -> int:
    """Length of a record on disk."""
    return _codec.items(n_pixels, dtype) * _codec.kind(dtype).itemsize


def full_error(folder: Path) -> StoreFullError:
    """The error of a full disk."""
    return StoreFullError(
        f"No space is left for {str(folder)!r}: free some (or move the case to a larger disk) "
        "and give the same command again; it goes on where it stopped."
    )


def write_error(folder: Path, error: OSError) -> SamecamError:
    """The error of a failure to write to a store."""
    if error.errno in _FULL:
        return full_error(folder)
    return SamecamError(f"{str(folder)!r} cannot be written: {error.strerror}.")


def read_error(path: Path, error: OSError) -> SamecamError:
    """The error of a shard that cannot be read."""
    return SamecamError(
        f"The shard {str(path)!r} cannot be read ({error.strerror}): restore it from a copy, or "
        "begin a new case."
    )


class ShardWriter:
    """Appends records to a shard that no other process writes.

    The shard is claimed by a lock that ends with the process, however it ends. Bytes
    of a record that was never finished are cut off when a shard is claimed.

    Parameters
    ----------
    folder : the store
    frame : of all its rows
    dtype : number type on disk
    """

    def __init__(self, folder: Path, frame: Frame, dtype: str) -> None:
        self._folder, self._frame, self._dtype = Path(folder), frame, dtype
        self._length = record_bytes(frame.n_pixels, dtype)
        self._capacity = max(1, SHARD_BYTES // self._length)
        self._fd = -1
        self._number = -1
        self._rows = 0

    def append(self, vector: npt.ArrayLike) -> Placement:
        """Write one row and say where it lies; it counts once that is committed."""
        values = np.asarray(vector)
        if values.shape != (self._frame.n_pixels,):
            raise ValueError(
                f"vector has shape {values.shape}; rows have {self._frame.n_pixels} numbers"
            )
        return self.append_encoded(*_codec.encode(values, self._dtype))

    def append_encoded(self, raw: npt.NDArray[Any], scale: float) -> Placement:
        """As `append`, of a row that is as it is kept: scale · raw."""
        wanted = (_codec.items(self._frame.n_pixels, self._dtype),)
        if raw.shape != wanted or raw.dtype != _codec.kind(self._dtype):
            raise ValueError(
                f"the row has shape {raw.shape} and dtype {raw.dtype}; give {wanted} "
                f"{_codec.kind(self._dtype)}"
            )
        if self._fd < 0 or self._rows >= self._capacity:
            self._claim()
        data = np.ascontiguousarray(raw).data.cast("B")
        try:
            _write(self._fd, data, self._rows * self._length)
        except OSError as error:
            os.ftruncate(self._fd, self._rows * self._length)
            raise write_error(self._folder, error) from None
        place = Placement(self._frame, self._number, self._rows, zlib.crc32(data), scale)
        self._rows += 1
        return place

    def close(self) -> None:
        """Let go of the shard."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _claim(self) -> None:
        """Take the first shard that is free and not full, or begin a new one."""
        self.close()
        number = 0
        while True:
            path = shard_path(self._folder, self._frame, number, self._dtype)
            try:
                refuse_link(path.parent)
                path.parent.mkdir(exist_ok=True)
                fd = open_own(path, os.O_RDWR | os.O_CREAT)
            except OSError as error:
                raise write_error(self._folder, error) from None
            rows = os.fstat(fd).st_size // self._length
            if rows < self._capacity and try_lock(fd):
                rows = os.fstat(fd).st_size // self._length  # as it is now that it is ours
                if rows < self._capacity:
                    os.ftruncate(fd, rows * self._length)
                    self._fd, self._number, self._rows = fd, number, rows
                    return
            os.close(fd)
            number += 1


def try_lock(fd: int) -> bool:
    """Lock a file for this process unless another one holds it.

    `SamecamError` where there are no locks: two processes would write to one shard.
    """
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN):
            return False
        raise SamecamError(
            f"Files cannot be locked here ({error.strerror}), which keeps two runs from one case: "
            "put the case on a file system with locks, a local disk for instance."
        ) from None
    return True


def drop_orphans(path: Path, committed_bytes: int) -> None:
    """Cut off what was written but never committed, unless a writer still holds the shard."""
    try:
        fd = open_own(path, os.O_RDWR)
    except OSError as error:
        raise write_error(path.parent.parent.parent, error) from None
    try:
        if os.fstat(fd).st_size > committed_bytes and try_lock(fd):
            os.ftruncate(fd, committed_bytes)
    finally:
        os.close(fd)


def _write(fd: int, data: "memoryview[Any]", offset: int) -> None:
    while len(data):
        done = os.pwrite(fd, data, offset)
        data, offset = data[done:], offset + done


class FrameWriters:
    """Writers of the frames of one store, of which the latest few stay open.

    Parameters
    ----------
    folder : the store
    dtype : number type on disk, or "auto"
    """

    def __init__(self, folder: Path, dtype: _codec.DtypeChoice) -> None:
        self._folder, self._dtype = folder, dtype
        self._writers: dict[Frame, ShardWriter] = {}

    def __getitem__(self, frame: Frame) -> ShardWriter:
        writer = self._writers.pop(frame, None)
        if writer is None:
            writer = ShardWriter(self._folder, frame, _codec.frame_dtype(frame, self._dtype))
        self._writers[frame] = writer
        if len(self._writers) > _OPEN_FRAMES:
            self._writers.pop(next(iter(self._writers))).close()
        return writer

    def close(self) -> None:
        """Let go of all shards."""
        for writer in self._writers.values():
            writer.close()
        self._writers.clear()
