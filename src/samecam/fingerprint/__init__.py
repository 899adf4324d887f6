"""Pixels to fingerprints: one unit-norm vector per photograph.

The room can be called: ``samecam.fingerprint("photo.jpg")`` is `fingerprint_photo`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Unpack

import numpy.typing as npt

from samecam.arrays import Floats
from samecam.fingerprint._fingerprint import (
    Fingerprints,
    NoResidualError,
    Preset,
    Steps,
    fingerprint,
    fingerprints,
)
from samecam.fingerprint._frame import FrameKind, FrameRow, frame_row, frame_rows
from samecam.fingerprint._photo import fingerprint_photo
from samecam.fingerprint._residual import noise_residual
from samecam.fingerprint._spectrum import equalise
from samecam.fingerprint._wavelet import MOST_SPINS, SPINS
from samecam.inputs import PathLike
from samecam.photos import Portrait

__all__ = [
    "MOST_SPINS",
    "SPINS",
    "Fingerprints",
    "FrameKind",
    "FrameRow",
    "NoResidualError",
    "Preset",
    "Steps",
    "equalise",
    "fingerprint",
    "fingerprint_photo",
    "fingerprints",
    "frame_row",
    "frame_rows",
    "noise_residual",
]


class FingerprintModule(ModuleType):
    """The module itself, which can also be called.

    `samecam.fingerprint` has to be two things: the room, because importing any part of it
    puts the room there, and the function that users of the library look for under that name.
    A function in its place would be replaced by the room with the first such import; so the
    room stays, whoever imports what first, and takes the call.
    """

    def __call__(
        self,
        photo: PathLike | npt.ArrayLike,
        *,
        size: int | None = None,
        offset: tuple[int, int] = (0, 0),
        portrait: Portrait = "keep",
        **steps: Unpack[Steps],
    ) -> Floats:
        """See `fingerprint_photo`."""
        return fingerprint_photo(photo, size=size, offset=offset, portrait=portrait, **steps)

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        """By name, so that ``pool.map(samecam.fingerprint, files)`` works."""
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = FingerprintModule
