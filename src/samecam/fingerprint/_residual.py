"""The noise residual of a picture: what the Mıhçak wavelet filter calls noise."""

import threading
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats
from samecam.errors import ParameterValueError
from samecam.fingerprint._rings import Scratch
from samecam.fingerprint._wavelet import LEVELS, MOST_SPINS

GRAY_WEIGHTS = (0.2989, 0.5870, 0.1140)


class Workspace:
    """Work arrays for pictures of one height and width, made once and used again.

    Attributes
    ----------
    plane : (h, w) float32, the channel being filtered and, later, its residual
    low, high : per level, (rows, 2·cols) float32, see `_kernels`
    total_low, total_high : the same, for the weighted sum over channels
    """

    def __init__(self, height: int, width: int) -> None:
        self.shape = (height, width)
        self.plane = np.empty((height, width), dtype=np.float32)
        self.sizes = [(height, width)]
        for _ in range(LEVELS):
            h, w = self.sizes[-1]
            self.sizes.append(((h + 7) // 2, (w + 7) // 2))
        bands = [(h, 2 * w) for h, w in self.sizes[1:]]
        self.low = [np.empty(shape, dtype=np.float32) for shape in bands]
        self.high = [np.empty(shape, dtype=np.float32) for shape in bands]
        self.total_low = [np.empty(shape, dtype=np.float32) for shape in bands]
        self.total_high = [np.empty(shape, dtype=np.float32) for shape in bands]
        cols = max(w for _, w in self.sizes) + 16
        self.scratch = Scratch(
            np.empty((8, cols), dtype=np.float32), *np.empty((2, cols), dtype=np.float32)
        )
        self.squares = np.empty((9, cols), dtype=np.float32)
        self.sums = np.empty((4, cols), dtype=np.float32)
        self.column = np.empty(width, dtype=np.float64)
        self.phases = np.empty((16, 16), dtype=np.float64)


_local = threading.local()


def workspace(height: int, width: int) -> Workspace:
    """Return this thread's work arrays for the given shape (the last shape is kept)."""
    kept: Workspace | None = getattr(_local, "workspace", None)
    if kept is None or kept.shape != (height, width):
        kept = _local.workspace = Workspace(height, width)
    return kept


def noise_residual(image: npt.ArrayLike, *, sigma: float = 3.0, spins: int = 1) -> Floats:
    """Noise residual of a picture, channel by channel.

    Each channel is taken apart by the Daubechies wavelet of length 8 on 4 levels
    with symmetric borders; a detail coefficient c keeps the share
    σ²/(v+σ²), v = min over w ∈ {3,5,7,9} of max(0, mean_w(c²) − σ²) with zero-padded
    w×w means; the approximation band is dropped; the inverse transform of what is
    left is the residual W = I − denoise(I).

    With more than one spin W is the mean over so many grids of the wavelets (cycle spinning,
    Coifman and Donoho 1995): grid k stands k pixels further up and to the left, where the picture
    is continued by its mirror image. Less of the picture is left in the mean.

    Parameters
    ----------
    image : (h, w, c) or (h, w) array on the 0–255 scale, any real type
    sigma : assumed standard deviation of the noise on that scale; the paper does not
        state its value (the published toolboxes use 2 to 5)
    spins : how many grids, 1 to 8; the paper and the published toolboxes have one

    Returns
    -------
    float32 array of the same shape
    """
    pixels = checked_image(image)
    check_sigma(sigma)
    check_spins(spins)
    stack = pixels if pixels.ndim == 3 else pixels[..., np.newaxis]
    out = np.empty(stack.shape, dtype=np.float32)
    for channel in range(stack.shape[2]):
        out[..., channel] = _spun(stack[..., channel : channel + 1], sigma, spins)
    return out if pixels.ndim == 3 else out[..., 0]


def gray_residual(image: npt.ArrayLike, *, sigma: float = 3.0, spins: int = 1) -> Floats:
    """Residual of each channel, then .2989 R + .5870 G + .1140 B of the residuals.

    The transform is linear, so the sum over channels is taken between shrinkage
    and the one inverse transform it then needs.

    Returns
    -------
    float32 (h, w) array that may live in this thread's workspace: use or copy it before
    the next call.
    """
    pixels = checked_image(image)
    check_sigma(sigma)
    check_spins(spins)
    if pixels.ndim == 3 and pixels.shape[2] not in (1, 3):
        raise ValueError(
            f"image has {pixels.shape[2]} channels; give (h, w), (h, w, 1) or (h, w, 3)"
        )
    return _spun(pixels if pixels.ndim == 3 else pixels[..., np.newaxis], sigma, spins)


def gray(image: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """(h, w) gray levels of a picture of one channel or three."""
    if image.ndim == 2:
        return image
    if image.shape[2] == 1:
        return image[..., 0]
    return np.asarray(image @ np.array(GRAY_WEIGHTS, dtype=np.float32), dtype=np.float32)


def _spun(stack: npt.NDArray[np.generic], sigma: float, spins: int) -> Floats:
    """Mean of the gray residuals of (h, w, c) over some grids; of one, in the workspace."""
    if spins == 1:
        return _gray_plane(stack, sigma)
    total = _gray_plane(stack, sigma).copy()
    for shift in range(1, spins):
        shifted = np.pad(stack, ((shift, 0), (shift, 0), (0, 0)), mode="symmetric")
        total += _gray_plane(shifted, sigma)[shift:, shift:]
    total *= np.float32(1 / spins)
    return total


def _gray_plane(stack: npt.NDArray[np.generic], sigma: float) -> Floats:
    work = workspace(*stack.shape[:2])
    if stack.shape[2] == 1:
        _noise_bands(stack, 0, sigma, work)
        _synthesise(work, work.low, work.high)
        return work.plane
    for channel, weight in enumerate(GRAY_WEIGHTS):
        _noise_bands(stack, channel, sigma, work)
        _add_to_total(work, weight, fresh=channel == 0)
    _synthesise(work, work.total_low, work.total_high)
    return work.plane


def checked_image(image: npt.ArrayLike) -> npt.NDArray[np.generic]:
    pixels = np.asarray(image)
    if pixels.ndim not in (2, 3) or 0 in pixels.shape:
        raise ValueError(
            f"image has shape {pixels.shape}; give a picture of shape (h, w) or (h, w, c)"
        )
    if pixels.dtype.kind not in "uif":
        raise ValueError(f"image has dtype {pixels.dtype}; give real numbers on the 0-255 scale")
    if pixels.dtype.kind == "f" and not np.isfinite(pixels).all():
        raise ValueError("image holds NaN or infinite values; give finite numbers")
    if pixels.dtype == np.float16:
        return pixels.astype(np.float32)
    return pixels


def check_sigma(sigma: float) -> None:
    if not (np.isfinite(sigma) and sigma > 0):
        raise ParameterValueError(
            "sigma", f"{{name}} is {sigma!r}; give a positive number (3 is the default)"
        )


def check_spins(spins: int) -> None:
    if not (isinstance(spins, int | np.integer) and 1 <= spins <= MOST_SPINS):
        raise ParameterValueError(
            "spins", f"{{name}} is {spins!r}; give a whole number from 1 to {MOST_SPINS}"
        )


def _noise_bands(
    stack: npt.NDArray[np.generic], channel: int, sigma: float, work: Workspace
) -> None:
    """Transform one channel and shrink its bands; results in `work.low`, `work.high`."""
    from samecam.fingerprint import _kernels as k
    from samecam.fingerprint._planes import take_channel

    take_channel(stack, channel, work.plane)
    variance = np.float32(sigma * sigma)
    source = work.plane
    for level, (h, w) in enumerate(work.sizes[:-1]):
        rows, cols = work.sizes[level + 1]
        low, high = work.low[level], work.high[level]
        k.analyse(source, h, w, low, high, work.scratch)
        k.shrink(low, cols, cols, rows, variance, work.squares, work.sums)
        k.shrink(high, 0, cols, rows, variance, work.squares, work.sums)
        k.shrink(high, cols, cols, rows, variance, work.squares, work.sums)
        source = low
    work.low[-1][:, : work.sizes[-1][1]] = 0.0


def _bands(work: Workspace) -> Iterator[tuple[int, int, int]]:
    for level in range(LEVELS):
        yield level, *work.sizes[level + 1]


def _add_to_total(work: Workspace, weight: float, *, fresh: bool) -> None:
    from samecam.fingerprint._planes import add_scaled

    for level, rows, cols in _bands(work):
        add_scaled(
            work.low[level],
            work.high[level],
            rows,
            2 * cols,
            np.float32(weight),
            work.total_low[level],
            work.total_high[level],
            fresh,
        )


def _synthesise(work: Workspace, low: list[Floats], high: list[Floats]) -> None:
    """Inverse transform of the bands into `work.plane`; the bands are overwritten."""
    from samecam.fingerprint import _kernels as k

    for level in reversed(range(LEVELS)):
        h, w = work.sizes[level]
        target = work.plane if level == 0 else low[level - 1]
        k.synthesise(low[level], high[level], h, w, target, work.scratch)
