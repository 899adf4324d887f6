"""How much of the used part of a photo can carry a fingerprint at all."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

DARK_LEVEL, DARK_SHARE = 80, 0.75
BRIGHT_LEVEL, WEAK_SHARE, UNUSABLE_SHARE = 250, 0.30, 0.90
# Of a picture that looks drawn: pixels that equal their neighbours, but for black and white ones,
# and pixels without residual that are not saturated either (benchmarks/copies.py).
EVEN_SHARE, DRAWN_SHARE = 0.7, 0.1
_BLACK = 1
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
    even : share that equals the pixels to the right and below, of those that are neither black nor
        white, where that is known
    whole : of the whole picture, not of a crop
    """

    dark: float
    saturated: float
    flat: float = 0.0
    even: float = 0.0
    whole: bool = False

    @property
    def is_dark(self) -> bool:
        """The paper's rule for dark photographs: more than 75 % of pixels in [0, 80]."""
        return self.dark > DARK_SHARE

    @property
    def is_drawn(self) -> bool:
        """Whether it looks like a graphic or a screenshot: much of it is even, and flat."""
        return self.even > EVEN_SHARE and self.flat - self.saturated > DRAWN_SHARE

    @property
    def status(self) -> Literal["good", "weak", "unusable"]:
        """Weak from 30 % of saturated pixels, unusable above 90 % of saturated or flat ones.

        What looks like a graphic is weak too: it may join a group and found none.
        """
        if max(self.saturated, self.flat) > UNUSABLE_SHARE:
            return "unusable"
        return "weak" if self.saturated >= WEAK_SHARE or self.is_drawn else "good"

    @property
    def code(self) -> Literal["over-exposed", "flat", "graphic", ""]:
        """Why the photo is not good, for programs; "" if it is."""
        if self.status == "good":
            return ""
        if self.status == "unusable":
            return "over-exposed" if self.saturated > UNUSABLE_SHARE else "flat"
        return "over-exposed" if self.saturated >= WEAK_SHARE else "graphic"

    @property
    def reason(self) -> str:
        """Why the photo is not good, for people; "" if it is."""
        part = "picture" if self.whole else "crop"
        if self.code == "flat":
            return f"{self.flat:.1%} of the {part} is flat"
        if self.code == "graphic":
            return f"looks like a graphic: {self.even:.1%} of the {part} is even"
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
    dark = saturated = even = lit = 0
    step = max(1, _BAND // pixels.shape[1])
    for top in range(0, len(pixels), step):
        band = pixels[top : top + step]
        dark += int(np.count_nonzero(band <= DARK_LEVEL))
        saturated += int(np.count_nonzero(band >= CLIPPED_LUMA))
        among, same = _even(pixels[top : top + step + 1])
        even, lit = even + same, lit + among
    shares = dark / pixels.size, saturated / pixels.size
    return Exposure(*shares, even=even / max(lit, 1), whole=True)


def _even(band: npt.NDArray[Any]) -> tuple[int, int]:
    """Pixels of a band, but for its last row, neither black nor white; and how many are even."""
    here = band[:-1, :-1]
    lit = (here > _BLACK) & (here < CLIPPED_LUMA)
    same = (here == band[:-1, 1:]) & (here == band[1:, :-1]) & lit
    return int(np.count_nonzero(lit)), int(np.count_nonzero(same))
