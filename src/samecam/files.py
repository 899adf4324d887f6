"""Files of our own: written whole or not at all, hashed, and opened without surprises."""

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from samecam.errors import SamecamError

__all__ = [
    "check_single",
    "check_writable",
    "file_hash",
    "open_own",
    "read_own",
    "refuse_link",
    "sweep",
    "work_folder",
    "write_atomically",
]

_OWN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PART = re.compile(r"\.samecam-[0-9a-f]{24}\.(part|work)")
_CHUNK = 2**20
# A file of ours that is read whole is never this large.
LARGEST = 2**31


def write_atomically(path: Path, content: str | bytes, *, modified: float | None = None) -> None:
    """Write a file so that a reader finds the old or the new one whole.

    It is written beside its place under a name that nobody can foresee, which must be new, and
    then takes its place; no link is followed. What a killed process leaves, `sweep` removes.

    Parameters
    ----------
    modified : time of change the file gets, in seconds; that of writing if None
    """
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        _check_replaceable(path, folder)
        _write_beside(path.name, folder, data, modified)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        os.close(folder)


def _write_beside(name: str, folder: int, data: bytes, modified: float | None) -> None:
    part, fd = _begin_part(folder)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        if modified is not None:
            os.utime(fd, (modified, modified))
        os.fsync(fd)
        os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(part, dir_fd=folder)
        raise
    finally:
        os.close(fd)
    os.fsync(folder)


def _unforeseen(ending: str) -> str:
    return f".samecam-{secrets.token_hex(12)}.{ending}"


def _begin_part(folder: int) -> tuple[str, int]:
    """A new file of its own, held by a lock for as long as it is written."""
    while True:
        part = _unforeseen("part")
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OWN, 0o666, dir_fd=folder)
        with contextlib.suppress(OSError):  # where nothing can be locked, nothing is swept
            fcntl.flock(fd, fcntl.LOCK_EX)
        if os.fstat(fd).st_nlink:
            return part, fd
        os.close(fd)  # swept before it was locked


def _check_replaceable(path: Path, folder: int, otherwise: str | None = None) -> None:
    with contextlib.suppress(FileNotFoundError):
        mode = os.stat(path.name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISREG(mode):
            return
        if otherwise is not None:
            raise SamecamError(f"{str(path)!r} {_kind(mode)}: {otherwise}.")
        raise _not_own(path, mode)


def check_writable(file: Path, otherwise: str) -> None:
    """Refuse, before the work, a file in a folder that nothing can be written to.

    Parameters
    ----------
    otherwise : what to do instead, for the error
    """
    try:
        folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _check_replaceable(file, folder, otherwise)
            part, fd = _begin_part(folder)
            os.close(fd)
            os.unlink(part, dir_fd=folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise SamecamError(
            f"{str(file)!r} cannot be written: {error.strerror}; {otherwise}."
        ) from None


def sweep(folder: Path) -> None:
    """Remove what killed processes left in a folder in the midst of writing."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if _PART.fullmatch(name):
                _remove_part(folder / name)


def _remove_part(path: Path) -> None:
    with contextlib.suppress(OSError):
        fd = os.open(path, os.O_RDONLY | _OWN)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while somebody writes it
            if stat.S_ISDIR(os.fstat(fd).st_mode):
                shutil.rmtree(path)
            else:
                path.unlink()
        finally:
            os.close(fd)


@contextlib.contextmanager
def work_folder(parent: Path) -> Iterator[Path]:
    """A new folder that is gone afterwards; if its process is killed, `sweep` removes it."""
    path = parent / _unforeseen("work")
    try:
        path.mkdir(mode=0o700)
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _OWN)
    except OSError as error:
        raise _unwritable(parent, error) from None
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(fd)


def open_own(path: str | os.PathLike[str], flags: int = os.O_RDONLY) -> int:
    """Open a file of a case: a regular one, under no link, and to be changed of one name alone.

    What is not there, or may not be opened, is an `OSError` as always.
    """
    try:
        fd = os.open(path, flags | _OWN, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EISDIR):
            raise _not_own(path, os.lstat(path).st_mode) from None
        raise
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        os.close(fd)
        raise _not_own(path, status.st_mode)
    if flags & (os.O_WRONLY | os.O_RDWR) and status.st_nlink > 1:
        os.close(fd)
        raise _second_name(path)
    return fd


def read_own(path: str | os.PathLike[str], limit: int = LARGEST) -> bytes:
    """The bytes of a file of a case; `OSError` as always, and an error for more than `limit`."""
    with open(open_own(path), "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > limit:
            raise SamecamError(
                f"{os.fspath(path)!r} is {size} bytes long, which it never is: restore it from a "
                "copy, or begin a new case."
            )
        return stream.read(size + 1)


def check_single(path: Path, *, once: bool = True, folders: bool = False) -> None:
    """Refuse a link, what is no file, and (`once`) a file that has another name as well."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if folders and stat.S_ISDIR(status.st_mode):
        return
    if not stat.S_ISREG(status.st_mode):
        raise _not_own(path, status.st_mode)
    if once and status.st_nlink > 1:
        raise _second_name(path)


def refuse_link(path: Path) -> None:
    """Refuse a link where a file or folder of a case should be."""
    if path.is_symlink():
        raise _not_own(path, path.lstat().st_mode)


def file_hash(path: Path) -> str:
    """SHA-256 of a file of a case, or "" if it cannot be read."""
    digest = hashlib.sha256()
    try:
        with open(open_own(path), "rb", buffering=0) as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
    except (OSError, ValueError, SamecamError):  # ValueError: a name that cannot be one
        return ""
    return digest.hexdigest()


def _unwritable(path: Path, error: OSError) -> SamecamError:
    return SamecamError(f"{str(path)!r} cannot be written: {error.strerror}.")


def _kind(mode: int) -> str:
    """What something is that is no regular file."""
    if stat.S_ISLNK(mode):
        return "is a link"
    return "is a folder where a file should be" if stat.S_ISDIR(mode) else "is no regular file"


def _not_own(path: str | os.PathLike[str], mode: int) -> SamecamError:
    return SamecamError(
        f"{os.fspath(path)!r} {_kind(mode)}, and a case keeps its files itself: put the file in "
        "its place, or name another folder."
    )


def _second_name(path: str | os.PathLike[str]) -> SamecamError:
    return SamecamError(
        f"{os.fspath(path)!r} is one file under several names (hard links), and what is written "
        "would change all of them: put a copy in its place, or name another folder."
    )
