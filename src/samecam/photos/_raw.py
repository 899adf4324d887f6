"""Raw photos, by the extra `raw`: what the sensor measured, without demosaicing.

The policy. A raw file of a sensor with a 2×2 colour pattern (Bayer) holds one number per
photosite. Interpolating the two missing colours of each would mix neighbours by a recipe
of the software's, which is alike for all cameras; so no pixel is invented here. One pixel
of ours is one 2×2 cell: its red, the mean of its two greens, its blue. The picture has
half the sensor's width and height. Each value is

    255 · √((v − black) / (white − black)), cut to [0, 255],

with the file's black level per colour and its white level. The root makes shot noise
alike at all levels and resembles the tone curve of a JPEG, so that `dark` and `saturated`
mean the same. There is no white balance, no colour matrix, no lens correction, no turning.

A fingerprint of cells has another geometry than one of a JPEG's pixels (which the camera
also cuts and corrects): the two do not correlate even if the camera is the same.
"""

import io
from typing import Any

import numpy as np

from samecam.arrays import Pixels
from samecam.photos import _tiff
from samecam.photos._exif import Exif, parse_exif
from samecam.photos._photo import (
    Box,
    PhotoCode,
    PhotoError,
    PhotoInfo,
    another_size,
    needs_extra,
)

_TIFF = (b"II*\0", b"MM\0*")
_RELATIVES = (b"IIRO", b"IIRS", b"MMOR", b"IIU\0")  # Olympus, Panasonic: TIFF but for the name
_FUJI, _CANON = b"FUJIFILMCCD-RAW", b"ftypcrx "
_COLOUR_FILTER, _LINEAR = 32803, 34892
_PATTERN, _COLOURS = 33422, 50710  # of a colour filter, and the colours that are in it
_NO_CELLS = "the raw data have no 2×2 colour pattern"
NOTE = "raw: one pixel is one 2×2 cell of the sensor; not comparable with JPEG"


def is_raw_head(head: bytes) -> bool:
    """Whether a file begins like a raw photo that does not look like TIFF."""
    return head[:4] in _RELATIVES or head.startswith(_FUJI) or head[4:12] == _CANON


def is_raw(data: bytes) -> bool:
    """Whether a file is a raw photo; its preview must not be taken for the photo.

    Of files that begin like TIFF, those that call themselves DNG or CR2, or hold a
    picture with a colour filter's pattern in any of their folders.
    """
    if data[:4] not in _TIFF:
        return is_raw_head(data[:16])
    if data[8:10] == b"CR":
        return True
    kinds = {(_COLOUR_FILTER,), (_LINEAR,)}
    return any(
        _tiff.DNG_VERSION in tags or tags.get(_tiff.PHOTOMETRIC) in kinds
        for tags in _tiff.folders(data)
    )


class RawPicture:
    """A raw photo as a picture of 2×2 cells; see the module's text."""

    note = NOTE

    def __init__(self, data: bytes) -> None:
        library = _library()
        self._raw = library.RawPy()
        self._error: type[Exception] = library.LibRawError
        exif = _exif(data)
        self.info = PhotoInfo(format="RAW", exif=exif)
        if not _tells_its_colours(data):
            raise PhotoError("unsupported", f"unsupported: {_NO_CELLS}", self.info)
        try:
            self._raw.open_buffer(io.BytesIO(data))
        except self._error as error:
            code: PhotoCode = "damaged"
            if isinstance(error, library.LibRawFileUnsupportedError):
                code = "unsupported"
            reason = f"damaged or unsupported raw: {_message(error)}"
            raise PhotoError(code, reason, self.info) from None
        sizes = self._raw.sizes
        self.info = PhotoInfo(sizes.width // 2, sizes.height // 2, "RAW", exif)
        self.n_decoded = sizes.raw_width * sizes.raw_height

    def crop(self, box: Box) -> Pixels:
        """Left, top, right, bottom in cells as (h, w, 3), float32."""
        try:
            self._raw.unpack()
            return self._cells(box)
        except self._error as error:
            raise PhotoError("damaged", f"damaged raw: {_message(error)}") from None
        finally:
            self._raw.close()

    def _cells(self, box: Box) -> Pixels:
        raw = self._raw
        mosaic = raw.raw_image_visible
        if mosaic is None or mosaic.ndim != 2 or not _has_cells(raw):
            raise _unsupported(_NO_CELLS)
        left, top, right, bottom = (2 * edge for edge in box)
        if mosaic.shape[0] < bottom or mosaic.shape[1] < right:
            raise another_size()
        part = mosaic[top:bottom, left:right].astype(np.float32)
        colours = raw.raw_colors_visible[:2, :2]
        planes: dict[str, list[Pixels]] = {"R": [], "G": [], "B": []}
        for row, column in ((0, 0), (0, 1), (1, 0), (1, 1)):
            index = int(colours[row, column])
            name = chr(raw.color_desc[index])
            if name not in planes:
                raise _unsupported("the sensor's colours are not red, green and blue")
            black = float(raw.black_level_per_channel[index])
            white = max(float(raw.white_level), black + 1)
            planes[name].append((part[row::2, column::2] - black) / (white - black))
        if not all(planes.values()):
            raise _unsupported("the sensor's colours are not red, green and blue")
        cells = np.stack([sum(parts) / len(parts) for parts in planes.values()], axis=2)
        scaled: Pixels = 255 * np.sqrt(np.clip(cells, 0, 1), dtype=np.float32)
        return scaled


def _tells_its_colours(data: bytes) -> bool:
    """Whether the pattern of a colour filter is there if its colours are, and of these alone.

    If not, LibRaw takes what is in its memory just then: now the file is read, now it is not.
    """
    for tags in _tiff.folders(data):
        pattern, colours = tags.get(_PATTERN, ()), tags.get(_COLOURS, (0, 1, 2))
        asked = _PATTERN in tags or _COLOURS in tags
        if asked and not (pattern and set(pattern) <= set(colours[:4])):
            return False
    return True


def _has_cells(raw: Any) -> bool:
    """Whether the sensor's colours repeat every two photosites; nonsense in a file does not."""
    try:
        pattern = raw.raw_pattern
    except Exception:  # one reason, whatever the library says; it may vary for a damaged file
        return False
    return pattern is not None and pattern.shape == (2, 2)


def _exif(data: bytes) -> Exif:
    """EXIF of the files that are TIFF but for their name; of others none is read."""
    if data[:4] not in _TIFF and data[:4] not in _RELATIVES:
        return Exif()
    name = b"II*\0" if data[:2] == b"II" else b"MM\0*"
    return parse_exif(name + data[4:])


def _unsupported(why: str) -> PhotoError:
    return PhotoError("unsupported", f"unsupported: {why}")


def _message(error: Exception) -> str:
    value = error.args[0] if error.args else ""
    text = value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)
    return " ".join(text.split())[:200] or type(error).__name__


def _library() -> Any:
    try:
        import rawpy
    except ImportError:
        raise needs_extra("raw", "raw") from None
    return rawpy
