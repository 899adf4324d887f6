"""What is searched: which pictures at which cameras, at which scales, turns and shifts."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from samecam.arrays import Doubles
from samecam.frames import Frame
from samecam.register._peaks import OFTEN, Scales
from samecam.register._pieces import Numbered, Piece
from samecam.register._rows import Turning, places

Search = Literal["quick", "normal", "deep"]

# Sides of small middles, and the score in them that two full views of a camera must expect.
_SIDES, _ENOUGH = (256, 512), 24.0
_SELDOM = 0.02
# Seconds of a core for a pixel at a scale, one at a place, one compared, and for a fit.
_RESAMPLED, _PLACED, _COMPARED, _FITTED = 2.5e-9, 1.5e-9, 5e-12, 0.3
# How far about known scales is looked.
_ABOUT = 0.006
_ZOOM_ABOUT = 0.015
_NEAR, _MOST = 1.06, 6.5
# Pixels of the camera that a zoomed picture must see, each way.
_LEAST_SIDE = 100


def turnings(picture: Frame, camera: Frame) -> tuple[Turning, ...]:
    """Turns under which a picture may see a camera by the shapes of their frames."""
    upright = (picture.width > picture.height) == (camera.width > camera.height)
    square = picture.width == picture.height or camera.width == camera.height
    turns = (0, 90, 180, 270) if square else (0, 180) if upright else (90, 270)
    return tuple(Turning(turn, mirrored) for mirrored in (False, True) for turn in turns)


class Part(NamedTuple):
    """Pictures and cameras of which all pairs are searched in one way.

    Attributes
    ----------
    pictures, cameras : numbers and pieces
    scales : what is tried
    radius : in pixels of the camera, where a view that is found so holds
    pairs : numbers of pictures and cameras; None: all of them
    known : whether EXIF names the scale, so that there is little to search
    """

    pictures: Numbered
    cameras: Numbered
    scales: Scales
    radius: float
    pairs: frozenset[tuple[int, int]] | None = None
    known: bool = False

    @property
    def often(self) -> float:
        """Chance peaks of a pair that are fitted: of single photos, which may be many, fewer."""
        return _SELDOM if _single(self.pictures, self.cameras) else OFTEN

    @property
    def seconds(self) -> float:
        """That a core takes, about: pictures at all scales, cameras at all places, pairs, fits."""
        seen = len(self.pictures) * len(self.scales.values) * self.scales.side**2
        rows = len(self.cameras) * len(self.scales.spots)
        fits = len(self.pictures) * len(self.cameras) * self.often
        return (
            seen * (_RESAMPLED + rows * _COMPARED)
            + rows * self.scales.side**2 * _PLACED
            + fits * _FITTED
        )

    def smaller(self) -> "Part":
        """The same in a middle of half the side, at an eighth of the cost."""
        side = -(-self.scales.side // 128) * 64
        return self._replace(scales=replace(self.scales, side=side, values=self.scales.values[::2]))


def _single(*sides: Numbered) -> bool:
    return any(piece.photos == 1 for some in sides for _, piece in some)


def searches(pictures: Numbered, cameras: Numbered, search: Search) -> Iterator[Part]:
    """What is searched, from cheap to dear."""
    few = _single(pictures, cameras) and search != "deep"  # what is unusual comes last
    for some, others, zoom in _zoomed(pictures, cameras):
        ways = list(turnings(some[0][1].frame, others[0][1].frame))
        most, reach = (1024, 2) if few else (1536, 3)
        steps, side = _steps(zoom, _ZOOM_ABOUT, 1.2, most, some, others)
        scales = Scales(steps, side, tuple(places(ways[:1], reach)))
        yield Part(some, others, scales, 800.0, known=not (few and _single(others)))
    yield from _near(pictures, cameras, usual=True)
    if search != "quick":
        yield from _all_zooms(pictures, cameras, search)
    for some, others in parts(pictures, cameras, lambda frame: tuple(frame)):
        seen, there = some[0][1].frame, others[0][1].frame
        ways = [way for way in turnings(seen, there) if not (few and way.mirrored)]
        for ratio in _ratios(seen, there):
            steps, side = _steps(ratio, _ABOUT, 0.6, 1024, some, others)
            yield Part(some, others, Scales(steps, side, tuple(places(ways, 1))), math.inf)
    yield from _near(pictures, cameras, usual=False)


def _near(pictures: Numbered, cameras: Numbered, *, usual: bool) -> Iterator[Part]:
    """Scales near 1, at turns that are usual, or at the others."""
    for some, others in parts(pictures, cameras, _shape):
        plain, rest = _plain_and_rest(some[0][1].frame, others[0][1].frame)
        spots = tuple(places(plain, 2) if usual else places(rest, 1))
        steps, side = _steps(1.0, _NEAR - 1, 0.9, 768, some, others)
        yield Part(some, others, Scales(steps, side, spots), 500.0)


def _all_zooms(pictures: Numbered, cameras: Numbered, search: Search) -> Iterator[Part]:
    """Scales up to 6.5."""
    for some, others in parts(pictures, cameras, _shape):
        plain, rest = _plain_and_rest(some[0][1].frame, others[0][1].frame)
        zoom = min(_MOST, max(min(piece.frame) for _, piece in some) / _LEAST_SIDE)
        if zoom < _NEAR:
            continue
        middle = math.sqrt(_NEAR * zoom)
        deep = (*places(plain, 3), *places(rest, 1))
        spots = deep if search == "deep" else tuple(places(plain, 1))
        largest = _SIDES[-1] if _single(some, others) and search != "deep" else 1024
        for seen, there, most, pairs in _by_side(some, others, largest):
            steps, side = _steps(middle, zoom / middle - 1, 2.2, most, seen, there)
            yield Part(seen, there, Scales(steps, side, spots), 800.0, pairs)


def _by_side(
    some: Numbered, others: Numbered, most: int
) -> Iterator[tuple[Numbered, Numbered, int, frozenset[tuple[int, int]]]]:
    """Pictures and cameras, pairs of them, and the side of the middle that shows if they are one.

    The clearer the patterns of two groups are, the smaller may the middle be, and all costs go
    with its third power. A photo's pattern is not known to be clear: it is compared in `most`.
    """
    sides: dict[int, list[tuple[int, int]]] = {}
    for a, picture in some:
        for b, camera in others:
            clear = math.sqrt(max(picture.reliable, 0.0) * max(camera.reliable, 0.0))
            enough = [side for side in _SIDES if side < most and side * clear >= _ENOUGH]
            sides.setdefault(enough[0] if enough else most, []).append((a, b))
    for side, pairs in sorted(sides.items()):
        first, second = ({pair[k] for pair in pairs} for k in range(2))
        few = [item for item in some if item[0] in first]
        yield few, [item for item in others if item[0] in second], side, frozenset(pairs)


def _steps(
    middle: float, about: float, pixels: float, side: int, some: Numbered, others: Numbered
) -> tuple[Doubles, int]:
    """Scales from middle/(1 + about) to middle·(1 + about), and the side of what is compared.

    Parameters
    ----------
    pixels : by which a point at the end of the side moves from one scale to the next, about
    side : at most; less where no piece is as large
    """
    common = min(max(max(piece.frame) for _, piece in part) for part in (some, others))
    side = min(side, 64 * -(-common // 64))
    count = 2 + int(2 * math.log1p(about) * side / pixels)
    return np.geomspace(middle / (1 + about), middle * (1 + about), count), side


def _plain_and_rest(picture: Frame, camera: Frame) -> tuple[tuple[Turning, ...], ...]:
    """Turns that are usual, and those that are not: upside down, mirrored."""
    ways = turnings(picture, camera)
    usual = 1 if ways[0].turn == 0 else 2
    plain = tuple(way for way in ways if not way.mirrored)[:usual]
    return plain, tuple(way for way in ways if way not in plain)


def _shape(frame: Frame) -> tuple[int, ...]:
    """-1, 0 or 1: upright, square or wide."""
    return (int(np.sign(frame.width - frame.height)),)


def parts(
    pictures: Numbered, cameras: Numbered, kind: Callable[[Frame], tuple[int, ...]]
) -> Iterator[tuple[Numbered, Numbered]]:
    """Pictures of one kind of frame with cameras of one kind."""
    for seen in sorted({kind(piece.frame) for _, piece in pictures}):
        some = [item for item in pictures if kind(item[1].frame) == seen]
        for there in sorted({kind(piece.frame) for _, piece in cameras}):
            yield some, [item for item in cameras if kind(item[1].frame) == there]


def _zoomed(pictures: Numbered, cameras: Numbered) -> Iterator[tuple[Numbered, Numbered, float]]:
    """Pictures and cameras between which EXIF names a zoom, and that zoom in full percents."""
    zooms: dict[tuple[Frame, Frame, int], tuple[set[int], set[int]]] = {}
    for a, picture in pictures:
        for b, camera in cameras:
            zoom = _known(picture) / _known(camera) * max(picture.frame) / max(camera.frame)
            if _NEAR < zoom < _MOST and picture.zoom != camera.zoom:
                key = (picture.frame, camera.frame, round(100 * zoom))
                some, others = zooms.setdefault(key, (set(), set()))
                some.add(a)
                others.add(b)
    for key in sorted(zooms):
        some, others = zooms[key]
        yield (
            [item for item in pictures if item[0] in some],
            [item for item in cameras if item[0] in others],
            key[2] / 100,
        )


def _known(piece: Piece) -> float:
    """Zoom that EXIF names; 1 where it names none."""
    return piece.zoom if math.isfinite(piece.zoom) and piece.zoom > 0 else 1.0


def _ratios(picture: Frame, camera: Frame) -> list[float]:
    """Scales that widths and heights suggest, where the picture is the finer one."""
    sides, others = sorted(picture), sorted(camera)
    ratios = {sides[0] / others[0], sides[1] / others[1]}
    return sorted(ratio for ratio in ratios if ratio > _NEAR)
