"""Bytes of a file to the pixels that are used, or the reason why not."""

import io
import warnings
from dataclasses import replace
from typing import Literal

import numpy as np
from PIL import Image, UnidentifiedImageError

from samecam.arrays import Pixels
from samecam.photos import _heif, _jpeg, _png, _raw, _vips
from samecam.photos._exif import read_exif
from samecam.photos._photo import Box, Photo, PhotoError, PhotoInfo, Picture

FORMATS = ("JPEG", "PNG", "TIFF", "WEBP", "BMP")  # JPEG includes MPO
READ = "JPEG, PNG, TIFF, WebP, BMP, HEIC, raw"
SMALLEST, LARGEST = 64, 4096
_ORIENTATION = 0x0112

Portrait = Literal["keep", "rotate"]


def read_photo(
    data: bytes,
    *,
    size: int = 512,
    offset: tuple[int, int] = (0, 0),
    portrait: Portrait = "keep",
) -> Photo:
    """Decode the square crop that is used, in sensor orientation.

    The stored pixels are taken as they are: EXIF orientation is never applied.

    Parameters
    ----------
    data : the whole file
    size : side of the crop, 64 to 4096
    offset : (x, y) of its top-left corner
    portrait : "rotate" turns pictures that are stored taller than wide by 90° clockwise
        before cropping, for files whose maker turned the pixels; "keep" does not

    Raises
    ------
    PhotoError
        with one clear reason; nothing else is raised for any byte sequence
    """
    check_crop(size, offset, portrait)
    if not data:
        raise PhotoError("empty file")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a damaged file's warnings are no news to the user
        if _heif.is_heif(data[:16]) or _raw.is_raw(data):
            return _read_optional(data, size, offset, portrait)
        return _read(data, size, offset, portrait)


def check_crop(size: int, offset: tuple[int, int], portrait: str) -> None:
    """Raise ValueError unless these describe a crop."""
    if not SMALLEST <= size <= LARGEST:
        raise ValueError(f"size is {size}; choose {SMALLEST} to {LARGEST}")
    if len(offset) != 2 or min(offset) < 0:
        raise ValueError(f"offset is {offset}; give X,Y, neither negative")
    if portrait not in ("keep", "rotate"):
        raise ValueError(f"portrait is {portrait!r}; choose 'keep' or 'rotate'")


def _read(data: bytes, size: int, offset: tuple[int, int], portrait: Portrait) -> Photo:
    info = PhotoInfo()
    try:
        patched = None if _may_turn(data, portrait) else _jpeg.cut_height(data, offset[1] + size)
        image = _open(data if patched is None else patched)
        info = _describe(image, data, patched is not None)
        turn = portrait == "rotate" and (info.height or 0) > (info.width or 0)
        box = _box(info, size, offset, turn)
        if info.format in ("JPEG", "MPO") and not _jpeg.holds_enough(data, box[3]):
            raise PhotoError("damaged: too little data for the size the header claims")
        if info.format == "PNG" and _png.has_changed_pixels(data):
            raise PhotoError("damaged: the checksum of the pixels is wrong")
        try:
            quick = _vips.crop(data, image, box) if patched is None else None
            pixels = _crop(image, box) if quick is None else quick
        except Exception:
            if patched is None:
                raise
            image = _open(data)  # any doubt: the whole picture
            pixels = _crop(image, box)
        if info.format in ("JPEG", "MPO") and _ends_in_gray(image, pixels, box):
            raise PhotoError("truncated: the picture ends inside the part that is used")
    except PhotoError as error:
        raise PhotoError(error.reason, info) from error
    except Exception as error:  # any byte sequence may arrive
        raise PhotoError(_reason(error), info) from error
    if turn:
        pixels = np.ascontiguousarray(np.rot90(pixels, k=-1))
    note = ""
    if info.format in ("JPEG", "MPO") and not _jpeg.is_whole(data):
        note = "the file ends early, below the part that is used"
    return Photo(pixels, info, note)


def _read_optional(data: bytes, size: int, offset: tuple[int, int], portrait: Portrait) -> Photo:
    """Read what a decoder of an extra reads: HEIC and raw."""
    info = PhotoInfo()
    most = 2 * (Image.MAX_IMAGE_PIXELS or 0)
    try:
        kind = _heif.HeifPicture if _heif.is_heif(data[:16]) else _raw.RawPicture
        picture: Picture = kind(data, most)
        info = picture.info
        turn = portrait == "rotate" and (info.height or 0) > (info.width or 0)
        pixels = picture.crop(_box(info, size, offset, turn))
    except PhotoError as error:
        info = info if info.format else error.info
        raise PhotoError(error.reason, info, passing=error.passing) from error
    except Exception as error:  # any byte sequence may arrive
        raise PhotoError(_reason(error), info) from error
    if turn:
        pixels = np.ascontiguousarray(np.rot90(pixels, k=-1))
    return Photo(pixels, info, picture.note)


def _may_turn(data: bytes, portrait: Portrait) -> bool:
    """Whether a JPEG will be turned, and its lower rows are needed."""
    if portrait == "keep":
        return False
    size = _jpeg.frame_size(data)
    return size is None or size[1] > size[0]


def _open(data: bytes) -> Image.Image:
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
    width, height = image.tag_v2.get(256), image.tag_v2.get(257)  # type: ignore[attr-defined]
    if isinstance(width, int) and isinstance(height, int):
        image._size = (width, height)


def _describe(image: Image.Image, data: bytes, patched: bool) -> PhotoInfo:
    if image.format == "PNG" and "exif" not in image.info and (block := _png.exif(data)):
        image.info["exif"] = block
    exif = read_exif(image)
    orientation = image.info.get("samecam_orientation")
    if orientation is not None:
        exif = replace(exif, orientation=str(orientation))
    info = PhotoInfo(image.width, image.height, image.format or "", exif)
    size = _jpeg.frame_size(data) if patched else None
    return info if size is None else replace(info, height=size[1])


def _ends_in_gray(image: Image.Image, pixels: Pixels, box: Box) -> bool:
    """Whether a JPEG's coded data ended inside the crop and libjpeg filled in mid-gray.

    It does so without an error when the data end with an end marker. Then everything
    decoded below the crop is exactly 128 (but for two rows that colour interpolation
    reaches), or, if nothing is below, the end of the crop's last row of blocks: a single
    block of exactly that gray is met in photographs compressed once more. A crop that is
    gray all over is flat, which is noticed elsewhere.
    """
    top = box[3] + 2
    if top < image.height:
        last = np.asarray(image.crop((0, top, image.width, image.height)).convert("RGB"))
    else:
        last = pixels[-16:, -64:]
    return bool((last == 128).all() and not (pixels == 128).all())


def _box(info: PhotoInfo, size: int, offset: tuple[int, int], turn: bool) -> Box:
    """Left, top, right, bottom of the crop in the stored picture."""
    width, height = info.width or 0, info.height or 0
    x, y = offset
    across, down = (height, width) if turn else (width, height)
    if x + size > across or y + size > down:
        wanted = f"{size}×{size}" + (f" at {x},{y}" if offset != (0, 0) else "")
        raise PhotoError(f"too small: {width}×{height}, the crop is {wanted}")
    if turn:  # clockwise: turned[y, x] = stored[height−1−x, y]
        return y, height - x - size, y + size, height - x
    return x, y, x + size, y + size


def _crop(image: Image.Image, box: Box) -> Pixels:
    """Decode and crop; (h, w, 3), gray repeated, alpha and further planes dropped."""
    part = image.crop(box)
    if part.mode.startswith("I;16"):
        wide = np.asarray(part).astype(np.float32) * np.float32(255 / 65535)
        return np.repeat(wide[..., np.newaxis], 3, axis=2)
    if part.mode in ("I", "F"):
        raise PhotoError(f"unsupported: pixels of kind {part.mode!r} (32 bits a value)")
    if part.mode != "RGB":
        part = part.convert("RGB")
    return np.asarray(part)


def _reason(error: Exception) -> str:
    if isinstance(error, UnidentifiedImageError):
        return f"not a picture samecam reads ({READ})"
    if isinstance(error, Image.DecompressionBombError):
        return f"too large to decode whole: over {2 * (Image.MAX_IMAGE_PIXELS or 0)} pixels"
    if isinstance(error, MemoryError):
        return "decoding needs more memory than a worker may use"
    words = " ".join(str(error).split())[:200]
    if "truncated" in words.lower():
        return "truncated: the file ends inside the part that is used"
    return f"damaged: {words or type(error).__name__}"


def looks_like_picture(head: bytes) -> bool:
    """Whether the first 32 bytes of a file are those of a format that is read."""
    return (
        head.startswith((b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"BM"))
        or head[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
        or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")
        or _heif.is_heif(head)
        or _raw.is_raw_head(head)
    )
