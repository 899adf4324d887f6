"""How a fingerprint is written as bytes: float16, float32, or int8 with a scale."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats
from samecam.errors import SamecamError

Dtype = Literal["float16", "float32", "int8"]

# Kind of number on disk (little-endian) and ending of the shard files.
_KINDS: dict[str, tuple[np.dtype[Any], str]] = {
    "float16": (np.dtype("<f2"), "f16"),
    "float32": (np.dtype("<f4"), "f32"),
    "int8": (np.dtype("i1"), "i8"),
}
DTYPES = tuple(_KINDS)
# Share of values that int8 must represent without clipping.
_KEPT = 0.9999


def check_dtype(name: str) -> None:
    """Raise unless the name is one of the three."""
    if name not in _KINDS:
        raise SamecamError(f"{name!r} is no type of fingerprint: choose {', '.join(_KINDS)}.")


def kind(name: str) -> np.dtype[Any]:
    """Number type on disk."""
    return _KINDS[name][0]


def ending(name: str) -> str:
    """Ending of the names of shard files."""
    return _KINDS[name][1]


def encode(vector: npt.ArrayLike, name: str) -> tuple[npt.NDArray[Any], float]:
    """One vector as it is written, and the scale that belongs to it.

    Floats are written as they are with scale 1. int8: the 99.99 % quantile of |x| is
    mapped to 127, larger values are clipped, and the scale ‖x‖/‖q‖ keeps the norm.
    """
    values = np.ascontiguousarray(vector, dtype=np.float32)
    if name != "int8":
        return values.astype(kind(name)), 1.0
    top = float(np.quantile(np.abs(values), _KEPT)) or float(np.abs(values).max())
    if top == 0:
        return np.zeros(values.shape, dtype=np.int8), 1.0
    whole = np.clip(np.rint(values * np.float32(127 / top)), -127, 127).astype(np.int8)
    norm = np.linalg.norm(whole.astype(np.float64))
    return whole, float(np.linalg.norm(values.astype(np.float64)) / norm)


def decode(raw: npt.NDArray[Any], scale: float, out: Floats) -> None:
    """Write a stored row, or a part of one, as float32 to `out` (contiguous)."""
    if raw.dtype == np.int8:
        np.multiply(raw, np.float32(scale), out=out, casting="unsafe")
    elif raw.dtype == np.float32:
        out[:] = raw
    else:
        from samecam.store._kernels import widen_half

        widen_half(raw.view(np.uint16), out.view(np.uint32), out)
