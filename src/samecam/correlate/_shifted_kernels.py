"""Numba kernels on rows and sums that are shifted against each other, round the end."""

from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Rows, Words
from samecam.compute import jit
from samecam.correlate._bit_kernels import popcount

Bytes = npt.NDArray[np.int8]
Sums = npt.NDArray[np.int32]
Wholes = npt.NDArray[np.int64]

# Words of rows and sums, and pixels of a sum, that stay in the cache while shifts are gone through.
_WORDS, _PIXELS = 2**15, 2**15


@jit(nogil=True)
def count_common(rows: Words, planes: Words, shifts: Rows, out: Wholes) -> None:
    """Add to out[i, s, p] the bits that are 1 in words k of row i and k + shifts[s] of plane p.

    There are one or two rows. A part of the rows and one of the planes stay in the cache while all
    shifts are gone through at which they meet.
    """
    length = rows.shape[1]
    for first in range(0, length, _WORDS):
        last = min(first + _WORDS, length)
        for low in range(0, length, _WORDS):
            high = min(low + _WORDS, length)
            for s in range(shifts.size):
                shift = shifts[s] % length
                begin, end = low + shift, high + shift  # where these words of the rows lie
                _count_part(rows, planes, s, shift, max(begin, first), min(end, last), out)
                begin, end = begin - length, end - length  # and those beyond the end
                _count_part(rows, planes, s, shift - length, max(begin, first), min(end, last), out)


@jit(nogil=True)
def _count_part(
    rows: Words, planes: Words, s: int, shift: int, start: int, end: int, out: Wholes
) -> None:
    """The same for words start … end − 1 of the planes, which those so far before meet."""
    if start >= end:
        return
    first, last = start - shift, end - shift
    if len(rows) == 2 and len(planes) == 2:
        x, y = rows[0, first:last], rows[1, first:last]
        counts = _common_of_four(x, y, planes[0, start:end], planes[1, start:end])
        out[0, s, 0] += counts[0]
        out[1, s, 0] += counts[1]
        out[0, s, 1] += counts[2]
        out[1, s, 1] += counts[3]
        return
    for p in range(len(planes)):
        plane = planes[p, start:end]
        if len(rows) == 1:
            out[0, s, p] += _common(rows[0, first:last], plane)
        else:
            of_x, of_y = _common_of_two(rows[0, first:last], rows[1, first:last], plane)
            out[0, s, p] += of_x
            out[1, s, p] += of_y


@jit(nogil=True)
def _common_of_four(
    x: Words, y: Words, z: Words, w: Words
) -> tuple[np.int64, np.int64, np.int64, np.int64]:
    xz = yz = xw = yw = np.uint64(0)
    for k in range(z.size):
        xz += popcount(x[k] & z[k])
        yz += popcount(y[k] & z[k])
        xw += popcount(x[k] & w[k])
        yw += popcount(y[k] & w[k])
    return np.int64(xz), np.int64(yz), np.int64(xw), np.int64(yw)


@jit(nogil=True)
def _common(x: Words, y: Words) -> np.int64:
    count = np.uint64(0)
    for k in range(x.size):
        count += popcount(x[k] & y[k])
    return np.int64(count)


@jit(nogil=True)
def _common_of_two(x: Words, y: Words, z: Words) -> tuple[np.int64, np.int64]:
    first = second = np.uint64(0)
    for k in range(z.size):
        first += popcount(x[k] & z[k])
        second += popcount(y[k] & z[k])
    return np.int64(first), np.int64(second)


@jit(nogil=True)
def dots(row: Bytes, total: npt.NDArray[Any], shifts: Rows, out: Wholes) -> None:
    """Add to out[s] the products of pixels k of the row with k + shifts[s] of the total."""
    length = row.size
    for first in range(0, length, _PIXELS):
        last = min(first + _PIXELS, length)
        for s in range(shifts.size):
            start = first
            while start < last:
                at = (start - shifts[s]) % length
                many = min(last - start, length - at)
                out[s] += _dot(row[at : at + many], total[start : start + many])
                start += many


@jit(nogil=True)
def _dot(x: Bytes, y: npt.NDArray[Any]) -> np.int64:
    total = np.int64(0)
    for k in range(x.size):
        total += np.int64(x[k]) * np.int64(y[k])
    return total


@jit(nogil=True)
def add_weighted(row: Bytes, weight: int, total: Sums) -> None:
    """Add a row as often as its weight says."""
    for k in range(row.size):
        total[k] += np.int32(weight) * np.int32(row[k])


@jit(nogil=True)
def round_sum(planes: Words, edges: Wholes, out: Words, begin: int, end: int) -> None:
    """Round numbers of binary digits, the lowest first, to two bits: 2a + b about three edges.

    Those of words begin … end − 1.

    Above none of the rising edges it is −3, above one −1, above two 1, above all 3.
    """
    one = np.uint64(0xFFFFFFFFFFFFFFFF)
    for w in range(begin, end):
        first = second = third = np.uint64(0)
        for e in range(3):
            more, same = np.uint64(0), one
            for k in range(len(planes) - 1, -1, -1):
                digit = planes[k, w]
                if (edges[e] >> k) & 1:
                    same &= digit
                else:
                    more |= same & digit
                    same &= ~digit
            if e == 0:
                first = more
            elif e == 1:
                second = more
            else:
                third = more
        out[0, w] = second
        out[1, w] = third | (first & ~second)
