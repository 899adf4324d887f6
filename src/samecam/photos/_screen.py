"""How much of the used crop can carry a fingerprint at all."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

DARK_LEVEL, DARK_SHARE = 80, 0.75
BRIGHT_LEVEL, WEAK_SHARE, UNUSABLE_SHARE = 250, 0.30, 0.90


@dataclass(frozen=True, slots=True)
class Exposure:
    """Shares of pixels of the crop, by gray level (mean of R, G, B).

    Attributes
    ----------
    dark : share in [0, 80]
    saturated : share at or above 250
    """

    dark: float
    saturated: float

    @property
    def is_dark(self) -> bool:
        """The paper's rule for dark photographs: more than 75 % of pixels in [0, 80]."""
        return self.dark > DARK_SHARE

    @property
    def status(self) -> Literal["good", "weak", "unusable"]:
        """Weak from 30 % of saturated pixels, unusable above 90 %."""
        if self.saturated > UNUSABLE_SHARE:
            return "unusable"
        return "weak" if self.saturated >= WEAK_SHARE else "good"

    @property
    def code(self) -> Literal["over-exposed", ""]:
        """Why the crop is not good, for programs; "" if it is."""
        return "" if self.status == "good" else "over-exposed"

    @property
    def reason(self) -> str:
        """Why the crop is not good, for people; "" if it is."""
        return f"{self.saturated:.1%} of the crop is over-exposed" if self.code else ""


def exposure(pixels: npt.NDArray[Any]) -> Exposure:
    """Exposure of an (h, w, 3) crop on the 0–255 scale."""
    kind = np.uint16 if pixels.dtype == np.uint8 else np.float32
    total = pixels.sum(axis=2, dtype=kind)
    count = total.size
    return Exposure(
        dark=int(np.count_nonzero(total <= 3 * DARK_LEVEL)) / count,
        saturated=int(np.count_nonzero(total >= 3 * BRIGHT_LEVEL)) / count,
    )
