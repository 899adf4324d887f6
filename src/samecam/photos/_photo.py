"""What is known of one picture: its pixels, what its file says, or why it cannot be used."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from samecam.arrays import Pixels
from samecam.photos._exif import Exif

Box = tuple[int, int, int, int]


class PhotoError(Exception):
    """A file that cannot be used; the message is the one clear reason.

    `info` holds what was learnt of the file before that; `passing`: worth trying again
    another time, because the reason lies in what is installed, not in the file.
    """

    def __init__(
        self, reason: str, info: "PhotoInfo | None" = None, *, passing: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.info = info or PhotoInfo()
        self.passing = passing


@dataclass(frozen=True, slots=True)
class PhotoInfo:
    """What a file says of itself: stored size in pixels, format, EXIF."""

    width: int | None = None
    height: int | None = None
    format: str = ""
    exif: Exif = field(default_factory=Exif)


@dataclass(frozen=True, slots=True)
class Photo:
    """The used part of a photograph.

    Attributes
    ----------
    pixels : (size, size, 3), uint8, or float32 on the 0–255 scale for files with more levels
    info : what the file says of itself
    note : a remark on a file that is used all the same, or ""
    """

    pixels: Pixels
    info: PhotoInfo
    note: str = ""


class Picture(Protocol):
    """A file that an optional decoder has opened: its header is read, no pixel is decoded."""

    @property
    def info(self) -> PhotoInfo:
        """What the file says of itself."""

    @property
    def note(self) -> str:
        """A remark for the table, or ""."""

    def crop(self, box: Box) -> Pixels:
        """Left, top, right, bottom of the stored picture as (h, w, 3)."""


def three_planes(pixels: Pixels) -> Pixels:
    """(h, w, 3) of a picture with any planes: gray is repeated, alpha dropped."""
    if pixels.ndim == 2 or pixels.shape[2] < 3:
        gray = pixels if pixels.ndim == 2 else pixels[..., 0]
        return np.repeat(gray[..., np.newaxis], 3, axis=2)
    return np.ascontiguousarray(pixels[..., :3])
