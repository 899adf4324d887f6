"""What is made of finished photos: copies sent by messengers, and crops."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from PIL import ExifTags, Image, ImageOps
from PIL.TiffImagePlugin import IFDRational

from samecam.errors import ParameterError
from samecam.simulate._arguments import Size
from samecam.simulate._look import Box, Look, show

__all__ = [
    "MESSENGERS",
    "Messenger",
    "copy_size",
    "crop_photo",
    "draw_crop",
    "messenger_copy",
    "view_photo",
]

_KEPT = (0.5, 0.8)
"""Shares of the width and of the height that crops keep."""
_ROBIDOUX = (
    *(16, 16, 16, 18, 25, 37, 56, 85, 16, 17, 20, 27, 34, 40, 53, 75),
    *(16, 20, 24, 31, 43, 62, 91, 135, 18, 27, 31, 40, 53, 74, 106, 156),
    *(25, 34, 43, 53, 69, 94, 131, 189, 37, 40, 62, 74, 94, 124, 169, 238),
    *(56, 53, 91, 106, 131, 169, 226, 311, 85, 75, 135, 156, 189, 238, 311, 418),
)
"""Quantisation of both luma and chroma that mozjpeg takes by default (its table 3)."""


@dataclass(frozen=True)
class Messenger:
    """How a service reduces and compresses photos; it turns them upright and removes EXIF.

    Attributes
    ----------
    edge : longer side of its copies in pixels; smaller photos keep their size
    quality : of the JPEG
    reduction : "lanczos", "bicubic"; or "halves": the decoder halves as often as it can, then
        each pixel is interpolated between four
    mozjpeg : whether compressed progressively with the table of mozjpeg, not with that of IJG
    """

    edge: int
    quality: int
    reduction: Literal["lanczos", "bicubic", "halves"]
    mozjpeg: bool = False

    @property
    def words(self) -> str:
        """As a person would say it."""
        return f"{self.edge} pixels at quality {self.quality}"


MESSENGERS: Mapping[str, Messenger] = MappingProxyType(
    {
        "whatsapp": Messenger(1600, 80, "lanczos", mozjpeg=True),
        "whatsapp-1280": Messenger(1280, 80, "lanczos", mozjpeg=True),
        "whatsapp-2048": Messenger(2048, 80, "lanczos", mozjpeg=True),
        "telegram": Messenger(1280, 80, "halves"),
        "signal": Messenger(1600, 70, "bicubic"),
    }
)
"""Messengers' copies by name."""


def messenger_copy(data: bytes, messenger: str | Messenger) -> bytes:
    """Make the copy that a messenger sends of a photo: upright, small, without EXIF.

    Parameters
    ----------
    data : file of the photo, in a format that Pillow reads
    messenger : a name of `MESSENGERS`, or how it reduces and compresses

    Returns
    -------
    bytes
        A JPEG, colour halved.
    """
    if isinstance(messenger, str):
        if messenger not in MESSENGERS:
            raise ParameterError(
                "messenger",
                f"{{name}} is {messenger!r}: choose from {', '.join(MESSENGERS)}.",
            )
        messenger = MESSENGERS[messenger]
    with Image.open(io.BytesIO(data)) as picture:
        width, height = copy_size(picture.size, messenger.edge)
        if messenger.reduction == "halves":
            picture.draft("RGB", (width, height))
        upright = ImageOps.exif_transpose(picture)
        sideways = upright.size != picture.size
    size = (height, width) if sideways else (width, height)
    small = _reduced(upright.convert("RGB"), size, messenger)
    buffer = io.BytesIO()
    if messenger.mozjpeg:
        table = _mozjpeg_table(messenger.quality)
        small.save(buffer, "JPEG", qtables=[table, table], subsampling=2, progressive=True)
    else:
        small.save(buffer, "JPEG", quality=messenger.quality, subsampling=2)
    return buffer.getvalue()


def copy_size(size: Size, edge: int) -> Size:
    """Width and height of a messenger's copy whose longer side is at most `edge` pixels."""
    longest = max(size)
    if longest <= edge:
        return size
    width, height = (max(1, round(length * edge / longest)) for length in size)
    return width, height


def _reduced(picture: Image.Image, size: Size, messenger: Messenger) -> Image.Image:
    """The picture as wide and high as that."""
    if picture.size == size:
        return picture
    if messenger.reduction == "halves":
        across, down = (a / b for a, b in zip(picture.size, size, strict=True))
        means = (across, 0.0, 0.0, 0.0, down, 0.0)
        return picture.transform(size, Image.Transform.AFFINE, means, Image.Resampling.BILINEAR)
    return picture.resize(size, Image.Resampling[messenger.reduction.upper()])


def _mozjpeg_table(quality: int) -> list[int]:
    """Scaled as libjpeg scales tables, baseline."""
    scale = 5000 // quality if quality < 50 else 200 - 2 * quality
    return [min(max((value * scale + 50) // 100, 1), 255) for value in _ROBIDOUX]


def draw_crop(rng: np.random.Generator, size: Size) -> Box:
    """Draw a part of a picture: half to four fifths of the width and of the height, anywhere."""
    spans = [max(1, round(length * rng.uniform(*_KEPT))) for length in size]
    left, top = (
        int(rng.integers(0, length - span + 1)) for length, span in zip(size, spans, strict=True)
    )
    return left, top, left + spans[0], top + spans[1]


def crop_photo(data: bytes, box: Box, *, quality: int = 95, exif: bool = True) -> bytes:
    """Cut a part of a photo, as programs do that show it upright, and save it as JPEG.

    Parameters
    ----------
    data : file of the photo, in a format that Pillow reads
    box : left, top, right and bottom in the upright picture
    quality : of the JPEG, colour halved
    exif : whether EXIF is kept, with the orientation of an upright picture; else it is removed
    """
    with Image.open(io.BytesIO(data)) as picture:
        upright = ImageOps.exif_transpose(picture)
        kept = upright.getexif() if exif else Image.Exif()
    if kept:
        kept[ExifTags.Base.Orientation] = 1
    buffer = io.BytesIO()
    part = upright.convert("RGB").crop(box)
    part.save(buffer, "JPEG", quality=quality, subsampling=2, exif=kept.tobytes() if kept else b"")
    return buffer.getvalue()


def view_photo(data: bytes, look: Look, *, zoom: float = 1.0, quality: int = 95) -> bytes:
    """Show a photo as its camera could have: zoomed, in 16:9, corrected, mirrored, turned.

    It has been compressed already, so that it is compressed twice.

    Parameters
    ----------
    data : file of the photo, in a format that Pillow reads
    look : how it is to be shown, with the stored picture as the camera's frame
    zoom : written as `DigitalZoomRatio` unless it is 1
    quality : of the JPEG, colour halved

    Returns
    -------
    bytes
        A JPEG with the EXIF of the photo; the orientation is the normal one if it is turned.
    """
    with Image.open(io.BytesIO(data)) as picture:
        exif = picture.getexif()
        pixels = show(np.asarray(picture.convert("RGB")), look)
    if zoom != 1:
        ratio = IFDRational(round(zoom * 100), 100)
        exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.DigitalZoomRatio] = ratio
    if look.turn:
        exif[ExifTags.Base.Orientation] = 1
    buffer = io.BytesIO()
    saved = exif.tobytes() if exif or zoom != 1 else b""
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality, subsampling=2, exif=saved)
    return buffer.getvalue()
