"""One writer at a time: the file `lock` of a folder, held by the kernel for a process."""

import fcntl
import os
from pathlib import Path

from samecam.errors import SamecamError

# Folders this process holds: its threads do not see each other's file locks.
_held: set[str] = set()


class FolderLock:
    """Holds a folder for this process alone; the kernel lets go when it ends."""

    def __init__(self, folder: Path) -> None:
        self._real = os.path.realpath(folder)
        if self._real in _held:
            raise SamecamError(f"{str(folder)!r} is in use by this process: wait until it ends.")
        self._fd = lock_folder(folder)
        _held.add(self._real)

    def release(self) -> None:
        """Let go."""
        os.close(self._fd)
        _held.discard(self._real)


def lock_folder(folder: Path) -> int:
    """Open and lock the file `lock` of a folder; an error if another process has it.

    To close any file descriptor of it, in this process, is to let go.
    """
    fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.pread(fd, 20, 0).decode("ascii", "replace").strip() or "another one"
        os.close(fd)
        raise SamecamError(
            f"{str(folder)!r} is in use by process {holder}: wait until it ends, or name another "
            "folder."
        ) from None
    os.ftruncate(fd, 0)
    os.pwrite(fd, str(os.getpid()).encode(), 0)
    return fd
