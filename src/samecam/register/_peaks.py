"""The coarse search: the middle of one pattern, at all scales, against that of others."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import is_
from typing import NamedTuple, Protocol

from samecam import compute
from samecam.arrays import Doubles
from samecam.register._pieces import Piece
from samecam.register._resample import Pattern, reduced
from samecam.register._rows import Middles, Place, Top, Turning
from samecam.register._view import View

UPRIGHT = Turning(0, mirrored=False)
# Chance peaks of a pair of patterns that are looked at more closely.
OFTEN = 0.1
# The same of all pairs together, at most.
MOST = 300


@dataclass(frozen=True)
class Scales:
    """Scales that are searched, and how.

    Attributes
    ----------
    values : pixels of the picture in one of the camera
    side : of the middle that is compared
    spots : turns and shifts that are tried, in pixels of what is compared
    level : by which cameras are made smaller first; `values` are pixels in one of these
    """

    values: Doubles
    side: int
    spots: Sequence[Place]
    level: float = 1.0

    @property
    def positions(self) -> int:
        """Places at which a pair is compared."""
        return len(self.values) * len(self.spots)


class Peak(NamedTuple):
    """A place at which two patterns look alike.

    Attributes
    ----------
    picture, camera : numbers
    view : with the score of the middle, in units of chance
    """

    picture: int
    camera: int
    view: View


def peaks(
    pictures: Sequence[tuple[int, Piece]],
    cameras: Sequence[tuple[int, Piece]],
    scales: Scales,
    wanted: Callable[[int, int], bool],
    memory: int,
    told: Callable[[], None] | None = None,
    *,
    device: str = "cpu",
    kept: "Kept | None" = None,
    often: float = OFTEN,
) -> Iterator[Peak]:
    """Places at which a picture may see a camera, best first of every pair.

    Parameters
    ----------
    pictures, cameras : numbers and pieces
    scales : what is tried
    wanted : whether a picture and a camera, by their numbers, are to be compared
    memory : bytes for the middles of cameras
    told : called after each picture
    device : that `choose_device` gave; on a GPU not more memory than half of what is free
    kept : middles of an earlier search, to be used again
    often : chance peaks of a pair that are told
    """
    kept = kept or Kept()
    spots = scales.spots
    step = max(1, _most_rows(scales.side, memory, device) // len(spots))
    pairs = sum(wanted(a, b) for a, _ in pictures for b, _ in cameras)
    least = _least(scales.positions, pairs, often)
    for start in range(0, len(cameras), step):
        some = cameras[start : start + step]
        middles = kept.middles(some, scales, device)
        for number, piece in pictures:
            if told is not None and start == 0:
                told()
            chosen = [k for k, (camera, _) in enumerate(some) if wanted(number, camera)]
            if not chosen:
                continue
            tops = middles.highest(piece.pattern(), scales.values, chosen)
            for camera, highest in zip(chosen, tops, strict=True):
                for view in (_view(top, scales) for top in highest if top.score >= least):
                    yield Peak(number, some[camera][0], view)


class _Compared(Protocol):
    """Middles of cameras, wherever they are."""

    def highest(self, picture: Pattern, scales: Doubles, chosen: Sequence[int]) -> list[list[Top]]:
        """See `Middles.highest`."""


class Kept:
    """The middles of some cameras that were made last: searches of one kind follow each other."""

    def __init__(self) -> None:
        self._of: _Asked | None = None
        self._middles: _Compared | None = None

    def middles(
        self, cameras: Sequence[tuple[int, Piece]], scales: Scales, device: str
    ) -> "_Compared":
        """The middles of cameras at all places, made anew if they are others."""
        of = [piece for _, piece in cameras], scales.spots, scales.side, scales.level
        if self._middles is None or self._of is None or not _same(of, self._of):
            self._of = self._middles = None  # before memory is taken again
            patterns = [smaller(piece, scales) for piece in of[0]]
            self._middles = _middles(patterns, scales.spots, scales.side, device)
            self._of = of
        return self._middles


_Asked = tuple[list[Piece], Sequence[Place], int, float]


def smaller(piece: Piece, scales: Scales) -> Callable[[], Pattern]:
    """Gives the pattern of a camera as it is compared, or more of it."""
    if scales.level == 1:
        return piece.pattern
    wide = scales.side + 2 * max(max(abs(spot.x), abs(spot.y)) for spot in scales.spots)
    return lambda: reduced(piece.pattern(), scales.level, (wide, wide))


def _same(one: _Asked, other: _Asked) -> bool:
    pieces = len(one[0]) == len(other[0]) and all(map(is_, one[0], other[0]))
    return pieces and one[2:] == other[2:] and list(one[1]) == list(other[1])


def _middles(
    cameras: Sequence[Callable[[], Pattern]], spots: Sequence[Place], side: int, device: str
) -> _Compared:
    if device == "cpu":
        return Middles(cameras, spots, side)
    from samecam.register._gpu import DeviceMiddles

    return DeviceMiddles(cameras, spots, side, device)


def _most_rows(side: int, memory: int, device: str) -> int:
    """Middles that fit into memory: two bits a pixel, or on a GPU a byte."""
    if device == "cpu":
        return 4 * memory // side**2
    return min(memory, compute.default_memory(device) // 2) // side**2


def _view(top: Top, scales: Scales) -> View:
    (turn, mirrored), x, y = scales.spots[top.place]
    scale = float(scales.values[top.scale]) / scales.level
    shift = (x * scales.level, y * scales.level)
    return View(turn, mirrored, scale, shift=shift, score=top.score)


def _least(positions: int, pairs: int, often: float) -> float:
    """Score that chance passes now and then, in so many places of so many pairs."""
    from scipy.special import ndtri

    return float(-ndtri(min(min(often, MOST / max(pairs, 1)) / positions, 0.02)))
