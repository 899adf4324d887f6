"""How much of the used part of a photo can carry a fingerprint at all."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

DARK_LEVEL, DARK_SHARE = 80, 0.75
BRIGHT_LEVEL, WEAK_SHARE, UNUSABLE_SHARE = 250, 0.30, 0.90
# Luma of a pixel whose colours are all clipped; of one with two of them it is below.
CLIPPED_LUMA = 254
_BAND = 2**20  # pixels that are compared at a time


@dataclass(frozen=True, slots=True)
class Exposure:
    """Shares of pixels by gray level: mean of R, G, B of a crop, luma of a whole picture.

    Attributes
    ----------
    dark : share in [0, 80]
    saturated : share at or above 250, of luma at or above 254
    flat : share without a noise residual, where that is known
    whole : of the whole picture, not of a crop
    """

    dark: float
    saturated: float
    flat: float = 0.0
    whole: bool = False

    @property
    def is_dark(self) -> bool:
        """The paper's rule for dark photographs: more than 75 % of pixels in [0, 80]."""
        return self.dark > DARK_SHARE

    @property
    def status(self) -> Literal["good", "weak", "unusable"]:
        """Weak from 30 % of saturated pixels, unusable above 90 % of saturated or flat ones."""
        if max(self.saturated, self.flat) > UNUSABLE_SHARE:
            return "unusable"
        return "weak" if self.saturated >= WEAK_SHARE else "good"

    @property
    def code(self) -> Literal["over-exposed", "flat", ""]:
        """Why the photo is not good, for programs; "" if it is."""
        if self.status == "good":
            return ""
        least = UNUSABLE_SHARE if self.status == "unusable" else 0.0
        return "over-exposed" if self.saturated > least else "flat"

    @property
    def reason(self) -> str:
        """Why the photo is not good, for people; "" if it is."""
        part = "picture" if self.whole else "crop"
        if self.code == "flat":
            return f"{self.flat:.1%} of the {part} is flat"
        return f"{self.saturated:.1%} of the {part} is over-exposed" if self.code else ""


def exposure(pixels: npt.NDArray[Any]) -> Exposure:
    """Exposure of an (h, w, 3) crop on the 0–255 scale."""
    kind = np.uint16 if pixels.dtype == np.uint8 else np.float32
    total = pixels.sum(axis=2, dtype=kind)
    count = total.size
    return Exposure(
        dark=int(np.count_nonzero(total <= 3 * DARK_LEVEL)) / count,
        saturated=int(np.count_nonzero(total >= 3 * BRIGHT_LEVEL)) / count,
    )


def frame_exposure(pixels: npt.NDArray[Any]) -> Exposure:
    """Exposure of a whole picture, (h, w) luma on the 0–255 scale."""
    dark = saturated = 0
    step = max(1, _BAND // pixels.shape[1])
    for top in range(0, len(pixels), step):
        band = pixels[top : top + step]
        dark += int(np.count_nonzero(band <= DARK_LEVEL))
        saturated += int(np.count_nonzero(band >= CLIPPED_LUMA))
    return Exposure(dark / pixels.size, saturated / pixels.size, whole=True)
