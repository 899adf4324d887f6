"""The pattern of a group, or of one photo: what is registered."""

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats

_STEPS = 24  # of a byte in one root mean square
_SMOOTH = 15  # pixels each way of the local mean that is subtracted


def as_pattern(values: npt.NDArray[np.floating] | npt.NDArray[np.integer]) -> npt.NDArray[np.int8]:
    """A fingerprint without what changes slowly over the picture, a byte a pixel.

    Parameters
    ----------
    values : (h, w) a residual, or a sum of such
    """
    from scipy.ndimage import uniform_filter

    some: Floats = np.asarray(values, dtype=np.float32)
    some = some - uniform_filter(some, _SMOOTH, mode="nearest")
    rms = float(np.sqrt(np.square(some).mean(dtype=np.float64)))
    some *= np.float32(_STEPS / max(rms, 1e-30))
    np.rint(some, out=some)
    return np.clip(some, -127, 127, out=some).astype(np.int8)
