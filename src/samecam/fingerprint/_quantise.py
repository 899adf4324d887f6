"""Numba kernels between the residual of a whole picture and its row: sums, then bits or bytes.

The means of rows, columns and phases are linear, so that sums of the residual as it comes are
enough; what is left after their subtraction is quantised on a second way through the rows. Sums
are in a fixed order, whatever the vector width. All kernels release the GIL.
"""

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Floats, Words
from samecam.compute import jit
from samecam.fingerprint._wavelet import PHASE

_jit = jit(nogil=True, error_model="numpy")

_Bytes = npt.NDArray[np.uint8]

# Adding and subtracting it rounds a float32 to the nearest whole number, half to even.
_ROUND = np.float32(12582912.0)
# Times eight bytes that are 0 or 1, it has them in its highest byte, first byte lowest.
_GATHER = np.uint64(0x0102040810204080)
_ONES = np.uint64(0x0101010101010101)
_FOLD = 256  # numbers to which a row is folded to be added up
_TOP = np.uint64(56)


@_jit
def count_below(block: Floats, level: np.float32) -> int:
    """How many pixels of rows of a residual are below a level."""
    below = 0
    for k in range(len(block)):
        row = block[k]
        count = np.int32(0)
        for x in range(row.size):
            count += np.int32(abs(row[x]) < level)
        below += int(count)
    return below


@_jit
def add_sums(block: Floats, first: int, sums: Doubles, phases: Floats, squares: Floats) -> None:
    """Add rows of the residual, from row `first` on, to the sums that means are made of.

    Parameters
    ----------
    sums : (h,) filled with sums of rows
    phases : (16, w) sums of columns, for each phase of the row
    squares : (w,) sums of squares of columns
    """
    folded = np.empty(_FOLD, dtype=np.float32)
    for k in range(len(block)):
        row, column = block[k], phases[(first + k) % PHASE]
        for x in range(row.size):
            v = row[x]
            column[x] += v
            squares[x] += v * v
        sums[first + k] = _sum(row, folded)


@_jit
def _sum(row: Floats, folded: Floats) -> float:
    """Sum of a row: of numbers whose places are alike modulo 256 first, in float32."""
    folded[:] = 0.0
    whole = row.size - row.size % _FOLD
    for start in range(0, whole, _FOLD):
        part = row[start : start + _FOLD]
        for x in range(_FOLD):
            folded[x] += part[x]
    part = row[whole:]
    for x in range(part.size):
        folded[x] += part[x]
    total = 0.0
    for x in range(_FOLD):
        total += np.float64(folded[x])
    return total


@_jit
def to_bits(
    block: Floats,
    first: int,
    means: Floats,
    shifts: Floats,
    least: np.float32,
    large: np.float32,
    seed: np.uint64,
    codes: _Bytes,
    packed: Words,
    words: Words,
    planes: int,
) -> None:
    """Signs of rows of the residual, from row `first` on, after subtraction of means.

    With two planes words of signs alternate with words that are 1 for what is small.

    Parameters
    ----------
    means, shifts : (h,) and (16, w), means of rows, and of columns and phases
    least : what is below it before or after the subtraction gets a random sign, and is small
    large : what is not above it after the subtraction is small
    codes, packed : (≥ w + 64,) bytes and the same memory in words; between calls they hold
        the pixels of a word that is not full yet
    words : the row
    planes : bits a pixel
    """
    for k in range(len(block)):
        y = first + k
        row, shift, mean = block[k], shifts[y % PHASE], means[y]
        start = y * row.size % 64
        code = codes[start : start + row.size]
        for x in range(row.size):
            v = row[x]
            u = (v - mean) - shift[x]
            hole = (abs(v) < least) | (abs(u) < least)
            small = (abs(u) <= large) | hole
            code[x] = (
                np.uint8(u > np.float32(0.0))
                | (np.uint8(hole) << np.uint8(1))
                | (np.uint8(small) << np.uint8(2))
            )
        word, count = y * row.size // 64, (start + row.size) // 64
        _pack(packed, count, word, seed, words, planes)
        for x in range(start + row.size - 64 * count):
            codes[x] = codes[64 * count + x]
    filled = (first + len(block)) * block.shape[1]
    if filled % 64 and filled // 64 == len(words) // planes - 1:
        codes[filled % 64 : 64] = 0
        _pack(packed, 1, filled // 64, seed, words, planes)


@_jit
def _pack(
    packed: Words, count: int, first: int, seed: np.uint64, words: Words, planes: int
) -> None:
    """Fill words of 64 · `count` pixels: the sign where there is one, else a random bit."""
    for j in range(count):
        codes = packed[8 * j : 8 * j + 8]
        signs, holes = _gathered(codes, 0), _gathered(codes, 1)
        random = random_word(seed, first + j)
        words[planes * (first + j)] = (signs & ~holes) | (random & holes)
        if planes == 2:
            words[2 * (first + j) + 1] = _gathered(codes, 2)


@_jit
def _gathered(codes: Words, bit: int) -> np.uint64:
    """One bit of each of 64 bytes as a word."""
    word = np.uint64(0)
    for i in range(8):
        eight = (codes[i] >> np.uint64(bit)) & _ONES
        word |= ((eight * _GATHER) >> _TOP) << np.uint64(8 * i)
    return word


@_jit
def random_word(seed: np.uint64, index: int) -> np.uint64:
    """Number `index` of the generator splitmix64."""
    z = seed + np.uint64(index + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@_jit
def to_bytes(
    block: Floats,
    first: int,
    means: Floats,
    shifts: Floats,
    least: np.float32,
    factor: np.float32,
    values: npt.NDArray[np.int8],
) -> int:
    """As `to_bits`, but the residual times `factor`, rounded, and 0 for a random bit.

    Returns
    -------
    the sum of squares
    """
    total = 0
    for k in range(len(block)):
        y = first + k
        row, shift, mean = block[k], shifts[y % PHASE], means[y]
        out = values[y * row.size : (y + 1) * row.size]
        squares = np.int32(0)
        for x in range(row.size):
            v = row[x]
            u = (v - mean) - shift[x]
            q = (u * factor + _ROUND) - _ROUND
            q = min(max(q, np.float32(-127.0)), np.float32(127.0))
            q = np.float32(0.0) if (abs(v) < least) | (abs(u) < least) else q
            whole = np.int32(q)
            out[x] = whole
            squares += whole * whole
        total += int(squares)
    return total
