"""Numba kernels on rows of bits: pixels in which rows differ, counted by XOR and popcount.

Of two bits a pixel, sign s and n for ±1 in place of ±3, the product of two pixels is
2σ₁ + 4σ₂ + 3σ₃, where each σ is +1 or −1: −1 where x₁ = s ⊕ s′, x₂ = x₁ ⊕ (n ∧ n′) and
x₃ = x₁ ⊕ n ⊕ n′ are 1. So the inner product over d pixels is 9d − 2c, and c counts pixels with the
weights 2, 4 and 3.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import intrinsic

from samecam.arrays import Mask, Rows, Words
from samecam.compute import jit

Counts = npt.NDArray[np.int32]
Wholes = npt.NDArray[np.int64]

# Words of a row that are worked on at a time: a block of rows stays in the second cache.
_STRIP = 1024
# Words of the planes of a group that are worked on at a time: they stay in the first cache.
_CHUNK = 256
# Rows of both sides whose counts are in registers at a time.
_SIDE = 4
_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)


def _popcount(typing_context: Any, word: Any) -> Any:
    """Bits of a word that are 1; the compiler makes vectors of it where the processor has them."""
    del typing_context, word

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


popcount: Any = intrinsic(_popcount)


@jit(nogil=True)
def count_differences(
    a: Words, b: Words, start: int, stop: int, lower: bool, planes: int, out: Counts
) -> None:
    """Add to out[i, j] the pixels in which words start … stop − 1 of a[i] and b[j] differ.

    Of two bits a pixel, with two planes, counts are weighted. With `lower` what is above the
    diagonal is left out but for some entries beside it.
    """
    n, m = len(a), len(b)
    whole, wide = n - n % _SIDE, m - m % _SIDE
    for first in range(start, stop, _STRIP):
        last = min(first + _STRIP, stop)
        for i in range(0, whole, _SIDE):
            end = min(wide, i + _SIDE) if lower else wide
            for j in range(0, end, _SIDE):
                if planes == 1:
                    _sixteen(a, b, i, j, first, last, out)
                else:
                    _sixteen_weighed(a, b, i, j, first, last, out)
            for j in range(wide, m):
                for row in range(i, i + _SIDE):
                    out[row, j] += _pair(a[row, first:last], b[j, first:last], planes)
        for i in range(whole, n):
            for j in range(i + 1 if lower else m):
                out[i, j] += _pair(a[i, first:last], b[j, first:last], planes)


@jit(nogil=True)
def _pair(x: Words, y: Words, planes: int) -> np.int32:
    count = np.uint64(0)
    if planes == 2:
        for k in range(x.size // 2):
            count += _weighed(x[2 * k] ^ y[2 * k], x[2 * k + 1], y[2 * k + 1])
        return np.int32(count)
    for k in range(x.size):
        count += popcount(x[k] ^ y[k])
    return np.int32(count)


@jit(nogil=True)
def _sixteen(a: Words, b: Words, i: int, j: int, first: int, last: int, out: Counts) -> None:
    """Four rows with four rows: eight loads for sixteen counts."""
    a0, a1, a2, a3 = (
        a[i, first:last],
        a[i + 1, first:last],
        a[i + 2, first:last],
        a[i + 3, first:last],
    )
    b0, b1, b2, b3 = (
        b[j, first:last],
        b[j + 1, first:last],
        b[j + 2, first:last],
        b[j + 3, first:last],
    )
    c00 = c01 = c02 = c03 = c10 = c11 = c12 = c13 = np.uint64(0)
    c20 = c21 = c22 = c23 = c30 = c31 = c32 = c33 = np.uint64(0)
    for k in range(last - first):
        x0, x1, x2, x3 = a0[k], a1[k], a2[k], a3[k]
        y = b0[k]
        c00 += popcount(x0 ^ y)
        c10 += popcount(x1 ^ y)
        c20 += popcount(x2 ^ y)
        c30 += popcount(x3 ^ y)
        y = b1[k]
        c01 += popcount(x0 ^ y)
        c11 += popcount(x1 ^ y)
        c21 += popcount(x2 ^ y)
        c31 += popcount(x3 ^ y)
        y = b2[k]
        c02 += popcount(x0 ^ y)
        c12 += popcount(x1 ^ y)
        c22 += popcount(x2 ^ y)
        c32 += popcount(x3 ^ y)
        y = b3[k]
        c03 += popcount(x0 ^ y)
        c13 += popcount(x1 ^ y)
        c23 += popcount(x2 ^ y)
        c33 += popcount(x3 ^ y)
    _add(out[i, j : j + 4], c00, c01, c02, c03)
    _add(out[i + 1, j : j + 4], c10, c11, c12, c13)
    _add(out[i + 2, j : j + 4], c20, c21, c22, c23)
    _add(out[i + 3, j : j + 4], c30, c31, c32, c33)


@jit(nogil=True)
def _weighed(differ: np.uint64, small: np.uint64, other: np.uint64) -> np.uint64:
    """2·x₁ + 4·x₂ + 3·x₃ of 64 pixels."""
    third = popcount(differ ^ small ^ other)
    first, second = popcount(differ), popcount(differ ^ (small & other))
    return np.uint64((first << _ONE) + (second << _TWO) + _THREE * third)


@jit(nogil=True)
def _sixteen_weighed(
    a: Words, b: Words, i: int, j: int, first: int, last: int, out: Counts
) -> None:
    """As `_sixteen`, of two bits a pixel."""
    a0, a1, a2, a3 = (
        a[i, first:last],
        a[i + 1, first:last],
        a[i + 2, first:last],
        a[i + 3, first:last],
    )
    b0, b1, b2, b3 = (
        b[j, first:last],
        b[j + 1, first:last],
        b[j + 2, first:last],
        b[j + 3, first:last],
    )
    c00 = c01 = c02 = c03 = c10 = c11 = c12 = c13 = np.uint64(0)
    c20 = c21 = c22 = c23 = c30 = c31 = c32 = c33 = np.uint64(0)
    for k in range((last - first) // 2):
        x0, x1, x2, x3 = a0[2 * k], a1[2 * k], a2[2 * k], a3[2 * k]
        w0, w1, w2, w3 = a0[2 * k + 1], a1[2 * k + 1], a2[2 * k + 1], a3[2 * k + 1]
        y, z = b0[2 * k], b0[2 * k + 1]
        c00 += _weighed(x0 ^ y, w0, z)
        c10 += _weighed(x1 ^ y, w1, z)
        c20 += _weighed(x2 ^ y, w2, z)
        c30 += _weighed(x3 ^ y, w3, z)
        y, z = b1[2 * k], b1[2 * k + 1]
        c01 += _weighed(x0 ^ y, w0, z)
        c11 += _weighed(x1 ^ y, w1, z)
        c21 += _weighed(x2 ^ y, w2, z)
        c31 += _weighed(x3 ^ y, w3, z)
        y, z = b2[2 * k], b2[2 * k + 1]
        c02 += _weighed(x0 ^ y, w0, z)
        c12 += _weighed(x1 ^ y, w1, z)
        c22 += _weighed(x2 ^ y, w2, z)
        c32 += _weighed(x3 ^ y, w3, z)
        y, z = b3[2 * k], b3[2 * k + 1]
        c03 += _weighed(x0 ^ y, w0, z)
        c13 += _weighed(x1 ^ y, w1, z)
        c23 += _weighed(x2 ^ y, w2, z)
        c33 += _weighed(x3 ^ y, w3, z)
    _add(out[i, j : j + 4], c00, c01, c02, c03)
    _add(out[i + 1, j : j + 4], c10, c11, c12, c13)
    _add(out[i + 2, j : j + 4], c20, c21, c22, c23)
    _add(out[i + 3, j : j + 4], c30, c31, c32, c33)


@jit(nogil=True)
def split_pairs(words: Words, out: Words) -> None:
    """Rows of two bits a pixel as twice as many of one: row i is 2·out[2i] + out[2i + 1].

    All of them are ±1, written as bits.
    """
    for i in range(len(words)):
        row, signs, others = words[i], out[2 * i], out[2 * i + 1]
        for k in range(signs.size):
            signs[k] = row[2 * k]
            others[k] = row[2 * k] ^ row[2 * k + 1]


@jit(nogil=True)
def _add(out: Counts, c0: np.uint64, c1: np.uint64, c2: np.uint64, c3: np.uint64) -> None:
    out[0] += np.int32(c0)
    out[1] += np.int32(c1)
    out[2] += np.int32(c2)
    out[3] += np.int32(c3)


@jit(nogil=True)
def count_ones(words: Words, out: npt.NDArray[np.int64]) -> None:
    """Add to out[i] the bits of words[i] that are 1."""
    for i in range(len(words)):
        count = np.uint64(0)
        for k in range(words.shape[1]):
            count += popcount(words[i, k])
        out[i] += np.int64(count)


@jit(nogil=True)
def count_unlike(words: Words, out: npt.NDArray[np.int64]) -> None:
    """Add to out[i] the bits in which words[2i] and words[2i + 1] differ."""
    for i in range(len(words) // 2):
        count = np.uint64(0)
        for k in range(words.shape[1]):
            count += popcount(words[2 * i, k] ^ words[2 * i + 1, k])
        out[i] += np.int64(count)


@jit(nogil=True)
def fill_columns(
    words: Words,
    start: int,
    stop: int,
    order: Rows,
    weights: Wholes,
    edges: Rows,
    first: Rows,
    as_rows: Mask,
    out: Words,
) -> None:
    """Sums over groups as binary numbers: bit plane p of group g into out[first[g] + p].

    Parameters
    ----------
    words : (n, ·) rows of bits, of which words start … stop − 1 are added up
    order : numbers of the rows that are members, group by group
    weights : a whole number for each of these
    edges : group g has members order[edges[g]] … order[edges[g + 1] − 1]
    first : (groups + 1,) where the planes of each begin
    as_rows : whether the members themselves take the place of planes
    """
    carry = np.empty(_CHUNK, dtype=np.uint64)
    for left in range(start, stop, _CHUNK):
        right = min(left + _CHUNK, stop)
        for g in range(len(edges) - 1):
            a, b = edges[g], edges[g + 1]
            if as_rows[g]:
                for i in range(a, b):
                    out[first[g] + i - a, left:right] = words[order[i], left:right]
                continue
            planes = out[first[g] : first[g + 1]]
            planes[:, left:right] = 0
            total, i = 0, a
            while i < b:
                x = words[order[i], left:right]
                if i + 1 < b and weights[i] == 1 and weights[i + 1] == 1:
                    total += 2
                    _add_two(planes[0, left:right], x, words[order[i + 1], left:right], carry)
                    _carry_on(planes, 1, total, left, right, carry)
                    i += 2
                else:
                    total += weights[i]
                    _add_row(planes, weights[i], total, x, left, right, carry)
                    i += 1


@jit(nogil=True)
def _add_two(plane: Words, x: Words, y: Words, carry: Words) -> None:
    """Add two rows to the lowest plane."""
    for k in range(plane.size):
        half = plane[k] ^ x[k]
        carry[k] = (plane[k] & x[k]) | (half & y[k])
        plane[k] = half ^ y[k]


@jit(nogil=True)
def _carry_on(planes: Words, level: int, total: int, left: int, right: int, carry: Words) -> None:
    """Add what is carried to the planes from `level` on; no sum is above `total`."""
    while total >> level:
        plane = planes[level, left:right]
        for k in range(plane.size):
            both = plane[k] & carry[k]
            plane[k] ^= carry[k]
            carry[k] = both
        level += 1


@jit(nogil=True)
def _add_row(
    planes: Words, weight: int, total: int, x: Words, left: int, right: int, carry: Words
) -> None:
    """Add a row as often as its weight says."""
    carry[:] = 0
    level = 0
    while weight >> level:
        plane = planes[level, left:right]
        if (weight >> level) & 1:
            for k in range(plane.size):
                half = plane[k] ^ x[k]
                both = (plane[k] & x[k]) | (half & carry[k])
                plane[k] = half ^ carry[k]
                carry[k] = both
        else:
            for k in range(plane.size):
                both = plane[k] & carry[k]
                plane[k] ^= carry[k]
                carry[k] = both
        level += 1
    _carry_on(planes, level, total, left, right, carry)


@jit(nogil=True)
def add_weighted(
    counts: Counts, top: int, left: int, group: Rows, weight: Wholes, planes: int, out: Wholes
) -> None:
    """Add counts of columns top … with photos left … to out[group of the column, photo].

    With two planes, photos are pairs of rows as `split_pairs` makes them.
    """
    for i in range(counts.shape[0]):
        line, factor = out[group[top + i]], weight[top + i]
        if planes == 1:
            for j in range(counts.shape[1]):
                line[left + j] += factor * counts[i, j]
        else:
            for j in range(counts.shape[1]):
                line[(left + j) // 2] += (2 - (left + j) % 2) * factor * counts[i, j]


@jit(nogil=True)
def add_between(
    counts: Counts, top: int, left: int, group: Rows, weight: Wholes, out: npt.NDArray[Any]
) -> None:
    """Add counts of columns with columns, the lower triangle, to out[group, group], all of it."""
    for i in range(counts.shape[0]):
        a = group[top + i]
        for j in range(min(counts.shape[1], top + i - left + 1)):
            b = group[left + j]
            share = weight[top + i] * weight[left + j] * counts[i, j]
            out[a, b] += share
            if top + i != left + j:
                out[b, a] += share


@jit(nogil=True)
def write_sums(
    columns: Words,
    weight: Wholes,
    first: Rows,
    size: Wholes,
    scale: float,
    out: npt.NDArray[np.float32],
) -> None:
    """Sums over groups as numbers, scale · (2S − size) with S the sum of bits, into `out`."""
    sums = np.empty(64, dtype=np.int32)
    one = np.uint32(1)
    for g in range(out.shape[0]):
        for word in range(columns.shape[1]):
            sums[:] = -size[g]
            for c in range(first[g], first[g + 1]):
                twice = np.int32(2 * weight[c])
                low = np.uint32(columns[c, word] & np.uint64(0xFFFFFFFF))
                high = np.uint32(columns[c, word] >> np.uint64(32))
                for k in range(32):
                    sums[k] += twice * np.int32((low >> np.uint32(k)) & one)
                for k in range(32):
                    sums[32 + k] += twice * np.int32((high >> np.uint32(k)) & one)
            pixels = out[g, 64 * word : 64 * word + 64]
            for k in range(pixels.size):
                pixels[k] = scale * sums[k]
