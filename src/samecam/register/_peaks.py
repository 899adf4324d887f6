"""The coarse search: the middle of one pattern, at all scales, against that of others."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from samecam import correlate
from samecam.arrays import Doubles, Floats
from samecam.register._pieces import Piece
from samecam.register._rows import Place, Turning, placed_rows, places, scaled_rows
from samecam.register._view import View
from samecam.store import BitRows

UPRIGHT = Turning(0, mirrored=False)
# Chance peaks of a pair of patterns that are looked at more closely.
_LOOKED_AT = 0.1
# Neighbouring scales in which one peak is seen.
_WIDE = 4
# Neighbouring scales over which chance is measured.
_USUAL = 41
_MAD = 1.4826  # standard deviations of a normal law in its median absolute deviation


@dataclass(frozen=True)
class Scales:
    """Scales that are searched, and how.

    Attributes
    ----------
    values : pixels of the picture in one of the camera
    side : of the middle that is compared
    reach : shifts in pixels, each way
    turnings : turns of the picture that are tried
    whole : whether a scale, if it is right, holds for the whole frame
    """

    values: Doubles
    side: int
    reach: int
    turnings: tuple[Turning, ...]
    whole: bool = False

    @property
    def positions(self) -> int:
        """Places at which a pair is compared."""
        return len(self.values) * len(self.turnings) * (2 * self.reach + 1) ** 2


class Peak(NamedTuple):
    """A place at which two patterns look alike.

    Attributes
    ----------
    picture, camera : numbers
    view : with the score of the middle, in units of chance
    whole : see `Scales`
    """

    picture: int
    camera: int
    view: View
    whole: bool


def peaks(
    pictures: Sequence[tuple[int, Piece]],
    cameras: Sequence[tuple[int, Piece]],
    scales: Scales,
    wanted: Callable[[int, int], bool],
    memory: int,
    told: Callable[[], None] | None = None,
) -> Iterator[Peak]:
    """Places at which a picture may see a camera, best first of every pair.

    Parameters
    ----------
    pictures, cameras : numbers and pieces
    scales : what is tried
    wanted : whether a picture and a camera, by their numbers, are to be compared
    memory : bytes for the middles of cameras
    told : called after each picture
    """
    spots = places(scales.turnings, scales.reach)
    row = scales.side**2 // 4
    step = max(1, memory // (row * len(spots)))
    least = _least(scales.positions)
    for start in range(0, len(cameras), step):
        some = cameras[start : start + step]
        words = [placed_rows(piece.pattern(), spots, scales.side) for _, piece in some]
        middles = BitRows(np.concatenate(words), scales.side**2)
        for number, piece in pictures:
            if told is not None and start == 0:
                told()
            chosen = [k for k, (camera, _) in enumerate(some) if wanted(number, camera)]
            if not chosen:
                continue
            rows = scaled_rows(piece.pattern(), scales.values, scales.side)
            at = np.concatenate([np.arange(len(spots)) + k * len(spots) for k in chosen])
            part = middles if len(at) == len(middles) else BitRows(middles.values[at], row * 4)
            products = correlate.cross(rows, part).reshape(len(rows), len(chosen), len(spots))
            for k, camera in enumerate(chosen):
                for view in _best(products[:, k], scales, spots, least):
                    yield Peak(number, some[camera][0], view, scales.whole)


def _least(positions: int) -> float:
    """Score that chance passes now and then, in so many places."""
    from scipy.special import ndtri

    return float(-ndtri(min(_LOOKED_AT / positions, 0.02)))


def _best(products: Floats, scales: Scales, spots: Sequence[Place], least: float) -> list[View]:
    """The best two peaks, at scales that differ, against what is usual about each scale."""
    from scipy.ndimage import uniform_filter1d

    left = products - np.median(products, axis=1, keepdims=True)
    spread = np.median(np.abs(left), axis=1).astype(np.float64)
    spread = _MAD * np.sqrt(uniform_filter1d(spread**2, _USUAL, mode="nearest"))
    scores = left / np.maximum(spread, 1e-30)[:, np.newaxis]
    found = []
    for _ in range(2):
        s, p = np.unravel_index(int(np.argmax(scores)), scores.shape)
        score, spot = float(scores[s, p]), spots[int(p)]
        if score < least:
            break
        scale, turning = float(scales.values[s]), spot.turning
        shift = (float(spot.x), float(spot.y))
        found.append(View(turning.turn, turning.mirrored, scale, shift=shift, score=score))
        scores[max(0, int(s) - _WIDE) : int(s) + _WIDE + 1] = -np.inf
    return found
