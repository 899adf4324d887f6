"""Numba kernels on whole planes: channels added up, means of a residual, its norm.

Sums are in float64 and in a fixed order, whatever the vector width. All kernels release the GIL.
"""

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Floats
from samecam.compute import jit
from samecam.fingerprint._wavelet import PHASE

_jit = jit(nogil=True, error_model="numpy")


@_jit
def add_scaled(
    low: Floats,
    high: Floats,
    rows: int,
    width2: int,
    weight: np.float32,
    total_low: Floats,
    total_high: Floats,
    fresh: bool,
) -> None:
    """`total = weight·band` (or `+=` unless `fresh`) for both bands of one level."""
    for y in range(rows):
        a, b, ta, tb = low[y], high[y], total_low[y], total_high[y]
        if fresh:
            for x in range(width2):
                ta[x] = weight * a[x]
                tb[x] = weight * b[x]
        else:
            for x in range(width2):
                ta[x] += weight * a[x]
                tb[x] += weight * b[x]


@_jit
def take_channel(image: npt.NDArray[np.generic], channel: int, plane: Floats) -> None:
    """Copy one channel of an (h, w, c) image of any real type into a float32 plane."""
    for y in range(image.shape[0]):
        for x in range(image.shape[1]):
            plane[y, x] = image[y, x, channel]


@_jit
def _sum(row: npt.NDArray[np.floating]) -> float:
    """Sum of a row in float64, in eight interleaved lanes (a fixed order that vectorises)."""
    n = row.size
    whole = n - n % 8
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    for x in range(0, whole, 8):
        s0 += np.float64(row[x])
        s1 += np.float64(row[x + 1])
        s2 += np.float64(row[x + 2])
        s3 += np.float64(row[x + 3])
        s4 += np.float64(row[x + 4])
        s5 += np.float64(row[x + 5])
        s6 += np.float64(row[x + 6])
        s7 += np.float64(row[x + 7])
    for x in range(whole, n):
        s0 += np.float64(row[x])
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@_jit
def subtract_row_column_means(plane: Floats, column: Doubles) -> None:
    """Subtract each row's mean, then each column's, in place; `column` (w,) is work space."""
    h, w = plane.shape
    column[:w] = 0.0
    for y in range(h):
        row = plane[y]
        mean = np.float32(_sum(row) / w)
        for x in range(w):
            row[x] -= mean
            column[x] += row[x]
    for x in range(w):
        column[x] /= h
    for y in range(h):
        row = plane[y]
        for x in range(w):
            row[x] -= np.float32(column[x])


@_jit
def subtract_phase_means(plane: Floats, total: Doubles) -> None:
    """Subtract the mean of each of the 16×16 cosets {(y, x): y≡a, x≡b (mod 16)}, in place.

    `total` (16, 16) is work space.
    """
    h, w = plane.shape
    whole = w - w % PHASE
    total[:, :] = 0.0
    for y in range(h):
        row, sums = plane[y], total[y % PHASE]
        for start in range(0, whole, PHASE):
            for b in range(PHASE):
                sums[b] += row[start + b]
        for x in range(whole, w):
            sums[x - whole] += row[x]
    for a in range(min(PHASE, h)):
        for b in range(min(PHASE, w)):
            total[a, b] /= ((h - a + PHASE - 1) // PHASE) * ((w - b + PHASE - 1) // PHASE)
    for y in range(h):
        row, means = plane[y], total[y % PHASE]
        for start in range(0, whole, PHASE):
            for b in range(PHASE):
                row[start + b] -= np.float32(means[b])
        for x in range(whole, w):
            row[x] -= np.float32(means[x - whole])


@_jit
def normalise(plane: Floats, out: Floats, column: Doubles) -> float:
    """Write `plane`, flattened, with zero mean and unit norm to `out`; returns its energy.

    Energy is the sum of squares before scaling; when it is 0, `out` is all zero.
    `column` (w,) is work space.
    """
    h, w = plane.shape
    total = 0.0
    for y in range(h):
        total += _sum(plane[y])
    mean = np.float32(total / (h * w))
    column[:w] = 0.0
    for y in range(h):
        row = plane[y]
        for x in range(w):
            v = np.float64(row[x] - mean)
            column[x] += v * v
    energy = _sum(column[:w])
    scale = np.float32(1.0 / np.sqrt(energy)) if energy > 0.0 else np.float32(0.0)
    for y in range(h):
        row = plane[y]
        for x in range(w):
            out[y * w + x] = (row[x] - mean) * scale
    return energy
