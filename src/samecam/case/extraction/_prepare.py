"""Before the work: which files, which settings, and what it will cost."""

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from samecam import compute
from samecam.case.extraction._estimate import Estimate, estimate
from samecam.case.extraction._ledger import Ledger
from samecam.case.extraction._size import SizeChoice, choose_size, measure_photos
from samecam.case.extraction._stop import nothing_begun_yet
from samecam.case.folder import (
    CASE,
    STORE,
    ExtractionSettings,
    check_same,
    check_usable,
    open_case,
    read_info,
)
from samecam.errors import SamecamError
from samecam.photos import READ, PhotoFile, scan, would_find
from samecam.store import Record

Photos = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done: the files, and the settings with their size chosen.

    `settings` is None if it was asked to stop before the size was known; `choice` is None
    if there was nothing to choose.
    """

    case: Path
    sources: list[str]
    files: list[PhotoFile]
    settings: ExtractionSettings | None
    choice: SizeChoice | None = None

    def plan(self, workers: int) -> Estimate:
        """What is left to do and its cost."""
        if self.settings is None:
            raise SamecamError("It was interrupted before there was a plan.")
        records = _records(self.case)
        pending = Ledger(records, self.files).pending
        again = {item.path for item in pending}
        known = sum(r.has_row and r.key not in again for r in records)
        return estimate(pending, known, self.case, self.settings, workers, self.choice)


def prepare(
    photos: Photos,
    case: str | os.PathLike[str],
    settings: ExtractionSettings,
    resources: compute.Resources,
    progress: compute.Progress,
    stop: threading.Event,
) -> Job:
    """Find the files, refuse what cannot be done, and choose the size; nothing is written."""
    photos, target = arguments(photos), Path(case)
    with nothing_begun_yet(stop):
        files = scan(photos)
    sources = [source(p) for p in photos]
    check_apart(target, photos, files)
    try:
        check_usable(target)
    except OSError as error:
        raise SamecamError(f"{str(target)!r} cannot be written: {error.strerror}.") from None
    if os.path.lexists(target / CASE):
        info = read_info(target)
        if settings.size == "auto" and isinstance(info["extraction"].get("size"), int):
            settings = replace(settings, size=info["extraction"]["size"])
        check_same(target, info, settings, sources)
    if not files and not _records(target):
        raise SamecamError(f"There is no photo in {_listed(photos)}: name a folder that has some.")
    if settings.size != "auto":
        return Job(target, sources, files, settings)
    sizes = measure_photos(files, resources, progress, stop)
    if stop.is_set():
        return Job(target, sources, files, None)
    if not sizes:
        raise SamecamError(
            f"None of the {len(files)} files in {_listed(photos)} is a photo samecam reads "
            f"({READ}): name a folder that has some."
        )
    choice = choose_size(sizes, settings)
    return Job(target, sources, files, replace(settings, size=choice.size), choice)


def plan_extraction(
    photos: Photos,
    case: str | os.PathLike[str],
    settings: ExtractionSettings | None = None,
    *,
    resources: compute.Resources | None = None,
) -> Estimate:
    """What `extract_photos` would do and cost; nothing is written.

    For the size "auto", headers are read as there.
    """
    resources = (resources or compute.Resources()).resolve()
    wanted = settings or ExtractionSettings()
    job = prepare(photos, case, wanted, resources, compute.no_progress, threading.Event())
    return job.plan(resources.at_a_time())


def arguments(photos: Photos) -> list[str]:
    """Photo arguments as a list of strings, one alone included."""
    return [os.fspath(p) for p in ([photos] if isinstance(photos, str | os.PathLike) else photos)]


def source(argument: str | os.PathLike[str]) -> str:
    """An argument as it is remembered: absolute, so that it means the same elsewhere."""
    text = os.fspath(argument)
    if text.startswith("@") and not os.path.lexists(text):
        return "@" + os.path.abspath(text[1:])
    return os.path.abspath(text)


def _records(case: Path) -> list[Record]:
    """What a case knows of files so far."""
    if not os.path.lexists(case / STORE / "store.json"):
        return []
    with open_case(case).open_store() as store:
        return store.records()


def _listed(photos: Sequence[str]) -> str:
    more = f" and {len(photos) - 3} more" if len(photos) > 3 else ""
    return ", ".join(map(repr, photos[:3])) + more


def check_apart(case: Path, photos: Sequence[str], files: Sequence[PhotoFile]) -> None:
    """Refuse to write among the evidence."""
    inside = would_find(photos, os.fspath(case))
    real = os.path.realpath(case)
    if inside is None and any(os.path.realpath(f.file).startswith(real + os.sep) for f in files):
        inside = real
    if inside is not None:
        raise SamecamError(
            f"The case folder {str(case)!r} lies among the photos ({inside!r}): "
            "name a folder outside of them."
        )
