"""Photographs for experiments: simulated or real, saved a second time, correlated."""

import hashlib
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from samecam import compute
from samecam.compute import Resources
from samecam.datasets import (
    Collection,
    configuration,
    load_dresden,
    load_folders,
    load_raise,
    load_truth,
    load_vision,
)
from samecam.errors import SamecamError
from samecam.experiments._experiment import Context
from samecam.experiments._photo_copies import save_again
from samecam.experiments._study import Run

if TYPE_CHECKING:
    from samecam.case import Extraction
    from samecam.store import Record

# Simulated cameras and photos by each: the full set, and with --quick.
CAMERAS, QUICK_CAMERAS = (20, 20), (8, 12)
SIZE = 1280, 1024
# Photos that --quick takes of each real camera, at most.
QUICK_EACH = 12
# The paper's photographs of both experiments.
CONFIGURATION = "Va20"
# A square is used where this share of the photos holds it.
SHARE = 0.95
# The crop that tells which photos are dark or saturated, for all settings alike.
JUDGED = 512


class Setting(NamedTuple):
    """What is correlated: the quality of the second compression, or None; side of the square."""

    quality: int | None
    side: int

    @property
    def key(self) -> str:
        """Its part of the name of a run."""
        return f"{self.copy}-{self.side}"

    @property
    def copy(self) -> str:
        """Name of the photographs that it is made of."""
        return "once" if self.quality is None else f"q{self.quality}"


@dataclass(frozen=True, slots=True)
class PhotoSet:
    """Photographs of known cameras.

    Attributes
    ----------
    name : its part of the names of runs
    kind : where they come from
    files, cameras : file and camera of each
    notes : sentences on what is not as in print
    """

    name: str
    kind: Literal["simulated", "real"]
    files: tuple[Path, ...]
    cameras: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What they are, in words."""
        return f"{self.kind} photographs, {len(set(self.cameras))} cameras, {len(self.files)} files"

    def as_parameters(self) -> dict[str, Any]:
        """What tells them from others; no path of this machine."""
        lines = [f"{f.name},{c}\n" for f, c in zip(self.files, self.cameras, strict=True)]
        text = "".join(lines).encode("utf-8", "surrogateescape")
        return {"photos": self.title, "sha256": hashlib.sha256(text).hexdigest()}

    def truth(self) -> npt.NDArray[np.int32]:
        """Camera of each photo as a number."""
        number = {camera: k for k, camera in enumerate(sorted(set(self.cameras)))}
        return np.array([number[camera] for camera in self.cameras], dtype=np.int32)


def photo_set(context: Context) -> PhotoSet:
    """The real photographs if any are named, else simulated ones, made if they are not there."""
    if context.data is None:
        return simulated(context)
    return real(context)


def set_name(context: Context) -> str:
    """What the set of `photo_set` is called, without looking for it."""
    if context.data is not None:
        return "real-quick" if context.quick else "real"
    cameras, images = QUICK_CAMERAS if context.quick else CAMERAS
    return f"simulated-{cameras}x{images}"


def simulated(context: Context) -> PhotoSet:
    """Photographs by sensors that do not exist, in the folder of the study."""
    from samecam.simulate import simulate_photos

    cameras, images = QUICK_CAMERAS if context.quick else CAMERAS
    folder = context.study.folder / "photos" / set_name(context)
    if not (folder / "truth.csv").exists():
        context.study.hold()
        simulate_photos(
            folder,
            cameras=cameras,
            images=images,
            size=SIZE,
            workers=context.workers,
            progress=lambda done, total: context.progress("Photographing", done, total),
        )
    found = load_truth(folder / "truth.csv")
    return PhotoSet(set_name(context), "simulated", tuple(found.paths), tuple(found.cameras))


def real(context: Context) -> PhotoSet:
    """The photographs below a folder; of VISION, 20 cameras as in the paper if it has them.

    With --quick, at most 12 of each camera.
    """
    assert context.data is not None
    found = open_collection(context.data)
    if found.name == "VISION":
        with suppress(SamecamError):  # a part of it alone: then all there is
            found = found.configured(configuration(CONFIGURATION))
    if context.quick:
        found = found.take({c: min(n, QUICK_EACH) for c, n in found.sizes().items()})
    return PhotoSet(
        set_name(context), "real", tuple(found.paths), tuple(found.cameras), found.notes
    )


def open_collection(root: Path) -> Collection:
    """A collection by the look of its folder: `truth.csv`, RAISE, VISION, Dresden, folders."""
    if not os.path.isdir(root):
        raise SamecamError(f"{str(root)!r} is no folder: name the root of the collection.")
    if (root / "truth.csv").is_file():
        return load_truth(root / "truth.csv")
    if any(root.glob("RAISE*.csv")):
        return load_raise(root)
    for load in (load_vision, load_dresden, load_folders):
        try:
            return load(root)
        except SamecamError:
            continue
    raise SamecamError(
        f"{str(root)!r} holds no photos in an order that tells their cameras: put a truth.csv "
        "with the columns path and camera into it."
    )


def allowed_sides(photos: PhotoSet, sides: Sequence[int]) -> list[int]:
    """Those squares that at least 95 % of the photos hold, as their headers say.

    That of 512 pixels must be among them, for it tells which photos are taken.
    """
    shortest = np.array([_shortest(file) for file in photos.files])
    share = {side: float(np.mean(shortest >= side)) for side in (JUDGED, *sides)}
    if share[JUDGED] < SHARE:
        raise SamecamError(
            f"Only {share[JUDGED]:.0%} of the {len(shortest)} photos hold a square of {JUDGED} "
            "pixels: take the small ones away."
        )
    return [side for side in sides if share[side] >= SHARE]


def _shortest(file: Path) -> int:
    """Shorter side of a photo; of a format that Pillow does not know, nothing more than 512."""
    from PIL import Image

    try:
        with Image.open(file) as picture:
            return min(picture.size)
    except (OSError, ValueError, Image.DecompressionBombError):
        return JUDGED


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
        at = np.array([store.index(record.key) for record in used], dtype=np.intp)
        memory = context.memory or compute.machine().available // 2
        gram = correlate.gram(store, rows=at, memory=memory)
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
    elsewhere all with a fingerprint.
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
    found = hashlib.sha256()
    for file in files:
        try:
            status = os.stat(file)
            about = f"{os.path.realpath(file)}\t{status.st_size}\t{status.st_mtime_ns}\n"
        except OSError:
            about = f"{os.path.realpath(file)}\n"
        found.update(about.encode("utf-8", "surrogateescape"))
    return found.hexdigest()


def _link(photos: PhotoSet, folder: Path) -> None:
    """The originals under their numbers; nothing is copied."""
    for number, file in enumerate(photos.files):
        link = folder / f"{number:06d}{file.suffix.lower()}"
        if not link.is_symlink():
            link.symlink_to(os.path.realpath(file))
