"""The folders of tags in a TIFF file, as far as they must be known before decoding."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from samecam.photos._photo import Box

WIDTH, LENGTH, BITS, COMPRESSION, PHOTOMETRIC = 256, 257, 258, 259, 262
STRIPS, SAMPLES, STRIP_ROWS, STRIP_BYTES, PLANAR = 273, 277, 278, 279, 284
TILE_WIDTH, TILE_LENGTH, TILES, TILE_BYTES = 322, 323, 324, 325
SUB_FOLDERS, JPEG_TABLES, DNG_VERSION = 330, 347, 50706

_CODES = {1: "B", 3: "H", 4: "I", 7: "B", 13: "I"}
_MOST_FOLDERS, _MOST_VALUES = 32, 2**16

Tags = dict[int, tuple[int, ...]]


def folders(data: bytes) -> Iterator[Tags]:
    """Whole-number tags of the first folder, of those after it and of those below.

    What is damaged, too long or goes in circles is left out.
    """
    order = {b"II": "<", b"MM": ">"}.get(data[:2])
    if order is None or len(data) < 8:
        return
    waiting, seen = [struct.unpack_from(order + "I", data, 4)[0]], set[int]()
    while waiting and len(seen) < _MOST_FOLDERS:
        at = waiting.pop(0)
        if at in seen or not 8 <= at <= len(data) - 2:
            continue
        seen.add(at)
        tags, following = _folder(data, at, order)
        yield tags
        waiting += [*following, *tags.get(SUB_FOLDERS, ())]


def _folder(data: bytes, at: int, order: str) -> tuple[Tags, list[int]]:
    """Tags of the folder at an offset, and where the next one is."""
    (count,) = struct.unpack_from(order + "H", data, at)
    tags: Tags = {}
    for k in range(count):
        entry = at + 2 + 12 * k
        if entry + 12 > len(data):
            return tags, []
        tag, kind, number = struct.unpack_from(order + "HHI", data, entry)
        code = _CODES.get(kind)
        if code is None or not 0 < number <= _MOST_VALUES:
            continue
        length = number * struct.calcsize(code)
        place = entry + 8 if length <= 4 else struct.unpack_from(order + "I", data, entry + 8)[0]
        if place + length <= len(data):
            tags[tag] = struct.unpack_from(f"{order}{number}{code}", data, place)
    end = at + 2 + 12 * count
    return tags, [struct.unpack_from(order + "I", data, end)[0]] if end + 4 <= len(data) else []


class Piece(NamedTuple):
    """A strip or tile: where it stands in the file, and which part of the picture it is."""

    start: int
    end: int
    box: Box


def pieces(tags: Tags) -> list[Piece]:
    """Strips or tiles of a picture in their order, one plane after another; none if in doubt."""
    width, height = (tags.get(tag, (0,))[0] for tag in (WIDTH, LENGTH))
    if TILES in tags:
        starts, lengths = tags[TILES], tags.get(TILE_BYTES, ())
        across, down = (tags.get(tag, (0,))[0] for tag in (TILE_WIDTH, TILE_LENGTH))
    else:
        starts, lengths = tags.get(STRIPS, ()), tags.get(STRIP_BYTES, ())
        across, down = width, min(tags.get(STRIP_ROWS, (height,))[0], height)
    if len(starts) != len(lengths) or min(width, height, across, down) <= 0:
        return []
    columns = -(-width // across)
    count = columns * -(-height // down)
    if len(starts) % count:
        return []
    answer = []
    for k, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        left, top = k % count % columns * across, k % count // columns * down
        box = (left, top, left + across, min(top + down, height) if across == width else top + down)
        answer.append(Piece(start, start + length, box))
    return answer


def row_bytes(tags: Tags) -> int:
    """Bytes of a row of an uncompressed strip or tile."""
    bits = tags.get(BITS, (1,))
    samples = 1 if tags.get(PLANAR, (1,))[0] == 2 else tags.get(SAMPLES, (1,))[0]
    across = tags[TILE_WIDTH][0] if TILES in tags else tags[WIDTH][0]
    return -(-across * samples * bits[0] // 8)


def is_uncompressed(data: bytes, length: int) -> bool:
    """Whether the first picture stands in the file plainly, with all of its `length` bytes."""
    tags = next(folders(data), {})
    starts = tags.get(STRIPS) or tags.get(TILES) or ()
    lengths = tags.get(STRIP_BYTES) or tags.get(TILE_BYTES) or ()
    return (
        tags.get(COMPRESSION, (1,)) == (1,)
        and bool(starts)
        and len(starts) == len(lengths)
        and sum(lengths) >= length
        and all(s + n <= len(data) for s, n in zip(starts, lengths, strict=True))
    )
