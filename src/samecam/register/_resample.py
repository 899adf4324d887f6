"""A pattern as another view of its sensor would show it."""

import threading
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats, Table
from samecam.frames import Frame
from samecam.register._view import View, centre, square_radius

_local = threading.local()
# Scale from which a picture is first made smaller.
_REDUCED = 1.1

Pattern = npt.NDArray[Any]  # (height, width), int8 or float32


def reduced(pattern: Pattern, scale: float, shape: tuple[int, int]) -> Floats:
    """The middle of a pattern, `scale` times smaller.

    Cubic interpolation whose reach grows with the scale, so that nothing is aliased.

    Parameters
    ----------
    pattern : (h, w)
    scale : pixels of the pattern in one of the result, each way
    shape : height and width of the result; 0 where the pattern has ended
    """
    out = np.empty(shape[::-1], dtype=np.float32)
    reduce_into(pattern, scale, shape, out)
    return out.T


def reduce_into(pattern: Pattern, scale: float, shape: tuple[int, int], out: Floats) -> None:
    """As `reduced`, column by column, into an array that may have longer rows."""
    from samecam.register._kernels import BAND, reduce_both
    from samecam.register._vectors import SIDE

    lines = taps(pattern.shape[0], scale, shape[0])
    columns = taps(pattern.shape[1], scale, shape[1])
    low = max(int(columns[0].min()), 0)
    width = max(min(int(columns[0].max()) + columns[1].shape[1], pattern.shape[1]) - low, 0)
    wide = width + SIDE
    work = line_buffer("part", BAND, wide), _buffer("turned", wide * BAND).reshape(wide, BAND)
    reduce_both(np.ascontiguousarray(pattern), low, width, lines, columns, work, out)


def line_buffer(name: str, height: int, width: int) -> Floats:
    """As many lines, and longer ones: they must not all begin at one place of the cache."""
    wide = width - width % 32 + 48
    return _buffer(name, height * wide).reshape(height, wide)


def _buffer(name: str, size: int) -> Floats:
    """Memory of that name and thread, with what is left in it."""
    kept: Floats | None = getattr(_local, name, None)
    if kept is None or kept.size < size:
        kept = np.empty(size, dtype=np.float32)
        setattr(_local, name, kept)
    return kept[:size]


@lru_cache(maxsize=1024)  # all photos of a frame are reduced by the same scales
def taps(size: int, scale: float, n: int) -> tuple[Table, Floats]:
    """First source pixel and weights, fours of them, of each of n results about the middle."""
    reach = max(scale, 1.0)
    at = (np.arange(n) - (n - 1) / 2) * scale + (size - 1) / 2
    first = np.ceil(at - 2 * reach).astype(np.int64)
    k = first[:, np.newaxis] + np.arange(4 * (int(np.ceil(4 * reach)) // 4 + 1))
    weights = _cubic(np.abs(k - at[:, np.newaxis]) / reach)
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-9)
    weights[(k < 0) | (k >= size)] = 0
    outside = (at < -0.5) | (at > size - 0.5)
    weights[outside] = 0
    return first, weights.astype(np.float32)


def _cubic(t: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    near = (1.5 * t - 2.5) * t**2 + 1
    far = ((-0.5 * t + 2.5) * t - 4) * t + 2
    return np.where(t < 1, near, np.where(t < 2, far, 0.0))


def upright(picture: Pattern, view: View) -> tuple[Pattern, float]:
    """The pattern of a sensor of which a picture is given, and how much smaller it was made.

    A picture at a zoom is made smaller here, so that nothing is aliased later.
    """
    flat = np.ascontiguousarray(unturned(picture, view.turn, view.mirrored))
    if view.scale <= _REDUCED:
        return flat, 1.0
    shape = (int(flat.shape[0] / view.scale), int(flat.shape[1] / view.scale))
    return reduced(flat, view.scale, shape), view.scale


def warped(picture: Pattern, view: View, frame: Frame) -> Floats:
    """A picture's pattern in the frame of the camera that it sees; 0 where it sees nothing."""
    from samecam.register._kernels import warp

    flat, zoom = upright(picture, view)
    out = np.empty(frame.shape, dtype=np.float32)
    x, y = centre(frame) + np.array(view.shift)
    radial = view.radial / square_radius(frame)
    warp(np.ascontiguousarray(flat), -float(y), -float(x), view.scale / zoom, radial, out)
    return out


def turned(pattern: Pattern, turn: int, mirrored: bool) -> Pattern:
    """A picture of a sensor whose pattern is given, mirrored first, then turned clockwise."""
    some = pattern[:, ::-1] if mirrored else pattern
    return np.rot90(some, -(turn // 90))


def unturned(pattern: Pattern, turn: int, mirrored: bool) -> Pattern:
    """The pattern of a sensor of which a turned picture is given."""
    some = np.rot90(pattern, turn // 90)
    return some[:, ::-1] if mirrored else some


def middle(pattern: Pattern, shape: tuple[int, int], dx: int = 0, dy: int = 0) -> Pattern:
    """The middle of a pattern, moved by some pixels; 0 beyond its ends."""
    top = (pattern.shape[0] - shape[0]) // 2 + dy
    left = (pattern.shape[1] - shape[1]) // 2 + dx
    out = np.zeros(shape, dtype=pattern.dtype)
    y0, y1 = max(top, 0), min(top + shape[0], pattern.shape[0])
    x0, x1 = max(left, 0), min(left + shape[1], pattern.shape[1])
    if y0 < y1 and x0 < x1:
        out[y0 - top : y1 - top, x0 - left : x1 - left] = pattern[y0:y1, x0:x1]
    return out
