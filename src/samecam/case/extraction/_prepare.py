"""Before the work: which files, which settings, and what it will cost."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from samecam import compute
from samecam.case.extraction._estimate import Estimate, estimate
from samecam.case.extraction._ledger import Ledger
from samecam.case.extraction._measure import measure_photos, usable_frames
from samecam.case.extraction._stop import nothing_begun_yet
from samecam.case.folder import (
    CASE,
    STORE,
    ExtractionSettings,
    SavedCase,
    check_same,
    check_usable,
    open_case,
    read_info,
)
from samecam.errors import SamecamError
from samecam.frames import Frame
from samecam.inputs import PathLike
from samecam.photos import READ, PhotoFile, scan, would_find
from samecam.store import Record

# Files, folders, patterns, `@list.txt`; one or several.
Photos: TypeAlias = PathLike | Sequence[PathLike]


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done.

    Attributes
    ----------
    case : the case folder
    sources : photo arguments, as they are remembered
    files : all files
    settings : how fingerprints are made
    frames : how many files that are not done yet have which frame, as far as their headers tell,
        without those that are too small or too large to be read
    interrupted : whether it was asked to stop before that was known
    """

    case: Path
    sources: list[str]
    files: list[PhotoFile]
    settings: ExtractionSettings
    frames: Counter[Frame]
    interrupted: bool = False

    @property
    def largest(self) -> int:
        """Pixels of the largest frame."""
        return max((frame.n_pixels for frame in self.frames), default=1)

    def plan(self, workers: int) -> Estimate:
        """What is left to do and its cost."""
        records = _records(self.case)
        pending = Ledger(records, self.files).pending
        again = {item.path for item in pending}
        known = Counter(r.frame for r in records if r.frame is not None and r.key not in again)
        return estimate(pending, self.frames, known, self.case, self.settings, workers)


def prepare(
    photos: Photos,
    case: PathLike,
    settings: ExtractionSettings,
    resources: compute.Resources,
    progress: compute.Progress,
    stop: threading.Event,
) -> Job:
    """Find the files, refuse what cannot be done, and measure photos; nothing is written."""
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
        check_same(target, read_info(target), settings, sources)
    records = _records(target)
    if not files and not records:
        raise SamecamError(f"There is no photo in {_listed(photos)}: name a folder that has some.")
    frames = _frames_of(Ledger(records, files).pending, settings, resources, progress, stop)
    if not frames and not records and not stop.is_set():
        raise SamecamError(
            f"None of the {len(files)} files in {_listed(photos)} is a photo samecam reads "
            f"({READ}): name a folder that has some."
        )
    return Job(target, sources, files, settings, usable_frames(frames), interrupted=stop.is_set())


def _frames_of(
    pending: Sequence[PhotoFile],
    settings: ExtractionSettings,
    resources: compute.Resources,
    progress: compute.Progress,
    stop: threading.Event,
) -> Counter[Frame]:
    """How many files will have fingerprints of which frame, at most."""
    if settings.frame is not None:
        return Counter({settings.frame: len(pending)} if pending else {})
    return measure_photos(pending, resources, progress, stop)


def added_job(
    saved: SavedCase,
    files: list[PhotoFile],
    settings: ExtractionSettings,
    resources: compute.Resources,
    progress: compute.Progress,
    stop: threading.Event,
) -> Job:
    """More files for a case, named as they will be in it."""
    pending = Ledger(_records(saved.folder), files).pending
    frames = usable_frames(_frames_of(pending, settings, resources, progress, stop))
    sources = saved.info["sources"]
    return Job(saved.folder, sources, files, settings, frames, interrupted=stop.is_set())


def plan_extraction(
    photos: Photos,
    case: PathLike,
    settings: ExtractionSettings | None = None,
    *,
    resources: compute.Resources | None = None,
) -> Estimate:
    """What `extract_photos` would do and cost; nothing is written.

    Examples
    --------
    >>> plan = samecam.plan_extraction(["photos/"], "CASE")
    >>> print(plan.files, plan.seconds, plan.fits)
    """
    resources = (resources or compute.Resources()).resolve()
    wanted = settings or ExtractionSettings()
    job = prepare(photos, case, wanted, resources, compute.no_progress, threading.Event())
    return job.plan(resources.at_a_time())


def arguments(photos: Photos) -> list[str]:
    """Photo arguments as a list of strings, one alone included."""
    return [os.fspath(p) for p in ([photos] if isinstance(photos, str | os.PathLike) else photos)]


def source(argument: PathLike) -> str:
    """An argument as it is remembered: absolute, so that it means the same elsewhere."""
    text = os.fspath(argument)
    if text.startswith("@") and not os.path.lexists(text):
        return "@" + os.path.abspath(text[1:])
    return os.path.abspath(text)


def _records(case: Path) -> list[Record]:
    """What a case knows of files so far; nothing if its settings are gone, until it is opened."""
    if not all(os.path.lexists(case / name) for name in (CASE, f"{STORE}/store.json")):
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
            f"The case folder {os.fspath(case)!r} lies among the photos ({inside!r}): "
            "name a folder outside of them."
        )
