"""Optional clean-up of a residual in the Fourier domain."""

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats

WINDOW = 15
PEAK = 3.0


def wiener(residual: Floats) -> Floats:
    """Suppress periodic peaks: F ← F·M′/M with M = |F|/√(hw).

    M′ is the part of M that the four-window filter of the denoiser, with σ the
    standard deviation of the residual, calls noise.
    """
    from samecam.fingerprint import _kernels as k

    h, w = residual.shape
    spectrum = np.fft.fft2(residual)
    magnitude = np.ascontiguousarray(np.abs(spectrum) / np.sqrt(h * w), dtype=np.float32)
    flat = magnitude.copy()
    squares = np.empty((9, w + 8), dtype=np.float32)
    sums = np.empty((4, w + 8), dtype=np.float32)
    k.shrink(flat, 0, w, h, np.float32(max(residual.var(), 1e-12)), squares, sums)
    return _rescaled(spectrum, magnitude, flat)


def equalise(residual: Floats) -> Floats:
    """Spectrum equalisation: magnitudes over 3 × the local mean are set to that mean.

    The local mean is over 15×15 frequencies (cyclic) without the one in question;
    phases stay. The publication's window and factor were not available; these are ours.
    """
    from scipy.ndimage import uniform_filter

    spectrum = np.fft.fft2(residual)
    magnitude = np.abs(spectrum).astype(np.float32)
    count = WINDOW * WINDOW
    local = uniform_filter(magnitude, WINDOW, mode="wrap")
    mean = np.maximum((local * count - magnitude) / (count - 1), 0)
    return _rescaled(spectrum, magnitude, np.where(magnitude > PEAK * mean, mean, magnitude))


def _rescaled(spectrum: npt.NDArray[np.complexfloating], old: Floats, new: Floats) -> Floats:
    ratio = np.divide(new, old, out=np.zeros_like(old), where=old > 0)
    return np.real(np.fft.ifft2(spectrum * ratio)).astype(np.float32)
