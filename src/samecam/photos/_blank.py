"""Holes in pixels that stand in a file plainly, as in BMP and uncompressed TIFF.

Lost sectors read as zeros, and zeros are black. A hole is told from a black area by its
edge: it begins in the middle of a row, of which the part before it and the row before
it are not black, and it goes on to the end of the pixels, or begins and ends on sectors.
"""

import numpy as np
import numpy.typing as npt

_SECTOR = 512
_NEAR = 24  # bytes of the row that must be seen on either side of the edge
_SHARE = 0.75  # of bytes that are not zero where a picture is not black
_MOST_RUNS = 64  # a picture with more black stretches than that is a dark one

Span = tuple[int, int]
_Bytes = npt.NDArray[np.uint8]


def has_hole(data: bytes, spans: list[Span], row: int) -> bool:
    """Whether pixels in these places of a file, in rows of this many bytes, have a hole."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    whole = np.frombuffer(data, np.uint8)
    return _ends_in_hole(data, whole, joined, row) or any(
        _has_blank_sector(whole, span, row) for span in joined
    )


def _ends_in_hole(data: bytes, whole: _Bytes, spans: list[Span], row: int) -> bool:
    for start, end in reversed(spans):
        if not data.endswith(bytes(min(_NEAR, end - start)), start, end):
            return False
        edge = start + len(data[start:end].rstrip(b"\0"))
        if edge > start:  # else all of it is black, and the one before decides
            return _is_torn(whole, (start, end), row, edge)
    return False


def _has_blank_sector(whole: _Bytes, span: Span, row: int) -> bool:
    first, last = -(-span[0] // _SECTOR), span[1] // _SECTOR
    if last <= first:
        return False
    sectors = whole[first * _SECTOR : last * _SECTOR].reshape(-1, _SECTOR)
    blank = ~sectors[:, 0].astype(bool)
    blank[blank] = ~sectors[blank].any(axis=1)
    edges = np.flatnonzero(np.diff(blank, prepend=False, append=False)).reshape(-1, 2)
    if len(edges) > _MOST_RUNS:
        return False
    return any(_is_hole(whole, span, row, *edge) for edge in (edges + first) * _SECTOR)


def _is_hole(whole: _Bytes, span: Span, row: int, begin: int, end: int) -> bool:
    """Whether zeros in the midst of the pixels are no line or frame that somebody drew."""
    after = whole[end : min(end + _NEAR, span[1])]
    below = whole[begin + row : min(end + row, span[1])] if end - begin < row else after
    return _is_torn(whole, span, row, begin) and _is_picture(after) and _is_picture(below)


def _is_torn(whole: _Bytes, span: Span, row: int, edge: int) -> bool:
    """Whether blackness that begins here has an edge no picture has."""
    start, end = span
    before = (edge - start) % row
    if before < _NEAR or row - before < _NEAR or edge - row < start or edge + _NEAR > end:
        return False
    above = whole[edge - row : edge - before]
    return _is_picture(whole[edge - _NEAR : edge]) and _is_picture(above)


def _is_picture(values: _Bytes) -> bool:
    return bool(np.count_nonzero(values) >= _SHARE * max(1, values.size))


def bmp_spans(data: bytes) -> tuple[list[Span], int]:
    """Where the pixels of an uncompressed BMP stand, and bytes of a row; nothing if in doubt."""
    start, header = (int.from_bytes(data[k : k + 4], "little") for k in (10, 14))
    width, height = (int.from_bytes(data[k : k + 4], "little", signed=True) for k in (18, 22))
    depth, kind = data[28], data[30]
    row = (width * depth + 31) // 32 * 4
    if header < 40 or kind not in (0, 3) or row <= 0:
        return [], 0
    return [(start, min(len(data), start + row * abs(height)))], row
