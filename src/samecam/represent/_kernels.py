"""Compiled loops of the exact solver and of its certificate.

Imported late: this module needs numba. All functions take plain arrays, release the
interpreter lock and do the same operations in the same order for a row of the problem
whatever rows stand beside it: the answer depends neither on threads nor on blocks.

A block of rows is three arrays as in CSR: ``pointers`` (rows + 1), ``columns`` (ascending
within a row) and ``values``. ``residual`` (rows, n) float64 holds g_i − c G, the correlation
of every photograph with what is left of photograph i.

``fastmath`` is limited to "contract": a product and a sum may become one fused operation
(one rounding instead of two); nothing is reordered, NaN and infinity keep their meaning.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from samecam.arrays import AnyFloats, Doubles
from samecam.compute import jit

Indices = NDArray[np.int64]

TILE = 1024  # columns of the Gram worked on at a time: a row of the tile stays in L1
DEPTH = 512  # rows of the Gram worked on at a time: depth × tile stays in L2 and L3
GATHER_DEPTH = 16  # rows of the Gram read for all rows of a block before going on

LINE = 16  # numbers a cache line holds

_compile: Any = jit(nogil=True, fastmath={"contract"})


@_compile
def residuals(
    gram: AnyFloats, rows: Indices, pointers: Indices, columns: Indices, values: AnyFloats,
    out: Doubles, begin: int, stop: int,
) -> None:  # fmt: skip
    """Write g_i − Σ_k c_ik g_k for all i of `rows` into columns begin…stop−1 of `out` (rows, n).

    Four Gram rows are combined in the precision of gram and values, the running sum is
    float64: the rounding error is at most 4 u Σ_k |c_ik g_kj|, u = 6e-8 for float32.
    """
    n = gram.shape[0]
    position = np.empty(rows.size, np.int64)
    for left in range(begin, stop, TILE):
        right = min(stop, left + TILE)
        for b in range(rows.size):
            position[b] = pointers[b]
            source = gram[rows[b], left:right]
            target = out[b, left:right]
            for j in range(right - left):
                target[j] = source[j]
        for top in range(0, n, DEPTH):
            bottom = top + DEPTH
            for b in range(rows.size):
                position[b] = _subtract(
                    gram, left, right, bottom, position[b], pointers[b + 1], columns, values, out[b]
                )


@_compile
def _subtract(
    gram: AnyFloats, left: int, right: int, bottom: int, p: int, end: int, columns: Indices,
    values: AnyFloats, row: Doubles,
) -> int:  # fmt: skip
    """Subtract from `row` the terms from `p` on whose Gram row is above `bottom`."""
    width = right - left
    target = row[left:right]
    while p + 3 < end and columns[p + 3] < bottom:
        c0, c1, c2, c3 = values[p], values[p + 1], values[p + 2], values[p + 3]
        g0 = gram[columns[p], left:right]
        g1 = gram[columns[p + 1], left:right]
        g2 = gram[columns[p + 2], left:right]
        g3 = gram[columns[p + 3], left:right]
        for j in range(width):
            target[j] -= (c0 * g0[j] + c1 * g1[j]) + (c2 * g2[j] + c3 * g3[j])
        p += 4
    while p < end and columns[p] < bottom:
        c0 = values[p]
        g0 = gram[columns[p], left:right]
        for j in range(width):
            target[j] -= c0 * g0[j]
        p += 1
    return p


@_compile
def working_sets(
    residual: Doubles, rows: Indices, pointers: Indices, columns: Indices, level: float,
    nonnegative: bool, set_pointers: Indices, out: Indices,
) -> int:  # fmt: skip
    """Columns that hold a coefficient or whose residual exceeds `level`, ascending.

    Fills `set_pointers` (rows + 1) and, if it is long enough, `out`; returns the number of
    entries, so that an empty `out` counts.
    """
    n = residual.shape[1]
    total = 0
    set_pointers[0] = 0
    for b in range(rows.size):
        p = pointers[b]
        for j in range(n):
            held = p < pointers[b + 1] and columns[p] == j
            if held:
                p += 1
            r = residual[b, j]
            if not nonnegative:
                r = abs(r)
            if (held or r > level) and j != rows[b]:
                if total < out.size:
                    out[total] = j
                total += 1
        set_pointers[b + 1] = total
    return total


@_compile
def gather(
    gram: AnyFloats, pointers: Indices, columns: Indices, offsets: Indices, out: AnyFloats
) -> float:
    """Copy the Gram of every working set (size s_b) to ``out[offsets[b]:][:s_b²]``.

    The Gram is walked once from top to bottom for all sets, so that a row fetched from
    memory serves every set that holds it. Where sets are sparse but many hold a row, the row
    is first read in order, a number a cache line, which the processor foresees; picking
    alone would wait for every line. The sum of these numbers is returned, lest the compiler
    drop the reading.
    """
    n = gram.shape[0]
    position = pointers[:-1].copy()
    ahead = columns.size >= 2 * n and columns.size * 8 < n * position.size
    total = 0.0
    for top in range(0, n, GATHER_DEPTH):
        bottom = min(n, top + GATHER_DEPTH)
        if ahead:
            for k in range(top, bottom):
                for j in range(0, n, LINE):
                    total += gram[k, j]
        for b in range(position.size):
            first = pointers[b]
            end = pointers[b + 1]
            size = end - first
            chosen = columns[first:end]
            p = position[b]
            while p < end and columns[p] < bottom:
                source = gram[columns[p]]
                start = offsets[b] + (p - first) * size
                target = out[start : start + size]
                for a in range(size):
                    target[a] = source[np.uintp(chosen[a])]
                p += 1
            position[b] = p
    return total


@_compile
def _minimiser(u: float, diagonal: float, gamma: float, nonnegative: bool) -> float:
    """The c that minimises ½ diagonal c² − u c + gamma |c|."""
    if u > gamma:
        return (u - gamma) / diagonal
    if not nonnegative and u < -gamma:
        return (u + gamma) / diagonal
    return 0.0


@_compile
def descend(
    matrix: AnyFloats, chosen: Indices, slope: Doubles, values: Doubles, gamma: float,
    nonnegative: bool, tol: float, max_sweeps: int,
) -> int:  # fmt: skip
    """Cyclic coordinate descent on ½ c M cᵀ − q·c + γ‖c‖₁ until no coordinate violates `tol`.

    `matrix` M (m, m) and `slope` (m,) = q − c M; `values` (s,) is c at the coordinates `chosen`
    (s,), 0 at all others. `slope` and `values` are updated in place. A coordinate moves if that
    changes its slope by more than `tol`, or if it becomes zero: a tiny positive value under a
    slope below γ is a violation, too. Returns sweeps done.
    """
    for sweep in range(max_sweeps):
        moved = False
        for a in range(chosen.size):
            k = chosen[a]
            diagonal = np.float64(matrix[k, k])
            old = values[a]
            new = _minimiser(old * diagonal + slope[k], diagonal, gamma, nonnegative)
            step = new - old
            if abs(step) * diagonal > tol or (new == 0.0 and old != 0.0):
                moved = True
                values[a] = new
                row = matrix[k]
                for j in range(slope.size):
                    slope[j] -= step * row[j]
        if not moved:
            return sweep + 1
    return max_sweeps


@_compile
def start_values(
    pointers: Indices, columns: Indices, values: AnyFloats, b: int, chosen: Indices, out: Doubles
) -> None:
    """Values of row `b` at the columns `chosen`, which contain its own; 0 elsewhere."""
    p = pointers[b]
    for a in range(chosen.size):
        out[a] = 0.0
        if p < pointers[b + 1] and columns[p] == chosen[a]:
            out[a] = values[p]
            p += 1


@_compile
def descend_gathered(
    matrices: AnyFloats, offsets: Indices, set_pointers: Indices, sets: Indices, residual: Doubles,
    pointers: Indices, columns: Indices, values: AnyFloats, gamma: float, nonnegative: bool,
    tol: float, max_sweeps: int, out: Doubles, sweeps: Indices,
) -> None:  # fmt: skip
    """`descend` for every row of a block on its gathered matrix, from its present values."""
    largest = 0
    for b in range(sweeps.size):
        largest = max(largest, set_pointers[b + 1] - set_pointers[b])
    slope, everything = np.empty(largest, np.float64), np.arange(largest)
    for b in range(sweeps.size):
        first = set_pointers[b]
        size = set_pointers[b + 1] - first
        chosen = sets[first : first + size]
        matrix = matrices[offsets[b] : offsets[b] + size * size].reshape((size, size))
        for a in range(size):
            slope[a] = residual[b, chosen[a]]
        c = out[first : first + size]
        start_values(pointers, columns, values, b, chosen, c)
        sweeps[b] += descend(
            matrix, everything[:size], slope[:size], c, gamma, nonnegative, tol, max_sweeps
        )


@_compile
def judge(
    gram: AnyFloats, residual: Doubles, rows: Indices, pointers: Indices, columns: Indices,
    values: AnyFloats, gamma: float, nonnegative: bool, worst: Doubles, total: Doubles,
) -> None:  # fmt: skip
    """KKT violation (`worst`) and objective (`total`) of every row of a block.

    Infinite where a row breaks a constraint (own coefficient, negative where forbidden).
    """
    n = gram.shape[0]
    for b in range(rows.size):
        i = rows[b]
        p = pointers[b]
        largest = 0.0
        fit = np.float64(gram[i, i])
        size = 0.0
        for j in range(n):
            c = 0.0
            if p < pointers[b + 1] and columns[p] == j:
                c = np.float64(values[p])
                p += 1
            r = residual[b, j]
            if c != 0.0:
                fit -= c * (np.float64(gram[i, j]) + r)
                size += abs(c)
            if j == i:
                v = 0.0 if c == 0.0 else np.inf
            elif c > 0.0:
                v = abs(r - gamma)
            elif c < 0.0:
                v = np.inf if nonnegative else abs(r + gamma)
            elif nonnegative:
                v = r - gamma
            else:
                v = abs(r) - gamma
            if v > largest or v != v:
                largest = v if v == v else np.inf
        worst[b] = largest
        total[b] = 0.5 * fit + gamma * size


@_compile
def strongest(
    gram: AnyFloats, first: int, gamma: float, nonnegative: bool, columns: Indices, counts: Indices
) -> None:
    """Columns of the largest correlations above γ of rows first …, ascending, and their number.

    `columns` (rows, most); of equal correlations the first. Both signs: of the absolute values.
    """
    most = columns.shape[1]
    held = np.empty(most)
    for b in range(counts.size):
        row, chosen, count, least = gram[first + b], columns[b], 0, gamma
        for j in range(row.size):
            g = row[j]
            if (g <= least and (nonnegative or -g <= least)) or j == first + b:
                continue
            g = abs(g)
            count = min(count + 1, most)
            p = count - 1
            while p > 0 and held[p - 1] < g:
                held[p] = held[p - 1]
                chosen[p] = chosen[p - 1]
                p -= 1
            held[p] = g
            chosen[p] = j
            if count == most:
                least = held[most - 1]
        chosen[:count].sort()
        counts[b] = count


@_compile
def solve_candidates(
    gram: AnyFloats, first: int, columns: Indices, counts: Indices, gamma: float,
    nonnegative: bool, tol: float, max_sweeps: int, out: AnyFloats, total: Doubles,
    worst: Doubles, sweeps: Indices,
) -> None:  # fmt: skip
    """`descend` for rows first … on the Gram of each row's candidates, from 0.

    `out` (rows, most), zero at first, gets the values; `total` and `worst` are the objective and
    the KKT violation among the candidates, of the values as they are in `out`.
    """
    most = columns.shape[1]
    scratch, everything = np.empty(most * most, gram.dtype), np.arange(most)
    slope, values = np.empty(most), np.empty(most)
    for b in range(counts.size):
        size = counts[b]
        chosen, own = columns[b, :size], gram[first + b]
        matrix = scratch[: size * size].reshape((size, size))
        for a in range(size):
            source = gram[chosen[a]]
            slope[a] = own[chosen[a]]
            values[a] = 0.0
            for k in range(size):
                matrix[a, k] = source[chosen[k]]
        sweeps[b] = descend(
            matrix, everything[:size], slope[:size], values[:size], gamma, nonnegative, tol,
            max_sweeps,
        )  # fmt: skip
        largest, fit = 0.0, np.float64(own[first + b])
        for a in range(size):
            out[b, a] = values[a]
        for a in range(size):
            c, r = np.float64(out[b, a]), np.float64(own[chosen[a]])
            for k in range(size):
                r -= np.float64(out[b, k]) * matrix[k, a]
            fit += 2.0 * gamma * abs(c) - c * (np.float64(own[chosen[a]]) + r)
            if c != 0.0:
                largest = max(largest, abs(r - gamma * np.sign(c)))
            else:
                largest = max(largest, (r if nonnegative else abs(r)) - gamma)
        total[b] = 0.5 * fit
        worst[b] = largest
