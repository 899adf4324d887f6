"""Chance without other cameras: what a camera's fingerprint shows once it is shifted."""

import numpy as np

from samecam import correlate, evidence
from samecam.arrays import Doubles, Floats

# Shifts of squares are multiples of the JPEG block, so that what a grid left still lies on itself;
# and so far apart that neighbouring ones are independent.
STEP = 8
# Shifts of whole frames, by `evidence.shifts`.
SHIFTS = 512
_NEAR = 2
# Values from which their scale is taken as it is measured; small frames have room for fewer.
_ENOUGH = 32
_MAD = 1.482602218505602
_CONFIDENCE = 0.95


def shift_null(values: Doubles, n_pixels: int) -> evidence.Null:
    """The law of correlations with a camera's shifted fingerprint.

    A camera's pattern lies at shift zero alone; other shifts are chance. The scale is the larger
    of their standard deviation and of 1.4826 times their median magnitude, and of fewer than 32
    values at least what is usual; no rate below 3/N is stated for N shifts, and none below 1 where
    there are none.

    Parameters
    ----------
    values : of a photo in some orientations, at some shifts
    n_pixels : length of the fingerprints
    """
    count = len(values)
    scale = max(float(values.std()), _MAD * float(np.median(np.abs(values)))) if count else 0.0
    if not scale > 0:
        count, values = 0, np.zeros(0)
    if count < _ENOUGH:
        scale = max(scale, correlate.usual_scale(n_pixels))
    return evidence.Null(
        group_scale=np.array([scale]),
        scale=scale,
        comparisons=count,
        design_effect=1.0,
        floor=-float(np.log(1 - _CONFIDENCE)) / count if count else 1.0,
        threshold=np.inf,
        tail_share=1.0,
        shape=0.0,
        spread=0.0,
        body_z=np.sort(values) / scale,
        body_p=np.arange(count, 0, -1) / max(count, 1),
        left_out=np.zeros((0, 2), dtype=np.intp),
    )


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
