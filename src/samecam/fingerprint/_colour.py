"""How smooth a row is: what its correlations with strangers scatter by, from the row alone."""

from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles

_LAGS = 8
# Wavelets stand on a grid of the picture's own, so that what neighbours have in common depends on
# where they stand, and in all pictures alike.
_PHASES = 4
_SIDE = 80  # of a patch
_PATCHES = 4  # along an axis
_DIGITS = 4

_Values = npt.NDArray[np.int8]


def colour(values: npt.NDArray[Any], shape: tuple[int, int]) -> float:
    """Root of the sum of squares of the autocorrelation A over lags of up to 8 pixels.

    White noise has 1, an enlarged picture more. Correlations of two strangers i and j have the
    variance Σ_d mean_p A_i(p, d) A_j(p, d) / n_pixels, at most colour_i · colour_j / n_pixels; p
    is the place of a pixel modulo 4 in both directions.

    A is measured on patches that are evenly spread. Their products are added up as whole numbers,
    so the result is the same on every machine.

    Parameters
    ----------
    values : of a `FrameRow`
    shape : (h, w) of the picture
    """
    from samecam.fingerprint._lags import lagged_products

    patches = _patches(values, shape)
    count, height, width = patches.shape
    lags = min(_LAGS, min(height, width) // 4)
    products = np.zeros((lags + 1, 2 * lags + 1, _PHASES, _PHASES), dtype=np.int64)
    lagged_products(patches.astype(np.int16), lags, _PHASES, products)
    pairs = _pairs(height, width, lags) * count
    energy = products[0, lags].sum() / patches.size
    if not energy:
        return 1.0
    pairs = np.maximum(pairs, 1)
    # Of what is measured on m pairs, chance alone makes the square 1/m.
    squares = (np.square(products / pairs / energy) - 1 / pairs).mean(axis=(2, 3))
    squares[0, :lags] = 0  # these lags are others backwards
    squares[0, lags] = np.square(products[0, lags] / pairs[0, lags] / energy).mean() / 2
    return round(float(np.sqrt(max(1.0, 2 * squares.sum()))), _DIGITS)


def _pairs(height: int, width: int, lags: int) -> Doubles:
    """How many pairs of pixels of a patch there are, by lag and phase as in `lagged_products`."""
    y, x = np.arange(height), np.arange(width)
    down = [np.bincount(y[: height - d] % _PHASES, minlength=_PHASES) for d in range(lags + 1)]
    across = [
        np.bincount(x[max(0, -d) : width - max(0, d)] % _PHASES, minlength=_PHASES)
        for d in range(-lags, lags + 1)
    ]
    pairs: Doubles = np.einsum("ia,jb->ijab", np.array(down, dtype=np.float64), np.array(across))
    return pairs


def _patches(values: npt.NDArray[Any], shape: tuple[int, int]) -> _Values:
    """(k, h, w) parts of the picture, each at a multiple of 4 pixels; all of a small one."""
    (tops, height), (lefts, width) = (_places(side) for side in shape)
    rows = tops[:, np.newaxis, np.newaxis] + np.arange(height)
    starts = (rows * shape[1] + lefts[:, np.newaxis]).ravel()
    if values.dtype == np.int8:
        flat = values[starts[:, np.newaxis] + np.arange(width)]
    elif len(values) == -(-shape[0] * shape[1] // 64):
        flat = 2 * _bits(values, starts, width) - 1
    else:
        small = _bits(values[1::2], starts, width)
        flat = (2 * _bits(values[::2], starts, width) - 1) * (3 - 2 * small)
    patches: _Values = flat.reshape(-1, height, width)
    return patches


def _places(side: int) -> tuple[npt.NDArray[np.intp], int]:
    """Where patches begin along an axis, and how long they are; one along a short axis."""
    length, count = (_SIDE, _PATCHES) if side >= _SIDE * _PATCHES else (side, 1)
    middles = (2 * np.arange(count) + 1) * side // (2 * count)
    return (middles - length // 2) // _PHASES * _PHASES, length


def _bits(words: npt.NDArray[Any], starts: npt.NDArray[np.intp], width: int) -> _Values:
    """Bits `width` from each of `starts` on, 0 or 1."""
    many = width // 64 + 2
    index = starts[:, np.newaxis] // 64 + np.arange(many)
    chosen = words[np.minimum(index, len(words) - 1)].astype("<u8")
    bits = np.unpackbits(chosen.view(np.uint8), axis=1, bitorder="little").view(np.int8)
    return np.take_along_axis(bits, starts[:, np.newaxis] % 64 + np.arange(width), axis=1)
