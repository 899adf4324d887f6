"""Photographs: from the plan of a collection to JPEG files and their truth."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from samecam.compute import LocalPool, WorkerDiedError, shown_progress, worker_count
from samecam.documents import parse
from samecam.errors import SamecamError
from samecam.files import read_own, sweep, write_atomically
from samecam.inputs import PathLike
from samecam.simulate import _camera, _copies, _exif, _exposure, _extras, _scene, _sensor
from samecam.simulate._arguments import Arguments, Size, as_sizes
from samecam.simulate._extras import Addition
from samecam.simulate._look import show
from samecam.simulate._plan import Photo, Screenshot, batches, draw_plan
from samecam.simulate._shots import crop_keeps_exif, draw_shots, photo_exif, seen_in_copy
from samecam.simulate._taken import sensor_size
from samecam.simulate._truth import truth_text
from samecam.simulate._views import Views

__all__ = ["simulate_photos"]

PHASE = "Simulating"

_Batch = list[Photo] | list[Screenshot]


@dataclass(frozen=True)
class _Settings:
    """What every worker must know."""

    images: Path
    asked: Arguments


def simulate_photos(
    out: PathLike,
    *,
    cameras: int = 10,
    images: int = 30,
    models: int | None = None,
    size: Size | Sequence[Size] = (1536, 1024),
    quality: tuple[int, int] = (85, 98),
    outliers: int = 0,
    recompress: int | None = None,
    thumbnails: int = 0,
    bright_corners: int = 0,
    letterbox: int = 0,
    screenshots: int = 0,
    odd_sizes: int = 0,
    views: Views | None = None,
    crosstalk: float = 0.0,
    seed: int = 0,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write photographs by cameras that do not exist, and the truth about them.

    A photo is scene → lens shading → Bayer filter → light · (1 + K) + shot and read noise, clipped
    at full well → white balance → demosaicing → tone curve → JPEG. K is the camera's own white
    pattern plus a weak part shared by all cameras of its model. The same arguments give the same
    bytes, whatever the number of workers.

    What may be added (thumbnails, bright corners, letterbox, screenshots, odd sizes) makes a
    disk of real life of it: it is spread evenly over the cameras and changes none of their other
    photos.

    Parameters
    ----------
    out : path
        Folder to write `images/IMG_00001.jpg`, … and, last, `truth.csv` (path,camera) into; it
        must be empty or not exist, or be left unfinished by the same arguments
        (`simulation.json` tells), which are then gone on with.
    cameras, images : int
        Number of cameras, and of photos by each.
    models : int, optional
        Number of camera models the cameras are spread over; half the number of cameras by default,
        and at least one a size.
    size : (width, height), or several of them
        In pixels, each at least 64. Several sizes are taken by the models in turn, so that all
        cameras of a model share one; there are at most as many as models.
    quality : (lowest, highest)
        Range of JPEG qualities; each model keeps to a part of it.
    outliers : int
        Number of additional photos by cameras that took only that one.
    recompress : int, optional
        Quality at which every file is decoded and saved a second time.
    thumbnails : int
        Number of small copies (`IMG_00012_thumb.jpg` of `IMG_00012.jpg`), at most one a photo:
        long edge 160 to 320 pixels, and not more than half the photo's, JPEG quality 75 to 85, no
        EXIF. They hardly carry the sensor's noise, so they do not stand in `truth.csv` and are
        left out where an answer is scored; the name says whose copy each is.
    bright_corners : int
        Number of further photos by the cameras (`BRIGHT_00001.jpg`) that are white in the top-left
        corner: a third of the width and of the height, or 1,040 pixels if that is more but not more
        than six tenths.
    letterbox : int
        Number of further photos by the cameras (`LETTERBOX_00001.jpg`) of which an eighth of the
        height is painted black above and below before they are saved.
    screenshots : int
        Number of graphics by no camera (`SCREEN_00001.png`), all of different sizes; not in
        `truth.csv`.
    odd_sizes : int
        Number of photos (`ODD_00001.jpg`), each by a camera that took only that one and of a size
        that no other photo has; in `truth.csv` they are outliers.
    views : Views, optional
        Shares of the cameras' and the outliers' photos that are zoomed, in 16:9, turned, mirrored,
        corrected for the lens, sent by messengers, cropped; `truth.csv` then tells in further
        columns how each shows its sensor. What is added above is always plain.
    crosstalk : float
        Pixels, up to 3, over which the sensors' pattern is smooth. A white pattern, 0, is lost
        when a picture is reduced; that of real cameras is rather like .6.
    seed : int
        Non-negative; the only source of randomness.
    workers : int, optional
        Processes to use, by default as `samecam.compute.worker_count` says; 1 works inside this
        process.
    progress : callable, optional
        Called as progress(done, total) after each batch of pictures.

    Returns
    -------
    Path
        The truth file.

    Raises
    ------
    SamecamError
        If an argument cannot be used or `out` cannot be written.

    Examples
    --------
    >>> truth = samecam.simulate_photos("made", cameras=3, images=10, size=(640, 480))
    >>> samecam.cluster_photos("made/images", "CASE")
    >>> samecam.evaluate("CASE", truth).scores.f
    """
    sizes = as_sizes(size)
    if models is None:
        models = max(1, cameras // 2, min(cameras, len(sizes)))
    asked = Arguments(
        cameras=cameras,
        images=images,
        models=models,
        sizes=sizes,
        quality=quality,
        outliers=outliers,
        recompress=recompress,
        thumbnails=thumbnails,
        bright_corners=bright_corners,
        letterbox=letterbox,
        screenshots=screenshots,
        odd_sizes=odd_sizes,
        seed=seed,
        views=views or Views(),
        crosstalk=crosstalk,
    )
    asked.check()
    workers = worker_count(workers)
    folder = Path(out)
    photos, graphics = draw_plan(asked)
    with _writing(folder):
        _prepare(folder, asked.as_json())
    tasks: list[_Batch] = [*batches(photos), *([one] for one in graphics)]
    beside = sum(photo.copy_name is not None for photo in photos)
    show = progress or partial(shown_progress(None), PHASE)
    done, total = 0, len(photos) + len(graphics) + thumbnails + beside
    for count in _run(_Settings(folder / "images", asked), tasks, workers):
        done += count
        show(done, total)
    with _writing(folder):
        return _write_truth(folder, asked, photos)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn a failure of the disk into an error for the user."""
    try:
        yield
    except OSError as error:
        raise SamecamError(
            f"The photos cannot be written to {folder} ({error}): choose another folder."
        ) from error


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


def _run(settings: _Settings, tasks: list[_Batch], workers: int) -> Iterator[int]:
    """Make all pictures, here or in worker processes, yielding how many after each batch."""
    with _writing(settings.images):
        if workers == 1:
            for batch in tasks:
                yield _make_batch((settings, batch))
            return
        pool = LocalPool(min(workers, len(tasks)), preload="samecam.simulate._photos")
        try:
            work = [pool.submit(_make_batch, (settings, batch)) for batch in tasks]
            for future in as_completed(work):
                yield future.result()
        except WorkerDiedError as error:
            pool.stop()
            raise SamecamError(
                f"A process that made photos was ended ({error.how}), maybe for want of memory: "
                "the same command goes on; give it fewer --workers."
            ) from None
        except BaseException:
            pool.stop()
            raise
        pool.close()


def _make_batch(task: tuple[_Settings, _Batch]) -> int:
    """Make photos that all come from one camera, or screenshots, unless they are there."""
    settings, batch = task
    photos = [one for one in batch if isinstance(one, Photo)]
    for one in batch:
        if isinstance(one, Screenshot):
            _make_screenshot(settings, one)
    if photos:
        _take_photos(settings, photos)
    return len(batch) + sum(
        (photo.thumbnail is not None) + (photo.copy_name is not None) for photo in photos
    )


def _make_screenshot(settings: _Settings, picture: Screenshot) -> None:
    path = settings.images / picture.name
    if not path.exists():
        seed = settings.asked.seed
        rng = _camera.addition_stream(seed, Addition.SCREENSHOT, picture.number)
        when = _exif.draw_time(rng).timestamp()
        write_atomically(path, _extras.draw_screenshot(rng, *picture.size), modified=when)


def _take_photos(settings: _Settings, photos: list[Photo]) -> None:
    """Take photos of one camera and one size, and write their files and thumbnails."""
    seed, camera = settings.asked.seed, photos[0].camera
    model = _camera.draw_model(seed, camera.model, settings.asked.quality)
    width, height = sensor_size(photos[0].size, settings.asked.views)
    height, width = height + height % 2, width + width % 2
    pattern = _camera.pattern(seed, camera, height, width, settings.asked.crosstalk)
    for photo in photos:
        path = settings.images / photo.name
        if not path.exists():
            data, when = _take_photo(settings.asked, photo, model, pattern)
            write_atomically(path, data, modified=when)
        _make_thumbnail(settings, photo)
        _make_copy(settings, photo)


def _make_thumbnail(settings: _Settings, photo: Photo) -> None:
    """Reduce a photo that has been written, if its thumbnail is asked for and not there."""
    if photo.thumbnail is None:
        return
    path, source = settings.images / photo.thumbnail.name, settings.images / photo.name
    if not path.exists():
        seed = settings.asked.seed
        rng = _camera.addition_stream(seed, Addition.THUMBNAIL, photo.thumbnail.number)
        data = _extras.thumbnail(read_own(source), rng)
        write_atomically(path, data, modified=source.stat().st_mtime)


def _make_copy(settings: _Settings, photo: Photo) -> None:
    """Send or crop a photo that has been written, if its copy lies beside it and is not there."""
    if photo.copy_name is None:
        return
    path, source = settings.images / photo.copy_name, settings.images / photo.name
    if not path.exists():
        data = _copied(settings.asked, photo, read_own(source))
        write_atomically(path, data, modified=source.stat().st_mtime)


def _copied(asked: Arguments, photo: Photo, data: bytes) -> bytes:
    """The copy that is made of the file of a photo."""
    assert photo.taken is not None
    _, box = seen_in_copy(asked, photo)
    if box is None:
        return _copies.messenger_copy(data, photo.taken.copy)
    return _copies.crop_photo(data, box, exif=crop_keeps_exif(photo))


def _take_photo(
    asked: Arguments,
    photo: Photo,
    model: _camera.CameraModel,
    pattern: NDArray[np.float32],
) -> tuple[bytes, float]:
    """JPEG file of a photo, and when it was taken."""
    rng, shot, told = draw_shots(asked, photo, model)
    width, height = sensor_size(photo.size, asked.views)
    pixels = _take(rng, model, pattern, shot, photo)[:height, :width]
    if photo.taken is not None:
        pixels = show(pixels, photo.taken.look)
    if photo.addition is Addition.LETTERBOX:
        _extras.paint_bars(pixels)
    exif = photo_exif(asked, photo, model, told)
    data = _jpeg(Image.fromarray(pixels), shot.quality, model.subsampling, exif)
    if asked.recompress is not None:
        with Image.open(io.BytesIO(data)) as decoded:
            data = _jpeg(decoded, asked.recompress, 2, exif)
    if photo.taken is not None and photo.taken.copy and not photo.taken.beside:
        data = _copied(asked, photo, data)
    return data, shot.taken.timestamp()


def _take(
    rng: np.random.Generator,
    model: _camera.CameraModel,
    pattern: NDArray[np.float32],
    shot: _exif.Shot,
    photo: Photo,
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
    if photo.addition is Addition.BRIGHT_CORNER:
        _extras.whiten_corner(light)
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


def _write_truth(folder: Path, asked: Arguments, photos: list[Photo]) -> Path:
    path = folder / "truth.csv"
    write_atomically(path, truth_text(asked, photos))
    return path
