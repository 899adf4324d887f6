"""Exposure: how bright a scene is photographed, ordinary or meant to be hard."""

from enum import Enum

import numpy as np
from numpy.typing import NDArray

__all__ = ["CORNER", "Kind", "gain", "kind_at"]

CORNER = 512
"""Side of the top-left corner in which the share of saturated pixels is set."""

DARK_SHARE, OVEREXPOSED_SHARE, WHITE_SHARE = 0.10, 0.07, 0.004


class Kind(Enum):
    """What a photo is like: ordinary, dark, over-exposed, or white all over."""

    ORDINARY = "ordinary"
    DARK = "dark"
    OVEREXPOSED = "overexposed"
    WHITE = "white"


def kind_at(place: float) -> Kind:
    """Kind of the photo at a place in [0, 1): 10 % dark, 7 % over-exposed, .4 % white."""
    limits = np.cumsum([DARK_SHARE, OVEREXPOSED_SHARE, WHITE_SHARE])
    kinds = (Kind.DARK, Kind.OVEREXPOSED, Kind.WHITE, Kind.ORDINARY)
    return kinds[int(np.searchsorted(limits, place, side="right"))]


def gain(
    rng: np.random.Generator, light: NDArray[np.float32], kind: Kind, table: NDArray[np.uint8]
) -> float:
    """Return the factor that exposes `light` (3, height, width) as its kind asks; white is 1.

    - ordinary: the median luminance of the picture comes to .15 – .30, unless a fifth of the
      corner would then exceed 0.9;
    - dark: the 83 – 97 % point of luminance, over the picture and over the corner, comes to a
      value between 30 and 66 of 255, so that more than 75 % of the pixels lie in [0, 80];
    - over-exposed: 34 – 80 % of the corner is clipped in all channels;
    - white: everything is.
    """
    sparse = light[:, ::6, ::6]
    corner = light[:, :CORNER:4, :CORNER:4]
    if kind is Kind.WHITE:
        return 1.6 / float(light.min())
    if kind is Kind.OVEREXPOSED:
        share = rng.uniform(0.34, 0.80)
        return 1.0 / float(np.quantile(corner.min(axis=0), 1 - share))
    if kind is Kind.DARK:
        share, level = rng.uniform(0.83, 0.97), rng.uniform(30, 66)
        target = np.searchsorted(table, level) / (table.size - 1)
        brightest = max(float(np.quantile(part.mean(axis=0), share)) for part in (sparse, corner))
        return float(target) / brightest
    wanted = rng.uniform(0.15, 0.30) / float(np.median(sparse.mean(axis=0)))
    return float(min(wanted, 0.9 / float(np.quantile(corner.mean(axis=0), 0.8))))
