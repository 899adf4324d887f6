"""Photos against the cameras of a case by views: turned, zoomed, reduced, corrected, cut."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from samecam import compute
from samecam.arrays import Floats
from samecam.case.folder import Group, SavedCase, grouped_rows, rounded_view, used_photos
from samecam.case.matching._orientations import Orientation, TurnedPhoto, fingerprint_of
from samecam.case.matching._result import Match, SeenCamera
from samecam.frames import Frame
from samecam.register import (
    SMALLEST,
    Cameras,
    GroupedRows,
    KnownCameras,
    Photo,
    Placed,
    Search,
    View,
    view_words,
)
from samecam.store import DiskStore

PHASE = "Comparing views"
# Photos for which the patterns of cameras are made ready once.
_AT_A_TIME = 16


class CameraViews:
    """The cameras of a case, read when the first photo is to be placed at them.

    Parameters
    ----------
    saved, store : the case and its fingerprints
    search : how far to look
    rate : probability, for each photo, that chance places it at any camera
    memory : bytes for patterns and search
    stop : set when no further photo is to be placed
    """

    def __init__(
        self,
        saved: SavedCase,
        store: DiskStore,
        search: Search,
        rate: float,
        memory: int,
        progress: compute.Progress,
        stop: threading.Event,
    ) -> None:
        self._saved, self._store = saved, store
        self._search, self._rate, self._memory = search, rate, memory
        self._progress, self._stop = progress, stop
        self._frames: Mapping[str, Any] = saved.detail("frames") or {}
        self._rows: list[GroupedRows] = []
        self._cameras: KnownCameras | None = None

    def seen(self, photos: Sequence[tuple[TurnedPhoto, Match]]) -> list[Match]:
        """See `Views`; of a photo that is in a group of the case itself they say nothing.

        Its own fingerprint is part of what it would be compared with.
        """
        results = [match for _, match in photos if not _is_open(match)]
        left = [(upright_photo(photo), match) for photo, match in photos if _is_open(match)]
        while left and not self._stop.is_set():
            some, left = left[:_AT_A_TIME], left[_AT_A_TIME:]
            results += self._placed(some)
        return results

    def _placed(self, photos: Sequence[tuple[Photo, Match]]) -> list[Match]:
        """What is said of photos once they are placed, or not."""
        known = self._known()
        given = [photo for photo, _ in photos]
        try:
            placed = known.place(given, search=self._search, rate=self._rate)
        finally:
            for each in self._rows:
                each.rows.close()
        pairs = zip(photos, placed, strict=True)
        return [
            self._told(match, photo.frame, place, known.count) for (photo, match), place in pairs
        ]

    def _told(self, match: Match, frame: Frame, place: Placed | None, count: int) -> Match:
        """What was said of a photo, and what views say."""
        if min(frame) < SMALLEST:
            return _said(match, f"under {SMALLEST} pixels wide or high it is too small for views")
        match = replace(match, by_views=count)
        if place is None:
            return _said(match, f"compared with {_counted(count)} by views, none fits")
        group = self._saved.groups[place.group]
        if group.frame is None:
            raise RuntimeError("a group without a frame was registered")
        view = rounded_view(place.view)
        words = view_words(view, frame, Frame.named(group.frame))
        return replace(
            match,
            verdict="match",
            adjusted=1.0 if view.rate is None else view.rate,
            seen=SeenCamera(group.camera, group.id, view, words, self._shares(group)),
        )

    def _shares(self, group: Group) -> bool:
        """Whether a group has a pattern that is no sensor's where views are searched."""
        left_out = self._frames.get(group.frame or "", {}).get("left_out")
        return group.shared is not None and (bool(group.shared.everywhere) or not left_out)

    def _known(self) -> KnownCameras:
        if self._cameras is None:
            used = used_photos(self._store)
            labels, groups = self._saved.labels(used)
            self._rows = grouped_rows(self._store, used, groups, self._frames)
            views = tuple(group.view or View() for group in self._saved.groups)
            first = tuple(camera.groups[0].id for camera in self._saved.cameras)
            self._cameras = KnownCameras(
                self._rows,
                Cameras(labels, groups, views, first),
                memory=self._memory,
                progress=partial(self._progress, PHASE),
            )
        return self._cameras


def _is_open(match: Match) -> bool:
    """Whether views may say something of it."""
    return match.verdict == "none" and (match.known_group is None or match.known_group < 0)


def _counted(cameras: int) -> str:
    return "1 camera" if cameras == 1 else f"{cameras} cameras"


def _said(match: Match, more: str) -> Match:
    """A match with a further reason, where it was compared with nothing else."""
    return replace(match, reason=f"{match.reason}; {more}") if match.best is None else match


def upright_photo(photo: TurnedPhoto) -> Photo:
    """The photo as it is stored, from the first of its fingerprints."""
    one = photo.apart or photo.orientations[0]
    turned = one.turned % 180 != 0
    frame = Frame(one.frame.height, one.frame.width) if turned else one.frame
    zoom = photo.outcome.info.exif.zoom
    return Photo(frame, partial(_values, one), float("nan") if zoom is None else zoom)


def _values(one: Orientation) -> Floats:
    """A fingerprint, turned back."""
    return np.rot90(fingerprint_of(one).reshape(one.frame.shape), k=one.turned // 90)
