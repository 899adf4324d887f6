"""What the header of a picture says, before any pixel is decoded."""

import io
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from PIL import Image, UnidentifiedImageError

from samecam.photos import _heif, _jpeg, _png, _raw
from samecam.photos._exif import read_exif
from samecam.photos._photo import PhotoCode, PhotoError, PhotoInfo, Picture

FORMATS = ("JPEG", "PNG", "TIFF", "WEBP", "BMP")  # as Pillow calls them; JPEG includes MPO
READ = "JPEG, PNG, TIFF, WebP, BMP, HEIC, raw"
MOST_PIXELS = 200_000_000  # of a picture, or photosites of a raw one, that is decoded whole
_ORIENTATION, _WIDTH, _HEIGHT = 0x0112, 256, 257
_STORED_SIZE = "_size"  # of a Pillow image, whose `size` cannot be set


def read_header(data: bytes) -> PhotoInfo:
    """Stored size, format and EXIF of a picture; no pixel is decoded.

    Parameters
    ----------
    data : the whole file, or as much of its beginning as holds the header. EXIF that
        stands behind the pixels is read from a whole file alone.

    Raises
    ------
    PhotoError
        with one clear reason; nothing else is raised for any byte sequence
    """
    with reading(data):
        info = optional_picture(data).info if is_optional(data) else open_picture(data, 0).info
        if info.size is None:
            raise PhotoError("damaged", "damaged: the header claims no size", info)
        return info


@contextmanager
def reading(data: bytes) -> Iterator[None]:
    """Let whatever a decoder raises or warns of become a `PhotoError`."""
    if not data:
        raise PhotoError("empty", "empty file")
    with warnings.catch_warnings(), _our_limit:
        warnings.simplefilter("ignore")  # a damaged file's warnings are no news to the user
        try:
            yield
        except PhotoError:
            raise
        except Exception as error:  # any byte sequence may arrive
            raise explained(error) from error


class _Limit:
    """Within this, Pillow refuses what has more than `MOST_PIXELS`, and nothing less.

    Pillow keeps its own limit for the whole process: it is back when the last thread has left.
    """

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0
        self._before: int | None = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._before = Image.MAX_IMAGE_PIXELS
                Image.MAX_IMAGE_PIXELS = MOST_PIXELS // 2  # above it warns, above twice it raises
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                Image.MAX_IMAGE_PIXELS = self._before


_our_limit = _Limit()


@contextmanager
def known(info: PhotoInfo) -> Iterator[None]:
    """Let errors carry what the header said."""
    try:
        yield
    except PhotoError as error:
        raise error.with_info(info) from error
    except Exception as error:  # any byte sequence may arrive
        raise explained(error).with_info(info) from error


def is_optional(data: bytes) -> bool:
    """Whether a file is read by a decoder of an extra: HEIC and raw."""
    return _heif.is_heif(data[:16]) or _raw.is_raw(data)


def optional_picture(data: bytes) -> Picture:
    """Open such a file."""
    return _heif.HeifPicture(data) if _heif.is_heif(data[:16]) else _raw.RawPicture(data)


class Opened(NamedTuple):
    """A picture that Pillow has opened; `cut`: a JPEG whose declared height was lowered."""

    image: Image.Image
    info: PhotoInfo
    cut: bool


def open_picture(data: bytes, rows: int | None) -> Opened:
    """Open any other picture; of a JPEG only the upper `rows`, or with None all of them."""
    cut = None if rows is None else _jpeg.cut_height(data, rows)
    image = open_image(data if cut is None else cut)
    return Opened(image, _describe(image, data, cut is not None), cut is not None)


def open_image(data: bytes) -> Image.Image:
    """Open a picture that lies as it is stored, whatever its orientation tag says."""
    image = Image.open(io.BytesIO(data), formats=FORMATS)
    if image.format == "TIFF":
        _forget_orientation(image)
    return image


def _forget_orientation(image: Image.Image) -> None:
    """Keep Pillow from turning a TIFF by its orientation tag, which it does on loading.

    What the tag says is kept aside for the table; the stored size is restored.
    """
    image.info["samecam_orientation"] = image.getexif().get(_ORIENTATION)
    for tags in (image.tag_v2, image.getexif()):  # type: ignore[attr-defined]
        if _ORIENTATION in tags:
            del tags[_ORIENTATION]
    width, height = (image.tag_v2.get(tag) for tag in (_WIDTH, _HEIGHT))  # type: ignore[attr-defined]
    if isinstance(width, int) and isinstance(height, int):
        setattr(image, _STORED_SIZE, (width, height))


def _describe(image: Image.Image, data: bytes, cut: bool) -> PhotoInfo:
    if image.format == "PNG" and "exif" not in image.info and (block := _png.exif(data)):
        image.info["exif"] = block
    exif = read_exif(image)
    orientation = image.info.get("samecam_orientation")
    if orientation is not None:
        exif = replace(exif, orientation=str(orientation))
    info = PhotoInfo(image.width, image.height, image.format or "", exif)
    size = _jpeg.frame_size(data) if cut else None
    return info if size is None else replace(info, height=size[1])


def explained(error: Exception) -> PhotoError:
    """What a decoder raised, as the reason why a file cannot be used."""
    if isinstance(error, UnidentifiedImageError):
        return PhotoError("not-a-picture", f"not a picture samecam reads ({READ})")
    if isinstance(error, Image.DecompressionBombError):
        return too_large()
    if isinstance(error, MemoryError):
        return PhotoError("memory", "decoding needs more memory than a worker may use")
    message = " ".join(str(error).split())[:200]
    code: PhotoCode = "damaged"
    if "truncated" in message.lower():
        code, message = "truncated", "the file ends inside the part that is used"
    return PhotoError(code, f"{code}: {message or type(error).__name__}")


def check_size(picture: Picture) -> None:
    """Raise if a picture is too large for an optional decoder, which decodes all of it."""
    if picture.n_decoded > MOST_PIXELS:
        raise too_large()


def too_large() -> PhotoError:
    """The error of a picture with more pixels than are decoded whole."""
    return PhotoError("too-large", f"too large to decode whole: over {MOST_PIXELS} pixels")


def looks_like_picture(head: bytes) -> bool:
    """Whether the first 32 bytes of a file are those of a format that is read."""
    return (
        head.startswith((b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"BM"))
        or head[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
        or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")
        or _heif.is_heif(head)
        or _raw.is_raw_head(head)
    )
