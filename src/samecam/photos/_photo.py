"""What is known of one picture: its pixels, what its file says, or why it cannot be used."""

from dataclasses import dataclass, field
from typing import Literal, Protocol, get_args

import numpy as np

from samecam.arrays import Pixels
from samecam.photos._exif import Exif

Box = tuple[int, int, int, int]

PhotoCode = Literal[
    "empty",  # no bytes
    "not-a-picture",  # of no format that is read
    "unsupported",  # of a kind of such a format that is not read
    "needs-extra",  # of a format whose optional decoder is not installed
    "too-small",  # the crop does not lie inside
    "too-large",  # to be decoded whole
    "truncated",  # ends inside the part that is used
    "damaged",
    "memory",  # decoding needs more than there is
]
PHOTO_CODES: tuple[PhotoCode, ...] = get_args(PhotoCode)


@dataclass(frozen=True, slots=True)
class PhotoInfo:
    """What a file says of itself: stored size in pixels, format, EXIF."""

    width: int | None = None
    height: int | None = None
    format: str = ""
    exif: Exif = field(default_factory=Exif)

    @property
    def size(self) -> tuple[int, int] | None:
        """Width and height, or None where the file does not say both."""
        return (self.width, self.height) if self.width and self.height else None


class PhotoError(Exception):
    """A file that cannot be used, and why.

    Attributes
    ----------
    code : the kind of reason, one of `PHOTO_CODES`; for programs, it stays the same
    reason : the one clear reason, for people; what `str` gives
    info : what was learnt of the file before that
    passing : worth trying again another time, because the reason lies in what is
        installed, not in the file
    """

    def __init__(
        self,
        code: PhotoCode,
        reason: str,
        info: PhotoInfo | None = None,
        *,
        passing: bool = False,
    ) -> None:
        super().__init__(code, reason, info)
        self.code = code
        self.reason = reason
        self.info = info or PhotoInfo()
        self.passing = passing

    def __str__(self) -> str:
        return self.reason

    def with_info(self, info: PhotoInfo) -> "PhotoError":
        """The same error with what is known of the file; what it knows itself comes second."""
        known = info if info.format else self.info
        return PhotoError(self.code, self.reason, known, passing=self.passing)


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
    def n_decoded(self) -> int:
        """Pixels, or photosites, that have to be decoded for any crop."""

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


def another_size() -> PhotoError:
    """The error of a picture whose pixels do not have the shape its header claims."""
    return PhotoError("damaged", "damaged: the picture has another size than its header says")


def needs_extra(kind: str, extra: str) -> PhotoError:
    """The error of a photo whose decoder is not installed."""
    return PhotoError(
        "needs-extra",
        f"{kind} needs samecam's extra {extra!r}: pip install 'samecam[{extra}]'",
        PhotoInfo(format=kind.upper()),
        passing=True,
    )
