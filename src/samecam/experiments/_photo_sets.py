"""Photographs for experiments: simulated or real, saved a second time, correlated."""

import hashlib
import io
import os
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import as_completed
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from samecam import compute
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
from samecam.experiments._study import Run

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
_ORIENTATION = 0x0112
_BLOCK = 16  # pixels of a JPEG block with halved colour


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
    except OSError:
        return JUDGED


def correlate_photos(
    context: Context, photos: PhotoSet, quality: int | None, sides: Sequence[int]
) -> None:
    """Correlations of the photographs, compressed once more at `quality`, for each side.

    They are saved as runs `SET/SETTING/correlations`: `gram` (k, k) of the k photos that have
    a fingerprint, `rows` (k,) their numbers in the set, `weak` and `dark` (k,). Copies and
    fingerprints lie in the folder of the study until all sides are done; a run that was
    interrupted goes on with them.
    """
    settings = [Setting(quality, side) for side in sides]
    keys = {setting: f"{photos.name}/{setting.key}/correlations" for setting in settings}
    work = context.study.folder / "work" / photos.name / settings[0].copy
    if not all(context.study.has(key) for key in keys.values()):
        (work / "photos").mkdir(parents=True, exist_ok=True)
        if quality is None:
            _link(photos, work / "photos")
        else:
            _save_again(context, photos, work / "photos", quality, max(sides))
    for setting, key in keys.items():
        given = {**photos.as_parameters(), "quality": quality, "side": setting.side}
        make = partial(_correlate, context, work, setting.side)
        context.study.run(key, make, parameters=given)
    shutil.rmtree(work, ignore_errors=True)


def _correlate(context: Context, work: Path, side: int) -> Run:
    """Fingerprints of the copies, and the correlations of all pairs."""
    from samecam import correlate
    from samecam.case import ExtractionSettings, extract_photos, open_store
    from samecam.photos import Exposure

    began, case = time.monotonic(), work / f"case-{side}"
    settings = ExtractionSettings(size=side)
    done = extract_photos(
        [work / "photos"], case, settings, workers=context.workers, progress=context.progress
    )
    with open_store(case) as store:
        used = [r for r in store.records() if r.has_row and r.meta["status"] in ("good", "weak")]
        at = np.array([store.index(record.key) for record in used], dtype=np.intp)
        memory = context.memory or compute.machine().available // 2
        gram = correlate.gram(store, rows=at, memory=memory)
    dark = [Exposure(record.meta.get("dark") or 0.0, 0.0).is_dark for record in used]
    arrays = {
        "gram": gram,
        "rows": np.array([int(Path(record.key).stem) for record in used], dtype=np.int32),
        "weak": np.array([record.meta["status"] == "weak" for record in used], dtype=bool),
        "dark": np.array(dark, dtype=bool),
    }
    facts = {
        "seconds": time.monotonic() - began,
        "status": done.counts,
        "settings": settings.as_dict(),
        "null_scale": correlate.null_scale(gram, side * side) if len(used) > 1 else None,
    }
    return Run(arrays, facts)


def _link(photos: PhotoSet, folder: Path) -> None:
    """The originals under their numbers; nothing is copied."""
    for number, file in enumerate(photos.files):
        link = folder / f"{number:06d}{file.suffix.lower()}"
        if not link.is_symlink():
            link.symlink_to(file.resolve())


def _save_again(context: Context, photos: PhotoSet, folder: Path, quality: int, side: int) -> None:
    """Copies of all photographs as JPEG of that quality, several at a time."""
    tasks = [
        (str(file), str(folder / f"{number:06d}.jpg"), quality, side)
        for number, file in enumerate(photos.files)
    ]
    pool = compute.LocalPool(
        compute.worker_count(context.workers), preload="samecam.experiments._photo_sets"
    )
    try:
        waiting = [pool.submit(compress_again, task) for task in tasks]
        for done, future in enumerate(as_completed(waiting), start=1):
            future.result()
            context.progress(f"Compressing at {quality}", done, len(tasks))
    except BaseException:
        pool.stop()
        raise
    pool.close()


def compress_again(task: tuple[str, str, int, int]) -> bool:
    """Save the top-left part of a photograph as JPEG; whether there is a copy now.

    The part begins where the photograph begins, ends at the edge of a block and, where the
    photograph is larger, one block beyond the square that is used: inside of that, the copy
    is the same to the bit as a copy of the whole photograph. The pixels stay as they are
    stored; the tag of orientation is kept. Colour is halved, as is usual.

    Parameters
    ----------
    task : file, copy, JPEG quality, side of the largest square that is used
    """
    from PIL import Image

    file, copy, quality, side = task
    if os.path.exists(copy):
        return True
    part = _top_left(Path(file), side)
    if part is None:
        return False
    pixels, orientation = part
    exif = Image.Exif()
    if orientation.isdigit():
        exif[_ORIENTATION] = int(orientation)
    data = io.BytesIO()
    picture = Image.fromarray(np.clip(np.round(pixels), 0, 255).astype(np.uint8))
    picture.save(data, "JPEG", quality=quality, exif=exif)
    beside = f"{copy}.part"
    Path(beside).write_bytes(data.getvalue())
    os.replace(beside, copy)
    return True


def _top_left(file: Path, side: int) -> tuple[npt.NDArray[Any], str] | None:
    """Pixels of the largest of these squares that can be read, and the orientation; or None."""
    from samecam.photos import PhotoError, read_photo

    data = file.read_bytes()
    for wanted in (side + _BLOCK, side, 768, 512, 256):
        if wanted > side + _BLOCK:
            continue
        try:
            found = read_photo(data, size=wanted)
        except PhotoError:
            continue
        return found.pixels, found.info.exif.orientation
    return None
