"""Names for the arrays that pass between rooms.

Rows are photographs: a matrix of fingerprints is (n_photos, n_pixels), a Gram matrix (n, n).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "AnyFloats",
    "Doubles",
    "Floats",
    "Gram",
    "Labels",
    "Mask",
    "Pixels",
    "Rows",
    "Table",
    "Words",
]

Doubles = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]
AnyFloats = npt.NDArray[np.floating]  # of any precision
Gram = npt.NDArray[np.floating]  # (n, n), correlations of n photos
Labels = npt.NDArray[np.intp]  # (n,), group of each photo; −1 is none
Rows = npt.NDArray[np.intp]  # numbers of rows
Table = npt.NDArray[np.int64]  # numbers of pixels
Mask = npt.NDArray[np.bool_]
Pixels = npt.NDArray[Any]  # (height, width, 3) or (height, width)
Words = npt.NDArray[np.uint64]  # 64 pixels, a bit of each; see `samecam.store`
