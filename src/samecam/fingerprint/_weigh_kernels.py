"""Numba kernels that weigh a residual; see `_weigh`.

Sums are in float64 and in a fixed order, whatever the vector width and however many rows come at a
time. All kernels release the GIL.
"""

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Floats
from samecam.compute import jit

_jit = jit(nogil=True, error_model="numpy")
_SIDE = 8
_COLUMNS = 512  # that are worked on at a time, to stay in the cache


@_jit
def brighten(block: Floats, luma: npt.NDArray[np.generic]) -> None:
    """Each pixel of a residual times √((its denoised gray level + 1)/128)."""
    none, one, part = np.float32(0.0), np.float32(1.0), np.float32(1 / 128)
    for y in range(len(block)):
        row, gray = block[y], luma[y]
        for x in range(row.size):
            v = row[x]
            level = np.float32(gray[x]) - v
            level = level if level > none else none
            row[x] = v * np.sqrt((level + one) * part)


@_jit
def add_energies(
    block: Floats, first: int, one_of: int, C: Floats, down: Doubles, across: Doubles
) -> None:
    """Add the energies of frequencies of some 8×8 blocks.

    Parameters
    ----------
    block : rows of a residual, from block row `first` on
    one_of : block (i, j) counts if i + j is a multiple of it
    C : (8, 8) cosine transform
    down, across : (8, 8) frequencies along the axis, each in eight sums
    """
    turned = np.empty((_SIDE, _SIDE), dtype=np.float32)
    for i in range(len(block) // _SIDE):
        rows = block[_SIDE * i : _SIDE * (i + 1)]
        for j in range(-(first + i) % one_of, block.shape[1] // _SIDE, one_of):
            part = rows[:, _SIDE * j : _SIDE * (j + 1)]
            for y in range(_SIDE):
                for x in range(_SIDE):
                    turned[x, y] = part[y, x]
            _add_squares(part, C, down)
            _add_squares(turned, C, across)


@_jit
def _add_squares(part: Floats, C: Floats, sums: Doubles) -> None:
    """Squares of C·part, added to the sums."""
    r0, r1, r2, r3 = part[0], part[1], part[2], part[3]
    r4, r5, r6, r7 = part[4], part[5], part[6], part[7]
    for u in range(_SIDE):
        c0, c1, c2, c3 = C[u, 0], C[u, 1], C[u, 2], C[u, 3]
        c4, c5, c6, c7 = C[u, 4], C[u, 5], C[u, 6], C[u, 7]
        line = sums[u]
        for x in range(_SIDE):
            t = (c0 * r0[x] + c1 * r1[x]) + (c2 * r2[x] + c3 * r3[x])
            t += (c4 * r4[x] + c5 * r5[x]) + (c6 * r6[x] + c7 * r7[x])
            line[x] += np.float64(t * t)


@_jit
def mix(block: Floats, down: Floats, across: Floats) -> None:
    """Every 8×8 block W of some rows becomes `down`·W·`across`, in place."""
    height, width = block.shape
    work = np.empty((_SIDE, _COLUMNS), dtype=np.float32)
    for top in range(0, height, _SIDE):
        count = min(_SIDE, height - top)
        for left in range(0, width, _COLUMNS):
            right = min(left + _COLUMNS, width)
            if count == _SIDE:
                _mix_down(block[top : top + _SIDE], left, right, down, work)
            else:
                for y in range(count):
                    _copy(block[top + y, left:right], work[y])
            for y in range(count):
                _mix_across(work[y], across, block[top + y, left:right])


@_jit
def _copy(row: Floats, line: Floats) -> None:
    for x in range(row.size):
        line[x] = row[x]


@_jit
def _mix_down(rows: Floats, left: int, right: int, down: Floats, work: Floats) -> None:
    r0, r1, r2, r3 = (
        rows[0, left:right],
        rows[1, left:right],
        rows[2, left:right],
        rows[3, left:right],
    )
    r4, r5, r6, r7 = (
        rows[4, left:right],
        rows[5, left:right],
        rows[6, left:right],
        rows[7, left:right],
    )
    for u in range(_SIDE):
        c0, c1, c2, c3 = down[u, 0], down[u, 1], down[u, 2], down[u, 3]
        c4, c5, c6, c7 = down[u, 4], down[u, 5], down[u, 6], down[u, 7]
        line = work[u]
        for x in range(r0.size):
            t = (c0 * r0[x] + c1 * r1[x]) + (c2 * r2[x] + c3 * r3[x])
            line[x] = t + ((c4 * r4[x] + c5 * r5[x]) + (c6 * r6[x] + c7 * r7[x]))


@_jit
def _mix_across(line: Floats, across: Floats, out: Floats) -> None:
    b0, b1, b2, b3 = across[0], across[1], across[2], across[3]
    b4, b5, b6, b7 = across[4], across[5], across[6], across[7]
    whole = out.size - out.size % _SIDE
    for first in range(0, whole, _SIDE):
        v0, v1, v2, v3 = line[first], line[first + 1], line[first + 2], line[first + 3]
        v4, v5, v6, v7 = line[first + 4], line[first + 5], line[first + 6], line[first + 7]
        target = out[first : first + _SIDE]
        for x in range(_SIDE):
            t = (v0 * b0[x] + v1 * b1[x]) + (v2 * b2[x] + v3 * b3[x])
            target[x] = t + ((v4 * b4[x] + v5 * b5[x]) + (v6 * b6[x] + v7 * b7[x]))
    for x in range(whole, out.size):
        out[x] = line[x]
