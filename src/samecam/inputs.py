"""Files that a user names, read so that none of them can keep a run waiting."""

import errno
import io
import os
import threading
from collections.abc import Callable
from typing import TypeVar

from samecam.files import open_input, regular_status

__all__ = ["in_time", "open_regular", "read_input", "read_some"]

T = TypeVar("T")
R = TypeVar("R")


def open_regular(file: str | os.PathLike[str]) -> io.FileIO:
    """Open a regular file for reading; `OSError` for a pipe, a device or a folder."""
    stream = open_input(file)
    try:
        if regular_status(stream) is None:
            folder = os.path.isdir(file)
            raise OSError(errno.EINVAL, "it is a folder" if folder else "it is no regular file")
    except BaseException:
        stream.close()
        raise
    return stream


def read_input(file: str | os.PathLike[str]) -> bytes:
    """All of a regular file."""
    with open_regular(file) as stream:
        return read_some(stream)


def read_some(stream: io.FileIO, count: int = -1) -> bytes:
    """So many bytes, or all; `OSError` for a file that would have one wait, as some of /proc."""
    data = stream.readall() if count < 0 else stream.read(count)
    if data is None:
        raise BlockingIOError(errno.EAGAIN, "it has nothing to give")
    return data


def in_time(function: Callable[[T], R], argument: T, seconds: float) -> R:
    """What a function gives; `TimeoutError` if it takes longer, as on a mount that hangs.

    It runs in a thread, which is then left to itself.
    """
    results: list[R] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            results.append(function(argument))
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work, daemon=True, name="in-time")
    try:
        thread.start()
    except RuntimeError:  # there may be no more of them
        return function(argument)
    thread.join(seconds)
    if results:
        return results[0]
    raise failures[0] if failures else TimeoutError(errno.ETIMEDOUT, "it does not answer")
