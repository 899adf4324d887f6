"""Photographs: from the plan of a collection to JPEG files and their truth."""

import io
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from samecam._version import __version__
from samecam.compute import LocalPool, worker_count
from samecam.documents import parse
from samecam.errors import ParameterError, SamecamError
from samecam.files import read_own, sweep, write_atomically
from samecam.simulate import _camera, _exif, _exposure, _scene, _sensor

__all__ = ["simulate_photos"]

_BATCH = 8
"""Photos of one camera rendered by one task; only speed depends on it."""
_EVEN = (0.7548776662466927, 0.5698402909980532)
"""Steps of the evenly spread sequence in the unit square (powers of 1 / plastic number)."""


@dataclass(frozen=True)
class _Photo:
    """One photo to take: file name, who takes it, its number with that camera, its kind, scene."""

    name: str
    camera: _camera.Camera
    number: int
    kind: _exposure.Kind
    scene: float


@dataclass(frozen=True)
class _Settings:
    """What every worker must know."""

    images: Path
    seed: int
    size: tuple[int, int]
    quality: tuple[int, int]
    recompress: int | None


def simulate_photos(
    out: str | os.PathLike[str],
    *,
    cameras: int = 10,
    images: int = 30,
    models: int | None = None,
    size: tuple[int, int] = (1536, 1024),
    quality: tuple[int, int] = (85, 98),
    outliers: int = 0,
    recompress: int | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write photographs by cameras that do not exist, and the truth about them.

    A photo is scene → lens shading → Bayer filter → light · (1 + K) + shot and read noise, clipped
    at full well → white balance → demosaicing → tone curve → JPEG. K is the camera's own white
    pattern plus a weak part shared by all cameras of its model. The same arguments give the same
    bytes, whatever the number of workers.

    Parameters
    ----------
    out : path
        Folder to write `images/IMG_00001.jpg`, … and, last, `truth.csv` (path,camera) into; it
        must be empty or not exist, or be left unfinished by the same arguments
        (`simulation.json` tells), which are then gone on with.
    cameras, images : int
        Number of cameras, and of photos by each.
    models : int, optional
        Number of camera models the cameras are spread over; half the number of cameras by default.
    size : (width, height)
        In pixels, each at least 64.
    quality : (lowest, highest)
        Range of JPEG qualities; each model keeps to a part of it.
    outliers : int
        Number of additional photos by cameras that took only that one.
    recompress : int, optional
        Quality at which every file is decoded and saved a second time.
    seed : int
        Non-negative; the only source of randomness.
    workers : int, optional
        Processes to use, by default as `samecam.compute.worker_count` says; 1 works inside this
        process.
    progress : callable, optional
        Called as progress(done, total) after each batch of photos.

    Returns
    -------
    Path
        The truth file.

    Raises
    ------
    SamecamError
        If an argument cannot be used or `out` cannot be written.
    """
    models = max(1, cameras // 2) if models is None else models
    _check(cameras, images, models, size, quality, outliers, recompress, seed)
    workers = worker_count(workers)
    folder = Path(out)
    plan = _plan(seed, cameras, images, models, outliers)
    arguments = {
        "samecam": __version__,
        "cameras": cameras,
        "images": images,
        "models": models,
        "size": list(size),
        "quality": list(quality),
        "outliers": outliers,
        "recompress": recompress,
        "seed": seed,
    }
    with _writing(folder):
        _prepare(folder, arguments)
    settings = _Settings(folder / "images", seed, size, quality, recompress)
    done = 0
    for count in _run(settings, _batches(plan), workers):
        done += count
        if progress is not None:
            progress(done, len(plan))
    with _writing(folder):
        return _write_truth(folder, plan)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn a failure of the disk into an error for the user."""
    try:
        yield
    except OSError as error:
        raise SamecamError(
            f"The photos cannot be written to {folder} ({error}): choose another folder."
        ) from error


def _check(
    cameras: int,
    images: int,
    models: int,
    size: tuple[int, int],
    quality: tuple[int, int],
    outliers: int,
    recompress: int | None,
    seed: int,
) -> None:
    for name, value, least in (
        ("cameras", cameras, 1),
        ("images", images, 1),
        ("models", models, 1),
        ("outliers", outliers, 0),
        ("seed", seed, 0),
    ):
        if value < least:
            raise ParameterError(name, f"{{name}} is {value}: give at least {least}.")
    if models > cameras:
        raise ParameterError(
            "models", f"{{name}} is {models}: give at most the number of cameras, {cameras}."
        )
    if min(size) < 64:
        raise ParameterError(
            "size", f"{{name}} is {size[0]}x{size[1]}: give at least 64x64 pixels."
        )
    if not 1 <= quality[0] <= quality[1] <= 100:
        raise ParameterError(
            "quality",
            f"{{name}} is {quality[0]} to {quality[1]}: give two numbers from 1 to 100, "
            "the lower one first.",
        )
    if recompress is not None and not 1 <= recompress <= 100:
        raise ParameterError(
            "recompress", f"{{name}} is {recompress}: give a JPEG quality from 1 to 100."
        )


def _prepare(folder: Path, arguments: dict[str, Any]) -> None:
    """Make the folder, or go on with one that the same arguments left unfinished."""
    note = folder / "simulation.json"
    for part in (folder, folder / "images"):
        sweep(part)
    if _is_used(folder) and not _is_of(note, arguments):
        raise SamecamError(
            f"{folder} exists and is not an empty folder: choose a new one or empty it first."
        )
    (folder / "images").mkdir(parents=True, exist_ok=True)
    write_atomically(note, json.dumps(arguments, indent=2) + "\n")


def _is_used(folder: Path) -> bool:
    """Whether a folder holds more than a run that was killed at once has made."""
    if not folder.is_dir():
        return folder.exists()
    images = folder / "images"
    return any(
        path != images or not path.is_dir() or any(path.iterdir()) for path in folder.iterdir()
    )


def _is_of(note: Path, arguments: dict[str, Any]) -> bool:
    """Whether a folder was begun with these arguments."""
    try:
        return bool(parse(read_own(note)) == arguments)
    except (OSError, ValueError, SamecamError):
        return False


def _plan(seed: int, cameras: int, images: int, models: int, outliers: int) -> list[_Photo]:
    """Every photo of the collection, camera by camera, with shuffled file names.

    Kinds and scenes come from an evenly spread sequence, so that every camera has nearly the same
    mixture of them: photo k stands at the fractional part of start + k · (.7549, .5698).
    """
    bodies = _camera.draw_cameras(seed, cameras, models, outliers)
    takes = [
        (body, number)
        for body in bodies
        for number in range(images if body.number < cameras else 1)
    ]
    rng = _camera.plan_stream(seed)
    steps = np.arange(len(takes))[:, None] * _EVEN
    spots = (rng.random(2) + steps) % 1
    ranks = rng.permutation(len(takes)) + 1
    digits = max(5, len(str(len(takes))))
    return [
        _Photo(f"IMG_{rank:0{digits}}.jpg", body, number, _exposure.kind_at(kind), scene)
        for (body, number), rank, (kind, scene) in zip(takes, ranks, spots.tolist(), strict=True)
    ]


def _batches(plan: list[_Photo]) -> list[list[_Photo]]:
    """Cut the plan into runs of at most `_BATCH` photos by one camera."""
    batches: list[list[_Photo]] = []
    for photo in plan:
        last = batches[-1] if batches else []
        if last and last[0].camera is photo.camera and len(last) < _BATCH:
            last.append(photo)
        else:
            batches.append([photo])
    return batches


def _run(settings: _Settings, batches: list[list[_Photo]], workers: int) -> Iterator[int]:
    """Render all batches, here or in worker processes, yielding the size of each when done."""
    with _writing(settings.images):
        if workers == 1:
            for batch in batches:
                yield _take_batch((settings, batch))
            return
        pool = LocalPool(min(workers, len(batches)), preload="samecam.simulate._photos")
        try:
            tasks = [(settings, batch) for batch in batches]
            for future in as_completed([pool.submit(_take_batch, task) for task in tasks]):
                yield future.result()
        except BaseException:
            pool.stop()
            raise
        pool.close()


def _take_batch(task: tuple[_Settings, list[_Photo]]) -> int:
    """Take photos that all come from one camera and write their files, unless they are there."""
    settings, batch = task
    camera = batch[0].camera
    model = _camera.draw_model(settings.seed, camera.model, settings.quality)
    width, height = settings.size
    pattern = _camera.pattern(settings.seed, camera, height + height % 2, width + width % 2)
    for photo in batch:
        path = settings.images / photo.name
        if path.exists():
            continue
        rng = _camera.photo_stream(settings.seed, camera.number, photo.number)
        shot = _exif.draw_shot(rng, model.quality)
        pixels = _take(rng, model, pattern, shot, photo)[:height, :width]
        exif = _exif.exif_bytes(camera, model, shot)
        data = _jpeg(Image.fromarray(pixels), shot.quality, model.subsampling, exif)
        if settings.recompress is not None:
            with Image.open(io.BytesIO(data)) as decoded:
                data = _jpeg(decoded, settings.recompress, 2, exif)
        when = shot.taken.timestamp()
        write_atomically(path, data, modified=when)
    return len(batch)


def _take(
    rng: np.random.Generator,
    model: _camera.CameraModel,
    pattern: NDArray[np.float32],
    shot: _exif.Shot,
    photo: _Photo,
) -> NDArray[np.uint8]:
    """Pixels (height, width, 3) of one photo in sensor orientation."""
    height, width = pattern.shape
    upright = shot.orientation in (1, 3)
    shape = (height, width) if upright else (width, height)
    light = _scene.render_scene(rng, photo.scene, *shape)
    turns = {1: 0, 6: 1, 3: 2, 8: 3}[shot.orientation]
    light = np.rot90(light, turns, axes=(1, 2))
    light = light * _sensor.vignette(height, width, model.vignette)
    table = _sensor.tone_table(model.gamma, model.contrast)
    light *= np.float32(_exposure.gain(rng, light, photo.kind, table))
    raw = _sensor.expose_mosaic(
        _sensor.sample_bayer(light, model.gains),
        pattern,
        full_well=model.full_well * 100 / shot.iso,
        read_noise=model.read_noise * (shot.iso / 100) ** 0.5,
        rng=rng,
    )
    return _sensor.develop(
        raw,
        model.gains,
        correction=model.correction,
        saturation=model.saturation,
        sharpening=model.sharpening,
        table=table,
    )


def _jpeg(picture: Image.Image, quality: int, subsampling: int, exif: bytes) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=quality, subsampling=subsampling, exif=exif)
    return buffer.getvalue()


def _write_truth(folder: Path, plan: list[_Photo]) -> Path:
    rows = sorted(f"images/{photo.name},{photo.camera.name}\n" for photo in plan)
    path = folder / "truth.csv"
    write_atomically(path, "path,camera\n" + "".join(rows))
    return path
