"""The plan of a collection: every picture that will be made, before any is."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np

from samecam.simulate import _camera, _exposure
from samecam.simulate._arguments import Arguments, Size
from samecam.simulate._extras import Addition, screen_size
from samecam.simulate._look import Look
from samecam.simulate._taken import Taken, draw_taken

__all__ = ["Photo", "Screenshot", "Thumbnail", "batches", "draw_plan"]

_BATCH = 8
"""Photos of one camera rendered by one task; only speed depends on it."""
_EVEN = (0.7548776662466927, 0.5698402909980532)
"""Steps of the evenly spread sequence in the unit square (powers of 1 / plastic number)."""
_NAMES = {Addition.BRIGHT_CORNER: "BRIGHT", Addition.LETTERBOX: "LETTERBOX"}


@dataclass(frozen=True)
class Thumbnail:
    """A small copy of a photo: file name and number."""

    name: str
    number: int


@dataclass(frozen=True)
class Photo:
    """One photo to take.

    Attributes
    ----------
    name : of the file
    camera : that takes it
    number : of the photo, among those of this camera and addition
    kind : how it is exposed
    scene : place among the scenes, in [0, 1)
    size : width and height of the camera's frame
    addition : as what it was added to the ordinary photos
    thumbnail : that is made of it, if any
    taken : how, where views are asked for
    """

    name: str
    camera: _camera.Camera
    number: int
    kind: _exposure.Kind
    scene: float
    size: Size
    addition: Addition = Addition.NONE
    thumbnail: Thumbnail | None = None
    taken: Taken | None = None

    @property
    def copy_name(self) -> str | None:
        """File name of the copy that lies beside it, if any."""
        if self.taken is None or not self.taken.beside:
            return None
        return self.name.replace(".jpg", "_copy.jpg")


@dataclass(frozen=True)
class Screenshot:
    """A picture by no camera: file name, number, width and height."""

    name: str
    number: int
    size: Size


def draw_plan(asked: Arguments) -> tuple[list[Photo], list[Screenshot]]:
    """Every photo, camera by camera, and every screenshot.

    What is added to the photos of the cameras changes nothing about these.
    """
    bodies = _camera.draw_cameras(
        asked.seed, asked.cameras, asked.models, asked.outliers + asked.odd_sizes
    )
    ordinary = len(bodies) - asked.odd_sizes
    photos = _with_views(asked, _ordinary(asked, bodies[:ordinary]))
    photos = _with_thumbnails(asked, photos)
    photos += _further(asked, bodies, Addition.BRIGHT_CORNER, asked.bright_corners)
    photos += _further(asked, bodies, Addition.LETTERBOX, asked.letterbox)
    photos += _odd_sized(asked, bodies[ordinary:])
    if asked.views:
        photos = [one if one.taken else replace(one, taken=Taken(Look(one.size))) for one in photos]
    return photos, _screenshots(asked, {photo.size for photo in photos})


def _ordinary(asked: Arguments, bodies: list[_camera.Camera]) -> list[Photo]:
    """The photos of the cameras and the outliers, with shuffled file names.

    Kinds and scenes come from an evenly spread sequence, so that every camera has nearly the same
    mixture of them: photo k stands at the fractional part of start + k · (.7549, .5698).
    """
    takes = [
        (body, number)
        for body in bodies
        for number in range(asked.images if body.number < asked.cameras else 1)
    ]
    rng = _camera.plan_stream(asked.seed)
    steps = np.arange(len(takes))[:, None] * _EVEN
    spots = (rng.random(2) + steps) % 1
    names = _shuffled(rng, "IMG", len(takes))
    return [
        Photo(name, body, number, _exposure.kind_at(kind), scene, asked.size_of(body.model))
        for (body, number), name, (kind, scene) in zip(takes, names, spots.tolist(), strict=True)
    ]


def _with_views(asked: Arguments, photos: list[Photo]) -> list[Photo]:
    """The photos, with how each is taken if any other view than the plain one is asked for."""
    if not asked.views:
        return photos
    every = [(photo.camera, photo.number, photo.size) for photo in photos]
    taken = draw_taken(asked.seed, asked.views, every)
    return [replace(photo, taken=how) for photo, how in zip(photos, taken, strict=True)]


def _with_thumbnails(asked: Arguments, photos: list[Photo]) -> list[Photo]:
    """The photos, of which so many have a thumbnail: the cameras' first, then their second, …"""
    result = list(photos)
    for number in range(asked.thumbnails):
        turn, camera = divmod(number, asked.cameras)
        place = camera * asked.images + turn
        name = result[place].name.replace(".jpg", "_thumb.jpg")
        result[place] = replace(result[place], thumbnail=Thumbnail(name, number))
    return result


def _further(
    asked: Arguments, bodies: list[_camera.Camera], addition: Addition, count: int
) -> list[Photo]:
    """Further photos by the cameras in turn, all ordinarily exposed."""
    rng = _camera.addition_stream(asked.seed, addition)
    names, scenes = _shuffled(rng, _NAMES[addition], count), _even(rng, count)[:, 1].tolist()
    photos = []
    for place in range(count):
        number, camera = divmod(place, asked.cameras)
        body, size = bodies[camera], asked.size_of(bodies[camera].model)
        kind = _exposure.Kind.ORDINARY
        photos.append(Photo(names[place], body, number, kind, scenes[place], size, addition))
    return sorted(photos, key=lambda photo: photo.camera.number)


def _odd_sized(asked: Arguments, bodies: list[_camera.Camera]) -> list[Photo]:
    """A photo by each of these cameras, no two of one size."""
    rng = _camera.addition_stream(asked.seed, Addition.ODD_SIZE)
    names, spots = _shuffled(rng, "ODD", len(bodies)), _even(rng, 2 * len(bodies))
    scenes, shares = spots[: len(bodies), 1].tolist(), spots[len(bodies) :]
    used = set(asked.sizes)
    photos = []
    for name, body, scene, share in zip(names, bodies, scenes, shares, strict=True):
        width, height = (
            max(65, int(length * (0.6 + 0.35 * part)) | 1)
            for length, part in zip(asked.sizes[0], share, strict=True)
        )
        size = _unused((width, height), used)
        photos.append(Photo(name, body, 0, _exposure.Kind.ORDINARY, scene, size))
    return photos


def _screenshots(asked: Arguments, used: Collection[Size]) -> list[Screenshot]:
    """Screenshots, no two of one size or of the size of a photo."""
    rng, taken = _camera.addition_stream(asked.seed, Addition.SCREENSHOT), set(used)
    names = _shuffled(rng, "SCREEN", asked.screenshots, "png")
    return [
        Screenshot(name, number, _unused(screen_size(number), taken))
        for number, name in enumerate(names)
    ]


def _unused(size: Size, used: set[Size]) -> Size:
    """The size, or one a little wider, that nobody has; now somebody has it."""
    width, height = size
    while (width, height) in used:
        width += 2
    used.add((width, height))
    return width, height


def _even(rng: np.random.Generator, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.double]]:
    """That many points of the unit square, evenly spread from a random start: (count, 2)."""
    return (rng.random(2) + np.arange(count)[:, None] * _EVEN) % 1


def _shuffled(rng: np.random.Generator, word: str, count: int, ending: str = "jpg") -> list[str]:
    """Names of files with the numbers from 1 on, in random order."""
    digits = max(5, len(str(count)))
    return [f"{word}_{rank:0{digits}}.{ending}" for rank in rng.permutation(count) + 1]


def batches(photos: list[Photo]) -> Iterator[list[Photo]]:
    """Cut a plan into runs of at most `_BATCH` photos by one camera."""
    batch: list[Photo] = []
    for photo in photos:
        if batch and (batch[0].camera is not photo.camera or len(batch) == _BATCH):
            yield batch
            batch = []
        batch.append(photo)
    if batch:
        yield batch
