"""The case folder: one run's answer and everything it rests on."""

import contextlib
import datetime
import fcntl
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from samecam._version import __version__
from samecam.case.folder._log import AuditLog
from samecam.case.folder._settings import StoreSettings
from samecam.errors import SamecamError
from samecam.files import write_atomically
from samecam.store import DiskStore, FingerprintStore, Record

FORMAT = "samecam-case"
VERSION = 1
STATUSES = ("good", "weak", "unusable", "duplicate", "skipped")
COLUMNS = (
    *("path", "sha256", "bytes", "width", "height", "format"),
    *("make", "model", "serial", "software", "taken", "orientation"),
    *("dark", "saturated", "status", "reason"),
)
_OURS = {
    *("lock", "log.jsonl", "fingerprints", "case.json"),
    *("images.csv", "clusters.csv", "evidence.csv", "clusters.json", "report.html"),
    *("start.csv", "compare.json", "compare.svg", "tune.json", "tune.svg"),
}


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
            check_no_links(self.folder)
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = _lock(self.folder)
        except OSError as error:
            raise SamecamError(
                f"{str(self.folder)!r} cannot be written: {error.strerror}."
            ) from None
        try:
            self.info = self._begin(settings, sources)
            self.log = AuditLog(self.folder / "log.jsonl")
            self.store = self._open_store(settings)
        except BaseException:
            self._unlock()
            raise

    def save(self, **changes: Any) -> None:
        """Change entries of `case.json`."""
        self.info.update(changes)
        text = json.dumps(self.info, indent=2, ensure_ascii=True)
        write_atomically(self.folder / "case.json", text + "\n")

    def write_images(self) -> None:
        """Write `images.csv` from the catalogue."""
        text = images_csv(self.store.records())
        write_atomically(self.folder / "images.csv", text)

    def counts(self) -> dict[str, int]:
        """Number of files by status."""
        counts = dict.fromkeys(STATUSES, 0)
        for record in self.store.records():
            counts[record.meta["status"]] += 1
        return counts

    def close(self) -> None:
        """Let go of the folder."""
        self.store.close()
        try:
            self.log.close()
        finally:
            self._unlock()

    def _unlock(self) -> None:
        os.close(self._lock)
        _held.discard(os.path.realpath(self.folder))

    def __enter__(self) -> "Case":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self, settings: StoreSettings, sources: list[str]) -> dict[str, Any]:
        if (self.folder / "case.json").exists():
            info = read_case(self.folder)
            check_same(self.folder, info, settings, sources)
            return info
        info = {
            "format": FORMAT,
            "version": VERSION,
            "samecam": __version__,
            "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "state": "new",
            "sources": sources,
            "extraction": settings.as_dict(),
        }
        write_atomically(self.folder / "case.json", json.dumps(info, indent=2) + "\n")
        return info

    def _open_store(self, settings: StoreSettings) -> DiskStore:
        folder = self.folder / "fingerprints"
        if (folder / "store.json").exists():
            return DiskStore.open(folder, "a")
        return DiskStore.create(
            folder,
            n_pixels=settings.n_pixels,
            dtype=settings.dtype,
            extractor=settings.as_dict(),
        )


def read_case(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Content of `case.json`, or a sentence why not."""
    path = Path(folder) / "case.json"
    try:
        info: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        version = int(info["version"])
        if not {"extraction", "sources"} <= set(info):
            raise ValueError("entries are missing")
    except FileNotFoundError:
        raise SamecamError(f"{str(folder)!r} is no case folder: it has no case.json.") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SamecamError(
            f"{str(path)!r} cannot be read ({error}): restore it from a copy, or begin a new case."
        ) from None
    if version > VERSION:
        raise SamecamError(
            f"{str(folder)!r} was written by a newer samecam (case format {version}, this one "
            f"reads up to {VERSION}): update samecam."
        )
    return info


def open_store(folder: str | os.PathLike[str]) -> FingerprintStore:
    """The fingerprints of a case, for reading."""
    read_case(folder)
    return DiskStore.open(Path(folder) / "fingerprints")


def images_csv(records: Iterable[Record]) -> str:
    """Text of `images.csv`: one row per file found, sorted by path."""
    rows = []
    for record in sorted(records, key=lambda record: record.key):
        row: Mapping[str, Any] = {**record.meta, "path": record.key, "sha256": record.sha256}
        rows.append([row.get(name) for name in COLUMNS])
    return csv_text(COLUMNS, rows)


def csv_text(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """CSV with LF, floats by `repr`, nothing for None; any string survives.

    (Python's own writer leaves a lone carriage return unquoted before 3.13.)
    """
    lines = [",".join(map(_cell, row)) for row in (header, *rows)]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = repr(float(value)) if isinstance(value, float) else str(value)
    if any(c in text for c in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def check_usable(folder: Path) -> None:
    """Refuse a folder that is neither a case nor empty."""
    if folder.exists() and not folder.is_dir():
        raise SamecamError(f"{str(folder)!r} is a file: name a folder for the case.")
    with contextlib.suppress(FileNotFoundError):
        names = {name for name in os.listdir(folder) if not name.startswith(".case.json.")}
        if names - _OURS and not (folder / "case.json").exists():
            raise SamecamError(
                f"{str(folder)!r} is not empty and not a case: name an empty or a new folder."
            )


def check_no_links(folder: Path) -> None:
    """Refuse a case in which a link stands for a file: what is written must stay inside."""
    store = folder / "fingerprints"
    inside = [folder / name for name in sorted(_OURS)]
    for path in (*inside, *store.glob("*"), *store.glob("shards/*")):
        if path.is_symlink():
            raise SamecamError(
                f"{str(path)!r} is a link, and a case keeps its files itself: put the file in its "
                "place, or name another folder."
            )


# Cases this process holds: its threads do not see each other's file locks.
_held: set[str] = set()


def _lock(folder: Path) -> int:
    """Hold the case for this process alone; the kernel lets go when it ends."""
    if os.path.realpath(folder) in _held:
        raise SamecamError(f"{str(folder)!r} is in use by this process: wait until it ends.")
    fd = lock_folder(folder)
    _held.add(os.path.realpath(folder))
    return fd


def lock_folder(folder: Path) -> int:
    """Open and lock the file `lock` of a folder; a sentence if another process has it.

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


def check_same(
    folder: Path, info: Mapping[str, Any], settings: StoreSettings, sources: list[str]
) -> None:
    """Refuse to go on with a case that was made otherwise, or from something else."""
    had, wanted = info["extraction"], settings.as_dict()
    if ("fingerprints" in had) != ("fingerprints" in wanted):
        made = "a file of fingerprints" if "fingerprints" in had else "photos"
        raise SamecamError(
            f"The case {str(folder)!r} was made from {made} "
            f"({', '.join(map(repr, info['sources']))}): give the same, or name another folder."
        )
    differing = [name for name in wanted if had.get(name) != wanted[name]]
    if differing:
        name = differing[0]
        raise SamecamError(
            f"The case {str(folder)!r} was made with {name} {had.get(name)!r}, not "
            f"{wanted[name]!r}: give the same settings, or name another folder."
        )
    if info["sources"] != sources:
        raise SamecamError(
            f"The case {str(folder)!r} was made from {', '.join(map(repr, info['sources']))}: "
            "give the same, or name another folder."
        )
