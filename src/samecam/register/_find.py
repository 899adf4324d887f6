"""Cameras out of groups."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from samecam import compute
from samecam.arrays import Labels
from samecam.frames import Frame
from samecam.register._cameras import Camera, Cameras, cameras_of
from samecam.register._links import Link, Searcher
from samecam.register._photos import Placing, camera_piece
from samecam.register._pieces import GroupedRows, Numbered, Patterns, Piece, pieces
from samecam.register._searches import Search, reading_seconds
from samecam.register._view import View

# Seconds of a core for which may be searched: so many, and those that all photos took to be read,
# for each of them and for its megapixels. Of these for photos alone, at least.
_LEAST, _READING, _MEGAPIXEL = 12.0, 0.03, 0.011
_PHOTOS = 1 / 2
# What views that are compared as they are take beside, of that.
_COMPARED = 1 / 3
# Times that photos alone are looked at again, since cameras have grown by others.
_ROUNDS = 3


def find_cameras(
    frames: Sequence[GroupedRows],
    *,
    search: Search = "normal",
    rate: float = 0.01,
    resources: compute.Resources | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Cameras:
    """Groups, and photos in none, that see one sensor in several ways.

    Parameters
    ----------
    frames : the photos of each frame; every photo once
    search : how far to look; "quick": turns, small shifts, scales near 1 and those that widths
        and EXIF suggest; "normal": also all zooms, as long as reading all photos took, about;
        "deep": all zooms of all, also turned and mirrored, and all shifts, for crops
    rate : probability that chance joins anything wrongly, in all that is searched together
    progress : told of what was looked at, and of all that is known to come
    """
    used = (resources or compute.Resources(device="cpu")).resolve()
    memory = used.memory_for("cpu")
    given = [part for part in frames if part.frame.height > 1]
    patterns = Patterns(memory // 3)
    groups, alone = pieces(given, patterns)
    labels = np.full(sum(len(part.photos) for part in frames), -1, dtype=np.intp)
    for part in frames:
        labels[part.photos] = part.groups
    searchers = [Searcher(search, rate / 2, memory // 3, progress, used.device) for _ in range(2)]
    work = _Work(labels, groups, alone, patterns, *searchers)
    photos = Counter[Frame]()
    for part in frames:
        photos[part.frame] += len(part.photos)
    work.run(math.inf if search == "deep" else _allowed(photos))
    return work.result()


def search_seconds(photos: Mapping[Frame, int]) -> float:
    """Seconds of a core that a search takes at most, about, unless it is "deep".

    Parameters
    ----------
    photos : how many there are of each frame
    """
    return (1 + _COMPARED) * _allowed(photos)


def _allowed(photos: Mapping[Frame, int]) -> float:
    """Of these for searches; groups may take a part, photos alone have what is left."""
    each = (n * (_READING + _MEGAPIXEL * frame.n_pixels / 1e6) for frame, n in photos.items())
    return _LEAST + sum(each)


class _Work:
    """Groups and photos on their way to cameras."""

    def __init__(
        self,
        labels: Labels,
        groups: Numbered,
        alone: Numbered,
        patterns: Patterns,
        joining: Searcher,
        placing: Searcher,
    ) -> None:
        self._labels = labels
        self._groups, self._alone, self._patterns = dict(groups), dict(alone), patterns
        self._joining, self._placing = joining, placing
        self._placed: dict[int, Link] = {}
        self._cameras: list[Camera] = []
        self._dropped = 0

    def run(self, seconds: float) -> None:
        """All of it, within so many seconds of a core, about, for each step."""
        self._join_groups(seconds * (1 - _PHOTOS) if self._alone else seconds)
        left = seconds if math.isinf(seconds) else seconds - self._joining.seconds
        self._place_photos(left)

    def _join_groups(self, seconds: float) -> None:
        """Cameras out of groups."""
        groups = list(self._groups.items())
        together = self._joining.links(groups, seconds)
        sizes = {group: piece.photos for group, piece in groups}
        shapes = {group: piece.frame for group, piece in groups}
        self._cameras, self._dropped = cameras_of(shapes, sizes, together)

    def _place_photos(self, seconds: float) -> None:
        """Photos alone at cameras: first those that are easily found, by which cameras grow.

        What would take more than so many seconds of a core, about, is not searched.
        """
        alone = list(self._alone.items())
        if not alone or not self._cameras:
            return
        cameras = [(k, self._camera_piece(k)) for k in range(len(self._cameras))]
        judges = dict.fromkeys(self._alone, self._placing.judge)
        placing = Placing(self._placing, alone, cameras, judges)
        placing.compare()
        seconds -= reading_seconds(alone)
        seconds -= placing.search_named(seconds)
        self._place(placing)
        placing.search(seconds)
        for _ in range(_ROUNDS):
            if not self._place(placing):
                return

    def _place(self, placing: Placing) -> bool:
        """Take what was found, the strongest first; whether cameras have grown by it."""
        links = sorted(placing.links(), key=lambda link: -(link.view.score or 0))
        changed = set()
        for link in links:
            if link.picture not in self._placed:
                self._placed[link.picture] = link
                changed.add(link.camera)
        placing.remove(self._placed.keys())
        placing.grown({k: self._camera_piece(k) for k in sorted(changed)})
        return bool(changed)

    def _camera_piece(self, number: int) -> Piece:
        """The pattern of a camera in its first group's frame: all that see it, added up."""
        camera = self._cameras[number]
        first = self._groups[camera.first]
        seen = [(self._groups[g], view) for g, view in camera.views.items() if g != camera.first]
        seen += [
            (self._alone[k], link.view) for k, link in self._placed.items() if link.camera == number
        ]
        return camera_piece(number, first, seen, self._patterns)

    def result(self) -> Cameras:
        """Labels of cameras, the largest first."""
        camera_of = {g: k for k, camera in enumerate(self._cameras) for g in camera.views}
        n_groups = int(self._labels.max(initial=-1)) + 1
        loose = [g for g in range(n_groups) if g not in camera_of]
        cameras = [*self._cameras, *(Camera(g, {g: View()}) for g in loose)]
        camera_of.update({g: len(self._cameras) + k for k, g in enumerate(loose)})
        labels = np.full(len(self._labels), -1, dtype=np.intp)
        of_group = np.array([camera_of[g] for g in range(n_groups)], dtype=np.intp)
        labels[self._labels >= 0] = of_group[self._labels[self._labels >= 0]]
        for photo, link in self._placed.items():
            labels[photo] = link.camera
        sizes = np.bincount(labels[labels >= 0], minlength=len(cameras))
        firsts = [int(np.flatnonzero(labels == k)[0]) for k in range(len(cameras))]
        order = sorted(range(len(cameras)), key=lambda k: (-int(sizes[k]), firsts[k]))
        numbers = np.empty(len(cameras), dtype=np.intp)
        numbers[order] = np.arange(len(cameras))
        views = tuple(cameras[camera_of[g]].views[g] for g in range(n_groups))
        return Cameras(
            np.where(labels >= 0, numbers[labels], -1),
            self._labels.copy(),
            views,
            tuple(cameras[k].first for k in order),
            {photo: link.view for photo, link in sorted(self._placed.items())},
            {
                "pairs": self._joining.judge.pairs + self._placing.judge.pairs,
                "places": self._joining.judge.places + self._placing.judge.places,
                "contradictions": self._dropped,
            },
        )
