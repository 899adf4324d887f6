"""Numba kernels of the wavelet denoiser: transform, shrinkage, inverse, clean-up.

One level of the two-dimensional transform of an (h, w) plane is kept in two
arrays of shape (rows, 2·cols), rows = ⌊(h+7)/2⌋, cols = ⌊(w+7)/2⌋:

    low  = [ approximation | horizontal detail ]     (vertical low-pass)
    high = [ vertical detail | diagonal detail ]     (vertical high-pass)

Both directions of a pass are fused row by row, so that work in flight stays in the
first-level cache and every inner loop runs over contiguous memory. Nothing is
contracted or reordered by the compiler and every loop is serial: the same picture
gives the same bits on any number of threads and any vector width. The order of
passes and sums is PyWavelets', whose rounding is thereby shared.
All kernels release the GIL.
"""

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Floats
from samecam.compute import jit
from samecam.fingerprint._wavelet import HIGH, LOW, PHASE

# The wavelet's filters number by number, for loops without an index.
H0, H1, H2, H3, H4, H5, H6, H7 = (np.float32(v) for v in LOW)
G0, G1, G2, G3, G4, G5, G6, G7 = (np.float32(v) for v in HIGH)

_jit = jit(nogil=True, error_model="numpy")


@_jit
def reflect(i: int, n: int) -> int:
    """Index of the half-sample symmetric extension … x1 x0 | x0 x1 … x(n−1) | x(n−1) …."""
    period = 2 * n
    i %= period
    return i if i < n else period - 1 - i


@_jit
def _term(step: int, past: int) -> int:
    """Which filter tap is added `step`-th where the filter reaches `past`+1 samples too far.

    Taps on the extension come first, from the border outwards, then the others: the
    order in which PyWavelets adds them up.
    """
    return past - step if step <= past else step


@_jit
def _analyse_line(line: Floats, width: int, out: Floats, even: Floats, odd: Floats) -> None:
    """One row of length `width` becomes [low | high] in `out`.

    With ext the symmetric extension, low[k] = Σ_j h[j]·ext[2k+1−j].
    """
    cols = (width + 7) // 2
    inner = width // 2
    for m in range(inner):
        even[m + 3] = line[2 * m]
        odd[m + 3] = line[2 * m + 1]
    for m in range(-3, 0):
        even[m + 3] = line[reflect(2 * m, width)]
        odd[m + 3] = line[reflect(2 * m + 1, width)]
    low = out[:cols]
    high = out[cols : 2 * cols]
    for k in range(inner):
        e0, e1, e2, e3 = even[k + 3], even[k + 2], even[k + 1], even[k]
        o0, o1, o2, o3 = odd[k + 3], odd[k + 2], odd[k + 1], odd[k]
        low[k] = H0 * o0 + H1 * e0 + H2 * o1 + H3 * e1 + H4 * o2 + H5 * e2 + H6 * o3 + H7 * e3
        high[k] = G0 * o0 + G1 * e0 + G2 * o1 + G3 * e1 + G4 * o2 + G5 * e2 + G6 * o3 + G7 * e3
    for k in range(inner, cols):
        a = d = np.float32(0.0)
        for step in range(8):
            j = _term(step, 2 * k + 1 - width)
            v = line[reflect(2 * k + 1 - j, width)]
            a += LOW[j] * v
            d += HIGH[j] * v
        low[k] = a
        high[k] = d


@_jit
def analyse(
    src: Floats,
    height: int,
    width: int,
    low: Floats,
    high: Floats,
    lines: Floats,
    even: Floats,
    odd: Floats,
) -> None:
    """One level of the transform of `src[:height, :width]` into `low` and `high`.

    `lines` (≥2, ≥width), `even` and `odd` (≥cols+3) are work arrays.
    """
    a, d = lines[0], lines[1]
    for k in range(height // 2):
        r0 = src[reflect(2 * k + 1, height)]
        r1 = src[reflect(2 * k, height)]
        r2 = src[reflect(2 * k - 1, height)]
        r3 = src[reflect(2 * k - 2, height)]
        r4 = src[reflect(2 * k - 3, height)]
        r5 = src[reflect(2 * k - 4, height)]
        r6 = src[reflect(2 * k - 5, height)]
        r7 = src[reflect(2 * k - 6, height)]
        for x in range(width):
            v0, v1, v2, v3 = r0[x], r1[x], r2[x], r3[x]
            v4, v5, v6, v7 = r4[x], r5[x], r6[x], r7[x]
            a[x] = H0 * v0 + H1 * v1 + H2 * v2 + H3 * v3 + H4 * v4 + H5 * v5 + H6 * v6 + H7 * v7
            d[x] = G0 * v0 + G1 * v1 + G2 * v2 + G3 * v3 + G4 * v4 + G5 * v5 + G6 * v6 + G7 * v7
        _analyse_line(a, width, low[k], even, odd)
        _analyse_line(d, width, high[k], even, odd)
    for k in range(height // 2, (height + 7) // 2):
        a[:width] = 0.0
        d[:width] = 0.0
        for step in range(8):
            j = _term(step, 2 * k + 1 - height)
            row = src[reflect(2 * k + 1 - j, height)]
            for x in range(width):
                a[x] += LOW[j] * row[x]
                d[x] += HIGH[j] * row[x]
        _analyse_line(a, width, low[k], even, odd)
        _analyse_line(d, width, high[k], even, odd)


@_jit
def _synthesise_line(
    band: Floats, cols: int, width: int, out: Floats, even: Floats, odd: Floats
) -> None:
    """Inverse of `_analyse_line`: `width` values of `out` from the row [low | high].

    x[i] = Σ_k h[2k+1−i]·low[k] + g[2k+1−i]·high[k] (synthesis = reversed analysis filter).
    """
    low = band[:cols]
    high = band[cols : 2 * cols]
    for m in range(cols - 3):
        p0, p1, p2, p3 = low[m], low[m + 1], low[m + 2], low[m + 3]
        q0, q1, q2, q3 = high[m], high[m + 1], high[m + 2], high[m + 3]
        even[m] = (H7 * p3 + H5 * p2 + H3 * p1 + H1 * p0) + (G7 * q3 + G5 * q2 + G3 * q1 + G1 * q0)
        odd[m] = (H6 * p3 + H4 * p2 + H2 * p1 + H0 * p0) + (G6 * q3 + G4 * q2 + G2 * q1 + G0 * q0)
    for m in range(width // 2):
        out[2 * m] = even[m]
        out[2 * m + 1] = odd[m]
    if width % 2:
        out[width - 1] = even[width // 2]


@_jit
def synthesise(
    low: Floats,
    high: Floats,
    height: int,
    width: int,
    out: Floats,
    lines: Floats,
    even: Floats,
    odd: Floats,
) -> None:
    """Inverse of `analyse`: `out[:height, :width]` from the two bands of one level.

    `lines` (8, ≥width) holds the last four rows of either band after their
    horizontal pass.
    """
    cols = (width + 7) // 2
    for k in range(3):
        _synthesise_line(low[k], cols, width, lines[k], even, odd)
        _synthesise_line(high[k], cols, width, lines[k + 4], even, odd)
    for m in range((height + 1) // 2):
        k = m + 3
        _synthesise_line(low[k], cols, width, lines[k % 4], even, odd)
        _synthesise_line(high[k], cols, width, lines[k % 4 + 4], even, odd)
        a0, a1, a2, a3 = lines[m % 4], lines[(m + 1) % 4], lines[(m + 2) % 4], lines[k % 4]
        d0, d1 = lines[m % 4 + 4], lines[(m + 1) % 4 + 4]
        d2, d3 = lines[(m + 2) % 4 + 4], lines[k % 4 + 4]
        top = out[2 * m]
        for x in range(width):
            top[x] = (H7 * a3[x] + H5 * a2[x] + H3 * a1[x] + H1 * a0[x]) + (
                G7 * d3[x] + G5 * d2[x] + G3 * d1[x] + G1 * d0[x]
            )
        if 2 * m + 1 < height:
            bottom = out[2 * m + 1]
            for x in range(width):
                bottom[x] = (H6 * a3[x] + H4 * a2[x] + H2 * a1[x] + H0 * a0[x]) + (
                    G6 * d3[x] + G4 * d2[x] + G2 * d1[x] + G0 * d0[x]
                )


@_jit
def shrink(
    band: Floats,
    first: int,
    cols: int,
    rows: int,
    variance: np.float32,
    squares: Floats,
    sums: Floats,
) -> None:
    """Keep the noise part of one detail band, in place.

    c ← c·σ² / max(σ², min_w mean_w(c²)) for w ∈ {3, 5, 7, 9}; the means treat the
    outside of the band as zero. This equals c·σ²/(v+σ²) with
    v = min_w max(0, mean_w(c²) − σ²). The band is `band[:rows, first:first+cols]`;
    `squares` (9, ≥cols+8) and `sums` (4, ≥cols+8) are work arrays.
    """
    wide = cols + 8
    squares[:, :wide] = 0.0
    sums[:, :wide] = 0.0
    n3, n5 = np.float32(1 / 9), np.float32(1 / 25)
    n7, n9 = np.float32(1 / 49), np.float32(1 / 81)
    s1, s2, s3, s4 = sums[0], sums[1], sums[2], sums[3]
    for y in range(rows + 4):
        fresh = squares[y % 9]
        if y < rows:
            line = band[y, first : first + cols]
            for x in range(cols):
                fresh[x + 4] = line[x] * line[x]
        else:
            fresh[:wide] = 0.0
        t = y - 4
        if t < 0:
            continue
        b0, b1, b2 = squares[t % 9], squares[(t + 8) % 9], squares[(t + 1) % 9]
        b3, b4 = squares[(t + 7) % 9], squares[(t + 2) % 9]
        b5, b6 = squares[(t + 6) % 9], squares[(t + 3) % 9]
        b7, b8 = squares[(t + 5) % 9], squares[(t + 4) % 9]
        for x in range(4, cols + 4):
            v = b0[x] + (b1[x] + b2[x])
            s1[x] = v
            v += b3[x] + b4[x]
            s2[x] = v
            v += b5[x] + b6[x]
            s3[x] = v
            s4[x] = v + (b7[x] + b8[x])
        line = band[t, first : first + cols]
        for x in range(cols):
            m = (s1[x + 3] + s1[x + 4] + s1[x + 5]) * n3
            w = (s2[x + 2] + s2[x + 3] + s2[x + 4] + s2[x + 5] + s2[x + 6]) * n5
            m = w if w < m else m
            w = (s3[x + 1] + s3[x + 2] + s3[x + 3] + s3[x + 4]) + (
                s3[x + 5] + s3[x + 6] + s3[x + 7]
            )
            w *= n7
            m = w if w < m else m
            w = (s4[x] + s4[x + 1] + s4[x + 2] + s4[x + 3] + s4[x + 4]) + (
                s4[x + 5] + s4[x + 6] + s4[x + 7] + s4[x + 8]
            )
            w *= n9
            m = w if w < m else m
            m = m if m > variance else variance
            line[x] = line[x] * (variance / m)


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
