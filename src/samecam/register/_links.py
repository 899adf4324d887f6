"""Links: pairs of pieces that see one sensor, searched coarsely, fitted, and judged."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from samecam.arrays import Doubles
from samecam.frames import Frame
from samecam.register._crops import crop_peaks, crop_places
from samecam.register._fit import Fitted, fit_view
from samecam.register._peaks import Peak, Scales, peaks
from samecam.register._pieces import Piece
from samecam.register._rows import Turning
from samecam.register._view import View

Search = Literal["quick", "normal", "deep"]
Numbered = Sequence[tuple[int, Piece]]

# Share of the correlation of one camera that a link between groups must show.
LEAST_SHARE = 0.12
# Share of the score that must be left without the best and the worst tenth of the tiles.
_SPREAD = 0.5
# Views that a fit tries for each place of the coarse search, so to say (benchmarks/strangers.py).
FIT_PLACES = 100
# How far about known scales is looked.
_ABOUT = 0.006
_ZOOM_ABOUT = 0.015
_NEAR, _MOST = 1.06, 6.5
# Pixels of the camera that a zoomed picture must see, each way.
_LEAST_SIDE = 100
# Score from which no other peak of a pair is looked at.
_CLEAR = 10.0
# Score of a crop's best place from which it is fitted.
_CROP = 5.5


class Link(NamedTuple):
    """A picture that sees a camera: their numbers, and how."""

    picture: int
    camera: int
    view: View


class Judge:
    """Counts the places that are searched, and says what chance makes of a score."""

    def __init__(self, rate: float) -> None:
        self.rate, self.places, self.pairs = rate, 0, 0

    def add(self, scales: Scales, pairs: int) -> None:
        """Take in a search of so many pairs."""
        self.add_places(scales.positions * pairs, pairs)

    def add_places(self, places: int, pairs: int) -> None:
        """Take in so many places."""
        self.places += places
        self.pairs += pairs

    def probability(self, score: float) -> float:
        """That chance gives such a score anywhere in all that was searched so far."""
        from scipy.special import log_ndtr

        return float(-math.expm1(-self.places * FIT_PLACES * math.exp(float(log_ndtr(-score)))))


def turnings(picture: Frame, camera: Frame) -> tuple[Turning, ...]:
    """Turns under which a picture may see a camera by the shapes of their frames."""
    upright = (picture.width > picture.height) == (camera.width > camera.height)
    square = picture.width == picture.height or camera.width == camera.height
    turns = (0, 90, 180, 270) if square else (0, 180) if upright else (90, 270)
    return tuple(Turning(turn, mirrored) for mirrored in (False, True) for turn in turns)


def searches(
    pictures: Numbered, cameras: Numbered, search: Search
) -> Iterator[tuple[Numbered, Numbered, Scales, float]]:
    """What is searched, from cheap to dear: pictures, cameras, scales, radius where they hold."""
    for some, others in _parts(pictures, cameras, lambda frame: tuple(frame)):
        seen, there = some[0][1].frame, others[0][1].frame
        for ratio in _ratios(seen, there):
            steps, side = _steps(ratio, _ABOUT, 0.6, 1024, some, others)
            yield some, others, Scales(steps, side, 2, turnings(seen, there)), math.inf
    for some, others, zoom in _zoomed(pictures, cameras):
        ways = turnings(some[0][1].frame, others[0][1].frame)
        steps, side = _steps(zoom, _ZOOM_ABOUT, 1.2, 1536, some, others)
        yield some, others, Scales(steps, side, 3, ways[:1]), 800.0
    for some, others in _parts(pictures, cameras, _shape):
        plain, rest = _plain_and_rest(some[0][1].frame, others[0][1].frame)
        steps, side = _steps(1.0, _NEAR - 1, 0.9, 768, some, others)
        yield some, others, Scales(steps, side, 2, plain), 500.0
        yield some, others, Scales(steps, side, 1, rest), 500.0
    if search == "quick":
        return
    for some, others in _parts(pictures, cameras, _shape):
        plain, rest = _plain_and_rest(some[0][1].frame, others[0][1].frame)
        most = min(_MOST, max(min(piece.frame) for _, piece in some) / _LEAST_SIDE)
        middle = math.sqrt(_NEAR * most)
        if most < _NEAR:
            continue
        steps, side = _steps(middle, most / middle - 1, 2.2, 1024, some, others)
        if search == "normal":
            yield some, others, Scales(steps, side, 1, plain), 800.0
        else:
            yield some, others, Scales(steps, side, 3, plain), 800.0
            yield some, others, Scales(steps, side, 1, rest), 800.0


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


def _parts(
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


Fit = tuple[Peak, Fitted]
Judges = Callable[[int, int], Judge]  # that of a picture and a camera, by their numbers


class Searcher:
    """Looks for links between pieces, and judges each by all that was searched.

    Parameters
    ----------
    search : how far to look
    rate : probability that chance makes a link anywhere
    memory : bytes for the middles of cameras
    progress : told of pictures looked at, and all pictures
    device : that `choose_device` gave; it searches, fits are made by the processor
    """

    def __init__(
        self,
        search: Search,
        rate: float,
        memory: int,
        progress: Callable[[int, int], None] | None = None,
        device: str = "cpu",
    ) -> None:
        self.search, self.judge = search, Judge(rate)
        self._memory, self._progress, self._device = memory, progress, device
        self._done = self._total = 0

    def links(self, pieces: Numbered) -> list[Link]:
        """Links among pieces."""
        there = dict(pieces)
        fits = self.fits(pieces, pieces, lambda *_: self.judge, same=True)
        judged = [judged_link(fit, there, there, self.judge) for fit in fits]
        return [link for link in judged if link is not None]

    def fits(
        self,
        pictures: Numbered,
        cameras: Numbered,
        judges: Judges,
        *,
        same: bool = False,
        near: bool = True,
        zooms: bool = True,
    ) -> list[Fit]:
        """Fits of pictures at cameras that are yet to be judged.

        Parameters
        ----------
        judges : who counts what is searched for a picture and a camera
        same : whether pictures and cameras are the same pieces
        near : whether scales near 1 are searched
        zooms : whether all zooms are searched, beside those that EXIF names
        """
        work = [
            (some, others, scales, radius)
            for some, others, scales, radius in searches(
                pictures, cameras, self.search if zooms else "quick"
            )
            if near or scales.values[0] >= 1
        ]
        self._total += sum(len(some) for some, *_ in work)
        return [fit for part in work for fit in self._fits(*part, judges, same=same)]

    def crops(self, photos: Numbered, cameras: Numbered, judges: Judges) -> list[Fit]:
        """Fits of photos that may be cut out of pictures of larger cameras, at any place."""
        places = {(a, b): crop_places(x, y) for a, x in photos for b, y in cameras}
        if not any(places.values()):
            return []
        for pair, count in places.items():
            judges(*pair).add_places(count, 1)
        self._total += len(cameras)
        seen, there = dict(photos), dict(cameras)
        fits = []
        for peak in crop_peaks(list(photos), list(cameras), _CROP, self._told):
            patterns = seen[peak.picture].pattern(), there[peak.camera].pattern()
            fitted = fit_view(*patterns, replace(peak.view, score=None), radius=math.inf)
            fits += [] if fitted is None else [(peak, fitted)]
        return fits

    def _fits(
        self,
        some: Numbered,
        others: Numbered,
        scales: Scales,
        radius: float,
        judges: Judges,
        *,
        same: bool,
    ) -> Iterator[Fit]:
        """Peaks of one search, the best first, and what a fit makes of them."""
        once = bool(scales.values[0] < 1)  # of two pieces either may be the picture

        def wanted(a: int, b: int) -> bool:
            return not same or (a < b if once else a != b)

        pairs = [(a, b) for a, _ in some for b, _ in others if wanted(a, b)]
        if not pairs:
            self._done += len(some)
            return
        for pair in pairs:
            judges(*pair).add(scales, 1)
        seen, there = dict(some), dict(others)
        found = peaks(some, others, scales, wanted, self._memory, self._told, device=self._device)
        clear = set[tuple[int, int]]()
        for peak in sorted(found, key=lambda peak: -(peak.view.score or 0)):
            if peak[:2] in clear:
                continue
            patterns = seen[peak.picture].pattern(), there[peak.camera].pattern()
            fitted = fit_view(*patterns, replace(peak.view, score=None), radius=radius)
            if fitted is not None:
                yield peak, fitted
                clear.update({peak[:2]} if (fitted.view.score or 0) > _CLEAR else set())

    def _told(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)


def judged_link(
    fit: Fit, pictures: Mapping[int, Piece], cameras: Mapping[int, Piece], judge: Judge
) -> Link | None:
    """The link that a fit of a picture at a camera is, if it is one."""
    peak, fitted = fit
    score = fitted.view.score or 0.0
    rate = judge.probability(score)
    seen, there = pictures[peak.picture], cameras[peak.camera]
    expected = math.sqrt(max(seen.reliable, 0.0) * max(there.reliable, 0.0))
    share = fitted.correlation / expected if expected > 0 else None
    spread = _without_extremes(fitted.scores)  # an overlay in one tile is no sensor
    if max(rate, judge.probability(spread)) > judge.rate or spread < _SPREAD * score:
        return None
    if share is not None and share < LEAST_SHARE:
        return None
    return Link(peak.picture, peak.camera, replace(fitted.view, rate=rate, share=share))


def _without_extremes(scores: Doubles) -> float:
    """Score of the tiles without the best and the worst tenth of them."""
    cut = max(len(scores) // 10, int(len(scores) > 3))
    some = np.sort(scores)[cut : len(scores) - cut] if cut else scores
    if len(some) < 2:
        return float(scores.sum() / math.sqrt(len(scores)))
    # a trimmed mean, as a score of all tiles
    return float(some.mean() * math.sqrt(len(scores)))
