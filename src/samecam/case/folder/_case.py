"""The case folder, held for writing: one run's answer and everything it rests on."""

import collections
import contextlib
import datetime
import errno
import fcntl
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from samecam._version import __version__
from samecam.case.folder._info import FORMAT, VERSION, check_same, read_info
from samecam.case.folder._log import AuditLog, log_entries
from samecam.case.folder._names import (
    CASE,
    DESCRIPTION,
    IMAGES,
    LOG,
    OURS,
    STATUSES,
    STORE,
    check_files,
)
from samecam.case.folder._records import open_records
from samecam.case.folder._settings import StoreSettings
from samecam.case.folder._tables import images_csv
from samecam.errors import SamecamError
from samecam.files import file_hash, open_own, sweep, write_atomically
from samecam.store import DiskStore, Record

# Codes whose own word would not tell a reader enough.
_REASONS = {
    "not-a-picture": "no photo",
    "not-a-file": "not a regular file",
    "gone": "no longer there",
    "unreadable": "cannot be read",
    "memory": "needs more memory than a worker may use",
    "too-large": "too large",
    "too-small": "too small",
    "timeout": "took too long",
    "crash": "its decoder crashed",
    "over-exposed": "over-exposed",
    "internal": "internal error",
    "not-finite": "contains NaN or infinite numbers",
}
# Folders this process holds: its threads do not see each other's file locks.
_held: set[str] = set()


class Case:
    """A case folder that this process holds for writing.

    Attributes
    ----------
    folder : where it is
    info : the content of `case.json`
    log : the audit log
    store : the fingerprints
    """

    def __init__(
        self, folder: str | os.PathLike[str], settings: StoreSettings, sources: list[str]
    ) -> None:
        """Begin a case, or go on with one that has the same settings and sources."""
        self.folder = Path(folder)
        try:
            check_usable(self.folder)
            check_files(self.folder, writing=True)
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(self.folder)
        except OSError as error:
            raise SamecamError(
                f"{str(self.folder)!r} cannot be written: {error.strerror}."
            ) from None
        with contextlib.ExitStack() as opened:
            opened.callback(self._lock.release)
            sweep(self.folder)
            known = self._known(settings, sources)
            self.log = AuditLog(self.folder / LOG)
            opened.callback(self.log.close)
            self._note_change()
            self.info = self._begin(settings, sources) if known is None else known
            self.store = self._open_store(settings)
            opened.pop_all()

    def save(self, **changes: Any) -> None:
        """Change entries of `case.json`; the log has its hash, and that of the store's, first.

        (A run that is killed in between leaves the file as the line says it was before.)
        """
        self.info.update(changes)
        text = json.dumps(self.info, indent=2, ensure_ascii=True) + "\n"
        hashes = {CASE: hashlib.sha256(text.encode()).hexdigest()}
        if described := file_hash(self.folder / DESCRIPTION):
            hashes[DESCRIPTION] = described
        self.log.add("saved", sha256=hashes, before=file_hash(self.folder / CASE))
        self.log.flush()
        write_atomically(self.folder / CASE, text)

    def end_extraction(
        self, *, interrupted: bool, done: int, seconds: float, work: dict[str, float]
    ) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
        """Write `images.csv`, unless interrupted, and what was done.

        Returns files by status, and why some were not used, in a word or two, with counts.
        """
        counts = dict.fromkeys(STATUSES, 0)
        records = self.store.records()
        for record in records:
            counts[record.meta["status"]] += 1
        if not interrupted:
            write_atomically(self.folder / IMAGES, images_csv(records))
        timings = self.info.get("timings", {})
        if done:
            work = {name: round(value, 3) for name, value in sorted(work.items())}
            timings = {**timings, "extract": {"seconds": round(seconds, 3), **work}}
        state = "interrupted" if interrupted else "extracted"
        self.save(state=state, counts=counts, timings=timings)
        self.log.add(state, counts=counts, records=self.store.digest())
        self.store.end_writing()
        self.log.flush()
        return counts, count_reasons(records)

    def close(self) -> None:
        """Let go of the folder."""
        self.store.close()
        try:
            self.log.close()
        finally:
            self._lock.release()

    def __enter__(self) -> "Case":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _known(self, settings: StoreSettings, sources: list[str]) -> dict[str, Any] | None:
        """What `case.json` holds, if the case was made the same way; None if there is none."""
        if not os.path.lexists(self.folder / CASE):
            return None
        info = read_info(self.folder)
        check_same(self.folder, info, settings, sources)
        return info

    def _note_change(self) -> None:
        """Let the log say so if somebody else has written `case.json`, or taken it away."""
        entries = collections.deque(log_entries(self.folder / LOG, "saved"), maxlen=1)
        last = entries[0] if entries else {}
        hashes = last.get("sha256")
        known = (hashes.get(CASE) if isinstance(hashes, dict) else None, last.get("before"))
        if last and file_hash(self.folder / CASE) not in known:
            self.log.add("changed outside", files=[CASE])

    def _begin(self, settings: StoreSettings, sources: list[str]) -> dict[str, Any]:
        self.info = {
            "format": FORMAT,
            "version": VERSION,
            "samecam": __version__,
            "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "state": "new",
            "sources": sources,
            "extraction": settings.as_dict(),
        }
        self.save()
        return self.info

    def _open_store(self, settings: StoreSettings) -> DiskStore:
        if os.path.lexists(self.folder / DESCRIPTION):
            return open_records(self.folder, self.info, "a")
        return DiskStore.create(
            self.folder / STORE,
            frame=settings.frame,
            dtype=settings.rows,
            extractor=settings.as_dict(),
        )


def check_usable(folder: Path) -> None:
    """Refuse a folder that is neither a case nor empty."""
    if folder.exists() and not folder.is_dir():
        raise SamecamError(f"{str(folder)!r} is a file: name a folder for the case.")
    with contextlib.suppress(FileNotFoundError):
        names = {name for name in os.listdir(folder) if not name.startswith(".samecam-")}
        if names - OURS and not (folder / CASE).exists():
            raise SamecamError(
                f"{str(folder)!r} is not empty and not a case: name an empty or a new folder."
            )


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
    fd = open_own(folder / "lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EAGAIN):
            os.close(fd)
            raise SamecamError(
                f"{str(folder)!r} cannot be locked ({error.strerror}), which keeps two runs from "
                "one case: name a folder on a file system with locks, a local disk for instance."
            ) from None
        holder = os.pread(fd, 20, 0).decode("ascii", "replace").strip() or "another one"
        os.close(fd)
        raise SamecamError(
            f"{str(folder)!r} is in use by process {holder}: wait until it ends, or name another "
            "folder."
        ) from None
    os.ftruncate(fd, 0)
    os.pwrite(fd, str(os.getpid()).encode(), 0)
    return fd


def count_reasons(records: Iterable[Record]) -> dict[str, dict[str, int]]:
    """For `unusable` and `skipped` files: kinds of reason with counts, most frequent first."""
    counts: dict[str, collections.Counter[str]] = {
        "unusable": collections.Counter(),
        "skipped": collections.Counter(),
    }
    for record in records:
        if record.meta["status"] in counts:
            counts[record.meta["status"]][_kind(record)] += 1
    return {
        status: dict(sorted(kinds.items(), key=lambda item: (-item[1], item[0])))
        for status, kinds in counts.items()
    }


def _kind(record: Record) -> str:
    code = str(record.meta.get("code") or "other")
    return _REASONS.get(code, code.replace("-", " "))
