"""Chance without other cameras: what a camera's fingerprint shows once it is shifted."""

from collections.abc import Sequence

import numpy as np

from samecam import correlate, evidence
from samecam.arrays import Doubles, Floats

# Shifts are multiples of the JPEG block, so that what a grid left still lies on itself; and so
# far apart that neighbouring ones are independent.
STEP = 8
_NEAR = 2
_MAD = 1.482602218505602
_CONFIDENCE = 0.95


def shift_null(vectors: Sequence[Floats] | Floats, camera: Floats) -> evidence.Null:
    """The law of correlations of a photo's views with shifted fingerprints of a camera.

    C is the circular cross-correlation of a view with the camera's fingerprint, both square
    and of unit norm. A camera's pattern lies at shift zero alone; all shifts by multiples of
    8 pixels in both directions, but for those within 16 of zero, are chance. The scale is
    the larger of their standard deviation and of 1.4826 times their median magnitude; no
    rate below 3/N is stated for N shifts.

    Parameters
    ----------
    vectors : square fingerprints of the photo, one for each orientation
    camera : fingerprint of the camera, of the same length; its scale does not matter
    """
    values = np.concatenate([_shifted(vector, camera) for vector in vectors])
    count = len(values)
    scale = max(float(values.std()), _MAD * float(np.median(np.abs(values)))) if count else 0.0
    if not scale > 0:
        return _nothing(camera)
    rising = np.sort(values) / scale
    return evidence.Null(
        group_scale=np.array([scale]),
        scale=scale,
        comparisons=count,
        design_effect=1.0,
        floor=-float(np.log(1 - _CONFIDENCE)) / count,
        threshold=np.inf,
        tail_share=1.0,
        shape=0.0,
        spread=0.0,
        body_z=rising,
        body_p=np.arange(count, 0, -1) / count,
        left_out=np.zeros((0, 2), dtype=np.intp),
    )


def _shifted(vector: Floats, camera: Floats) -> Doubles:
    """Correlations at the shifts that count."""
    from scipy.fft import irfft2, rfft2

    side = round(vector.size**0.5)
    plane = (side, side)
    spectrum = rfft2(vector.reshape(plane)) * np.conj(rfft2(camera.reshape(plane)))
    norm = float(np.linalg.norm(vector)) * float(np.linalg.norm(camera))
    grid = np.asarray(irfft2(spectrum, s=plane)[::STEP, ::STEP], dtype=np.float64)
    steps = np.arange(grid.shape[0])
    near = np.minimum(steps, len(steps) - steps) <= _NEAR
    return np.asarray(grid[~np.outer(near, near)] / max(norm, 1e-12))


def _nothing(camera: Floats) -> evidence.Null:
    """Too small for any shift, or no fingerprint at all: no rate below 1 is stated."""
    empty = np.zeros(0)
    scale = correlate.usual_scale(camera.size)
    none = np.zeros((0, 2), dtype=np.intp)
    return evidence.Null(
        np.array([scale]), scale, 0, 1.0, 1.0, np.inf, 1.0, 0.0, 0.0, empty, empty, none
    )
