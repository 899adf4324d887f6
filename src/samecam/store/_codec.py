"""How a fingerprint is written as bytes: floats, int8 with a scale, or one or two bits a pixel."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats
from samecam.errors import SamecamError
from samecam.frames import Frame

Dtype = Literal["bits", "2bits", "float16", "float32", "int8"]
DtypeChoice = Dtype | Literal["auto"]

# Kind of number on disk (little-endian) and ending of the shard files.
_KINDS: dict[str, tuple[np.dtype[Any], str]] = {
    "float16": (np.dtype("<f2"), "f16"),
    "float32": (np.dtype("<f4"), "f32"),
    "int8": (np.dtype("i1"), "i8"),
    "2bits": (np.dtype("<u8"), "2bits"),
    "bits": (np.dtype("<u8"), "bits"),
}
DTYPES = tuple(_KINDS)
# Pixels of a frame from which "auto" is two bits a pixel, and one; below it is int8. Measured by
# benchmarks/quantised.py and benchmarks/recompressed.py.
TWO_BITS_FROM = 4_000_000
BITS_FROM = 20_000_000
# Share of values that int8 must represent without clipping.
_KEPT = 0.9999


def check_dtype(name: str) -> None:
    """Raise unless the name is one of those there are."""
    if name not in (*_KINDS, "auto"):
        raise SamecamError(f"{name!r} is no type of fingerprint: choose auto, {', '.join(_KINDS)}.")


def frame_dtype(frame: Frame, choice: DtypeChoice) -> Dtype:
    """Number type of the rows of a frame: as chosen, or by its size."""
    if choice != "auto":
        return choice
    if frame.n_pixels >= BITS_FROM:
        return "bits"
    return "2bits" if frame.n_pixels >= TWO_BITS_FROM else "int8"


def planes(name: str) -> int:
    """Bits a pixel of rows of bits; 0 of others."""
    return {"bits": 1, "2bits": 2}.get(name, 0)


def items(n_pixels: int, name: str) -> int:
    """Numbers of a row on disk: pixels, or words of 64, one for each bit that a pixel has."""
    return planes(name) * -(-n_pixels // 64) or n_pixels


def kind(name: str) -> np.dtype[Any]:
    """Number type on disk."""
    return _KINDS[name][0]


def ending(name: str) -> str:
    """Ending of the names of shard files."""
    return _KINDS[name][1]


def endings() -> set[str]:
    """All of them."""
    return {ending for _, ending in _KINDS.values()}


def encode(vector: npt.ArrayLike, name: str) -> tuple[npt.NDArray[Any], float]:
    """One vector as it is written, and the scale that belongs to it.

    Floats are written as they are with scale 1. int8: the 99.99 % quantile of |x| is
    mapped to 127, larger values are clipped, and the scale ‖x‖/‖q‖ keeps the norm. One bit
    is the sign, whatever the norm, with the scale 1/√d; a second one says whether |x| is at most
    the root mean square, and the scale makes the norm 1.
    """
    values = np.ascontiguousarray(vector, dtype=np.float32)
    if planes(name):
        from samecam.store._bits import pack, pair_scales

        signs = values[np.newaxis] > 0
        if planes(name) == 1:
            return pack(signs)[0], float(1 / np.sqrt(values.size))
        rms = np.sqrt(np.square(values, dtype=np.float64).mean())
        words = pack(signs, np.abs(values[np.newaxis]) <= rms)
        return words[0], float(pair_scales(words, values.size)[0])
    if name != "int8":
        return values.astype(kind(name)), 1.0
    top = float(np.quantile(np.abs(values), _KEPT)) or float(np.abs(values).max())
    if top == 0:
        return np.zeros(values.shape, dtype=np.int8), 1.0
    whole = np.clip(np.rint(values * np.float32(127 / top)), -127, 127).astype(np.int8)
    norm = np.linalg.norm(whole.astype(np.float64))
    return whole, float(np.linalg.norm(values.astype(np.float64)) / norm)


def decode(raw: npt.NDArray[Any], scale: float, out: Floats) -> None:
    """Write a stored row, or a part of one, as float32 to `out` (contiguous); no bits."""
    if raw.dtype == np.int8:
        np.multiply(raw, np.float32(scale), out=out, casting="unsafe")
    elif raw.dtype == np.float32:
        out[:] = raw
    else:
        from samecam.store._kernels import widen_half

        widen_half(raw.view(np.uint16), out.view(np.uint32), out)
