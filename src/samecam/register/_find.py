"""Cameras out of groups."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from samecam.arrays import Doubles, Labels, Rows
from samecam.compute import Resources
from samecam.frames import Frame
from samecam.register._cameras import Cameras
from samecam.register._view import View
from samecam.store import FingerprintStore

Search = Literal["quick", "normal", "deep"]


class GroupedRows(NamedTuple):
    """The photos of one frame and their groups.

    Attributes
    ----------
    frame : width and height
    rows : their fingerprints
    photos : (n,) number of each row's photo among all photos
    groups : (n,) group of each row, counted over all frames from 0; −1: none
    zoom : (n,) digital zoom that EXIF names; NaN: unknown. Orders the search, is no evidence.
    """

    frame: Frame
    rows: FingerprintStore
    photos: Rows
    groups: Labels
    zoom: Doubles


def find_cameras(
    frames: Sequence[GroupedRows],
    *,
    search: Search = "normal",
    rate: float = 0.01,
    resources: Resources | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Cameras:
    """Groups, and photos in none, that see one sensor in several ways.

    Parameters
    ----------
    frames : the photos of each frame; every photo once
    search : how far to look; "quick": turns, small shifts and the scales that widths and EXIF
        suggest; "normal": also all zooms and lens corrections; "deep": also all shifts, for crops
    rate : probability that chance joins anything wrongly, in all that is searched together
    """
    del search, rate, resources, progress
    n = sum(len(frame.photos) for frame in frames)
    labels = np.full(n, -1, dtype=np.intp)
    for frame in frames:
        labels[frame.photos] = frame.groups
    count = int(labels.max(initial=-1)) + 1
    return Cameras(labels, labels.copy(), (View(),) * count, tuple(range(count)))
