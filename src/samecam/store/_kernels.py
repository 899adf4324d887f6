"""Numba kernels of the store: half-precision numbers, and bits, to float32."""

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


@jit(nogil=True)
def unpack_bits(
    words: npt.NDArray[np.uint64], first: int, scale: np.float32, out: npt.NDArray[np.float32]
) -> None:
    """Write bits from bit `first` of the first word on to `out`: +scale for 1, −scale for 0."""
    width = out.shape[1]
    for i in range(out.shape[0]):
        for word in range((first + width + 63) // 64):
            bits, at = words[i, word], 64 * word - first
            if at >= 0 and at + 64 <= width:
                for k in range(64):
                    one = (bits >> np.uint64(k)) & np.uint64(1)
                    out[i, at + k] = scale if one else -scale
            else:
                for k in range(max(-at, 0), min(64, width - at)):
                    one = (bits >> np.uint64(k)) & np.uint64(1)
                    out[i, at + k] = scale if one else -scale


@jit(nogil=True)
def unpack_pairs(
    words: npt.NDArray[np.uint64],
    first: int,
    scales: npt.NDArray[np.float32],
    out: npt.NDArray[np.float32],
) -> None:
    """As `unpack_bits` of two bits a pixel: ±3 · scale, or ±scale where the second bit is 1."""
    one, width = np.uint64(1), out.shape[1]
    for i in range(out.shape[0]):
        small, large = scales[i], np.float32(3.0) * scales[i]
        for word in range((first + width + 63) // 64):
            signs, smalls, at = words[i, 2 * word], words[i, 2 * word + 1], 64 * word - first
            if at >= 0 and at + 64 <= width:
                for k in range(64):
                    size = small if (smalls >> np.uint64(k)) & one else large
                    out[i, at + k] = size if (signs >> np.uint64(k)) & one else -size
            else:
                for k in range(max(-at, 0), min(64, width - at)):
                    size = small if (smalls >> np.uint64(k)) & one else large
                    out[i, at + k] = size if (signs >> np.uint64(k)) & one else -size
