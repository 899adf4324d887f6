"""How smooth a row is: what its correlations with strangers scatter by, from the row alone."""

from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles

_LAGS = 8
_SIDE = 96  # of a patch
_PATCHES = 4  # along an axis
_DIGITS = 4

_Values = npt.NDArray[np.int8]


def colour(values: npt.NDArray[Any], shape: tuple[int, int]) -> float:
    """Root of the sum of the squares of the autocorrelation A over lags of up to 8 pixels.

    White noise has 1, an enlarged picture more. Correlations of two strangers i and j have the
    variance Σ A_i(d) A_j(d) / n_pixels, which is at most colour_i · colour_j / n_pixels.

    A is measured on patches that are evenly spread. Their products are added up as whole numbers,
    so the result is the same on every machine.

    Parameters
    ----------
    values : of a `FrameRow`
    shape : (h, w) of the picture
    """
    patches = _patches(values, shape)
    products = _products(patches)
    height, width = patches.shape[1:]
    down, across = (np.abs(_lags(side)) for side in (height, width))
    shares = np.outer(1 - down / height, 1 - across / width)
    first = products[0, 0]
    if not first:
        return 1.0
    squares = np.square(products / shares / first)
    # What is measured on few pixels is not 0 where there is nothing.
    chance = (squares.size - 1) / patches.size
    return round(float(np.sqrt(1 + max(0.0, squares.sum() - 1 - chance))), _DIGITS)


def _lags(side: int) -> npt.NDArray[np.intp]:
    """0, 1, …, then the negative ones, as a Fourier transform has them."""
    most = min(_LAGS, side // 4)
    return np.concatenate([np.arange(most + 1), np.arange(-most, 0)])


def _products(patches: _Values) -> Doubles:
    """Sums of products of pixels for each lag down and across, over all patches."""
    from scipy.fft import irfft2, rfft2

    height, width = patches.shape[1:]
    padded = height + _LAGS, width + _LAGS
    spectra = rfft2(patches.astype(np.float64), padded)
    power = (np.square(spectra.real) + np.square(spectra.imag)).sum(axis=0)
    sums: Doubles = np.rint(irfft2(power, padded))
    return sums[np.ix_(_lags(height), _lags(width))]


def _patches(values: npt.NDArray[Any], shape: tuple[int, int]) -> _Values:
    """(k, ≤ 96, ≤ 96) parts of the picture."""
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
    """Where patches begin along an axis, and how long they are."""
    length = min(side, _SIDE)
    count = min(_PATCHES, side // length)
    middles = (2 * np.arange(count) + 1) * side // (2 * count)
    return middles - length // 2, length


def _bits(words: npt.NDArray[Any], starts: npt.NDArray[np.intp], width: int) -> _Values:
    """Bits `width` from each of `starts` on, 0 or 1."""
    many = width // 64 + 2
    index = starts[:, np.newaxis] // 64 + np.arange(many)
    chosen = words[np.minimum(index, len(words) - 1)].astype("<u8")
    bits = np.unpackbits(chosen.view(np.uint8), axis=1, bitorder="little").view(np.int8)
    return np.take_along_axis(bits, starts[:, np.newaxis] % 64 + np.arange(width), axis=1)
