"""Whether the coded data of a JPEG hold every block of a part of the picture.

libjpeg fills in gray where data end, and makes a picture of zeros. So the codes are read
once more, without making pixels of them (see `_kernels`).
"""

import io
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from samecam.photos._photo import Box

_Numbers = npt.NDArray[np.int32]
Finding = Literal["whole", "ended", "damaged", "unknown"]

# In coded data an FF is followed by 00 or a restart marker; anything else ends a scan.
MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]", re.DOTALL)
_SEQUENTIAL, _PROGRESSIVE = (0xC0, 0xC1), 0xC2
_OTHER_FRAMES = (0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF)
_HUFFMAN, _START, _END, _SCAN, _SCALES, _RESTART = 0xC4, 0xD8, 0xD9, 0xDA, 0xDB, 0xDD

# No encoder writes as many zeros in a row, but for areas without any detail.
ZEROS = bytes(32)
_SLACK = 16  # bytes that may stand unused before the marker that ends a scan
_END_MARKER, _TAIL = b"\xff\xd9", 64  # of a file that was not cut, near its end
_EVERYTHING = (0, 0, 2**16, 2**16)
_MOST_BLOCKS = 2**23  # whose coefficients are kept for a progressive file


def examine(data: bytes, box: Box, tables: bytes = b"") -> Finding:
    """Whether all blocks of a part of a JPEG are there, as far as can be told.

    Parameters
    ----------
    data : a whole JPEG file or, with `tables`, one that leaves them out, as in a TIFF
    box : left, top, right, bottom of the part

    Returns
    -------
    "ended" if data end inside the part, "damaged" if no encoder writes such data before
    its end, "unknown" for codings and files that are not followed here
    """
    data = _without_zeros(data)
    try:
        picture = _Picture(data, box, tables)
        finding = picture.walk()
        if finding == "whole" and picture.has_zeros:
            whole = _Picture(data, _EVERYTHING, tables)
            ends = ("whole",) if _END_MARKER in data[-_TAIL:] or tables else ("whole", "ended")
            finding = "whole" if whole.walk() in ends and not whole.has_unused else "damaged"
    except (LookupError, ValueError):  # a header that makes no sense
        return "unknown"
    return finding


def _without_zeros(data: bytes) -> bytes:
    """What stands before the zeros at the end of a file: they are not of its coded data."""
    if not data.endswith(ZEROS):
        return data
    data = data.rstrip(b"\0")
    return data + b"\0" if data.endswith(b"\xff") else data


@dataclass
class _Plane:
    """A component of the picture, in blocks of 8×8: `goal` are those to be walked."""

    number: int
    across: int
    down: int
    scale: int
    columns: int = 0
    goal: int = 0
    detailed: npt.NDArray[np.int64] | None = None


class _Picture:
    """A JPEG that is walked from marker to marker.

    Attributes
    ----------
    has_zeros : whether a scan has a long run of zeros that may or may not be right
    has_unused : whether a scan has bytes behind its last block
    """

    def __init__(self, data: bytes, box: Box, tables: bytes) -> None:
        self._data, self._box = data, box
        self._bytes = np.frombuffer(data, np.uint8)
        self._planes: dict[int, _Plane] = {}
        self._progressive = self._to_end = False
        self._units, self._restart = 0, 0
        self._scales: dict[int, int] = {}
        # Huffman tables, a row each: four for DC, four for AC.
        self._zeros: dict[int, int] = {}
        self._quick, self._last = np.zeros((8, 512), np.int32), np.zeros((8, 17), np.int32)
        self._first, self._steps = np.zeros((8, 512), np.int32), np.zeros((8, 4096), np.int32)
        self._walked: set[int] = set()
        self.has_zeros = self.has_unused = False
        at: int | None = 0
        while at is not None:
            at = self._take(tables, at)[1]

    def walk(self) -> Finding:
        """Follow all scans that matter."""
        at: int | None = 0
        while at is not None:
            marker, at = self._take(self._data, at)
            if marker in _OTHER_FRAMES:
                return "unknown"
            if marker == _SCAN and at is not None:
                finding, at = self._scan(at)
                if finding != "whole":
                    return finding
                if not self._progressive and len(self._walked) == len(self._planes):
                    return "whole"
        if not self._planes:
            return "unknown"
        return "whole" if len(self._walked) == len(self._planes) else "ended"

    def _take(self, data: bytes, at: int) -> tuple[int, int | None]:
        """Read the next segment: its marker, and where to go on (of a scan: its header)."""
        match = MARKER.search(data, at)
        if match is None or match[0][1] == _END:
            return _END, None
        marker, start = match[0][1], match.end()
        if marker in (_START, 0x01):
            return marker, start
        if marker == _SCAN:
            return marker, start
        end = start + max(2, int.from_bytes(data[start : start + 2], "big"))
        content = data[start + 2 : end]
        if marker == _HUFFMAN:
            self._take_codes(content)
        elif marker == _SCALES:
            self._take_scales(content)
        elif marker == _RESTART:
            self._restart = int.from_bytes(content[:2], "big")
        elif marker in (*_SEQUENTIAL, _PROGRESSIVE) and not self._planes:
            self._progressive = marker == _PROGRESSIVE
            self._take_frame(content)
        return marker, end

    def _take_scales(self, content: bytes) -> None:
        at = 0
        while at < len(content):
            wide = content[at] >> 4 != 0
            self._scales[content[at] & 15] = int.from_bytes(content[at + 1 : at + 2 + wide], "big")
            at += 129 if wide else 65

    def _take_codes(self, content: bytes) -> None:
        at = 0
        while at + 17 <= len(content):
            row = (content[at] >> 4 & 1) * 4 + (content[at] & 3)
            end = at + 17 + sum(content[at + 1 : at + 17])
            codes = _codes(content[at + 1 : end])
            self._zeros[row] = codes.zeros
            self._quick[row], self._last[row] = codes.quick, codes.last
            self._first[row], self._steps[row] = codes.first, codes.steps
            at = end

    def _take_frame(self, content: bytes) -> None:
        height, width = (int.from_bytes(content[k : k + 2], "big") for k in (1, 3))
        for k in range(content[5]):
            name, factors, scale = content[6 + 3 * k : 9 + 3 * k]
            self._planes[name] = _Plane(k, factors >> 4, factors & 15, scale)
        if content[0] != 8 or not 0 < len(self._planes) <= 4 or not width or not height:
            raise ValueError("not followed")
        across = max(plane.across for plane in self._planes.values())
        down = max(plane.down for plane in self._planes.values())
        # Where colour is coarser, interpolating it reaches one pixel further.
        columns = -(-min(self._box[2] + (across > 1), width) // (8 * across))
        rows = -(-min(self._box[3] + (down > 1), height) // (8 * down))
        all_columns, all_rows = -(-width // (8 * across)), -(-height // (8 * down))
        self._units = (rows - 1) * all_columns + columns
        self._to_end = (columns, rows) == (all_columns, all_rows)
        for plane in self._planes.values():
            plane.columns = _blocks(width, plane.across, across)
            last_row = min(_blocks(height, plane.down, down), rows * plane.down) - 1
            last = min(plane.columns, columns * plane.across)
            plane.goal = last_row * plane.columns + last

    def _scan(self, at: int) -> tuple[Finding, int]:
        """Walk a scan whose header stands here; where it ends."""
        data = self._data
        start = at + max(2, int.from_bytes(data[at : at + 2], "big"))
        if start >= len(data):
            return "ended", at
        count = data[at + 2]
        header = data[at + 3 : at + 6 + 2 * count]
        planes = [self._planes[header[2 * k]] for k in range(count)]
        tables = [header[2 * k + 1] for k in range(count)]
        low, high, bits = header[2 * count : 2 * count + 3]
        status, end = self._walk_scan(start, planes, tables, (low, high), bits)
        if status:
            return ("ended" if status == 1 else "damaged"), end
        zeros = data.find(ZEROS, start, end + len(ZEROS) - 1)
        if zeros >= 0 and not (self._to_end and zeros >= end - 4):  # some cameras pad
            rows = [4 + (table & 3) for table in tables]
            # (Of a scan that refines, zeros are bits of coefficients and no codes.)
            codes = [self._zeros.get(row, 0) for row in rows] if high and not bits >> 4 else []
            if not all(map(_ends_block, codes)):
                return "damaged", end
            self.has_zeros = True
        closing = MARKER.search(data, end, end + _SLACK + 2)
        self.has_unused |= closing is None and end + _SLACK < len(data)
        self._walked |= {plane.number for plane in planes}
        return "whole", end

    def _walk_scan(
        self, at: int, planes: list[_Plane], tables: list[int], band: tuple[int, int], bits: int
    ) -> tuple[int, int]:
        from samecam.photos import _kernels

        low, refine = band[0], bits >> 4 != 0
        codes = (self._quick, self._last, self._first)
        if self._progressive and low > 0:
            plane, row = planes[0], 4 + (tables[0] & 3)
            self._need(row)
            if plane.goal > _MOST_BLOCKS:
                raise ValueError("not followed")
            if plane.detailed is None:
                plane.detailed = np.zeros(plane.goal, np.int64)
            return _kernels.walk_details(
                self._bytes, at, plane.detailed, self._restart, band, row, *codes, refine
            )
        plan = []
        for plane, table in zip(planes, tables, strict=True):
            dc, ac = table >> 4 & 3, 4 + (table & 3)
            if not refine:
                self._need(dc)
            if not self._progressive:
                self._need(ac)
            scale = self._scales.get(plane.scale, 0) << (bits & 15 if self._progressive else 0)
            blocks = plane.across * plane.down if len(planes) > 1 else 1
            plan += [(plane.number, dc, ac, scale)] * blocks
        units = self._units if len(planes) > 1 else planes[0].goal
        scan = (self._bytes, at, units, self._restart, np.array(plan, np.int32), *codes)
        if self._progressive:
            return _kernels.walk_means(*scan, refine)
        return _kernels.walk_sequential(*scan, self._steps)

    def _need(self, row: int) -> None:
        if row not in self._zeros:
            raise LookupError("a table that libjpeg would supply")


class _Codes(NamedTuple):
    """A Huffman table as the kernels want it, and the symbol whose code is all zeros."""

    zeros: int
    quick: _Numbers
    last: _Numbers
    first: _Numbers
    steps: _Numbers


@lru_cache(maxsize=64)  # most files have the same
def _codes(content: bytes) -> _Codes:
    """How many codes have each length of 1 to 16 bits, and their symbols, in order."""
    from samecam.photos import _kernels

    counts, symbols = content[:16], content[16:]
    quick, first = np.zeros(512, np.int32), np.zeros(512, np.int32)
    last = np.full(17, -1, np.int32)
    first[256 : 256 + len(symbols)] = np.frombuffer(symbols, np.uint8)
    code = done = 0
    for length, count in enumerate(counts, start=1):
        first[length] = done - code
        if count:
            last[length] = code + count - 1
        for k in range(count if length <= 9 else 0):
            left = 9 - length
            quick[code + k << left : code + k + 1 << left] = length * 256 + symbols[done + k]
        code, done = (code + count) * 2, done + count
    return _Codes(symbols[0], quick, last, first, _kernels.steps(quick, last, first))


def _ends_block(symbol: int) -> bool:
    """Whether a symbol of an AC table says that the rest of a block, or of several, is zero."""
    return symbol & 15 == 0 and symbol != 0xF0


def _blocks(length: int, mine: int, most: int) -> int:
    """Blocks along a side of a component with this share of the largest sampling factor."""
    samples = -(-length * mine // most)
    return -(-samples // 8)


def load_kernels() -> None:
    """Have the compiled kernels ready; no decoder is called, which might never end."""
    from PIL import Image

    picture = Image.effect_noise((64, 64), 64).convert("RGB")
    for progressive in (False, True):
        file = io.BytesIO()
        picture.save(file, "JPEG", progressive=progressive)
        examine(file.getvalue(), (0, 0, 64, 64))
