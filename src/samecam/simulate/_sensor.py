"""The sensor: light to raw mosaic to linear colour, and the colour development to 8 bits."""

from typing import cast

import numpy as np
from numpy.typing import NDArray

from samecam.arrays import Floats

__all__ = ["demosaic", "develop", "expose_mosaic", "sample_bayer", "tone_table", "vignette"]


def vignette(height: int, width: int, strength: float) -> Floats:
    """Lens shading 1 − strength · (r / r_corner)², shape (height, width).

    r is the distance from the picture's centre, so the corners receive the share 1 − strength.
    """
    y = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    x = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    ratio = np.float32(width / height)
    radius2 = (y * y + (x * ratio) ** 2) / (1 + ratio**2)
    return cast(Floats, 1 - np.float32(strength) * radius2)


def sample_bayer(light: Floats, gains: tuple[float, float, float]) -> Floats:
    """What falls on each photosite behind an RGGB filter, before any noise.

    Parameters
    ----------
    light : ndarray of shape (3, height, width), both even
        White-balanced linear light; 1 is white.
    gains : red, green and blue white-balance gain
        A channel that needs the gain g collects only light / g.

    Returns
    -------
    ndarray of shape (height, width)
    """
    mosaic = np.empty(light.shape[1:], dtype=np.float32)
    for (row, column), channel in zip(_PHASES, _CHANNELS, strict=True):
        site = (slice(row, None, 2), slice(column, None, 2))
        mosaic[site] = light[channel][site] / np.float32(gains[channel])
    return mosaic


_PHASES = ((0, 0), (0, 1), (1, 0), (1, 1))
_CHANNELS = (0, 1, 1, 2)


def expose_mosaic(
    mosaic: Floats,
    pattern: Floats,
    *,
    full_well: float,
    read_noise: float,
    rng: np.random.Generator,
) -> Floats:
    """Raw values light · (1 + K) + noise, clipped to [0, 1] (empty to full well).

    The noise is normal with variance light / full_well (shot noise of `full_well` electrons at
    white) plus read_noise² (as a share of white). No argument is modified.

    Parameters
    ----------
    mosaic : ndarray of shape (height, width)
        Light on each photosite.
    pattern : ndarray of shape (height, width)
        The camera's photo-response non-uniformity K.
    full_well : float
        Electrons at white.
    read_noise : float
        Standard deviation of the signal-independent noise.
    rng : numpy.random.Generator
        The photo's own stream.
    """
    raw = mosaic * (1 + pattern)
    spread = np.sqrt(np.maximum(mosaic, 0) / np.float32(full_well) + np.float32(read_noise**2))
    spread *= rng.standard_normal(mosaic.shape, dtype=np.float32)
    raw += spread
    return np.clip(raw, 0, 1, out=raw)


def demosaic(mosaic: Floats, correction: float) -> Floats:
    """Full colour from an RGGB mosaic: bilinear, plus a share of the gradient correction.

    Every missing value is the bilinear mean of its neighbours of that colour plus `correction`
    times the Laplacian of the colour measured at the place itself. correction = 1 gives the
    5 × 5 linear filters of Malvar, He and Cutler (2004), correction = 0 plain bilinear.

    Parameters
    ----------
    mosaic : ndarray of shape (height, width), both even
        Raw values after white balance.
    correction : float
        0 (bilinear) to 1 (gradient-corrected).

    Returns
    -------
    ndarray of shape (3, height, width)
    """
    out = np.empty((3, *mosaic.shape), dtype=np.float32)
    padded = np.pad(mosaic, 2, mode="reflect")
    for row, column in _PHASES:
        site = (slice(row, None, 2), slice(column, None, 2))
        sums = _neighbour_sums(padded, row, column)
        if row == column:
            here, there = (0, 2) if row == 0 else (2, 0)
            out[here][site] = sums["here"]
            out[1][site] = _green(sums, correction)
            out[there][site] = _opposite(sums, correction)
        else:
            beside, above = (0, 2) if row == 0 else (2, 0)
            out[1][site] = sums["here"]
            out[beside][site] = _at_green(sums, "side", "side2", "vert2", correction)
            out[above][site] = _at_green(sums, "vert", "vert2", "side2", correction)
    return out


def _neighbour_sums(padded: Floats, row: int, column: int) -> dict[str, Floats]:
    """Sums of the neighbours of every site of one Bayer phase, by direction and distance."""
    height, width = padded.shape[0] - 4, padded.shape[1] - 4

    def at(dy: int, dx: int) -> Floats:
        top, left = 2 + row + dy, 2 + column + dx
        return padded[top : top + height - row : 2, left : left + width - column : 2]

    return {
        "here": at(0, 0),
        "side": at(0, -1) + at(0, 1),
        "vert": at(-1, 0) + at(1, 0),
        "diag": at(-1, -1) + at(-1, 1) + at(1, -1) + at(1, 1),
        "side2": at(0, -2) + at(0, 2),
        "vert2": at(-2, 0) + at(2, 0),
    }


def _green(s: dict[str, Floats], correction: float) -> Floats:
    laplacian = 4 * s["here"] - s["side2"] - s["vert2"]
    return cast(Floats, (2 * (s["side"] + s["vert"]) + np.float32(correction) * laplacian) / 8)


def _opposite(s: dict[str, Floats], correction: float) -> Floats:
    laplacian = 6 * s["here"] - np.float32(1.5) * (s["side2"] + s["vert2"])
    return cast(Floats, (2 * s["diag"] + np.float32(correction) * laplacian) / 8)


def _at_green(s: dict[str, Floats], near: str, far: str, across: str, correction: float) -> Floats:
    laplacian = 5 * s["here"] - s[far] - s["diag"] + np.float32(0.5) * s[across]
    return cast(Floats, (4 * s[near] + np.float32(correction) * laplacian) / 8)


def tone_table(gamma: float, contrast: float) -> NDArray[np.uint8]:
    """Look-up table of 65,536 entries from linear light to 8 bits.

    With y = x^(1/gamma) the value is 255 · (y + contrast · (3y² − 2y³ − y)), an S-shaped curve.
    """
    y = np.linspace(0, 1, 65536) ** (1 / gamma)
    curve = y + contrast * (3 * y**2 - 2 * y**3 - y)
    return np.rint(255 * curve).astype(np.uint8)


def _detail(plane: Floats) -> Floats:
    """Each value minus the mean of its four neighbours."""
    padded = np.pad(plane, 1, mode="edge")
    around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    return cast(Floats, plane - around / 4)


def develop(
    raw: Floats,
    gains: tuple[float, float, float],
    correction: float,
    saturation: float,
    sharpening: float,
    table: NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """Raw mosaic (height, width) to 8-bit pixels (height, width, 3).

    White balance (clipped at white), demosaicing, colours pulled away from gray by `saturation`,
    `sharpening` times the difference of gray from its four neighbours added to every channel,
    tone curve by look-up in `table`.
    """
    balanced = raw.copy()
    for (row, column), channel in zip(_PHASES, _CHANNELS, strict=True):
        balanced[row::2, column::2] *= np.float32(gains[channel])
    colour = demosaic(np.minimum(balanced, 1, out=balanced), correction)
    gray = colour.mean(axis=0)
    colour *= np.float32(1 + saturation)
    colour += np.float32(sharpening) * _detail(gray) - np.float32(saturation) * gray
    np.clip(colour, 0, 1, out=colour)
    colour *= 65535
    pixels = table[colour.astype(np.uint16)]
    return np.ascontiguousarray(pixels.transpose(1, 2, 0))
