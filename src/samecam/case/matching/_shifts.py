"""Correlations of squares with a camera's fingerprint once it is shifted."""

import numpy as np

from samecam.arrays import Doubles, Floats

# Shifts are multiples of the JPEG block, so that what a grid left still lies on itself; and so far
# apart that neighbouring ones are independent.
STEP = 8
_NEAR = 2


def square_shifts(vector: Floats, camera: Floats) -> Doubles:
    """Correlations of square fingerprints at shifts by multiples of 8 pixels in both directions.

    They are those of the circular cross-correlation, but for what is within 16 pixels of zero.

    Parameters
    ----------
    vector, camera : of one length; their scales do not matter
    """
    from scipy.fft import irfft2, rfft2

    side = round(vector.size**0.5)
    plane = (side, side)
    spectrum = rfft2(vector.reshape(plane)) * np.conj(rfft2(camera.reshape(plane)))
    norm = float(np.linalg.norm(vector)) * float(np.linalg.norm(camera))
    grid = np.asarray(irfft2(spectrum, s=plane)[::STEP, ::STEP], dtype=np.float64)
    steps = np.arange(grid.shape[0])
    near = np.minimum(steps, len(steps) - steps) <= _NEAR
    return np.asarray(grid[~np.outer(near, near)] / max(norm, 1e-12))
