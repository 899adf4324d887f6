"""The folders of tags in a TIFF file, as far as they must be known before decoding."""

import struct
from collections.abc import Iterator

WIDTH, LENGTH, COMPRESSION, PHOTOMETRIC = 256, 257, 259, 262
STRIPS, STRIP_BYTES, TILES, TILE_BYTES = 273, 279, 324, 325
SUB_FOLDERS, DNG_VERSION = 330, 50706

_CODES = {1: "B", 3: "H", 4: "I", 13: "I"}
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
