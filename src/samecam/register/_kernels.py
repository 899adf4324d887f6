"""Numba kernels of registration: patterns resampled, and compared at small shifts."""

from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats, Table
from samecam.compute import jit

BAND, _CHUNK, _BLOCK = 128, 512, 16
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
    lines, columns : first and down, begin and across; weights beyond the source are 0
    work : (BAND, width or more) and (width or more, BAND)
    out : at least as large as there are columns and lines
    """
    first, down = lines
    begin, across = columns
    part, turned = work
    total = np.empty(BAND, dtype=np.float32)
    for top in range(0, len(first), BAND):
        rows = min(BAND, len(first) - top)
        _reduce_rows(source, low, width, first[top : top + rows], down[top : top + rows], part)
        for left in range(0, width, _BLOCK):
            for y in range(rows):
                for x in range(left, min(left + _BLOCK, width)):
                    turned[x, y] = part[y, x]
        for x in range(len(begin)):
            total[:] = 0
            for k in range(across.shape[1]):
                w = across[x, k]
                if w != 0:
                    line = turned[begin[x] + k - low]
                    for y in range(BAND):
                        total[y] += w * line[y]
            for y in range(rows):
                out[x, top + y] = total[y]


@_jit
def _reduce_rows(
    source: npt.NDArray[Any], low: int, width: int, first: Table, weights: Floats, out: Floats
) -> None:
    """out[y, x] = Σ_k weights[y, k] · source[first[y] + k, low + x], x up to `width`."""
    taps, height = weights.shape[1], source.shape[0]
    for y in range(len(weights)):
        for left in range(0, width, _CHUNK):
            right = min(left + _CHUNK, width)
            line = out[y, left:right]
            line[:] = 0
            for k in range(taps):
                at, w = first[y] + k, weights[y, k]
                if w != 0 and 0 <= at < height:
                    other = source[at, low + left : low + right]
                    for x in range(line.size):
                        line[x] += w * np.float32(other[x])


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
    square = np.float32(0)
    count = 0
    for line in values:
        for k in range(width):
            square += line[k] * line[k]
            count += line[k] != 0
    rms = np.float32(np.sqrt(square / max(count, 1)))
    one, zero = np.uint64(1), np.uint64(0)
    words = width // 64
    for j in range(len(values) * words):
        line = values[j // words, 64 * (j % words) : 64 * (j % words) + 64]
        signs = small = zero
        for k in range(64):
            v = line[k]
            bit = one << np.uint64(k)
            chance = filled[j] & bit
            signs |= bit if v > 0 else (chance if v == 0 else zero)
            small |= bit if abs(v) < rms else zero
        out[2 * j], out[2 * j + 1] = signs, small
