"""The pattern of a group, or of one photo: what is registered."""

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats

_STEPS = 24  # of a byte in one root mean square


def as_pattern(values: npt.NDArray[np.floating] | npt.NDArray[np.integer]) -> npt.NDArray[np.int8]:
    """A fingerprint without what changes slowly over the picture, a byte a pixel.

    Parameters
    ----------
    values : (h, w) a residual, or a sum of such
    """
    from samecam.register._kernels import subtract_means, to_bytes

    some: Floats = np.ascontiguousarray(values, dtype=np.float32)
    left, pattern = np.empty_like(some), np.empty(some.shape, dtype=np.int8)
    rms = (subtract_means(some, left) / some.size) ** 0.5
    to_bytes(left, np.float32(_STEPS / max(rms, 1e-30)), pattern)
    return pattern
