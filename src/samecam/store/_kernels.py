"""Numba kernels of the store: widening of half-precision numbers."""

import numpy as np
import numpy.typing as npt

from samecam.compute import jit

_SIGN, _REST = np.uint32(0x8000), np.uint32(0x7FFF)
_SCALE = np.float32(2.0**112)


@jit(nogil=True)
def widen_half(
    bits: npt.NDArray[np.uint16], words: npt.NDArray[np.uint32], out: npt.NDArray[np.float32]
) -> None:
    """Write half-precision numbers, given by their bits, to `out`; `words` is `out` as uint32.

    Sign and the other 15 bits are moved to their places in a float32, whose exponent is
    then 112 too small. Exact for all finite numbers, the tiniest included; NaN and
    infinity do not occur in a store.
    """
    for i in range(bits.size):
        half = np.uint32(bits[i])
        words[i] = ((half & _SIGN) << np.uint32(16)) | ((half & _REST) << np.uint32(13))
    for i in range(bits.size):
        out[i] *= _SCALE
