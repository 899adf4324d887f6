"""Numba kernel for the autocorrelation of patches."""

import numpy as np
import numpy.typing as npt

from samecam.compute import jit


@jit(nogil=True)
def lagged_products(
    patches: npt.NDArray[np.int16], lags: int, phases: int, out: npt.NDArray[np.int64]
) -> None:
    """Add up products of pixels, by lag and by the phase of the first pixel in the patch.

    Parameters
    ----------
    patches : (k, h, w) values within ±127
    lags : the largest, less than h and w
    phases : along an axis
    out : (lags + 1, 2 · lags + 1, phases, phases), added to: lag down, lag across from −lags on
    """
    count, height, width = patches.shape
    sums = np.empty(width, dtype=np.int32)
    for k in range(count):
        for dy in range(lags + 1):
            for dx in range(-lags if dy else 0, lags + 1):
                low, size = max(0, -dx), width - abs(dx)
                part = sums[:size]
                for a in range(phases):
                    part[:] = 0
                    for y in range(a, height - dy, phases):
                        first = patches[k, y, low : low + size]
                        second = patches[k, y + dy, low + dx : low + dx + size]
                        for x in range(size):
                            part[x] += np.int32(first[x]) * np.int32(second[x])
                    for x in range(size):
                        out[dy, lags + dx, a, (low + x) % phases] += part[x]
