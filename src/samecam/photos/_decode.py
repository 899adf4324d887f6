"""Bytes of a file to the pixels that are used, or the reason why not."""

from typing import Literal, NamedTuple

import numpy as np
from PIL import Image

from samecam.arrays import Pixels
from samecam.errors import ParameterValueError
from samecam.photos import _header, _intact, _jpeg, _vips
from samecam.photos._header import Opened, known, reading
from samecam.photos._photo import Box, Photo, PhotoError, PhotoInfo

SMALLEST, LARGEST = 64, 4096

Portrait = Literal["keep", "rotate"]
At = Literal["corner", "centre"]
# A square in the centre begins at multiples of this, so that blocks of JPEG lie alike in all.
_STEP = 16


def read_photo(
    data: bytes,
    *,
    size: int = 512,
    offset: tuple[int, int] = (0, 0),
    portrait: Portrait = "keep",
    at: At = "corner",
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
    at : where the offset counts from: the top-left corner, or the square in the centre

    Raises
    ------
    PhotoError
        with one clear reason; nothing else is raised for any byte sequence
    """
    check_crop(size, offset, portrait, at)
    crop = Crop(size, offset, portrait, at)
    with reading(data):
        return _read_optional(data, crop) if _header.is_optional(data) else _read(data, crop)


class Crop(NamedTuple):
    """The square that is used; see `read_photo`."""

    size: int
    offset: tuple[int, int]
    portrait: Portrait
    at: At

    def place(self, width: int, height: int) -> tuple[int, int]:
        """Left and top in a picture of this size, turned if it is to be."""
        x, y = self.offset
        if self.at == "corner":
            return x, y
        return tuple(  # type: ignore[return-value]
            start + max(0, length - self.size) // 2 // _STEP * _STEP
            for start, length in ((x, width), (y, height))
        )


def check_crop(size: int, offset: tuple[int, int], portrait: str, at: str = "corner") -> None:
    """Raise ValueError unless these describe a crop."""
    if not SMALLEST <= size <= LARGEST:
        raise ParameterValueError("size", f"{{name}} is {size}; choose {SMALLEST} to {LARGEST}")
    if len(offset) != 2 or min(offset) < 0:
        raise ParameterValueError("offset", f"{{name}} is {offset}; give X,Y, neither negative")
    if portrait not in ("keep", "rotate"):
        message = f"{{name}} is {portrait!r}; choose 'keep' or 'rotate'"
        raise ParameterValueError("portrait", message)
    if at not in ("corner", "centre"):
        raise ParameterValueError("at", f"{{name}} is {at!r}; choose 'corner' or 'centre'")


def _read(data: bytes, crop: Crop) -> Photo:
    opened = _header.open_picture(data, _rows(data, crop))
    info = opened.info
    turn = _turns(info, crop.portrait)
    with known(info):
        box = _box(info, crop, turn)
        is_sure = _intact.check(data, info, box)
        image, pixels = _decode(data, opened, box)
        if not is_sure and _ends_in_gray(image, pixels, box):
            raise PhotoError("truncated", _intact.ENDS)
    note = ""
    if _intact.is_jpeg(info) and not _jpeg.is_whole(data):
        note = "the file ends early, below the part that is used"
    return Photo(_turned(pixels) if turn else pixels, info, note)


def _decode(data: bytes, opened: Opened, box: Box) -> tuple[Image.Image, Pixels]:
    """The crop, and the picture it was decoded from."""
    if not opened.cut:
        quick = _vips.crop(data, opened.image, box)
        return opened.image, _crop(opened.image, box) if quick is None else quick
    try:
        return opened.image, _crop(opened.image, box)
    except Exception:  # any doubt: the whole picture
        image = _header.open_image(data)
        return image, _crop(image, box)


def _read_optional(data: bytes, crop: Crop) -> Photo:
    """Read what a decoder of an extra reads: HEIC and raw."""
    picture = _header.optional_picture(data)
    info = picture.info
    turn = _turns(info, crop.portrait)
    with known(info):
        _header.check_size(picture)
        pixels = picture.crop(_box(info, crop, turn))
    return Photo(_turned(pixels) if turn else pixels, info, picture.note)


def _turns(info: PhotoInfo, portrait: Portrait) -> bool:
    """Whether a picture is turned before it is cropped."""
    return portrait == "rotate" and (info.height or 0) > (info.width or 0)


def _turned(pixels: Pixels) -> Pixels:
    return np.ascontiguousarray(np.rot90(pixels, k=-1))


def _rows(data: bytes, crop: Crop) -> int | None:
    """Upper rows of a JPEG that are needed; None if it will be turned, or its size is not known."""
    if crop == (crop.size, crop.offset, "keep", "corner"):
        return crop.offset[1] + crop.size
    size = _jpeg.frame_size(data)
    if size is None or (crop.portrait == "rotate" and size[1] > size[0]):
        return None
    return crop.place(*size)[1] + crop.size


def _ends_in_gray(image: Image.Image, pixels: Pixels, box: Box) -> bool:
    """Whether a JPEG's coded data ended inside the crop and libjpeg filled in mid-gray.

    It does so without an error when the data end with an end marker. Then everything
    decoded below the crop is exactly 128 (but for two rows that colour interpolation
    reaches), or, if nothing is below, the end of the crop's last row of blocks: a single
    block of exactly that gray is met in photographs compressed once more. A crop that is
    gray all over is flat, which is noticed later.
    """
    top = box[3] + 2
    if top < image.height:
        last = np.asarray(image.crop((0, top, image.width, image.height)).convert("RGB"))
    else:
        last = pixels[-16:, -64:]
    return bool((last == 128).all() and not (pixels == 128).all())


def _box(info: PhotoInfo, crop: Crop, turn: bool) -> Box:
    """Left, top, right, bottom of the crop in the stored picture."""
    width, height = info.width or 0, info.height or 0
    across, down = (height, width) if turn else (width, height)
    size, (x, y) = crop.size, crop.place(across, down)
    if x + size > across or y + size > down:
        wanted = f"{size}×{size}" + (f" at {x},{y}" if crop.offset != (0, 0) else "")
        raise PhotoError("too-small", f"too small: {width}×{height}, the crop is {wanted}", info)
    if turn:  # clockwise: turned[y, x] = stored[height−1−x, y]
        return y, height - x - size, y + size, height - x
    return x, y, x + size, y + size


def _crop(image: Image.Image, box: Box) -> Pixels:
    """Decode and crop; (h, w, 3), gray repeated, alpha and further planes dropped."""
    part = image.crop(box)
    if part.mode.startswith("I;16"):
        wide = np.asarray(part).astype(np.float32) * np.float32(255 / 65535)
        return np.repeat(wide[..., np.newaxis], 3, axis=2)
    check_kind(part)
    if part.mode != "RGB":
        part = part.convert("RGB")
    return np.asarray(part)


def check_kind(image: Image.Image) -> None:
    """Raise unless the pixels are of a kind that is read."""
    if image.mode in ("I", "F"):
        reason = f"unsupported: pixels of kind {image.mode!r} (32 bits a value)"
        raise PhotoError("unsupported", reason)
