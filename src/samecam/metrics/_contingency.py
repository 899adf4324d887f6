"""Images counted by true camera and predicted cluster."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Contingency:
    """The non-empty cells of the table camera × cluster, and its margins.

    Cameras are numbered by first appearance in the truth, clusters by ascending label.
    Cells are sorted by camera, then cluster; unclustered images are in no cell.
    """

    cameras: list[Hashable]
    clusters: Counts
    camera_sizes: Counts
    camera_unclustered: Counts
    cluster_sizes: Counts
    cell_camera: NDArray[np.intp]
    cell_cluster: NDArray[np.intp]
    cell_count: Counts

    @property
    def n_images(self) -> int:
        """All images, clustered or not."""
        return int(self.camera_sizes.sum())

    def majority(self) -> NDArray[np.intp]:
        """Per cluster, the cell of its most frequent camera; ties: the camera seen first."""
        order = np.lexsort((self.cell_camera, -self.cell_count, self.cell_cluster))
        first = np.ones(order.size, bool)
        first[1:] = np.diff(self.cell_cluster[order]) != 0
        return order[first]

    def discovered(self) -> NDArray[np.bool_]:
        """Per camera, whether it holds more than half of the images of some cluster."""
        result = np.zeros(len(self.cameras), bool)
        most = 2 * self.cell_count > self.cluster_sizes[self.cell_cluster]
        result[self.cell_camera[most]] = True
        return result


def contingency(truth: Iterable[Hashable], labels: ArrayLike) -> Contingency:
    """Count images by camera and cluster; refuses arguments that do not fit."""
    names = _names(truth)
    predicted = _labels(labels)
    if len(names) != predicted.size:
        raise ValueError(
            f"truth has {len(names)} entries but labels has {predicted.size}: give one of each "
            "for every image"
        )
    number: dict[Hashable, int] = {}
    camera = np.fromiter(
        (number.setdefault(name, len(number)) for name in names), np.intp, len(names)
    )
    clustered = predicted >= 0
    clusters, cluster = np.unique(predicted[clustered], return_inverse=True)
    cells, count = np.unique(
        camera[clustered] * max(1, clusters.size) + cluster, return_counts=True
    )
    return Contingency(
        list(number),
        clusters,
        np.bincount(camera, minlength=len(number)).astype(np.int64),
        np.bincount(camera[~clustered], minlength=len(number)).astype(np.int64),
        np.bincount(cluster, minlength=clusters.size).astype(np.int64),
        cells // max(1, clusters.size),
        cells % max(1, clusters.size),
        count.astype(np.int64),
    )


def pairs(counts: Counts) -> int:
    """Σ k(k − 1)/2, exact: below 2⁶³ up to four thousand million images."""
    return int((counts * (counts - 1) // 2).sum())


def _names(truth: Iterable[Hashable]) -> list[Hashable]:
    """Camera of every image as a list of Python objects."""
    if isinstance(truth, str):
        raise ValueError(f"truth is the string {truth!r}: give one camera for every image")
    array: Any = truth
    names: list[Hashable] = array.tolist() if isinstance(array, np.ndarray) else list(truth)
    if isinstance(array, np.ndarray) and array.ndim != 1:
        raise ValueError(f"truth has shape {array.shape}: give one camera for every image")
    return names


def _labels(labels: ArrayLike) -> Counts:
    """Predicted clusters as int64, −1 for unclustered."""
    array: NDArray[Any] = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(f"labels has shape {array.shape}: give one cluster for every image")
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(
            f"labels has dtype {array.dtype}: give whole numbers, −1 for an unclustered image"
        )
    if array.size and int(array.min()) < -1:
        raise ValueError(
            f"labels holds {int(array.min())}: number clusters from 0, and write −1 for an "
            "unclustered image"
        )
    return array.astype(np.int64)
