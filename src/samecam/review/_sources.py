"""Sources and cameras: which folders or accounts share a camera."""

import heapq
from collections import Counter
from dataclasses import dataclass

import numpy as np

from samecam.review._state import Moment

MOST_FOLDERS, MOST_CAMERAS, MOST_LINKS = 100, 30, 100
# Folders that are named of those that share one camera.
_MOST_SHARING = 20


@dataclass(frozen=True, slots=True)
class Link:
    """Two folders with photos by one camera."""

    first: str
    second: str
    camera: str
    photos: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Numbers of photos: a row a folder, a column a camera.

    Attributes
    ----------
    folders, cameras : names, those with most photos first
    counts : for each folder, by camera; 0: none
    alone : photos of no camera, by folder
    links : what is shared, that with most photos first
    left_out : folders and cameras that are not shown
    n_links : how many pairs of folders share a camera
    """

    folders: list[str]
    cameras: list[str]
    counts: list[list[int]]
    alone: dict[str, int]
    links: list[Link]
    left_out: tuple[int, int]
    n_links: int


def source_matrix(moment: Moment, depth: int) -> Matrix:
    """Photos by the first `depth` folders of their path and by camera."""
    names = [camera.name for camera in moment.decided.cameras]
    folders, codes = moment.index.folder_codes(depth)
    cameras = moment.decided.camera_of
    cells, counts = np.unique(codes * (len(names) + 1) + cameras + 1, return_counts=True)
    alone: dict[str, int] = {}
    sizes: Counter[str] = Counter()
    of_camera: dict[int, dict[str, int]] = {}
    for cell, count in zip(cells.tolist(), counts.tolist(), strict=True):
        code, camera = divmod(cell, len(names) + 1)
        sizes[folders[code]] += count
        if camera:
            of_camera.setdefault(camera - 1, {})[folders[code]] = count
        else:
            alone[folders[code]] = count
    shared = sorted(of_camera, key=lambda c: (-len(of_camera[c]), -sum(of_camera[c].values()), c))
    rows = [folder for folder, _ in sorted(sizes.items(), key=lambda item: (-item[1], item[0]))]
    shown = shared[:MOST_CAMERAS]
    return Matrix(
        rows[:MOST_FOLDERS],
        [names[camera] for camera in shown],
        [[of_camera[camera].get(folder, 0) for camera in shown] for folder in rows[:MOST_FOLDERS]],
        alone,
        _links(names, of_camera),
        (max(len(rows) - MOST_FOLDERS, 0), max(len(shared) - MOST_CAMERAS, 0)),
        sum(len(has) * (len(has) - 1) // 2 for has in of_camera.values()),
    )


def _links(names: list[str], of_camera: dict[int, dict[str, int]]) -> list[Link]:
    """Pairs of folders that share a camera, those with most photos in the lesser one first.

    Of a camera's folders in the order of their photos, each makes as many pairs with its own
    number as there are folders before it.
    """
    ranked = {
        camera: sorted(has, key=lambda folder: (-has[folder], folder))[:_MOST_SHARING]
        for camera, has in of_camera.items()
        if len(has) > 1
    }
    lesser = (
        (-of_camera[camera][folder], names[camera], camera, place)
        for camera, order in ranked.items()
        for place, folder in enumerate(order)
        if place
    )
    links = []
    for _, name, camera, place in heapq.nsmallest(MOST_LINKS, lesser):
        has, order = of_camera[camera], ranked[camera]
        links += [
            Link(first, order[place], name, (has[first], has[order[place]]))
            for first in order[:place]
        ]
    return links[:MOST_LINKS]
