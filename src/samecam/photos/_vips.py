"""Regions of PNG and TIFF without decoding the rest, by the extra `vips`.

The answer is the one Pillow gives, or none: a file is only read here if it is sure that
decoding all of it would give the same pixels and no error. So a case does not depend on
whether the extra is installed.
"""

from typing import Any

from PIL import Image

from samecam.arrays import Pixels
from samecam.photos import _png, _tiff
from samecam.photos._photo import Box, three_planes

_MODES = ("L", "LA", "RGB", "RGBA")
_OPERATIONS = {"PNG": "pngload_source", "TIFF": "tiffload_source"}


def crop(data: bytes, image: Image.Image, box: Box) -> Pixels | None:
    """Left, top, right, bottom as (h, w, 3) uint8; None where Pillow has to do it.

    Left to Pillow are compressed TIFFs (what is below the crop cannot be checked without
    decoding it), interlaced PNGs, files with a wrong checksum, more than 8 bits, palettes.
    """
    if image.format not in _OPERATIONS or image.mode not in _MODES:
        return None
    length = image.width * image.height * len(image.getbands())
    whole = (
        _png.is_plain_and_whole(data)
        if image.format == "PNG"
        else _tiff.is_uncompressed(data, length)
    )
    library = _library() if whole else None
    if library is None:
        return None
    left, top, right, bottom = box
    try:
        load = getattr(library.Image, _OPERATIONS[image.format])
        source = library.Source.new_from_memory(data)  # a buffer would be copied
        picture = load(source, access="sequential", fail_on="truncated")
        kind = (picture.width, picture.height, picture.bands, picture.format)
        if kind != (*image.size, len(image.getbands()), "uchar"):
            return None
        return three_planes(picture.crop(left, top, right - left, bottom - top).numpy())
    except library.Error:
        return None


def _library() -> Any:
    """Return pyvips, set for one thread, or None where it is not installed."""
    try:
        import pyvips
    except (ImportError, OSError):  # OSError: the package is there, the library not
        return None
    pyvips.concurrency_set(1)  # workers are many already
    pyvips.cache_set_max(0)
    return pyvips
