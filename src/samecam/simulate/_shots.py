"""Under which circumstances each photo of a plan is taken, and what its file tells of them."""

from dataclasses import replace

import numpy as np

from samecam.simulate import _camera, _exif
from samecam.simulate._arguments import Arguments
from samecam.simulate._look import Box, Look
from samecam.simulate._plan import Photo
from samecam.simulate._taken import TURNS, copy_look

__all__ = ["crop_keeps_exif", "draw_shots", "photo_exif", "seen_in_copy"]

_HELD = {turn: tag for tag, turn in TURNS.items()}


def draw_shots(
    asked: Arguments, photo: Photo, model: _camera.CameraModel
) -> tuple[np.random.Generator, _exif.Shot, _exif.Shot]:
    """Draw a photo's stream, its circumstances as they were, and as its file tells them.

    A photo that is turned by software was held that way, and its file says that it is upright; a
    file without EXIF says nothing else either.
    """
    if photo.addition:
        key = (photo.addition, photo.camera.number, photo.number)
        rng = _camera.addition_stream(asked.seed, *key)
    else:
        rng = _camera.photo_stream(asked.seed, photo.camera.number, photo.number)
    shot = _exif.draw_shot(rng, model.quality)
    turn = 0 if photo.taken is None else photo.taken.look.turn
    held = replace(shot, orientation=_HELD[turn]) if turn else shot
    told = replace(shot, orientation=1) if turn or not asked.views.exif else shot
    return rng, held, told


def photo_exif(
    asked: Arguments, photo: Photo, model: _camera.CameraModel, told: _exif.Shot
) -> bytes:
    """EXIF of the camera's file; empty where none is asked for."""
    if not asked.views.exif:
        return b""
    taken = photo.taken
    zoom = taken.zoom if taken is not None and asked.views.zoom else None
    length = None if taken is None else taken.focal_length
    return _exif.exif_bytes(photo.camera, model, told, zoom=zoom, focal_length=length)


def seen_in_copy(asked: Arguments, photo: Photo) -> tuple[Look, Box | None]:
    """How the copy that is made of a photo shows its sensor, and the part that a crop keeps."""
    assert photo.taken is not None
    model = _camera.draw_model(asked.seed, photo.camera.model, asked.quality)
    _, _, told = draw_shots(asked, photo, model)
    rng = _camera.crop_stream(asked.seed, photo.camera.number, photo.number)
    return copy_look(photo.taken, told.orientation, rng)


def crop_keeps_exif(photo: Photo) -> bool:
    """Whether a crop keeps its EXIF: that of every second photo of a camera does."""
    return photo.number % 2 == 0
