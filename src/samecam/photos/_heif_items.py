"""Where the coded pixels of a HEIC photo stand in its file, and whether zeros stand there.

HEVC never has three zero bytes in a row inside its coded data: an encoder breaks them up,
so that decoders can look for the beginnings of units. Longer runs are lost sectors.
"""

from collections.abc import Iterator

_ZEROS = bytes(8)  # the length before a unit may have three
_CODED, _GRID = b"hvc1", b"dimg"
_Span = tuple[int, int]


def has_zeros(data: bytes) -> bool:
    """Whether the coded data of the main picture have a run of zeros; no if in doubt."""
    try:
        spans = list(_coded(data))
    except (LookupError, ValueError):  # damage that the decoder will meet
        return False
    return any(data.find(_ZEROS, *span) >= 0 for span in spans)


def _coded(data: bytes) -> Iterator[_Span]:
    meta = next(_boxes(data, 0, len(data), b"meta"))
    boxes = dict(_all_boxes(data, meta[0] + 4, meta[1]))
    start, _ = boxes[b"pitm"]
    main = _number(data, start + 4, 2 if data[start] == 0 else 4)
    wanted = {main, *(_tiles(data, boxes[b"iref"], main) if b"iref" in boxes else ())}
    coded = {item for item, kind in _kinds(data, boxes[b"iinf"]) if kind == _CODED}
    for item, span in _places(data, boxes[b"iloc"]):
        if item in wanted & coded:
            yield span


def _all_boxes(data: bytes, start: int, end: int) -> Iterator[tuple[bytes, _Span]]:
    """Kind of each box in a stretch, and where its content stands."""
    while start + 8 <= end:
        length, kind, head = _number(data, start, 4), data[start + 4 : start + 8], 8
        if length == 1:
            length, head = _number(data, start + 8, 8), 16
        stop = end if length == 0 else start + length
        if stop < start + head or stop > end:
            return
        yield kind, (start + head, stop)
        start = stop


def _boxes(data: bytes, start: int, end: int, kind: bytes) -> Iterator[_Span]:
    return (span for name, span in _all_boxes(data, start, end) if name == kind)


def _kinds(data: bytes, span: _Span) -> Iterator[tuple[int, bytes]]:
    """Number and kind of each item."""
    start = span[0] + (6 if data[span[0]] == 0 else 8)
    for at, _ in _boxes(data, start, span[1], b"infe"):
        wide = 2 if data[at] <= 2 else 4
        yield _number(data, at + 4, wide), data[at + 6 + wide : at + 10 + wide]


def _tiles(data: bytes, span: _Span, main: int) -> Iterator[int]:
    """Items that a picture is put together of."""
    wide = 2 if data[span[0]] == 0 else 4
    for at, _ in _boxes(data, span[0] + 4, span[1], _GRID):
        if _number(data, at, wide) == main:
            for k in range(_number(data, at + wide, 2)):
                yield _number(data, at + wide + 2 + k * wide, wide)


def _places(data: bytes, span: _Span) -> Iterator[tuple[int, _Span]]:
    """Item and place of each stretch of the file that belongs to one."""
    at = span[0]
    version, sizes = data[at], _number(data, at + 4, 2)
    offset, length, base = sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15
    index = sizes & 15 if version else 0
    wide = 4 if version == 2 else 2
    count, at = _number(data, at + 6, wide), at + 6 + wide
    for _ in range(count):
        item, at = _number(data, at, wide), at + wide
        inside = _number(data, at, 2) & 15 if version else 0
        at += 4 if version else 2
        origin, at = _number(data, at, base), at + base
        extents, at = _number(data, at, 2), at + 2
        for _ in range(extents):
            start = origin + _number(data, at + index, offset)
            size = _number(data, at + index + offset, length)
            at += index + offset + length
            if inside == 0 and at <= span[1]:
                yield item, (start, start + size if size else len(data))


def _number(data: bytes, at: int, size: int) -> int:
    if at + size > len(data):
        raise ValueError("outside the file")
    return int.from_bytes(data[at : at + size], "big")
