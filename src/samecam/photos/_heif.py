"""HEIC photos, by the extra `heif`: decoded whole, never turned."""

from operator import attrgetter
from typing import Any

import numpy as np

from samecam.arrays import Pixels
from samecam.photos._exif import Exif, parse_exif
from samecam.photos._heif_items import has_zeros
from samecam.photos._photo import (
    Box,
    PhotoError,
    PhotoInfo,
    another_size,
    needs_extra,
    three_planes,
)

# What libheif does to a picture on decoding; the library shows it nowhere else.
_transformations = attrgetter("_c_image.transformations")
_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")


def is_heif(head: bytes) -> bool:
    """Whether a file begins like a HEIC photo."""
    return head[4:8] == b"ftyp" and head[8:12] in _BRANDS


class HeifPicture:
    """A HEIC photo as it is coded, in sensor orientation.

    The format's own turns and mirrors (`irot`, `imir`) are part of decoding in libheif;
    they are undone, last first, so that the pixels are where the sensor had them, as for
    JPEG, whose EXIF orientation is never applied. A clean aperture (`clap`) stays applied.
    10- and 12-bit photos keep their levels, as float32 on the 0–255 scale.
    """

    note = ""

    def __init__(self, data: bytes) -> None:
        self._file: Any = _library().open_heif(data, convert_hdr_to_8bit=False)
        image = self._file[self._file.primary_index]
        self._turns: list[tuple[Any, ...]] = [
            turn for turn in _transformations(image) if turn[0] in ("irot", "imir")
        ]
        width, height = image.size
        if sum(turn[1] // 90 for turn in self._turns if turn[0] == "irot") % 2:
            width, height = height, width
        exif = image.info.get("exif")
        self.info = PhotoInfo(width, height, "HEIC", parse_exif(exif) if exif else Exif())
        self.n_decoded = width * height
        self._has_zeros = has_zeros(data)
        self._levels = 2 ** int(image.info.get("bit_depth", 8))

    def crop(self, box: Box) -> Pixels:
        """Left, top, right, bottom of the stored picture as (h, w, 3)."""
        if self._has_zeros:
            raise PhotoError("damaged", "damaged: zeros stand where coded pixels should")
        whole = np.asarray(self._file)
        for kind, value, *_ in reversed(self._turns):
            if kind == "irot":  # degrees anticlockwise
                whole = np.rot90(whole, k=-(value // 90))
            else:
                whole = whole[:, ::-1] if value else whole[::-1]
        if whole.shape[:2] != (self.info.height, self.info.width):
            raise another_size()
        part = three_planes(whole[box[1] : box[3], box[0] : box[2]])
        if part.dtype == np.uint8:
            return part
        # The library shifts the levels up to 16 bits.
        top = 65536 - 65536 // self._levels
        return part.astype(np.float32) * np.float32(255 / top)


def _library() -> Any:
    try:
        import pillow_heif
    except ImportError:
        raise needs_extra("HEIC", "heif") from None
    options: Any = pillow_heif.options
    options.DECODE_THREADS = 1  # workers are many already
    options.THUMBNAILS = options.DEPTH_IMAGES = options.AUX_IMAGES = False
    return pillow_heif
