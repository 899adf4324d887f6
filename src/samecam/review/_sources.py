"""Sources and cameras: which folders or accounts share a camera."""

from collections import Counter
from dataclasses import dataclass
from itertools import combinations

from samecam.review._state import Moment

MOST_FOLDERS, MOST_CAMERAS, MOST_LINKS = 200, 40, 100
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
    counts : by folder and camera
    alone : photos of no camera, by folder
    links : what is shared, that with most photos first
    left_out : folders and cameras that are not shown
    n_links : how many pairs of folders share a camera
    """

    folders: list[str]
    cameras: list[str]
    counts: dict[tuple[str, str], int]
    alone: dict[str, int]
    links: list[Link]
    left_out: tuple[int, int]
    n_links: int


def source_matrix(moment: Moment, depth: int) -> Matrix:
    """Photos by the first `depth` folders of their path and by camera."""
    names = [camera.name for camera in moment.decided.cameras]
    folders = moment.index.folders(depth)
    pairs = Counter(zip(folders, moment.decided.camera_of.tolist(), strict=True))
    sizes: Counter[str] = Counter()
    of_camera: dict[int, dict[str, int]] = {}
    for (folder, camera), count in pairs.items():
        sizes[folder] += count
        if camera >= 0:
            of_camera.setdefault(camera, {})[folder] = count
    links = []
    for camera, has in of_camera.items():
        some = sorted(has, key=lambda folder: (-has[folder], folder))[:_MOST_SHARING]
        links += [Link(a, b, names[camera], (has[a], has[b])) for a, b in combinations(some, 2)]
    links.sort(key=lambda link: (-min(link.photos), link.camera, link.first, link.second))
    shared = sorted(of_camera, key=lambda c: (-len(of_camera[c]), -sum(of_camera[c].values()), c))
    rows = [folder for folder, _ in sorted(sizes.items(), key=lambda item: (-item[1], item[0]))]
    shown = shared[:MOST_CAMERAS]
    counts = {
        (folder, names[camera]): count
        for camera in shown
        for folder, count in of_camera[camera].items()
    }
    return Matrix(
        rows[:MOST_FOLDERS],
        [names[camera] for camera in shown],
        counts,
        {folder: pairs[folder, -1] for folder in rows},
        links[:MOST_LINKS],
        (max(len(rows) - MOST_FOLDERS, 0), max(len(shared) - MOST_CAMERAS, 0)),
        len(links),
    )
