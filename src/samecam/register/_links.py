"""Links: pairs of pieces that see one sensor, searched coarsely, fitted, and judged."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from samecam.arrays import Doubles
from samecam.register._crops import crop_peaks, crop_places
from samecam.register._exact import exact_peaks, exact_views
from samecam.register._fit import Fitted, fit_view, fixed_view
from samecam.register._peaks import Kept, Peak, Scales, peaks
from samecam.register._pieces import Numbered, Piece
from samecam.register._searches import Part, Search, parts, searches, within
from samecam.register._view import View

# Share of the correlation of one camera that a link between groups must show.
LEAST_SHARE = 0.12
# The same of a photo alone that is no copy, between what strangers (up to .13) and real views (from
# .3) of groups show.
_LEAST_ALONE = 0.2
# Share of the score that must be left without the best and the worst tenth of the tiles.
_SPREAD = 0.5
# Views that a fit tries for each place of the coarse search, so to say (benchmarks/strangers.py).
FIT_PLACES = 100
# Score from which no other peak of a pair is looked at, and nothing else is searched for it.
CLEAR = 10.0
# Scale from which a picture counts as no coarser than the camera.
_FINER = 0.94
# Score of a crop's best place from which it is fitted.
_CROP = 5.5


class Link(NamedTuple):
    """A picture that sees a camera: their numbers, and how."""

    picture: int
    camera: int
    view: View


class Judge:
    """Counts the places that are searched, and says what chance makes of a score.

    Views that are compared as they are, exactly, are few: they are counted by themselves, and
    share the rate with all that is searched for.
    """

    def __init__(self, rate: float) -> None:
        self.rate, self.places, self.exact, self.pairs = rate, 0, 0, 0

    def add(self, scales: Scales, pairs: int) -> None:
        """Take in a search of so many pairs."""
        self.add_places(scales.positions * pairs, pairs)

    def add_exact(self, views: int) -> None:
        """Take in so many views of a pair that are compared as they are."""
        self.exact += views

    def add_places(self, places: int, pairs: int) -> None:
        """Take in so many places."""
        self.places += places
        self.pairs += pairs

    def probability(self, score: float, *, exact: bool = False) -> float:
        """That chance gives such a score anywhere in all that was searched so far."""
        from scipy.special import log_ndtr

        tried = self.exact if exact else self.places * FIT_PLACES
        tried *= 2 if self.exact and self.places else 1
        return float(-math.expm1(-tried * math.exp(float(log_ndtr(-score)))))


class Fit(NamedTuple):
    """A place, and what was made of it.

    Attributes
    ----------
    peak : the place
    fitted : the view there
    exact : whether it was compared as it is
    swapped : whether picture and camera are not those of the search: the picture is the finer one
    """

    peak: Peak
    fitted: Fitted
    exact: bool = False
    swapped: bool = False

    @property
    def clear(self) -> bool:
        """Whether nothing else need be searched for this pair."""
        return (self.fitted.view.score or 0.0) > CLEAR

    @property
    def pair(self) -> tuple[int, int]:
        """Picture and camera of the search."""
        a, b = self.peak[:2]
        return (b, a) if self.swapped else (a, b)


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

    Attributes
    ----------
    judge : what was searched, unless others judge
    seconds : of a core that it took, about
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
        self.seconds = 0.0
        self._kept = Kept()

    def links(self, pieces: Numbered, seconds: float = math.inf) -> list[Link]:
        """Links among pieces, searched for so many seconds of a core, about."""
        there, judge = dict(pieces), self.judge
        fits = self.exact(pieces, pieces, lambda *_: judge, same=True)
        clear = {fit.pair for fit in fits if fit.clear}
        work = within(self.plan(pieces, pieces), seconds)
        fits += self.fits(work, lambda *_: judge, clear, same=True)
        judged = [judged_link(fit, there, there, judge) for fit in fits]
        return [link for link in judged if link is not None]

    def plan(self, pictures: Numbered, cameras: Numbered, *, near: bool = True) -> list[Part]:
        """What there is to be searched, beside views that are compared as they are.

        Parameters
        ----------
        near : whether scales near 1 are searched
        """
        all_of_it = searches(pictures, cameras, self.search)
        least = 0.0 if near else 1.0
        return [part for part in all_of_it if part.scales.values[0] / part.scales.level >= least]

    def fits(
        self,
        work: Sequence[Part | None],
        judges: Judges,
        clear: Set[tuple[int, int]] = frozenset(),
        *,
        same: bool = False,
    ) -> list[Fit]:
        """Fits of pictures at cameras that are yet to be judged.

        Parameters
        ----------
        work : what of a plan is searched
        judges : who counts what is searched for a picture and a camera
        clear : pairs that are clearly one camera and need not be searched
        same : whether pictures and cameras are the same pieces
        """
        some = [part for part in work if part is not None]
        self.seconds += sum(part.seconds for part in some)
        self._total += sum(len(part.pictures) for part in some)
        fits: list[Fit] = []
        known = set(clear)
        for part in some:
            found = list(self._fits(part, judges, known, same=same))
            known |= {fit.pair for fit in found if fit.clear}
            fits += found
        return fits

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
            fits += [] if fitted is None else [Fit(peak, fitted)]
        return fits

    def exact(
        self,
        pictures: Numbered,
        cameras: Numbered,
        judges: Judges,
        *,
        same: bool = False,
        near: bool = True,
    ) -> list[Fit]:
        """Pictures that are turned, or of which the camera's are reduced copies, as they are.

        Parameters
        ----------
        judges, same : as for `fits`
        near : whether pictures of the camera's size are compared too
        """
        seen, there = dict(pictures), dict(cameras)
        fits = []

        def wanted(a: int, b: int) -> bool:
            return not same or a < b or (a > b and seen[a].frame != there[b].frame)

        for some, others in parts(pictures, cameras, lambda frame: tuple(frame)):
            frames = some[0][1].frame, others[0][1].frame
            views = exact_views(*frames)
            if not views or (not near and sorted(frames[0]) == sorted(frames[1])):
                continue
            for a, _ in some:
                for b, _ in others:
                    judges(a, b).add_exact(len(views) * wanted(a, b))
            self._total += len(some)
            for peak in exact_peaks(some, others, wanted, self._memory, self._told):
                patterns = seen[peak.picture].pattern(), there[peak.camera].pattern()
                fitted = fixed_view(*patterns, peak.view)
                fits += [] if fitted is None else [Fit(peak, fitted, exact=True)]
        return fits

    def _fits(
        self, part: Part, judges: Judges, known: Set[tuple[int, int]], *, same: bool
    ) -> Iterator[Fit]:
        """Peaks of one search, the best first, and what a fit makes of them."""
        some, others, scales, radius, asked, *_ = part
        once = bool(scales.values[0] < scales.level)  # of two pieces either may be the picture

        def wanted(a: int, b: int) -> bool:
            if (asked is not None and (a, b) not in asked) or (a, b) in known:
                return False
            if same and (b, a) in known:
                return False
            return not same or (a < b if once else a != b)

        pairs = [(a, b) for a, _ in some for b, _ in others if wanted(a, b)]
        if not pairs:
            self._done += len(some)
            return
        for pair in pairs:
            judges(*pair).add(scales, 1)
        seen, there = dict(some), dict(others)
        found = peaks(
            some,
            others,
            scales,
            wanted,
            self._memory,
            self._told,
            device=self._device,
            kept=self._kept,
            often=part.often,
        )
        clear = set[tuple[int, int]]()
        for peak in sorted(found, key=lambda peak: -(peak.view.score or 0)):
            if peak[:2] in clear:
                continue
            fit = _fit(peak, seen[peak.picture], there[peak.camera], radius)
            if fit is not None:
                yield fit
                clear.update({fit.pair} if fit.clear else set())

    def _told(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)


def _fit(peak: Peak, picture: Piece, camera: Piece, radius: float) -> Fit | None:
    """What a fit makes of a place, of which the finer pattern is the picture."""
    start, swapped = replace(peak.view, score=None), peak.view.scale < _FINER
    if swapped:
        start = start.inverse(picture.frame, camera.frame)
        peak = Peak(peak.camera, peak.picture, replace(start, score=peak.view.score))
        picture, camera, radius = camera, picture, radius / start.scale
    fitted = fit_view(picture.pattern(), camera.pattern(), start, radius=radius)
    return None if fitted is None else Fit(peak, fitted, swapped=swapped)


def judged_link(
    fit: Fit, pictures: Mapping[int, Piece], cameras: Mapping[int, Piece], judge: Judge
) -> Link | None:
    """The link that a fit of a picture at a camera is, if it is one."""
    peak, fitted, exact = fit[:3]
    score = fitted.view.score or 0.0
    rate = judge.probability(score, exact=exact)
    seen, there = pictures[peak.picture], cameras[peak.camera]
    expected = _expected(seen, there, fitted.view)
    share = fitted.correlation / expected if expected > 0 else None
    spread = _without_extremes(fitted.scores)  # an overlay in one tile is no sensor
    if max(rate, judge.probability(spread, exact=exact)) > judge.rate or spread < _SPREAD * score:
        return None
    least = _LEAST_ALONE if min(seen.photos, there.photos) == 1 else LEAST_SHARE
    if share is not None and share < least:
        return None
    return Link(peak.picture, peak.camera, replace(fitted.view, rate=rate, share=share))


def _expected(picture: Piece, camera: Piece, view: View) -> float:
    """Correlation that one sensor would show; 0 where that is unknown, as of reduced copies.

    A photo alone is taken for as good as those of the group that it is compared with.
    """
    if camera.photos == 1 and view.scale > 1 / _FINER:
        return 0.0
    there = camera.reliable if camera.photos > 1 else picture.of_one
    own = picture.reliable if picture.photos > 1 else camera.of_one
    return math.sqrt(max(own, 0.0) * max(there, 0.0))


def _without_extremes(scores: Doubles) -> float:
    """Score of the tiles without the best and the worst tenth of them."""
    cut = max(len(scores) // 10, int(len(scores) > 3))
    some = np.sort(scores)[cut : len(scores) - cut] if cut else scores
    if len(some) < 2:
        return float(scores.sum() / math.sqrt(len(scores)))
    # a trimmed mean, as a score of all tiles
    return float(some.mean() * math.sqrt(len(scores)))
