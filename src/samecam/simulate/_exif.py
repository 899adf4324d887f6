"""EXIF: what the camera writes about itself and the shot."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from PIL import ExifTags, Image
from PIL.TiffImagePlugin import IFDRational

from samecam.simulate._camera import Camera, CameraModel

__all__ = ["Shot", "draw_shot", "draw_time", "exif_bytes"]

_EPOCH = datetime(2019, 1, 1, tzinfo=UTC)
_ORIENTATIONS, _ORIENTATION_SHARES = (1, 6, 8, 3), (0.75, 0.11, 0.10, 0.04)
_SPEEDS, _SPEED_SHARES = (100, 200, 400, 800), (0.45, 0.3, 0.2, 0.05)


@dataclass(frozen=True)
class Shot:
    """Circumstances of one photo: time, how the camera was held, sensitivity, JPEG quality."""

    taken: datetime
    orientation: int
    iso: int
    quality: int


def draw_time(rng: np.random.Generator) -> datetime:
    """Draw a moment of the five years in which everything happens."""
    return _EPOCH + timedelta(seconds=int(rng.integers(5 * 365 * 86400)))


def draw_shot(rng: np.random.Generator, quality: tuple[int, int]) -> Shot:
    """Draw the circumstances of one photo; `quality` is the model's own range, ends included."""
    return Shot(
        taken=draw_time(rng),
        orientation=int(rng.choice(_ORIENTATIONS, p=_ORIENTATION_SHARES)),
        iso=int(rng.choice(_SPEEDS, p=_SPEED_SHARES)),
        quality=int(rng.integers(quality[0], quality[1] + 1)),
    )


def exif_bytes(
    camera: Camera,
    model: CameraModel,
    shot: Shot,
    *,
    zoom: float | None = None,
    focal_length: float | None = None,
) -> bytes:
    """EXIF block with Make, Model, Software, times, serial number, orientation and ISO.

    Digital zoom and focal length (mm) are written if they are given.
    """
    taken = shot.taken.strftime("%Y:%m:%d %H:%M:%S")
    exif = Image.Exif()
    base, detail = ExifTags.Base, exif.get_ifd(ExifTags.IFD.Exif)
    exif[base.Make] = model.make
    exif[base.Model] = model.name
    exif[base.Software] = model.software
    exif[base.Orientation] = shot.orientation
    exif[base.DateTime] = taken
    detail[base.DateTimeOriginal] = taken
    detail[base.DateTimeDigitized] = taken
    detail[base.ISOSpeedRatings] = shot.iso
    detail[base.ExposureTime] = IFDRational(1, shot.iso // 2)
    detail[base.FNumber] = IFDRational(28, 10)
    detail[base.BodySerialNumber] = camera.serial
    if zoom is not None:
        detail[base.DigitalZoomRatio] = IFDRational(round(zoom * 100), 100)
    if focal_length is not None:
        detail[base.FocalLength] = IFDRational(round(focal_length * 10), 10)
    return exif.tobytes()
