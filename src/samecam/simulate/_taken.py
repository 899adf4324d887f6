"""How each photo of a plan is taken where views are asked for: zoom, lens, turn, copy."""

from dataclasses import dataclass, replace
from math import ceil, sqrt

import numpy as np

from samecam.simulate import _camera
from samecam.simulate._arguments import Size
from samecam.simulate._copies import MESSENGERS, copy_size, draw_crop
from samecam.simulate._look import Look
from samecam.simulate._views import LEAST_ZOOM, Views, wide_size

__all__ = ["CROP", "TURNS", "Focus", "Taken", "copy_look", "draw_lens", "draw_taken", "sensor_size"]

CROP = "crop"
TURNS = {1: 0, 6: 90, 3: 180, 8: 270}
"""Degrees clockwise that show a photo upright, by the tag of its orientation."""
_SCALES, _RADIAL = (0.985, 1.004), 0.003
_REACH = 0.02
"""Share of the width and height by which a corrected picture may see beyond the frame."""
_PRESET = 2.0
_VIEWS, _TURNED, _MIRRORED, _COPIED = (sqrt(k) % 1 for k in (2, 3, 5, 7))
"""Steps of the evenly spread sequences that decide who is zoomed, turned, mirrored, copied."""


@dataclass(frozen=True)
class Focus:
    """Focal length in mm, and how the picture is corrected there."""

    length: float
    scale: float
    radial: float


@dataclass(frozen=True)
class Taken:
    """How a photo is taken, and what is made of it.

    Attributes
    ----------
    look : how the camera's picture shows the sensor
    view : "plain", "zoom" or "wide"
    zoom : digital zoom, 1 without
    focal_length : in mm, or None where the camera does not tell
    copy : name of the messenger that sent it, "crop", or empty
    beside : whether the camera's picture is kept beside that copy
    """

    look: Look
    view: str = "plain"
    zoom: float = 1.0
    focal_length: float | None = None
    copy: str = ""
    beside: bool = False


def sensor_size(size: Size, views: Views) -> Size:
    """Width and height of the sensor behind a frame: a lens correction sees a little beyond it."""
    if not views.lens:
        return size
    width, height = (length + 2 * (ceil(_REACH * length / 2) + 4) for length in size)
    return width, height


def draw_lens(seed: int, model: int) -> tuple[Focus, ...]:
    """Draw three focal lengths of a model, and how its pictures are corrected there."""
    rng = _camera.view_stream(seed, model)
    shortest = rng.uniform(4.0, 7.0)
    places = (rng.permutation(3) + rng.uniform(0.2, 0.8, 3)) / 3
    scales = _SCALES[0] + (_SCALES[1] - _SCALES[0]) * places
    return tuple(
        Focus(round(float(shortest * ratio), 1), round(float(scale), 5), round(float(radial), 5))
        for ratio, scale, radial in zip(
            (1, 1.9, 3.6), scales, rng.uniform(-_RADIAL, _RADIAL, 3), strict=True
        )
    )


def draw_taken(
    seed: int, views: Views, photos: list[tuple[_camera.Camera, int, Size]]
) -> list[Taken]:
    """Draw how the photos are taken: camera, number and size of frame of each, in their order.

    What is asked of one kind of view changes nothing about the others.
    """
    starts = _camera.view_stream(seed).random(4)
    steps = np.arange(len(photos))[:, None] * (_VIEWS, _TURNED, _MIRRORED, _COPIED)
    spots = (starts + steps) % 1
    messengers, result, sent = list(MESSENGERS), [], 0
    for (camera, number, size), (view, turn, mirror, copied) in zip(
        photos, spots.tolist(), strict=True
    ):
        rng = _camera.view_stream(seed, camera.number, number)
        taken = _framed(seed, views, camera, size, view, rng)
        look = replace(taken.look, mirrored=mirror < views.mirrored)
        angle = int(rng.choice((90, 180, 270)))
        if turn < views.turned:
            look = look.turned(angle)
        copy = ""
        if copied < views.messenger:
            copy, sent = messengers[sent % len(messengers)], sent + 1
        elif copied < views.messenger + views.cropped:
            copy = CROP
        result.append(replace(taken, look=look, copy=copy, beside=bool(copy) and views.beside))
    return result


def _framed(
    seed: int,
    views: Views,
    camera: _camera.Camera,
    size: Size,
    place: float,
    rng: np.random.Generator,
) -> Taken:
    """Zoom, shape and lens of a photo."""
    look, length = Look(size), None
    span = np.log([LEAST_ZOOM, views.max_zoom])
    preset, other = bool(rng.random() < 0.5), round(float(np.exp(rng.uniform(*span))), 2)
    nth = int(rng.integers(3))
    if views.lens:
        focus = draw_lens(seed, camera.model)[nth]
        look = replace(look, scale=focus.scale, radial=focus.radial)
        length = focus.length
    if place < views.zoom:
        zoom = _PRESET if preset and views.max_zoom >= _PRESET else other
        return Taken(look.zoomed(zoom), "zoom", zoom, length)
    if place < views.zoom + views.wide:
        width, height = wide_size(size)
        left, top = (size[0] - width) // 2, (size[1] - height) // 2
        return Taken(look.cut((left, top, left + width, top + height)), "wide", 1.0, length)
    return Taken(look, "plain", 1.0, length)


def copy_look(
    taken: Taken, orientation: int, rng: np.random.Generator
) -> tuple[Look, tuple[int, int, int, int] | None]:
    """How the copy of a photo shows the sensor, and the part that a crop keeps.

    Parameters
    ----------
    taken : how the photo is taken
    orientation : its tag; copies are turned upright
    rng : stream of the crop
    """
    look = taken.look.turned(TURNS[orientation])
    if taken.copy == CROP:
        box = draw_crop(rng, look.size)
        return look.cut(box), box
    return look.resized(copy_size(look.size, MESSENGERS[taken.copy].edge)), None
