"""One row a camera and one row a cluster: where a grouping is right and where it is not."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from samecam.metrics._contingency import contingency


@dataclass(frozen=True, slots=True)
class CameraRow:
    """What became of one camera.

    `main_cluster` is the cluster that holds most of its images, `n_in_main` of them (ties:
    the smaller label; −1 and 0 if all are unclustered); `n_clusters` clusters hold any.
    `recall` is the share of its pairs put together, 1 for a camera with one image.
    `discovered`: it holds more than half of the images of some cluster.
    """

    camera: Hashable
    n_images: int
    n_unclustered: int
    n_clusters: int
    main_cluster: int
    n_in_main: int
    recall: float
    discovered: bool


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """What one cluster holds.

    `camera` is its most frequent camera (ties: the one that comes first in the truth), with
    `n_of_camera` images; `purity` = n_of_camera / n_images.
    """

    cluster: int
    n_images: int
    n_cameras: int
    camera: Hashable
    n_of_camera: int
    purity: float


def per_camera(truth: Iterable[Hashable], labels: ArrayLike) -> list[CameraRow]:
    """One `CameraRow` for every camera, largest first, ties by first appearance.

    Arguments as in `scores`.
    """
    table = contingency(truth, labels)
    count, cell = table.cell_count, table.cell_camera
    bounds = np.searchsorted(cell, np.arange(len(table.cameras) + 1))
    discovered = table.discovered()
    rows = []
    for k in np.argsort(-table.camera_sizes, kind="stable"):
        mine = slice(bounds[k], bounds[k + 1])
        size, held = int(table.camera_sizes[k]), count[mine]
        best = int(held.argmax()) if held.size else -1
        together = int((held * (held - 1)).sum())
        rows.append(
            CameraRow(
                camera=table.cameras[k],
                n_images=size,
                n_unclustered=int(table.camera_unclustered[k]),
                n_clusters=int(held.size),
                main_cluster=int(table.clusters[table.cell_cluster[mine][best]])
                if held.size
                else -1,
                n_in_main=int(held[best]) if held.size else 0,
                recall=together / (size * (size - 1)) if size > 1 else 1.0,
                discovered=bool(discovered[k]),
            )
        )
    return rows


def per_cluster(truth: Iterable[Hashable], labels: ArrayLike) -> list[ClusterRow]:
    """One `ClusterRow` for every cluster by ascending label; unclustered images are in none.

    Arguments as in `scores`.
    """
    table = contingency(truth, labels)
    cameras = np.bincount(table.cell_cluster, minlength=table.clusters.size)
    return [
        ClusterRow(
            cluster=int(table.clusters[k]),
            n_images=int(table.cluster_sizes[k]),
            n_cameras=int(cameras[k]),
            camera=table.cameras[table.cell_camera[best]],
            n_of_camera=int(table.cell_count[best]),
            purity=int(table.cell_count[best]) / int(table.cluster_sizes[k]),
        )
        for k, best in enumerate(table.majority())
    ]
