"""Groups to cameras: which groups, and photos in none, see one sensor in several ways."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from samecam import compute, evidence, register
from samecam.arrays import Labels
from samecam.case.folder import (
    ClusteringSettings,
    Place,
    cameras_of,
    grouped_rows,
    rounded_view,
)
from samecam.register import Cameras, View, view_words
from samecam.store import DiskStore, Record

PHASE = "Looking for views"


def group_cameras(
    store: DiskStore,
    photos: Sequence[Record],
    groups: Labels,
    clustering: ClusteringSettings,
    resources: compute.Resources,
    progress: compute.Progress,
    details: Mapping[str, Any],
) -> Cameras:
    """Cameras of the photos, numbered by size; of squares every group is a camera.

    Parameters
    ----------
    store : fingerprints of `photos`
    photos : the used photos, sorted by path
    groups : their groups, from 0; −1: none
    clustering : says how far to look
    resources : resolved
    details : what grouping had to say, see `group_photos`
    """
    from samecam.cluster import numbered

    if store.frame is not None or clustering.search == "off" or groups.max(initial=-1) < 0:
        return each_a_camera(groups)
    frames = grouped_rows(store, photos, groups, details.get("frames", {}))
    try:
        progress(PHASE, 0, len(photos))
        with compute.device_errors(resources.device):
            cameras = register.find_cameras(
                frames,
                search=clustering.search,
                resources=resources,
                progress=partial(progress, PHASE),
            )
    finally:
        for each in frames:
            each.rows.close()
    return _checked(_renumbered(cameras, numbered(cameras.labels)), groups)


def each_a_camera(groups: Labels) -> Cameras:
    """Every group a camera of its own."""
    count = int(groups.max(initial=-1)) + 1
    return Cameras(groups, groups, (View(),) * count, tuple(range(count)))


def _renumbered(cameras: Cameras, labels: Labels) -> Cameras:
    """The same cameras numbered as `labels` has them, views as they are written."""
    first = np.full(int(labels.max(initial=-1)) + 1, -1, dtype=np.intp)
    inside = labels >= 0
    first[labels[inside]] = np.array(cameras.first, dtype=np.intp)[cameras.labels[inside]]
    return Cameras(
        labels,
        cameras.groups,
        tuple(map(rounded_view, cameras.views)),
        tuple(first.tolist()),
        {int(k): rounded_view(view) for k, view in sorted(cameras.alone.items())},
        cameras.searched,
    )


def _checked(cameras: Cameras, groups: Labels) -> Cameras:
    """What was found, if it is what can be written: groups are never cut or changed."""
    again = cameras_of(camera_places([""] * len(groups), cameras))
    if not np.array_equal(cameras.groups, groups) or again.first != cameras.first:
        raise RuntimeError("the search for cameras changed the groups")
    return cameras


def camera_places(hashes: Sequence[str], cameras: Cameras, *, views: bool = True) -> list[Place]:
    """The place of each photo, in their order, with its view or not; `hashes` are theirs."""
    pairs = zip(hashes, cameras.labels.tolist(), cameras.groups.tolist(), strict=True)
    return [
        Place(sha256, camera, group, photo_view(cameras, k) if views else None)
        for k, (sha256, camera, group) in enumerate(pairs)
    ]


def photo_view(cameras: Cameras, photo: int) -> View | None:
    """How a photo sees its camera; None if it has none."""
    group = int(cameras.groups[photo])
    return cameras.views[group] if group >= 0 else cameras.alone.get(photo)


class Seen:
    """Cameras of photos, with what is said of their views.

    Parameters
    ----------
    records : the photos
    cameras : theirs
    """

    def __init__(self, records: Sequence[Record], cameras: Cameras) -> None:
        self._records, self._cameras = records, cameras
        inside = np.flatnonzero(cameras.groups >= 0)
        _, first = np.unique(cameras.groups[inside], return_index=True)
        self._member = inside[first]

    def camera(self, group: int) -> int:
        """The camera of a group."""
        return int(self._cameras.labels[self._member[group]])

    def group_words(self, group: int) -> tuple[str, str]:
        """How a group sees its camera, in words, and why it is of that one; "" for the first."""
        return self.photo_words(int(self._member[group]))

    def photo_words(self, photo: int) -> tuple[str, str]:
        """The same for a photo that has a camera."""
        cameras = self._cameras
        first = cameras.first[int(cameras.labels[photo])]
        view = photo_view(cameras, photo)
        own, other = self._records[photo].frame, self._records[self._member[first]].frame
        if view is None or own is None or other is None:
            raise RuntimeError("a photo without a view was asked for it")
        words = view_words(view, own, other)
        if view.score is None:
            return words, ""
        rate = 1.0 if view.rate is None else view.rate
        return words, evidence.view_sentence(view.score, rate, view.share, first)
