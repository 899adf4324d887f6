"""What is searched: which pictures at which cameras, at which scales, turns and shifts."""

import math
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from samecam.arrays import Doubles
from samecam.frames import Frame
from samecam.register._peaks import MOST, OFTEN, Scales
from samecam.register._pieces import Numbered, Piece
from samecam.register._rows import Turning, level_of, places

Search = Literal["quick", "normal", "deep"]

# Sides of small middles, and the score in them that two full views of a camera must expect.
_SIDES, _ENOUGH = (256, 512), 24.0
_SELDOM = 0.01
# Seconds of a core for a pixel that is read, one that is made smaller, for a scale, a pixel at it,
# one at a place, one compared, and for a fit.
_READ, _REDUCED, _SCALE, _RESAMPLED = 5e-9, 1e-9, 1e-4, 1.5e-9
_PLACED, _COMPARED, _FITTED = 1.4e-9, 5e-12, 0.06
# Shares of the side in which all is searched where there is little time.
_SMALLER = (1.0, 0.875, 0.75, 0.625, 0.5)
# How far about known scales is looked.
_ABOUT = 0.006
_ZOOM_ABOUT = 0.015
_NEAR, _MOST = 1.06, 6.5
# Side of the square in which photos alone are searched at all zooms, and by how much cameras are
# made smaller for it, at least, where they are large enough.
_LOOK, _PITCH = 512, 2.0
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
    known : whether EXIF names the scale, so that there is little to search, which comes first
    usual : whether many pictures are of this kind; the rest is searched in what time is left
    """

    pictures: Numbered
    cameras: Numbered
    scales: Scales
    radius: float
    pairs: frozenset[tuple[int, int]] | None = None
    known: bool = False
    usual: bool = True

    @property
    def often(self) -> float:
        """Chance peaks of a pair that are fitted: of single photos, which may be many, fewer."""
        seldom = _SELDOM if self.usual else _SELDOM / 5
        return seldom if _single(self.pictures, self.cameras) else OFTEN

    @property
    def seconds(self) -> float:
        """That a core takes, about: pictures at all scales, cameras at all places, pairs, fits."""
        pixels = self.scales.side**2
        rows = len(self.cameras) * len(self.scales.spots)
        scale = _SCALE + pixels * (_RESAMPLED + rows * _COMPARED)
        fits = min(len(self.pictures) * len(self.cameras) * self.often, MOST)
        smaller = sum(piece.frame.n_pixels for _, piece in self.pictures)
        level = self.scales.level if self.scales.level > 1 else 0.0
        levels = {level_of(float(scale)) for scale in self.scales.values} - {1.0}
        return (
            _REDUCED * smaller * len(levels)
            + len(self.pictures) * len(self.scales.values) * scale
            + (0.0 if self.known else rows * pixels * _PLACED)  # many in a row have the same
            + len(self.cameras) * _REDUCED * pixels * level**2
            + fits * _FITTED
        )

    def without(self, pictures: Set[int]) -> "Part":
        """The same without some pictures."""
        some = [item for item in self.pictures if item[0] not in pictures]
        return self._replace(pictures=some)

    def smaller(self, share: float) -> "Part":
        """The same in a smaller middle, at the third power of that share of the cost."""
        side = max(64 * round(share * self.scales.side / 64), 128)
        if side >= self.scales.side:
            return self
        values = self.scales.values
        values = np.geomspace(values[0], values[-1], max(2, round(share * len(values))))
        return self._replace(scales=replace(self.scales, side=side, values=values))


def reading_seconds(pieces: Numbered) -> float:
    """That a core takes to read patterns, about, and to compare them as they are."""
    return _READ * sum(piece.frame.n_pixels for _, piece in pieces)


def within(work: Iterable[Part], seconds: float) -> list[Part | None]:
    """What can be searched in so many seconds of a core, about; None for what cannot.

    What is usual is searched in smaller middles if need be. Where even those take too long, the
    first of it; else what is left goes to the rest.
    """
    parts = list(work)
    known = sum(part.seconds for part in parts if part.known)
    usual = [part for part in parts if part.usual and not part.known]
    for share in _SMALLER:
        if known + sum(part.smaller(share).seconds for part in usual) <= seconds:
            break
    chosen: dict[int, Part] = {}
    for k in sorted(range(len(parts)), key=lambda k: not parts[k].usual):
        shares = (1.0,) if parts[k].known else (share,) if parts[k].usual else _SMALLER
        fitting = [part for part in map(parts[k].smaller, shares) if part.seconds <= seconds]
        if fitting:
            chosen[k] = fitting[0]
            seconds -= fitting[0].seconds
    return [chosen.get(k) for k in range(len(parts))]


def _single(*sides: Numbered) -> bool:
    return any(piece.photos == 1 for some in sides for _, piece in some)


def searches(pictures: Numbered, cameras: Numbered, search: Search) -> Iterator[Part]:
    """What is searched, from cheap to dear."""
    few = _single(pictures, cameras) and search != "deep"  # what is unusual comes last
    for some, others, zoom in _zoomed(pictures, cameras):
        plain, _ = _plain_and_rest(some[0][1].frame, others[0][1].frame)
        most, reach = (2 * _LOOK, 2) if few else (1536, 3)
        level = _coarse(others, most) if few else 1.0
        steps, side = _steps(zoom, _ZOOM_ABOUT, 1.2, most, some, others, level)
        scales = Scales(steps, side, tuple(places(plain, reach)), level)
        yield Part(some, others, scales, 0.6 * side * level if few else 800.0, known=True)
    yield from _near(pictures, cameras, usual=True)
    if search != "quick":
        yield from _all_zooms(pictures, cameras, search)
    for some, others in parts(pictures, cameras, lambda frame: tuple(frame)):
        seen, there = some[0][1].frame, others[0][1].frame
        ways = [way for way in turnings(seen, there) if not (few and way.mirrored)]
        for ratio in _ratios(seen, there):
            level = 1.0 if few else _coarse(others, 1024)
            steps, side = _steps(ratio, _ABOUT, 0.6, 1024, some, others, level)
            scales = Scales(steps, side, tuple(places(ways, 1)), level)
            yield Part(some, others, scales, math.inf, usual=False)
    yield from _near(pictures, cameras, usual=False)


def looks(photos: Numbered, cameras: Numbered) -> Iterator[Part]:
    """Photos alone at all zooms, in coarse pixels: cameras are the pictures of what is searched.

    Messengers and lenses leave most of a pattern at low frequencies, so that coarser pixels show
    more of it in the same square. And the cameras, which are few, are made smaller by many scales
    once, each photo only by powers of √2.
    """
    for some, others in parts(photos, cameras, _shape_and_size):
        plain, rest = _plain_and_rest(others[0][1].frame, some[0][1].frame)
        turned = [way for way in rest if not way.mirrored]
        large = max(max(piece.frame) for _, piece in some)
        coarsest = min(max(piece.frame) for _, piece in others)
        ratio = min(1.0, large / coarsest)
        low = ratio * _NEAR if ratio * _NEAR < 1 else 1 / _NEAR  # a copy is compared as it is
        for told, few, many in _by_what_is_known(some, others):
            high = _NEAR if told else _MOST * ratio
            short = max(min(piece.frame) for _, piece in few)
            side = min(_LOOK, 64 * -(-min(short, coarsest) // 64))
            coarse = _coarse(many, math.sqrt(2) * side)
            for level, begin, end in _levels(low, high, short / side, coarse):
                count = 2 + int(math.log(end / begin) * side / 2.2)
                steps = np.geomspace(level / end, level / begin, count)
                for ways, usual in ((plain, not told), (turned, False)):
                    scales = Scales(steps, side, tuple(places(ways, 1)), level)
                    if ways and (usual or not told or ways is plain):
                        yield Part(many, few, scales, 0.6 * side * level, usual=usual)


def _coarse(cameras: Numbered, side: float) -> float:
    """By how much cameras are made smaller, so that such a side of them is still within all."""
    short = min(min(piece.frame) for _, piece in cameras)
    return min(_PITCH, max(1.0, short / side))


def _levels(
    low: float, high: float, most: float, pitch: float
) -> Iterator[tuple[float, float, float]]:
    """By how much a photo is made smaller for scales from one to another.

    Parameters
    ----------
    low, high : scales of photos, pixels in one of the camera
    most : by which photos still fill the square that is compared
    pitch : by which cameras are made smaller, at least
    """
    level, begin = 1.0, low
    while begin < high:
        last = level * math.sqrt(2) > max(most, 1.0)
        end = high if last else min(level / pitch, high)
        if end > begin:
            yield level, begin, end
            begin = end
        level *= math.sqrt(2)


def _near(pictures: Numbered, cameras: Numbered, *, usual: bool) -> Iterator[Part]:
    """Scales near 1, at turns that are usual, or at the others."""
    for some, others in parts(pictures, cameras, _shape):
        plain, rest = _plain_and_rest(some[0][1].frame, others[0][1].frame)
        spots = tuple(places(plain, 2) if usual else places(rest, 1))
        for told, few, many in _by_what_is_known(some, others):
            most = _SIDES[0 if told else 1] if _single(few, many) else 768
            steps, side = _steps(1.0, _NEAR - 1, 0.9, most, few, many)
            yield Part(few, many, Scales(steps, side, spots), 500.0, usual=usual)


def _all_zooms(pictures: Numbered, cameras: Numbered, search: Search) -> Iterator[Part]:
    """Scales up to 6.5."""
    for some, others in parts(pictures, cameras, _shape_and_size):
        plain, rest = _plain_and_rest(some[0][1].frame, others[0][1].frame)
        finest = max(max(piece.frame) for _, piece in some)
        coarsest = min(max(piece.frame) for _, piece in others)
        zoom = _MOST * min(1, finest / coarsest)  # of a small copy of a zoomed picture
        zoom = min(zoom, max(min(piece.frame) for _, piece in some) / _LEAST_SIDE)
        deep = (*places(plain, 3), *places(rest, 1))
        spots = deep if search == "deep" else tuple(places(plain, 1))
        largest = _SIDES[-1] if _single(some, others) and search != "deep" else 1024
        for low, high, usual in _ranges(some, others, zoom, finest / coarsest):
            middle = math.sqrt(low * high)
            for told, few, many in _by_what_is_known(some, others):
                level = 1.0 if _single(few, many) else _coarse(many, largest)
                for seen, there, most, pairs in _by_side(few, many, round(largest / level)):
                    about = high / middle - 1
                    steps, side = _steps(middle, about, 2.2, most * level, seen, there, level)
                    scales = Scales(steps, side, spots, level)
                    yield Part(seen, there, scales, 800.0, pairs, usual=usual and not told)


def _ranges(
    some: Numbered, others: Numbered, zoom: float, ratio: float
) -> Iterator[tuple[float, float, bool]]:
    """Scales from 1.06 up to a zoom, and whether they are usual.

    Of a single photo as the camera they are so as long as it is a copy of what the camera sees,
    zoomed or not.
    """
    usual = min(zoom, ratio * (1 + _ABOUT)) if _single(others) and not _single(some) else zoom
    if usual > _NEAR:
        yield _NEAR, usual, True
    if zoom > max(usual, _NEAR):
        yield max(usual, _NEAR), zoom, False


def _by_what_is_known(
    some: Numbered, others: Numbered
) -> Iterator[tuple[bool, Numbered, Numbered]]:
    """Pictures and cameras, of which one is a single photo, by whether EXIF names the zoom of both.

    If so, that one is searched by itself and others are unlikely; and the photo is an original,
    whose pattern is clear.
    """
    if not _single(some, others):
        yield False, some, others
        return
    for known in (False, True):
        few = [item for item in some if math.isfinite(item[1].zoom) == known]
        for also in (False, True):
            many = [item for item in others if math.isfinite(item[1].zoom) == also]
            if few and many:
                yield known and also, few, many


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
    middle: float,
    about: float,
    pixels: float,
    most: float,
    some: Numbered,
    others: Numbered,
    level: float = 1.0,
) -> tuple[Doubles, int]:
    """Scales from middle/(1 + about) to middle·(1 + about), and the side of what is compared.

    Parameters
    ----------
    pixels : by which a point at the end of the side moves from one scale to the next, about
    most : pixels of the camera that are compared each way; less where no piece is as large
    level : by which cameras are made smaller, and scales larger
    """
    common = min(max(max(piece.frame) for _, piece in part) for part in (some, others))
    side = min(64 * round(most / level / 64), 64 * -(-common // 64))
    count = 2 + int(2 * math.log1p(about) * side / pixels)
    return level * np.geomspace(middle / (1 + about), middle * (1 + about), count), side


def _plain_and_rest(picture: Frame, camera: Frame) -> tuple[tuple[Turning, ...], ...]:
    """Turns that are usual, and those that are not: upside down, mirrored."""
    ways = turnings(picture, camera)
    usual = 1 if ways[0].turn == 0 else 2
    plain = tuple(way for way in ways if not way.mirrored)[:usual]
    return plain, tuple(way for way in ways if way not in plain)


def _shape(frame: Frame) -> tuple[int, ...]:
    """-1, 0 or 1: upright, square or wide."""
    return (int(np.sign(frame.width - frame.height)),)


def _shape_and_size(frame: Frame) -> tuple[int, ...]:
    """The shape, and how large a frame is, in powers of √2."""
    return (*_shape(frame), int(2 * math.log2(max(frame))))


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
            named = _known(picture) / _known(camera)
            zoom = named * max(picture.frame) / max(camera.frame)
            if _NEAR < zoom < _MOST and named != 1 and not _untold(picture, camera):
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


def _untold(*pair: Piece) -> bool:
    """Whether a single photo's zoom is unknown."""
    return any(piece.photos == 1 and not math.isfinite(piece.zoom) for piece in pair)


def _ratios(picture: Frame, camera: Frame) -> list[float]:
    """Scales that widths and heights suggest, where the picture is the finer one."""
    sides, others = sorted(picture), sorted(camera)
    ratios = {sides[0] / others[0], sides[1] / others[1]}
    return sorted(ratio for ratio in ratios if ratio > _NEAR)
