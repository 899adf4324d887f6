"""Bytes of a file to the luma of the whole picture, or the reason why not."""

from collections.abc import Callable

import numpy as np
from PIL import Image

from samecam.arrays import Floats, Pixels
from samecam.photos import _header, _intact, _jpeg
from samecam.photos._decode import SMALLEST, check_kind
from samecam.photos._header import known, reading
from samecam.photos._photo import Box, Photo, PhotoError, PhotoInfo

_WEIGHTS = (0.299, 0.587, 0.114)  # of red, green and blue in luma
_MIDDLE = 128  # what libjpeg fills in where data end
_BAND = 2**21  # pixels that are made gray at a time


def read_frame(data: bytes) -> Photo:
    """Decode the whole stored picture in gray, in sensor orientation.

    The stored pixels are taken as they are: EXIF orientation is never applied. The luma of a
    JPEG comes straight from its decoder; of other files it is .299 R + .587 G + .114 B.

    Parameters
    ----------
    data : the whole file; at least 64 pixels each way and at most 200 million in all

    Returns
    -------
    a photo whose pixels are (h, w), uint8, or float32 on the 0–255 scale for files with more levels

    Raises
    ------
    PhotoError
        with one clear reason; nothing else is raised for any byte sequence
    """
    with reading(data):
        return _read_optional(data) if _header.is_optional(data) else _read(data)


def _read(data: bytes) -> Photo:
    image, info, _ = _header.open_picture(data, None)
    with known(info):
        is_sure = _intact.check(data, info, _whole(info))
        pixels = _luma(image, _intact.is_jpeg(info))
        if not is_sure and _ends_in_gray(pixels):
            raise PhotoError("truncated", _intact.ENDS)
    note = ""
    if _intact.is_jpeg(info) and not _jpeg.is_whole(data):
        note = "the file has no end marker; the picture is all there"
    return Photo(pixels, info, note)


def _read_optional(data: bytes) -> Photo:
    """Read what a decoder of an extra reads: HEIC and raw."""
    picture = _header.optional_picture(data)
    with known(picture.info):
        box = _whole(picture.info)
        _header.check_size(picture)
        pixels = _gray(picture.crop(box))
    return Photo(pixels, picture.info, picture.note)


def _whole(info: PhotoInfo) -> Box:
    """Left, top, right, bottom of the whole picture."""
    width, height = info.width or 0, info.height or 0
    if min(width, height) < SMALLEST:
        reason = f"too small: {width}×{height}, at least {SMALLEST}×{SMALLEST} pixels are needed"
        raise PhotoError("too-small", reason, info)
    return 0, 0, width, height


def _luma(image: Image.Image, jpeg: bool) -> Pixels:
    """Decode the picture: (h, w)."""
    check_kind(image)
    if image.mode.startswith("I;16"):
        return _filled(image, np.float32, _levels)
    image.draft("L", None)  # a JPEG's own luma; of other files and codings nothing changes
    if jpeg and image.mode == "L" and getattr(image, "tile", None):  # there is something to decode
        return _decoded(image)
    return _filled(image, np.uint8, _bytes)


def _decoded(image: Image.Image) -> Pixels:
    """Let the decoder write into an array of ours, which saves a copy of the picture."""
    pixels = np.zeros((image.height, image.width), dtype=np.uint8)
    ours = Image.frombuffer("L", image.size, pixels, "raw", "L", 0, 1).im
    image.im = ours
    image.load()
    return pixels if image.im is ours else np.asarray(image)


def _filled(
    image: Image.Image, kind: type[np.generic], convert: Callable[[Image.Image], Pixels]
) -> Pixels:
    """(h, w) of what `convert` makes of one band of rows after another."""
    pixels = np.empty((image.height, image.width), dtype=kind)
    step = max(1, _BAND // image.width)
    for top in range(0, image.height, step):
        bottom = min(top + step, image.height)
        pixels[top:bottom] = convert(image.crop((0, top, image.width, bottom)))
    return pixels


def _levels(part: Image.Image) -> Floats:
    return np.asarray(part).astype(np.float32) * np.float32(255 / 65535)


def _bytes(part: Image.Image) -> Pixels:
    if part.mode not in ("L", "RGB"):
        part = part.convert("RGB")  # palettes, alpha, CMYK: as for a crop
    return np.asarray(part if part.mode == "L" else part.convert("L"))


def _gray(pixels: Pixels) -> Pixels:
    """(h, w) of (h, w, 3), in bands of rows; bytes stay bytes."""
    height, width, _ = pixels.shape
    bytewise = pixels.dtype == np.uint8
    gray = np.empty((height, width), dtype=np.uint8 if bytewise else np.float32)
    weights = np.array(_WEIGHTS, dtype=np.float32)
    step = max(1, _BAND // width)
    for top in range(0, height, step):
        band = pixels[top : top + step]
        gray[top : top + step] = _bytes(Image.fromarray(band)) if bytewise else band @ weights
    return gray


def _ends_in_gray(pixels: Pixels) -> bool:
    """Whether a JPEG's coded data ended early and libjpeg filled in mid-gray; see `_decode`."""
    if not (pixels[-16:, -64:] == _MIDDLE).all():
        return False
    return any((row != _MIDDLE).any() for row in pixels)
