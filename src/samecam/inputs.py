"""Files that a user names, read so that none of them can keep a run waiting."""

import errno
import hashlib
import io
import os
import stat
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import TypeAlias, TypeVar

__all__ = [
    "PathLike",
    "each_in_time",
    "hash_input",
    "in_time",
    "open_input",
    "open_regular",
    "read_input",
    "read_some",
    "regular_status",
]

# Reading must not wait for the other end of a pipe, nor make a terminal ours.
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0)
_CHUNK = 2**20

PathLike: TypeAlias = str | os.PathLike[str]  # of a file or a folder

T = TypeVar("T")
R = TypeVar("R")


def open_input(file: str | os.PathLike[str]) -> io.FileIO:
    """Open for reading alone: a pipe must not block, an input is never written to."""
    fd = os.open(file, _READ)
    try:
        return open(fd, "rb", buffering=0)
    except BaseException:  # of a folder
        os.close(fd)
        raise


def regular_status(stream: io.FileIO) -> os.stat_result | None:
    """Length, times and so on of an open file; None if it is not a regular one."""
    status = os.fstat(stream.fileno())
    return status if stat.S_ISREG(status.st_mode) else None


def open_regular(file: str | os.PathLike[str]) -> io.FileIO:
    """Open a regular file for reading; `OSError` for a pipe, a device or a folder."""
    stream = open_input(file)
    try:
        if regular_status(stream) is None:
            raise OSError(errno.EINVAL, "it is no regular file")
    except BaseException:
        stream.close()
        raise
    return stream


def read_input(file: str | os.PathLike[str], limit: int | None = None) -> bytes:
    """All of a regular file; `OSError` for one that is longer than `limit`."""
    with open_regular(file) as stream:
        if limit is not None and os.fstat(stream.fileno()).st_size > limit:
            raise OSError(errno.EFBIG, "it is too large")
        return read_some(stream)


def hash_input(
    file: str | os.PathLike[str], names: Collection[str] = ("sha256",)
) -> dict[str, str]:
    """Hashes of a regular file, by the names of their algorithms."""
    digests = {name: hashlib.new(name, usedforsecurity=False) for name in names}
    with open_regular(file) as stream:
        while chunk := read_some(stream, _CHUNK):
            for digest in digests.values():
                digest.update(chunk)
    return {name: digest.hexdigest() for name, digest in digests.items()}


def read_some(stream: io.FileIO, count: int = -1) -> bytes:
    """So many bytes, or all; `OSError` for a file that would have one wait, as some of /proc."""
    data = stream.readall() if count < 0 else stream.read(count)
    if data is None:
        raise BlockingIOError(errno.EAGAIN, "it has nothing to give")
    return data


def in_time(function: Callable[[T], R], argument: T, seconds: float) -> R:
    """What a function gives; `TimeoutError` if it takes longer, as on a mount that hangs."""
    result = next(each_in_time(function, [argument], seconds))
    if isinstance(result, BaseException):
        raise result
    return result


def each_in_time(
    function: Callable[[T], R], arguments: Sequence[T], seconds: float
) -> Iterator[R | BaseException]:
    """What a function gives or raises for each; `TimeoutError` for one that takes longer.

    It runs in a thread, which is left to itself with such a one; another goes on.
    """
    done = 0
    while done < len(arguments):
        answers: SimpleQueue[R | BaseException] = SimpleQueue()
        left = threading.Event()
        work = partial(_answer, function, arguments[done:], answers, left)
        try:
            threading.Thread(target=work, daemon=True, name="in-time").start()
        except RuntimeError:  # there may be no more of them
            work()
        for _ in range(done, len(arguments)):
            done += 1
            try:
                yield answers.get(timeout=seconds)
            except Empty:
                left.set()
                yield TimeoutError(errno.ETIMEDOUT, "it does not answer")
                break


def _answer(
    function: Callable[[T], R],
    arguments: Sequence[T],
    answers: "SimpleQueue[R | BaseException]",
    left: threading.Event,
) -> None:
    for argument in arguments:
        if left.is_set():  # another goes on
            return
        try:
            answers.put(function(argument))
        except BaseException as error:
            answers.put(error)
