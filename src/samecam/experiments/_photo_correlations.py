"""Correlations of photographs, as they are or compressed a second time."""

import hashlib
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from samecam import compute
from samecam.arrays import Floats, Labels
from samecam.compute import Resources
from samecam.errors import SamecamError
from samecam.experiments._experiment import Context
from samecam.experiments._photo_copies import save_again
from samecam.experiments._photo_sets import JUDGED, PhotoSet, Setting
from samecam.experiments._study import Run

if TYPE_CHECKING:
    from samecam.case import Extraction
    from samecam.store import Record


def good_correlations(context: Context, photos: PhotoSet, side: int) -> tuple[Floats, Labels]:
    """Correlations and cameras of the photographs that are not over-exposed, as they are."""
    correlate_photos(context, photos, None, [side])
    saved = context.study.load(f"{photos.name}/{Setting(None, side).key}/correlations").arrays
    good = np.flatnonzero(~saved["weak"])
    truth = photos.truth()[saved["rows"][good]].astype(np.intp)
    return saved["gram"][np.ix_(good, good)], truth


def correlate_photos(
    context: Context, photos: PhotoSet, quality: int | None, sides: Sequence[int]
) -> None:
    """Correlations of the photographs, compressed once more at `quality`, for each side.

    They are saved as runs `SET/SETTING/correlations`: `gram` (k, k) of the k photos that have
    a fingerprint, `rows` (k,) their numbers in the set, `weak` and `dark` (k,). Copies and
    fingerprints lie in the folder of the study until all sides are done; a run that was
    interrupted goes on with them. Fewer than two photos that can be used are an error.
    """
    settings = [Setting(quality, side) for side in sides]
    keys = {setting: f"{photos.name}/{setting.key}/correlations" for setting in settings}
    work = context.study.folder / "work" / photos.name / settings[0].copy
    if not all(context.study.has(key) for key in keys.values()):
        context.study.hold()
        _lay_out(context, photos, work / "photos", quality, max(sides))
    for setting, key in keys.items():
        given = {**photos.as_parameters(), "quality": quality, "side": setting.side}
        make = partial(_correlate, context, photos, work, setting)
        context.study.run(key, make, parameters=given)
    shutil.rmtree(work, ignore_errors=True)


def _lay_out(
    context: Context, photos: PhotoSet, folder: Path, quality: int | None, side: int
) -> None:
    """The photographs, or copies of them, under their numbers.

    What an interrupted run left is gone on with only if it was made of the very same files.
    """
    known, digest = folder.parent / "files.sha256", _digest(photos.files)
    try:
        if not known.is_file() or known.read_text(encoding="ascii", errors="replace") != digest:
            shutil.rmtree(folder.parent, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        known.write_text(digest, encoding="ascii")
        if quality is None:
            _link(photos, folder)
            return
        copies = save_again(context, photos.files, folder, quality, side)
    except OSError as error:
        why = error.strerror or error
        raise SamecamError(f"{str(folder)!r} cannot be written: {why}.") from None
    if copies < 2:
        raise _too_few(context, photos, copies, "that can be read", {})


def _correlate(context: Context, photos: PhotoSet, work: Path, setting: Setting) -> Run:
    """Fingerprints of the photographs or copies, and the correlations of all pairs."""
    from samecam import correlate
    from samecam.case import ExtractionSettings, extract_photos, open_store
    from samecam.photos import Exposure

    side = setting.side
    began, case = time.monotonic(), work / f"case-{side}"
    settings = ExtractionSettings(size=side)
    done = extract_photos(
        [work / "photos"],
        case,
        settings,
        resources=Resources(workers=context.workers),
        progress=context.progress,
    )
    with open_store(case) as store:
        used = [r for r in store.records() if r.has_row and r.meta["status"] in ("good", "weak")]
        good = [_number(record) for record in used if record.meta["status"] == "good"]
        _check(context, photos, setting, good, len(used), done)
        rows = store.rows()
        at = np.array([rows.index(record.key) for record in used], dtype=np.intp)
        memory = context.memory or compute.machine().available // 2
        gram = correlate.gram(rows, rows=at, memory=memory)
    dark = [Exposure(record.meta.get("dark") or 0.0, 0.0).is_dark for record in used]
    arrays = {
        "gram": gram,
        "rows": np.array([_number(record) for record in used], dtype=np.int32),
        "weak": np.array([record.meta["status"] == "weak" for record in used], dtype=bool),
        "dark": np.array(dark, dtype=bool),
    }
    facts = {
        "seconds": time.monotonic() - began,
        "status": done.counts,
        "settings": settings.as_dict(),
        "null_scale": correlate.null_scale(gram, side * side),
    }
    return Run(arrays, facts)


def _number(record: "Record") -> int:
    """Number in the set of a photograph that lies under it."""
    return int(Path(record.key).stem)


def _check(
    context: Context,
    photos: PhotoSet,
    setting: Setting,
    good: Sequence[int],
    used: int,
    done: "Extraction",
) -> None:
    """Refuse a setting at which too few photos are left to tell cameras apart.

    The originals at 512 pixels tell which photos are good, so there good ones are counted, and
    at other settings all with a fingerprint.
    """
    square = f"{setting.side} × {setting.side} pixels"
    why = {word: n for kinds in done.reasons.values() for word, n in kinds.items()}
    if doubles := done.counts.get("duplicate"):
        why["the same as others"] = doubles
    if used < 2:
        raise _too_few(context, photos, used, f"with a fingerprint of {square}", why)
    if setting != (None, JUDGED):
        return
    if len(good) < 2:
        bright = "over-exposed"
        why = {**why, bright: why.get(bright, 0) + used - len(good)}
        raise _too_few(context, photos, len(good), f"with a good fingerprint of {square}", why)
    left = {photos.cameras[k] for k in good}
    if len(left) == 1 < len(set(photos.cameras)):
        raise SamecamError(
            f"The {len(good)} photos in {_place(context)} with a good fingerprint of {square} are "
            f"all of the camera {left.pop()!r}: give good ones of two cameras or more."
        )


def _too_few(
    context: Context, photos: PhotoSet, count: int, what: str, why: Mapping[str, int]
) -> SamecamError:
    """That so many photos are not enough; `why` counts reasons of the others."""
    others = ", ".join(f"{n} {word}" for word, n in why.items())
    return SamecamError(
        f"Two photos {what} are needed, and {_place(context)} has {count} among "
        f"{len(photos.files)}{f' ({others})' if others else ''}: give more that can be used."
    )


def _place(context: Context) -> str:
    """Where the photographs are."""
    return repr(str(context.study.folder / "photos" if context.data is None else context.data))


def _digest(files: Sequence[Path]) -> str:
    """Of names, lengths and times of change: other files, or files that have changed, differ."""
    digest = hashlib.sha256()
    for file in files:
        try:
            status = os.stat(file)
            about = f"{os.path.realpath(file)}\t{status.st_size}\t{status.st_mtime_ns}\n"
        except OSError:
            about = f"{os.path.realpath(file)}\n"
        digest.update(about.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _link(photos: PhotoSet, folder: Path) -> None:
    """The originals under their numbers; nothing is copied."""
    for number, file in enumerate(photos.files):
        link = folder / f"{number:06d}{file.suffix.lower()}"
        if not link.is_symlink():
            link.symlink_to(os.path.realpath(file))
