"""The known cameras of the photos that parameters are chosen on."""

from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Labels


def numbers(cameras: npt.ArrayLike, n: int) -> Labels:
    """Cameras by number; refuses what does not fit `n` photos, and a single camera."""
    given: npt.NDArray[Any] = np.asarray(cameras)
    if given.shape != (n,):
        raise ValueError(f"cameras has shape {given.shape}; give one for each of {n} photos")
    names, result = np.unique(given, return_inverse=True)
    if len(names) < 2:
        raise ValueError(f"the photos are of {len(names)} camera; give those of two or more")
    return result.astype(np.intp)
