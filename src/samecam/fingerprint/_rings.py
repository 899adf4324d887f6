"""Work arrays of the denoiser that goes row by row.

Pixels go in at one end and rows of the residual come out at the other, 169 rows later. Every
level of the transform keeps its bands in rings of rows, just long enough: row y of a band is
row y mod ring. What is done next follows from how many rows each level was given, has analysed,
shrunk and made whole again, so that the rings' lengths are those of a rehearsal of these
numbers. The rows themselves are those of the whole plane to the last bit.
"""

import threading
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats
from samecam.fingerprint._wavelet import LEVELS

_Numbers = npt.NDArray[np.int64]
TAKEN, ANALYSED, SHRUNK, MADE = range(4)  # what is counted in `Rings.done`
BLOCK = 32  # rows of the residual that are made at a time
_WINDOW = 8  # rows of the plane that a row of a band depends on
_LINE = 16  # float32 of a line of the cache

_local = threading.local()


class Scratch(NamedTuple):
    """Work space for rows of the transform.

    Attributes
    ----------
    lines : (8, ≥ width), of which analysis uses two; synthesis keeps four rows of both bands
    even, odd : (≥ columns of a band + 3,)
    """

    lines: Floats
    even: Floats
    odd: Floats


class Rings(NamedTuple):
    """Work arrays for a picture of some height and width; see `_kernels.next_rows`.

    Attributes
    ----------
    sizes : (levels + 1, 2), rows and columns of the plane that each level transforms
    places : (levels, 2), first row of a level's ring in `low` and `high`, and how many it has
    done : (levels, 4), rows that each level was given, has analysed, shrunk and made again
    pixels : the last rows of the picture
    low, high : rings of all levels, a row as in `_kernels`
    squares : for each level and detail band the squares of nine rows
    lines : for each level four rows of both bands after their horizontal pass
    sums, scratch : work space for a row
    """

    sizes: _Numbers
    places: _Numbers
    done: _Numbers
    pixels: Floats
    low: Floats
    high: Floats
    squares: Floats
    lines: Floats
    sums: Floats
    scratch: Scratch


def rings_for(height: int, width: int, shift: int = 0) -> Rings:
    """Return this thread's rings for the given shape, before the first row.

    Those of the last shape are kept, for each shift of a picture by itself.
    """
    by_shift: dict[int, Rings] = _local.__dict__.setdefault("rings", {})
    kept = by_shift.get(shift)
    if kept is None or tuple(kept.sizes[0]) != (height, width):
        kept = None
        by_shift.pop(shift, None)  # let go of the old ones first
        kept = by_shift[shift] = _make_rings(height, width)
    kept.done[:] = 0
    kept.squares[:] = 0
    return kept


def _make_rings(height: int, width: int) -> Rings:
    lengths = np.array(_lengths(height), dtype=np.int64)
    places = np.stack([np.cumsum(lengths) - lengths, lengths], axis=1)
    return _rings(height, width, places)


def residual_rows(
    image: npt.NDArray[np.generic], sigma: float, out: Floats, spins: int = 1
) -> Iterator[tuple[int, Floats]]:
    """First row and rows of the residual of an (h, w) image, a block after another.

    The mean is taken over `spins` grids of the wavelets, see `_residual.noise_residual`. `out` is
    (h, w), or a work array of an even number of rows that is used again for every block.
    """
    from samecam.fingerprint import _kernels

    height, width = image.shape
    rings = rings_for(height, width)
    many = min(BLOCK, len(out))
    others = [_shifted_blocks(image, sigma, shift, many) for shift in range(1, spins)]
    picture = _pictures(image)
    variance = np.float32(sigma * sigma)
    start = 0
    while start < height:
        at = start if len(out) == height else 0
        block = out[at : at + many]
        made = _kernels.next_rows(*picture, 0, rings, variance, block, True)
        block = block[:made]
        for other in others:
            block += next(other)[:made]
        if others:
            block *= np.float32(1 / spins)
        yield start, block
        start += made


def _shifted_blocks(
    image: npt.NDArray[np.generic], sigma: float, shift: int, many: int
) -> Iterator[Floats]:
    """Rows of the residual on a grid that stands `shift` pixels further up and to the left.

    The picture is continued there by its mirror image, as the transform itself does it. Rows are
    made in pairs, so that for an odd shift one waits from block to block.
    """
    from samecam.fingerprint import _kernels

    picture = _pictures(image)
    height, width = image.shape[0] + shift, image.shape[1] + shift
    rings, variance = rings_for(height, width, shift), np.float32(sigma * sigma)
    waits, pairs = shift % 2, many + many % 2
    work = np.empty((waits + max(pairs, shift), width), dtype=np.float32)
    _kernels.next_rows(*picture, shift, rings, variance, work[: shift + waits], True)
    work[:waits] = work[shift : shift + waits]
    while True:
        _kernels.next_rows(*picture, shift, rings, variance, work[waits : waits + pairs], True)
        yield work[:many, shift:]
        work[:waits] = work[pairs : pairs + waits]


def _pictures(image: npt.NDArray[np.generic]) -> tuple[npt.NDArray[np.uint8], Floats]:
    """A picture as bytes or as float32; the other one is empty."""
    if image.dtype == np.uint8:
        return np.ascontiguousarray(image, dtype=np.uint8), np.empty((0, 0), dtype=np.float32)
    return np.empty((0, 0), dtype=np.uint8), np.ascontiguousarray(image, dtype=np.float32)


@lru_cache(maxsize=64)
def _lengths(height: int) -> tuple[int, ...]:
    """Rows of the rings of each level: the most that wait at any time."""
    from samecam.fingerprint import _kernels

    rings = _rings(height, 1, np.zeros((LEVELS, 2), dtype=np.int64))
    nothing = np.empty((height, 1), dtype=np.float32)
    _kernels.next_rows(*_pictures(nothing), 0, rings, np.float32(1), nothing, False)
    return tuple(map(int, rings.places[:, 1]))


def _rings(height: int, width: int, places: _Numbers) -> Rings:
    sizes = [(height, width)]
    for _ in range(LEVELS):
        sizes.append(((sizes[-1][0] + 7) // 2, (sizes[-1][1] + 7) // 2))
    longest = max(length for _, length in sizes)
    cols = max(length for _, length in sizes[1:])
    rows = int(places[:, 1].sum())

    def empty(rows: int, length: int) -> Floats:
        return np.empty((rows, -(-length // _LINE) * _LINE), dtype=np.float32)

    return Rings(
        sizes=np.array(sizes, dtype=np.int64),
        places=places,
        done=np.zeros((LEVELS, 4), dtype=np.int64),
        pixels=empty(_WINDOW, width),
        low=empty(rows, 2 * cols),
        high=empty(rows, 2 * cols),
        squares=np.zeros((27 * LEVELS, -(-(cols + 8) // _LINE) * _LINE), dtype=np.float32),
        lines=empty(8 * LEVELS, longest),
        sums=empty(4, longest + 8),
        scratch=Scratch(empty(2, longest), *empty(2, longest + 3)),
    )
