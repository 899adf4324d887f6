"""Photo files to pixels: find them, decode what is used, say why not."""

from samecam.photos._decode import (
    LARGEST,
    READ,
    SMALLEST,
    Portrait,
    check_crop,
    looks_like_picture,
    read_photo,
)
from samecam.photos._exif import Exif
from samecam.photos._photo import Photo, PhotoError, PhotoInfo
from samecam.photos._scan import Found, scan, would_find
from samecam.photos._screen import Exposure, exposure

__all__ = [
    "LARGEST",
    "READ",
    "SMALLEST",
    "Exif",
    "Exposure",
    "Found",
    "Photo",
    "PhotoError",
    "PhotoInfo",
    "Portrait",
    "check_crop",
    "exposure",
    "looks_like_picture",
    "read_photo",
    "scan",
    "would_find",
]
