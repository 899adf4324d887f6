"""Rows of pictures that were enlarged: their noise is smooth."""

import numpy as np
from scipy.ndimage import zoom


def enlarged(noise, factor):
    """A plane (h, w) of noise of which the middle is enlarged."""
    if factor == 1:
        return noise
    side = len(noise)
    part = -(-side // factor)
    return zoom(noise[:part, :part], factor, order=3)[:side, :side]


def smooth_rows(count, factor, *, seed, side=128, pattern=None, strength=0.0):
    """(count, side²) rows of ±1, with a pattern in common if one is given."""
    rng = np.random.default_rng(seed)
    planes = rng.standard_normal((count, side, side))
    if pattern is not None:
        planes += strength * pattern
    return np.array([np.sign(enlarged(plane, factor)).ravel() for plane in planes])


def colours_of(rows):
    """How smooth each is."""
    from samecam.fingerprint._colour import colour

    side = round(rows.shape[1] ** 0.5)
    return np.array([colour(row.astype(np.int8), (side, side)) for row in rows])
