"""Numba kernels of registration: patterns resampled, and compared at small shifts."""

from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats, Table
from samecam.compute import jit
from samecam.register._vectors import SIDE, WORD, compare_word, turn_square

BAND = 128
REACH = 7  # pixels each way of the local mean, see `subtract_means`
_jit = jit(nogil=True, fastmath={"reassoc", "nsz", "contract"})


@_jit
def reduce_both(
    source: npt.NDArray[Any],
    low: int,
    width: int,
    lines: tuple[Table, Floats],
    columns: tuple[Table, Floats],
    work: tuple[Floats, Floats],
    out: Floats,
) -> None:
    """out[x, y] = Σ_kl across[x, k] · down[y, l] · source[first[y] + l, begin[x] + k].

    Band by band, so that what lies between the two sums stays in the cache.

    Parameters
    ----------
    source : contiguous, as all others, which the compiler knows
    low, width : columns of the source that are needed
    lines, columns : first and down, begin and across; weights are fours, 0 beyond the source
    work : (BAND, width + SIDE) and (width + SIDE, BAND), or more
    out : at least as large as there are columns and lines
    """
    first, down = lines
    begin, across = columns
    part, turned = work
    for top in range(0, len(first), BAND):
        rows = min(BAND, len(first) - top)
        for y in range(rows):
            _add_lines(source, first[top + y], low, down[top + y], part[y, :width])
        for y in range(0, rows, SIDE):
            for x in range(0, width, SIDE):
                turn_square(part, y, x, turned)
        for x in range(len(begin)):
            _add_lines(turned[:width], begin[x] - low, 0, across[x], out[x, top : top + rows])


@_jit
def _add_lines(
    source: npt.NDArray[Any], first: int, low: int, weights: Floats, out: Floats
) -> None:
    """out[x] = Σ_k weights[k] · source[first + k, low + x]; four lines at a time."""
    last, high = len(source) - 1, low + len(out)
    for k in range(0, len(weights), 4):
        a, b, c, d = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        at = first + k
        p = source[min(max(at, 0), last), low:high]
        q = source[min(max(at + 1, 0), last), low:high]
        r = source[min(max(at + 2, 0), last), low:high]
        s = source[min(max(at + 3, 0), last), low:high]
        if k == 0:
            for x in range(len(out)):
                near = a * np.float32(p[x]) + b * np.float32(q[x])
                out[x] = near + c * np.float32(r[x]) + d * np.float32(s[x])
        elif a != 0 or b != 0 or c != 0 or d != 0:
            for x in range(len(out)):
                near = a * np.float32(p[x]) + b * np.float32(q[x])
                out[x] += near + c * np.float32(r[x]) + d * np.float32(s[x])


@_jit
def _cubic(t: np.float32, w: Floats) -> None:
    """Weights of four neighbours for a place t between the second and the third."""
    t2 = t * t
    t3 = t2 * t
    half = np.float32(0.5)
    w[0] = half * (-t3 + np.float32(2) * t2 - t)
    w[1] = half * (np.float32(3) * t3 - np.float32(5) * t2 + np.float32(2))
    w[2] = half * (-np.float32(3) * t3 + np.float32(4) * t2 + t)
    w[3] = half * (t3 - t2)


@_jit
def warp(
    source: npt.NDArray[Any],
    top: float,
    left: float,
    scale: float,
    radial: float,
    out: Floats,
) -> None:
    """out[y, x] = the source at q · scale · (1 + radial · |q|²) from its centre, or 0.

    Parameters
    ----------
    source : (h, w) pattern
    top, left : q of out[0, 0]; q of out[y, x] is (left + x, top + y)
    """
    if radial == 0.0:
        _warp_straight(source, top, left, scale, out)
        return
    height, width = source.shape
    wx, wy = np.empty(4, np.float32), np.empty(4, np.float32)
    for j in range(out.shape[0]):
        qy = top + j
        for i in range(out.shape[1]):
            qx = left + i
            factor = scale * (1.0 + radial * (qx * qx + qy * qy))
            x, y = qx * factor + (width - 1) / 2, qy * factor + (height - 1) / 2
            x0, y0 = int(np.floor(x)), int(np.floor(y))
            if x0 < 1 or y0 < 1 or x0 + 2 >= width or y0 + 2 >= height:
                out[j, i] = 0
                continue
            _cubic(np.float32(x - x0), wx)
            _cubic(np.float32(y - y0), wy)
            total = np.float32(0)
            for b in range(4):
                row = source[y0 - 1 + b]
                line = np.float32(0)
                for a in range(4):
                    line += wx[a] * np.float32(row[x0 - 1 + a])
                total += wy[b] * line
            out[j, i] = total


@_jit
def _warp_straight(
    source: npt.NDArray[Any], top: float, left: float, scale: float, out: Floats
) -> None:
    """`warp` without a radial term: lines first, then places along them."""
    height, width = source.shape
    at, across = np.empty(out.shape[1], np.int64), np.empty((out.shape[1], 4), np.float32)
    low, high = width, 0
    for i in range(out.shape[1]):
        x = (left + i) * scale + (width - 1) / 2
        x0 = int(np.floor(x))
        _cubic(np.float32(x - x0), across[i])
        at[i] = x0 - 1
        if x0 < 1 or x0 + 2 >= width:
            at[i], across[i] = -1, 0
        else:
            low, high = min(low, x0 - 1), max(high, x0 + 3)
    down, line = np.empty(4, np.float32), np.empty(max(high - low, 4), np.float32)
    for i in range(out.shape[1]):
        at[i] = max(at[i] - low, 0)
    for j in range(out.shape[0]):
        y = (top + j) * scale + (height - 1) / 2
        y0 = int(np.floor(y))
        if y0 < 1 or y0 + 2 >= height or low >= high:
            out[j] = 0
            continue
        _cubic(np.float32(y - y0), down)
        _add_lines(source, y0 - 1, low, down, line)
        for i in range(out.shape[1]):
            k = at[i]
            near = across[i, 0] * line[k] + across[i, 1] * line[k + 1]
            out[j, i] = near + across[i, 2] * line[k + 2] + across[i, 3] * line[k + 3]


@_jit
def tile_maps(
    source: npt.NDArray[Any],
    camera: npt.NDArray[Any],
    corners: Table,
    size: int,
    reach: int,
    view: tuple[float, float, float, float],
    maps: Floats,
    energy: npt.NDArray[np.float64],
) -> None:
    """Compare tiles of the camera's pattern with the source, at shifts up to `reach`.

    Parameters
    ----------
    corners : (n, 2) first row and column of each tile; all within `camera` by `reach`
    view : scale, radial term in 1/pixel², and shift in x and y, see `View`
    maps : (n, 2·reach + 1, 2·reach + 1) sums of products
    energy : (n, 2) sums of squares of the source and of the camera
    """
    tile = np.empty((size, size), dtype=np.float32)
    other = np.empty((size + 2 * reach, size + 2 * reach), dtype=np.float32)
    height, width = camera.shape
    scale, radial, shift_x, shift_y = view
    for t in range(len(corners)):
        top, left = corners[t, 0], corners[t, 1]
        qy, qx = top - (height - 1) / 2 - shift_y, left - (width - 1) / 2 - shift_x
        warp(source, qy, qx, scale, radial, tile)
        for y in range(len(other)):
            for x in range(len(other)):
                other[y, x] = np.float32(camera[top - reach + y, left - reach + x])
        a2 = b2 = 0.0
        for y in range(size):
            p, q = tile[y], other[y + reach, reach : reach + size]
            e, f = np.float32(0), np.float32(0)
            for x in range(size):
                e += p[x] * p[x]
                f += q[x] * q[x]
            a2 += float(e)
            b2 += float(f)
        energy[t, 0], energy[t, 1] = a2, b2
        for dy in range(2 * reach + 1):
            for dx in range(2 * reach + 1):
                total = np.float32(0)
                for y in range(size):
                    p, q = tile[y], other[y + dy, dx : dx + size]
                    for x in range(size):
                        total += p[x] * q[x]
                maps[t, dy, dx] = total


@_jit
def total_at(maps: Floats, fine: int, places: Floats, grid: npt.NDArray[np.float64]) -> Any:
    """Sum of maps, each read at the shift that every model of `grid` gives its tile.

    Parameters
    ----------
    maps : (n, side, side), `fine` steps a pixel, no shift in the middle
    places : (n, 3) x and y of each tile, and the square of its radius as a share
    grid : (m, 4) a, b, x, y: the shift of a tile at q is q·(a + b·square) + (x, y)

    Returns
    -------
    (m,) sums
    """
    side = maps.shape[1]
    middle = side // 2 + 0.5
    out = np.zeros(len(grid))
    for g in range(len(grid)):
        total = 0.0
        for t in range(len(maps)):
            factor = grid[g, 0] + grid[g, 1] * places[t, 2]
            x = int((places[t, 0] * factor + grid[g, 2]) * fine + middle)
            y = int((places[t, 1] * factor + grid[g, 3]) * fine + middle)
            if 0 <= x < side and 0 <= y < side:
                total += maps[t, y, x]
        out[g] = total
    return out


@_jit
def pack_pairs(
    values: Floats, width: int, filled: npt.NDArray[np.uint64], out: npt.NDArray[np.uint64]
) -> None:
    """Two bits a pixel of lines of numbers: words of signs and of "smaller than the rms" alternate.

    Parameters
    ----------
    values : (n, width or more); exactly 0 where there is nothing
    width : a multiple of 64
    filled : (n · width / 64,) random signs for these
    out : (2 · n · width / 64,) as `samecam.store.pack` makes them
    """
    square, count, zero = np.float32(0), 0, np.float32(0)
    for y in range(len(values)):
        line = values[y]
        for k in range(width):
            square += line[k] * line[k]
        for k in range(width):
            count += line[k] != zero
    mean = np.float32(square / max(count, 1))
    j = 0
    for y in range(len(values)):
        for x in range(0, width, WORD):
            positive, small, nothing = compare_word(values, y, x, mean)
            out[2 * j] = positive | (nothing & filled[j])
            out[2 * j + 1] = small
            j += 1


@_jit
def subtract_means(values: Floats, out: Floats) -> float:
    """Subtract from every pixel the mean of the 15 × 15 about it, and add up the squares.

    At the border the nearest pixels stand for what is beyond.
    """
    height, width = values.shape
    n = width + 2 * REACH
    column, line = np.zeros(n, np.float32), np.empty((3, n), np.float32)
    two, four, eight = line[0], line[1], line[2]
    for k in range(-REACH, REACH + 1):
        _add_wide(column, values[min(max(k, 0), height - 1)], np.float32(1))
    share = np.float32(1 / (2 * REACH + 1) ** 2)
    total = 0.0
    for y in range(height):
        for x in range(n - 1):
            two[x] = column[x] + column[x + 1]
        for x in range(n - 3):
            four[x] = two[x] + two[x + 2]
        for x in range(n - 7):
            eight[x] = four[x] + four[x + 4]
        source, target = values[y], out[y]
        square = np.float32(0)
        for x in range(width):
            left = source[x] - share * (eight[x] + eight[x + 7] - column[x + 7])
            target[x] = left
            square += left * left
        total += float(square)
        _add_wide(column, values[min(y + 1 + REACH, height - 1)], np.float32(1))
        _add_wide(column, values[max(y - REACH, 0)], np.float32(-1))
    return total


@_jit
def _add_wide(column: Floats, line: Floats, sign: np.float32) -> None:
    """Add a line, with its ends repeated, to a longer one."""
    width = len(line)
    for x in range(REACH):
        column[x] += sign * line[0]
        column[REACH + width + x] += sign * line[width - 1]
    part = column[REACH : REACH + width]
    for x in range(width):
        part[x] += sign * line[x]


@_jit
def to_bytes(values: Floats, factor: np.float32, out: npt.NDArray[np.int8]) -> None:
    """Whole numbers within ±127."""
    for y in range(len(values)):
        line, target = values[y], out[y]
        for x in range(len(line)):
            target[x] = np.int8(min(max(np.rint(line[x] * factor), -127), 127))
