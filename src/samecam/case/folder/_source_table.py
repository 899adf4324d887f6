"""Sources × cameras: how many photos of which camera lie in which folder, or account."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from samecam.arrays import Labels


@dataclass(frozen=True, slots=True)
class SourceTable:
    """Photos counted by source and camera; every file is counted once.

    Attributes
    ----------
    names : of the sources: folders, sorted; "" for files beside these folders
    cameras : numbers of the cameras that have photos, rising
    counts : (sources, cameras) photos
    alone : (sources,) photos of no camera
    unused : (sources,) files that were not used
    """

    names: list[str]
    cameras: list[int]
    counts: Labels
    alone: Labels
    unused: Labels

    @property
    def files(self) -> Labels:
        """(sources,) all files."""
        total: Labels = self.counts.sum(axis=1) + self.alone + self.unused
        return total

    @property
    def shared(self) -> list[int]:
        """Cameras of two sources or more: that of most sources first, then of most photos."""
        sources, photos = (self.counts > 0).sum(axis=0), self.counts.sum(axis=0)
        order = np.lexsort((np.arange(len(self.cameras)), -photos, -sources))
        return [self.cameras[k] for k in order if sources[k] > 1]

    def holders(self, camera: int) -> list[tuple[str, int]]:
        """Sources with photos of a camera and how many, most first."""
        column = self.counts[:, self.cameras.index(camera)]
        order = np.argsort(-column, kind="stable")
        return [(self.names[k], int(column[k])) for k in order if column[k]]


def folders_below(paths: Sequence[str]) -> list[list[str]]:
    """The folders of each file, without those that all have in common."""
    folders = [path.split("/")[:-1] for path in paths]
    # What the first and the last in order have in common, all have.
    ends = zip(min(folders, default=[]), max(folders, default=[]), strict=False)
    depth = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    return [parts[depth:] for parts in folders]


def source_names(paths: Sequence[str]) -> list[str]:
    """The source of each file: the first folder in which paths differ; "" beside these folders.

    With several arguments that is the argument; where all lies in one folder, one inside of it.
    """
    return [parts[0] if parts else "" for parts in folders_below(paths)]


def sources_by_camera(paths: Sequence[str], cameras: Sequence[int | None]) -> SourceTable:
    """Count photos by source and camera.

    Parameters
    ----------
    paths : of all files, `/` between folders
    cameras : number of the camera of each; −1: none; None: not used
    """
    each = source_names(paths)
    names = sorted(set(each))
    numbers = sorted({camera for camera in cameras if camera is not None and camera >= 0})
    row = {name: k for k, name in enumerate(names)}
    column = {number: k for k, number in enumerate(numbers)}
    column[-1] = len(numbers)
    counts = np.zeros((len(names), len(numbers) + 2), dtype=np.intp)
    for name, camera in zip(each, cameras, strict=True):
        counts[row[name], -1 if camera is None else column[camera]] += 1
    return SourceTable(names, numbers, counts[:, :-2], counts[:, -2], counts[:, -1])
