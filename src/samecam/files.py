"""Files of our own: written whole or not at all, hashed, and opened without surprises."""

import hashlib
import io
import json
import os
import stat
from pathlib import Path
from typing import Any

from samecam.errors import SamecamError

__all__ = ["file_hash", "open_input", "read_versioned", "regular_status", "write_atomically"]


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


def read_versioned(path: Path, newest: int, what: str) -> dict[str, Any]:
    """A JSON object of ours that states its format's `version`; missing: `FileNotFoundError`.

    Parameters
    ----------
    newest : version of the format that this samecam writes
    what : the format, for the error about one that is newer
    """
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        version = int(content["version"])
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SamecamError(
            f"{str(path)!r} cannot be read ({error}): restore it from a copy, or begin a new case."
        ) from None
    if version > newest:
        raise SamecamError(
            f"{str(path.parent)!r} was written by a newer samecam ({what} format {version}, this "
            f"one reads up to {newest}): update samecam."
        )
    return content


def open_input(file: str | os.PathLike[str]) -> io.FileIO:
    """Open for reading alone: a pipe must not block, an input is never written to."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0)
    return open(os.open(file, flags), "rb", buffering=0)


def regular_status(stream: io.FileIO) -> os.stat_result | None:
    """Length, times and so on of an open file; None if it is not a regular one."""
    status = os.fstat(stream.fileno())
    return status if stat.S_ISREG(status.st_mode) else None
