"""Append-only files of fixed-length records: one open file per writing process."""

import errno
import fcntl
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from samecam.errors import SamecamError
from samecam.files import open_own
from samecam.store import _codec

SHARD_BYTES = 2 * 2**30
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class StoreFullError(SamecamError):
    """No room is left where the store lives."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a row lies: shard number, record number, CRC-32 of the record, scale."""

    shard: int
    row: int
    crc: int
    scale: float


def shard_path(folder: Path, number: int, dtype: str) -> Path:
    """File of one shard."""
    return folder / "shards" / f"{number:05d}.{_codec.ending(dtype)}"


def is_shard(path: Path, dtype: str) -> bool:
    """Whether a file of the folder of shards has the name of one."""
    number, _, ending = path.name.partition(".")
    return number.isascii() and number.isdigit() and ending == _codec.ending(dtype)


def has_rows(folder: Path) -> bool:
    """Whether anything was ever written to the shards of a store, committed or not."""
    return any(shard_bytes(path) for path in (folder / "shards").glob("*.*"))


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
    return n_pixels * _codec.kind(dtype).itemsize


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
    n_pixels, dtype : as in `store.json`
    """

    def __init__(self, folder: Path, n_pixels: int, dtype: str) -> None:
        self._folder, self._n_pixels, self._dtype = Path(folder), n_pixels, dtype
        self._length = record_bytes(n_pixels, dtype)
        self._capacity = max(1, SHARD_BYTES // self._length)
        self._fd = -1
        self._number = -1
        self._rows = 0

    def append(self, vector: npt.ArrayLike) -> Placement:
        """Write one row and say where it lies; it counts once that is committed."""
        raw, scale = _codec.encode(vector, self._dtype)
        if raw.shape != (self._n_pixels,):
            raise ValueError(f"vector has shape {raw.shape}; rows have {self._n_pixels} numbers")
        if self._fd < 0 or self._rows >= self._capacity:
            self._claim()
        data = raw.data.cast("B")
        try:
            _write(self._fd, data, self._rows * self._length)
        except OSError as error:
            os.ftruncate(self._fd, self._rows * self._length)
            raise write_error(self._folder, error) from None
        place = Placement(self._number, self._rows, zlib.crc32(data), scale)
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
            path = shard_path(self._folder, number, self._dtype)
            try:
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
        raise write_error(path.parent.parent, error) from None
    try:
        if os.fstat(fd).st_size > committed_bytes and try_lock(fd):
            os.ftruncate(fd, committed_bytes)
    finally:
        os.close(fd)


def _write(fd: int, data: "memoryview[Any]", offset: int) -> None:
    while len(data):
        done = os.pwrite(fd, data, offset)
        data, offset = data[done:], offset + done
