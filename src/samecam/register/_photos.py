"""Single photos at cameras: how each sees one, if it does."""

import math
from collections.abc import Callable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from samecam import compute
from samecam.arrays import Floats
from samecam.compute import thread_count
from samecam.frames import Frame
from samecam.register._cameras import Cameras, judged_as
from samecam.register._fit import fixed_view
from samecam.register._links import Fit, Judge, Link, Searcher, judged_link
from samecam.register._pattern import as_pattern
from samecam.register._pieces import SMALLEST, GroupedRows, Numbered, Patterns, Piece, pieces
from samecam.register._resample import warped
from samecam.register._searches import Search, looks, reading_seconds, within
from samecam.register._view import View

# Least scale at which a picture adds to the pattern of its camera.
_ADDS = 0.7
# Share of a camera's frame under which a group sees so little of it that it is searched by itself.
_PART = 1 / 1.06


def photo_links(
    searcher: Searcher,
    photos: Numbered,
    cameras: Numbered,
    judges: Mapping[int, Judge],
    *,
    seconds: float = math.inf,
) -> list[Link]:
    """How photos see cameras, also where the photo is the coarser of both; crops in "deep".

    Parameters
    ----------
    judges : of each photo, by its number: what is searched for it is counted and judged there
    seconds : of a core that it may take, about; what does not fit is not searched
    """
    placing = Placing(searcher, photos, cameras, judges)
    placing.compare()
    seconds -= reading_seconds(photos)
    seconds -= placing.search_named(seconds)
    placing.search(seconds)
    return placing.links()


class Placing:
    """Photos on their way to cameras; those that are clearly placed are not searched any more.

    Parameters
    ----------
    photos, cameras : numbers and pieces
    judges : of each photo, by its number: what is searched for it is counted and judged there
    """

    def __init__(
        self, searcher: Searcher, photos: Numbered, cameras: Numbered, judges: Mapping[int, Judge]
    ) -> None:
        self._searcher, self._judges = searcher, judges
        self._photos, self._cameras = dict(photos), dict(cameras)
        self._left = list(photos)
        self._fits: list[Fit] = []
        self._back: list[Fit] = []  # where the camera is taken for a picture of the photo

    @property
    def _there(self) -> Numbered:
        return sorted(self._cameras.items())

    def _of_picture(self, photo: int, _: int) -> Judge:
        return self._judges[photo]

    def _of_camera(self, _: int, photo: int) -> Judge:
        return self._judges[photo]

    def compare(self) -> None:
        """Views that are compared as they are."""
        searcher = self._searcher
        self._back += searcher.exact(self._there, self._left, self._of_camera, near=False)
        self._fits += searcher.exact(self._left, self._there, self._of_picture)
        self._take_out()

    def search_named(self, seconds: float) -> float:
        """Search at zooms that EXIF names; and the seconds that it took, about."""
        return self._search(seconds, known=True)

    def search(self, seconds: float) -> float:
        """Search for all else."""
        searcher, began = self._searcher, self._searcher.seconds
        if searcher.search != "normal":
            return self._search(seconds, known=False)
        found = searcher.fits(within(looks(self._left, self._there), seconds), self._of_camera)
        self._back += [fit for fit in found if not fit.swapped]
        self._fits += [fit for fit in found if fit.swapped]
        self._take_out()
        return searcher.seconds - began

    def _search(self, seconds: float, *, known: bool) -> float:
        """Search where the photo is the coarser, then where it is the finer of both."""
        searcher, began = self._searcher, self._searcher.seconds
        coarser = searcher.plan(self._there, self._left, near=False)
        finer = searcher.plan(self._left, self._there)
        coarser, finer = ([part for part in p if part.known == known] for p in (coarser, finer))
        work = within([*coarser, *finer], seconds)
        self._back += searcher.fits(work[: len(coarser)], self._of_camera)
        self._take_out()
        left = {photo for photo, _ in self._left}
        rest = [part and part.without(self._photos.keys() - left) for part in work[len(coarser) :]]
        self._fits += searcher.fits(rest, self._of_picture)
        if searcher.search == "deep" and not known:
            self._fits += searcher.crops(self._left, self._there, self._of_picture)
        self._take_out()
        return searcher.seconds - began

    def _take_out(self) -> None:
        placed = {fit.peak.picture for fit in self._fits if fit.clear}
        self.remove(placed | {fit.peak.camera for fit in self._back if fit.clear})

    def remove(self, placed: Set[int]) -> None:
        """Search no more for these photos."""
        self._left = [item for item in self._left if item[0] not in placed]

    def grown(self, cameras: Mapping[int, Piece]) -> None:
        """Look again at what was not clear, with cameras whose patterns have changed."""
        self._cameras.update(cameras)
        left = {photo for photo, _ in self._left}
        fits, back = self._fits, self._back
        self._fits = [
            self._again(fit, self._photos, self._cameras, self._judges[fit.peak.picture])
            if fit.peak.camera in cameras and fit.peak.picture in left
            else fit
            for fit in fits
        ]
        self._back = [
            self._again(fit, self._cameras, self._photos, self._judges[fit.peak.camera])
            if fit.peak.picture in cameras and fit.peak.camera in left
            else fit
            for fit in back
        ]

    @staticmethod
    def _again(
        fit: Fit, pictures: Mapping[int, Piece], cameras: Mapping[int, Piece], judge: Judge
    ) -> Fit:
        """The same view of patterns that may have changed, counted as one more that was tried."""
        a, b = pictures[fit.peak.picture], cameras[fit.peak.camera]
        fitted = fixed_view(a.pattern(), b.pattern(), fit.fitted.view)
        if fit.exact:
            judge.add_exact(1)
        else:
            judge.add_places(1, 0)
        return fit if fitted is None else fit._replace(fitted=fitted)

    def links(self) -> list[Link]:
        """What is a view, by all that was searched for each photo."""
        photos, cameras, judges = self._photos, self._cameras, self._judges
        links = [judged_link(fit, photos, cameras, judges[fit[0].picture]) for fit in self._fits]
        turned = (judged_link(fit, cameras, photos, judges[fit[0].camera]) for fit in self._back)
        links += [
            Link(link.camera, link.picture, _from_camera(link, cameras, photos))
            for link in turned
            if link is not None
        ]
        return [link for link in links if link is not None]


def _from_camera(link: Link, cameras: Mapping[int, Piece], photos: Mapping[int, Piece]) -> View:
    """The view of a photo, where the camera was taken for a picture of it."""
    view = link.view.inverse(cameras[link.picture].frame, photos[link.camera].frame)
    area = None if link.view.area is None else round(link.view.area / view.scale**2)
    return replace(judged_as(view, link.view), area=area)


def camera_piece(
    number: int, first: Piece, seen: Sequence[tuple[Piece, View]], patterns: Patterns
) -> Piece:
    """A camera in the frame of its first group, with all others that see it, added up.

    Parameters
    ----------
    number : of the camera
    seen : other groups and photos, and how they see the first; those far coarser add nothing
    """
    seen = [(piece, view) for piece, view in seen if view.scale > _ADDS]
    if not seen:
        return first
    key = ("camera", number, len(seen))
    photos = first.photos + sum(piece.photos for piece, _ in seen)
    return first._replace(
        pattern=lambda: patterns.get(key, lambda: added(first, seen)),
        photos=photos,
        reliable=first.reliable_with(photos),
    )


def added(first: Piece, seen: Sequence[tuple[Piece, View]]) -> npt.NDArray[np.int8]:
    """Patterns of one sensor in the frame of the first, weighed by their photos."""

    def seen_there(item: tuple[Piece, View]) -> Floats:
        piece, view = item
        return warped(piece.pattern(), view, first.frame) * np.float32(np.sqrt(piece.photos))

    total: Floats = first.pattern().astype(np.float32) * np.float32(np.sqrt(first.photos))
    step = thread_count()
    with ThreadPoolExecutor(step) as pool:
        for start in range(0, len(seen), step):  # as many in memory
            for part in pool.map(seen_there, seen[start : start + step]):
                total += part
    return as_pattern(total)


class Photo(NamedTuple):
    """A photo that is to be placed.

    Attributes
    ----------
    frame : width and height
    values : gives its fingerprint, (h, w)
    zoom : that EXIF names; NaN: unknown
    """

    frame: Frame
    values: Callable[[], Floats]
    zoom: float = float("nan")


class Placed(NamedTuple):
    """The group that a photo fits, and how it sees the frame of that group."""

    group: int
    view: View


class KnownCameras:
    """Cameras that are known, ready for photos to be placed at them.

    A photo is registered against the pattern of each camera, all its groups added up in the frame
    of its first group, and against groups that see only a part of that frame, as zoomed ones do.

    Parameters
    ----------
    frames : the photos of each frame, with their groups
    cameras : how groups see cameras
    memory : bytes for patterns, half of it, and for the search
    progress : told of pictures looked at, and of all that are known to come

    Attributes
    ----------
    count : of the cameras that photos are compared with; those of tiny frames are left out
    """

    def __init__(
        self,
        frames: Sequence[GroupedRows],
        cameras: Cameras,
        *,
        memory: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._memory = compute.Resources(memory=memory).memory_for("cpu")
        self._progress = progress or (lambda *_: None)
        patterns = Patterns(self._memory // 3)
        shaped = [part for part in frames if part.frame.height > 1]
        groups = dict(pieces(shaped, patterns, measured=False)[0])
        of_group = _cameras_of_groups(cameras)
        self._pieces: dict[int, Piece] = {}
        self.count = 0
        for number, first in enumerate(cameras.first):
            own = [g for g, camera in of_group.items() if camera == number and g in groups]
            if first not in own:
                continue
            seen = {g: cameras.views[g] for g in own if g != first}
            some = [(groups[g], view) for g, view in seen.items()]
            self._pieces[first] = camera_piece(number, groups[first], some, patterns)
            self._pieces.update(
                {
                    g: groups[g]
                    for g, view in seen.items()
                    if _share(groups[g].frame, groups[first].frame, view) < _PART
                }
            )
            self.count += 1

    def place(
        self, photos: Sequence[Photo], *, search: Search = "quick", rate: float = 0.01
    ) -> list[Placed | None]:
        """Where photos belong, each judged by all that is searched for it alone.

        Parameters
        ----------
        photos : some of them, for which patterns of cameras are made once
        search : how far to look, as for `find_cameras`; "deep" looks for crops too
        rate : probability, for each photo, that chance places it anywhere

        Returns
        -------
        of each photo the best place; None where it fits nowhere
        """
        patterns = Patterns(self._memory // 6)
        some = [
            (k, Piece(photo.frame, _loader(photo, k, patterns), zoom=photo.zoom))
            for k, photo in enumerate(photos)
            if min(photo.frame) >= SMALLEST
        ]
        judges = {k: Judge(rate) for k, _ in some}
        searcher = Searcher(search, rate, self._memory // 3, self._progress)
        best: list[Placed | None] = [None] * len(photos)
        cameras = sorted(self._pieces.items())
        links = []
        for frame in sorted({piece.frame for _, piece in some}):  # what is tried depends on it
            alike = [item for item in some if item[1].frame == frame]
            links += photo_links(searcher, alike, cameras, judges)
        for link in sorted(links, key=lambda link: (link.view.score or 0.0, -link.camera)):
            best[link.picture] = Placed(link.camera, link.view)
        return best


def _loader(photo: Photo, number: int, patterns: Patterns) -> Callable[[], npt.NDArray[np.int8]]:
    def make() -> npt.NDArray[np.int8]:
        return as_pattern(photo.values())

    return partial(patterns.get, number, make)


def _cameras_of_groups(cameras: Cameras) -> dict[int, int]:
    """The camera of every group."""
    inside = np.flatnonzero(cameras.groups >= 0)
    groups, at = np.unique(cameras.groups[inside], return_index=True)
    return dict(zip(groups.tolist(), cameras.labels[inside][at].tolist(), strict=True))


def _share(picture: Frame, camera: Frame, view: View) -> float:
    """How much of the width or height of a camera's frame is seen, the larger of both."""
    width, height = reversed(picture) if view.turn % 180 else picture
    return max(width / camera.width, height / camera.height) / view.scale
