"""Files of our own: written whole or not at all, hashed, and opened without surprises."""

import hashlib
import io
import os
import stat
from pathlib import Path

from samecam.errors import SamecamError

__all__ = ["file_hash", "open_input", "regular_status", "write_atomically"]


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader finds the old or the new one whole."""
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(beside, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise SamecamError(f"{str(path)!r} cannot be written: {error.strerror}.") from None
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def file_hash(path: Path) -> str:
    """SHA-256 of a file, or "" if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def open_input(file: str | os.PathLike[str]) -> io.FileIO:
    """Open for reading alone: a pipe must not block, an input is never written to."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0)
    return open(os.open(file, flags), "rb", buffering=0)


def regular_status(stream: io.FileIO) -> os.stat_result | None:
    """Length, times and so on of an open file; None if it is not a regular one."""
    status = os.fstat(stream.fileno())
    return status if stat.S_ISREG(status.st_mode) else None
