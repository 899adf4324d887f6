"""The case folder, held for writing: one run's answer and everything it rests on."""

import contextlib
import datetime
import json
import os
from pathlib import Path
from typing import Any

from samecam._version import __version__
from samecam.case.folder._info import FORMAT, VERSION, check_same, read_info
from samecam.case.folder._lock import FolderLock
from samecam.case.folder._log import AuditLog
from samecam.case.folder._names import CASE, IMAGES, LOG, OURS, STATUSES, STORE
from samecam.case.folder._settings import StoreSettings
from samecam.case.folder._tables import images_csv
from samecam.errors import SamecamError
from samecam.files import write_atomically
from samecam.store import DiskStore


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
            self._lock = FolderLock(self.folder)
        except OSError as error:
            raise SamecamError(
                f"{str(self.folder)!r} cannot be written: {error.strerror}."
            ) from None
        try:
            self.info = self._begin(settings, sources)
            self.log = AuditLog(self.folder / LOG)
            self.store = self._open_store(settings)
        except BaseException:
            self._lock.release()
            raise

    def save(self, **changes: Any) -> None:
        """Change entries of `case.json`."""
        self.info.update(changes)
        text = json.dumps(self.info, indent=2, ensure_ascii=True)
        write_atomically(self.folder / CASE, text + "\n")

    def end_extraction(
        self, *, interrupted: bool, done: int, seconds: float, work: dict[str, float]
    ) -> dict[str, int]:
        """Write `images.csv`, unless interrupted, and what was done; files by status."""
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
        self.log.add(state, counts=counts)
        self.store.end_writing()
        self.log.flush()
        return counts

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

    def _begin(self, settings: StoreSettings, sources: list[str]) -> dict[str, Any]:
        if (self.folder / CASE).exists():
            info = read_info(self.folder)
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
        write_atomically(self.folder / CASE, json.dumps(info, indent=2) + "\n")
        return info

    def _open_store(self, settings: StoreSettings) -> DiskStore:
        folder = self.folder / STORE
        if (folder / "store.json").exists():
            return DiskStore.open(folder, "a")
        return DiskStore.create(
            folder,
            n_pixels=settings.n_pixels,
            dtype=settings.dtype,
            extractor=settings.as_dict(),
        )


def check_usable(folder: Path) -> None:
    """Refuse a folder that is neither a case nor empty."""
    if folder.exists() and not folder.is_dir():
        raise SamecamError(f"{str(folder)!r} is a file: name a folder for the case.")
    with contextlib.suppress(FileNotFoundError):
        names = {name for name in os.listdir(folder) if not name.startswith(f".{CASE}.")}
        if names - OURS and not (folder / CASE).exists():
            raise SamecamError(
                f"{str(folder)!r} is not empty and not a case: name an empty or a new folder."
            )


def check_no_links(folder: Path) -> None:
    """Refuse a case in which a link stands for a file: what is written must stay inside."""
    store = folder / STORE
    inside = [folder / name for name in sorted(OURS)]
    for path in (*inside, *store.glob("*"), *store.glob("shards/*")):
        if path.is_symlink():
            raise SamecamError(
                f"{str(path)!r} is a link, and a case keeps its files itself: put the file in its "
                "place, or name another folder."
            )
