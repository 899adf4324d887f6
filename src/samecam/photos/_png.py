"""The parts of a PNG file, walked without decoding a pixel."""

import zlib
from collections.abc import Iterator

_NAME = b"\x89PNG\r\n\x1a\n"
_INTERLACED = 28  # offset of the flag


def parts(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield (kind, start, end) of the content of each part that lies inside the file."""
    at = len(_NAME)
    while data.startswith(_NAME) and at + 12 <= len(data):
        end = at + 8 + int.from_bytes(data[at : at + 4], "big")
        if end + 4 > len(data):
            return
        yield data[at + 4 : at + 8], at + 8, end
        at = end + 4


def is_plain_and_whole(data: bytes) -> bool:
    """Whether every part is there with its checksum, to the end, and rows are in order."""
    if len(data) <= _INTERLACED or data[_INTERLACED]:
        return False
    for kind, start, end in parts(data):
        if not _is_right(data, start, end):
            return False
        if kind == b"IEND":
            return True
    return False


def has_changed_pixels(data: bytes) -> bool:
    """Whether a part with pixels does not fit its checksum; Pillow does not look."""
    pixels = ((start, end) for kind, start, end in parts(data) if kind == b"IDAT")
    return not all(_is_right(data, start, end) for start, end in pixels)


def _is_right(data: bytes, start: int, end: int) -> bool:
    checksum = zlib.crc32(memoryview(data)[start - 4 : end])
    return checksum == int.from_bytes(data[end : end + 4], "big")


def exif(data: bytes) -> bytes:
    """The file's EXIF block wherever it stands, or nothing.

    Pillow decodes the whole picture to look for one behind the pixels.
    """
    for kind, start, end in parts(data):
        if kind == b"eXIf":
            return data[start:end]
    return b""
