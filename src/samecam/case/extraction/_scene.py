"""The low-pass picture of each photo, kept in the catalogue to find unmoving scenes by."""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.photos import SIDE, low_pass


def keep_scene(pixels: npt.NDArray[Any]) -> str | None:
    """The low-pass picture of a crop as text, for the catalogue; None if it is too small."""
    if min(pixels.shape[:2]) < SIDE:
        return None
    small = np.clip(np.rint(low_pass(pixels)), 0, 255).astype(np.uint8)
    return base64.b64encode(small.tobytes()).decode("ascii")


def kept_scene(meta: Mapping[str, Any]) -> npt.NDArray[np.float32] | None:
    """What `keep_scene` kept; None if there is nothing, or it is something else."""
    try:
        small = np.frombuffer(base64.b64decode(meta.get("scene") or "", validate=True), np.uint8)
    except (ValueError, TypeError):
        return None
    side = SIDE
    return small.reshape(side, side).astype(np.float32) if small.size == side * side else None
