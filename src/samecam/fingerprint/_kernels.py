"""Numba kernels of the wavelet denoiser: transform, shrinkage, inverse.

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

from samecam.arrays import Floats
from samecam.compute import jit
from samecam.fingerprint._rings import ANALYSED, MADE, SHRUNK, TAKEN, Rings, Scratch
from samecam.fingerprint._wavelet import HIGH, LEVELS, LOW

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
def _analyse_row(
    k: int, src: Floats, height: int, width: int, low: Floats, high: Floats, scratch: Scratch
) -> None:
    """Row `k` of both bands of one level; row y of the plane is row y mod len(src) of `src`."""
    n, i = len(src), 2 * k + 1
    a, d = scratch.lines[0], scratch.lines[1]
    if k < height // 2:
        r0, r1 = src[reflect(i, height) % n], src[reflect(i - 1, height) % n]
        r2, r3 = src[reflect(i - 2, height) % n], src[reflect(i - 3, height) % n]
        r4, r5 = src[reflect(i - 4, height) % n], src[reflect(i - 5, height) % n]
        r6, r7 = src[reflect(i - 6, height) % n], src[reflect(i - 7, height) % n]
        for x in range(width):
            v0, v1, v2, v3 = r0[x], r1[x], r2[x], r3[x]
            v4, v5, v6, v7 = r4[x], r5[x], r6[x], r7[x]
            a[x] = H0 * v0 + H1 * v1 + H2 * v2 + H3 * v3 + H4 * v4 + H5 * v5 + H6 * v6 + H7 * v7
            d[x] = G0 * v0 + G1 * v1 + G2 * v2 + G3 * v3 + G4 * v4 + G5 * v5 + G6 * v6 + G7 * v7
    else:
        a[:width] = 0.0
        d[:width] = 0.0
        for step in range(8):
            j = _term(step, i - height)
            row = src[reflect(i - j, height) % n]
            for x in range(width):
                a[x] += LOW[j] * row[x]
                d[x] += HIGH[j] * row[x]
    _analyse_line(a, width, low, scratch.even, scratch.odd)
    _analyse_line(d, width, high, scratch.even, scratch.odd)


@_jit
def analyse(
    src: Floats, height: int, width: int, low: Floats, high: Floats, scratch: Scratch
) -> None:
    """One level of the transform of `src[:height, :width]` into `low` and `high`."""
    plane = src[:height]
    for k in range((height + 7) // 2):
        _analyse_row(k, plane, height, width, low[k], high[k], scratch)


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
def _synthesise_pair(
    m: int, lines: Floats, width: int, top: Floats, bottom: Floats, both: bool
) -> None:
    """Rows 2m and, if `both`, 2m+1 of a plane.

    `lines[k % 4]` is row k of the low band after its horizontal pass, `lines[k % 4 + 4]` that
    of the high band, k = m … m+3.
    """
    k0, k1, k2, k3 = m % 4, (m + 1) % 4, (m + 2) % 4, (m + 3) % 4
    a0, a1, a2, a3 = lines[k0], lines[k1], lines[k2], lines[k3]
    d0, d1, d2, d3 = lines[k0 + 4], lines[k1 + 4], lines[k2 + 4], lines[k3 + 4]
    for x in range(width):
        top[x] = (H7 * a3[x] + H5 * a2[x] + H3 * a1[x] + H1 * a0[x]) + (
            G7 * d3[x] + G5 * d2[x] + G3 * d1[x] + G1 * d0[x]
        )
    if both:
        for x in range(width):
            bottom[x] = (H6 * a3[x] + H4 * a2[x] + H2 * a1[x] + H0 * a0[x]) + (
                G6 * d3[x] + G4 * d2[x] + G2 * d1[x] + G0 * d0[x]
            )


@_jit
def synthesise(
    low: Floats, high: Floats, height: int, width: int, out: Floats, scratch: Scratch
) -> None:
    """Inverse of `analyse`: `out[:height, :width]` from the two bands of one level."""
    lines, even, odd = scratch.lines, scratch.even, scratch.odd
    cols = (width + 7) // 2
    for k in range((height + 7) // 2):
        _synthesise_line(low[k], cols, width, lines[k % 4], even, odd)
        _synthesise_line(high[k], cols, width, lines[k % 4 + 4], even, odd)
        m = k - 3
        if m >= 0:
            last = min(2 * m + 1, height - 1)
            _synthesise_pair(m, lines, width, out[2 * m], out[last], last > 2 * m)


@_jit
def _square(line: Floats, squares: Floats) -> None:
    """Squares of a row of a band, which has four zeros on either side there."""
    inner = squares[4 : 4 + line.size]
    for x in range(line.size):
        inner[x] = line[x] * line[x]


@_jit
def _shrink_row(t: int, line: Floats, variance: np.float32, squares: Floats, sums: Floats) -> None:
    """Keep the noise part of row `t` of a detail band; rows t−4 … t+4 are in `squares`."""
    cols = line.size
    wide = cols + 8
    b0, b1, b2 = squares[t % 9], squares[(t + 8) % 9], squares[(t + 1) % 9]
    b3, b4 = squares[(t + 7) % 9], squares[(t + 2) % 9]
    b5, b6 = squares[(t + 6) % 9], squares[(t + 3) % 9]
    b7, b8 = squares[(t + 5) % 9], squares[(t + 4) % 9]
    s1, s2, s3, s4 = sums[0], sums[1], sums[2], sums[3]
    # Loops begin at 0 and write to one array: else the compiler makes no vector code of them.
    for x in range(wide):
        s1[x] = b0[x] + (b1[x] + b2[x])
    for x in range(wide):
        s2[x] = s1[x] + (b3[x] + b4[x])
    for x in range(wide):
        s3[x] = s2[x] + (b5[x] + b6[x])
    for x in range(wide):
        s4[x] = s3[x] + (b7[x] + b8[x])
    n3, n5 = np.float32(1 / 9), np.float32(1 / 25)
    n7, n9 = np.float32(1 / 49), np.float32(1 / 81)
    for x in range(cols):
        m = (s1[x + 3] + s1[x + 4] + s1[x + 5]) * n3
        w = (s2[x + 2] + s2[x + 3] + s2[x + 4] + s2[x + 5] + s2[x + 6]) * n5
        m = w if w < m else m
        w = (s3[x + 1] + s3[x + 2] + s3[x + 3] + s3[x + 4]) + (s3[x + 5] + s3[x + 6] + s3[x + 7])
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
    for y in range(rows + 4):
        if y < rows:
            _square(band[y, first : first + cols], squares[y % 9])
        else:
            squares[y % 9, :wide] = 0.0
        if y >= 4:
            line = band[y - 4, first : first + cols]
            _shrink_row(y - 4, line, variance, squares, sums)


@_jit
def _rows_out(level: int, rings: Rings) -> int:
    """How many rows of its plane a level has made again."""
    return int(min(rings.sizes[level, 0], max(0, 2 * (rings.done[level, MADE] - 3))))


@_jit
def _next_step(rings: Rings) -> tuple[int, int]:
    """What can be done, nearest to the end first: which step, of which level."""
    sizes, done = rings.sizes, rings.done
    for level in range(LEVELS - 1, -1, -1):
        k = done[level, MADE]
        deeper = level + 1 == LEVELS or _rows_out(level + 1, rings) > k
        if k < done[level, SHRUNK] and deeper:
            return MADE, level
    for level in range(LEVELS - 1, -1, -1):
        height, rows = sizes[level, 0], sizes[level + 1, 0]
        t, k = done[level, SHRUNK], done[level, ANALYSED]
        if t < rows and k >= min(t + 5, rows):
            return SHRUNK, level
        needed = max(2 * k + 2, 6) if k < height // 2 else height
        if k < rows and done[level, TAKEN] >= min(needed, height):
            return ANALYSED, level
    return TAKEN, 0


@_jit
def _analyse_next(level: int, rings: Rings) -> None:
    height, width = rings.sizes[level]
    cols = (width + 7) // 2
    k = rings.done[level, ANALYSED]
    src = rings.pixels
    if level > 0:
        first, ring = rings.places[level - 1]
        src = rings.low[first : first + ring]
    first, ring = rings.places[level]
    low, high = rings.low[first + k % ring], rings.high[first + k % ring]
    _analyse_row(k, src, height, width, low, high, rings.scratch)
    for band in range(3):
        _square(_detail(band, low, high, cols), rings.squares[27 * level + 9 * band + k % 9])


@_jit
def _detail(band: int, low: Floats, high: Floats, cols: int) -> Floats:
    """Horizontal, vertical or diagonal details of a row."""
    row, first = low if band == 0 else high, 0 if band == 1 else cols
    return row[first : first + cols]


@_jit
def _shrink_next(level: int, rings: Rings, variance: np.float32) -> None:
    rows, cols = rings.sizes[level + 1]
    first, ring = rings.places[level]
    t = rings.done[level, SHRUNK]
    low, high = rings.low[first + t % ring], rings.high[first + t % ring]
    for band in range(3):
        at = 27 * level + 9 * band
        squares = rings.squares[at : at + 9]
        if t + 4 >= rows:
            squares[(t + 4) % 9, : cols + 8] = 0.0
        _shrink_row(t, _detail(band, low, high, cols), variance, squares, rings.sums)


@_jit
def _synthesise_next(level: int, rings: Rings, out: Floats, start: int) -> None:
    height, width = rings.sizes[level]
    cols = (width + 7) // 2
    first, ring = rings.places[level]
    k = rings.done[level, MADE]
    low, high = rings.low[first + k % ring], rings.high[first + k % ring]
    if level + 1 == LEVELS:
        low[:cols] = 0.0
    lines = rings.lines[8 * level : 8 * (level + 1)]
    _synthesise_line(low, cols, width, lines[k % 4], rings.scratch.even, rings.scratch.odd)
    _synthesise_line(high, cols, width, lines[k % 4 + 4], rings.scratch.even, rings.scratch.odd)
    y = 2 * (k - 3)
    if y < 0:
        return
    last = min(y + 1, height - 1)
    if level == 0:
        top, bottom = out[y - start], out[last - start]
    else:
        first, ring = rings.places[level - 1]
        top, bottom = rings.low[first + y % ring], rings.low[first + last % ring]
    _synthesise_pair(k - 3, lines, width, top, bottom, last > y)


@_jit
def _copy(pixels: npt.NDArray[np.generic], row: Floats, shift: int) -> None:
    for x in range(shift):
        row[x] = pixels[reflect(x - shift, pixels.size)]
    for x in range(pixels.size):
        row[shift + x] = pixels[x]


@_jit
def next_rows(
    image: npt.NDArray[np.uint8],
    precise: Floats,
    shift: int,
    rings: Rings,
    variance: np.float32,
    out: Floats,
    works: bool,
) -> int:
    """Fill `out` with the next rows of the residual; how many there were.

    The (h, w) picture is `image` or, if that is empty, `precise`: to compile it once for both. It
    is continued by its mirror image for `shift` pixels above and to the left.
    `out` has an even number of rows, or all that are left. Unless `works`, nothing is computed
    and the lengths that rings need are noted in `rings.places`.
    """
    done, start = rings.done, _rows_out(0, rings)
    goal = int(min(start + len(out), rings.sizes[0, 0]))
    while _rows_out(0, rings) < goal:
        step, level = _next_step(rings)
        if works:
            if step == TAKEN:
                y = done[0, TAKEN]
                row = rings.pixels[y % len(rings.pixels), : out.shape[1]]
                if image.size:
                    _copy(image[reflect(y - shift, len(image))], row, shift)
                else:
                    _copy(precise[reflect(y - shift, len(precise))], row, shift)
            elif step == ANALYSED:
                _analyse_next(level, rings)
            elif step == SHRUNK:
                _shrink_next(level, rings, variance)
            else:
                _synthesise_next(level, rings, out, start)
        done[level, step] += 1
        if step == ANALYSED:
            if level + 1 < LEVELS:
                done[level + 1, TAKEN] += 1
            waiting = done[level, ANALYSED] - done[level, MADE]
            rings.places[level, 1] = max(rings.places[level, 1], waiting)
    return goal - start
