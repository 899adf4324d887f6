"""Pairwise scores of a grouping, with unclustered images as in the paper."""

from collections.abc import Hashable, Iterable
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from samecam.metrics._contingency import contingency, pairs


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of one grouping; pair counts are exact integers.

    Every unclustered image counts as a group of its own. That gives the paper's counting:
    a pair is put together only if both are in the same cluster.

    Attributes
    ----------
    precision : float
        TP / (TP + FP); 1 if no pair was put together (nothing claimed, nothing wrong).
    recall : float
        TP / (TP + FN); 1 if no two images share a camera.
    f : float
        2 TP / (2 TP + FP + FN), the harmonic mean of both (the paper's formula shows another
        letter in place of recall); 1 if there is no pair of either kind.
    rand_index : float
        (TP + TN) / all pairs; 1 for fewer than two images.
    ari : float
        Rand index adjusted for chance (Hubert and Arabie),
        2(TP·TN − FN·FP) / ((TP+FN)(FN+TN) + (TP+FP)(FP+TN)); 1 if FP = FN = 0.
    purity : float
        Share of the clustered images that belong to their cluster's most frequent camera;
        1 if none is clustered.
    n_images, n_unclustered : int
        Images, and those labelled −1.
    n_clusters, n_cameras : int
        The paper's L_p (clusters predicted, unclustered images not counted) and L_g.
    lp_over_lg : float
        L_p / L_g; may exceed 1. 1 if there are no images.
    n_discovered : int
        L_d: cameras that hold more than half of the images of at least one cluster.
    ld_over_lg : float
        L_d / L_g; 1 if there are no images.
    true_positives, false_positives, false_negatives, true_negatives : int
        Pairs of one camera in one cluster; of two cameras in one cluster; of one camera not
        in one cluster; of two cameras not in one cluster.
    """

    precision: float
    recall: float
    f: float
    rand_index: float
    ari: float
    purity: float
    n_images: int
    n_clusters: int
    n_cameras: int
    lp_over_lg: float
    n_discovered: int
    ld_over_lg: float
    n_unclustered: int
    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int

    def as_dict(self) -> dict[str, float | int]:
        """All fields, ready for JSON."""
        return asdict(self)


def scores(truth: Iterable[Hashable], labels: ArrayLike) -> Scores:
    """Score predicted clusters against the true cameras.

    Parameters
    ----------
    truth : sequence of length n
        Camera of every image: strings, numbers, anything hashable.
    labels : array_like of int, shape (n,)
        Cluster of every image from 0; −1 for an unclustered image.
    """
    table = contingency(truth, labels)
    n = table.n_images
    together = pairs(table.cell_count)
    false_positives = pairs(table.cluster_sizes) - together
    false_negatives = pairs(table.camera_sizes) - together
    apart = n * (n - 1) // 2 - together - false_positives - false_negatives
    wrong = false_positives + false_negatives
    clustered = int(table.cluster_sizes.sum())
    cameras, clusters = len(table.cameras), int(table.clusters.size)
    discovered = int(np.count_nonzero(table.discovered()))
    return Scores(
        precision=_ratio(together, together + false_positives),
        recall=_ratio(together, together + false_negatives),
        f=_ratio(2 * together, 2 * together + wrong),
        rand_index=_ratio(together + apart, together + apart + wrong),
        ari=_adjusted(together, false_positives, false_negatives, apart),
        purity=_ratio(int(table.cell_count[table.majority()].sum()), clustered),
        n_images=n,
        n_clusters=clusters,
        n_cameras=cameras,
        lp_over_lg=_ratio(clusters, cameras),
        n_discovered=discovered,
        ld_over_lg=_ratio(discovered, cameras),
        n_unclustered=n - clustered,
        true_positives=together,
        false_positives=false_positives,
        false_negatives=false_negatives,
        true_negatives=apart,
    )


def _ratio(part: int, whole: int) -> float:
    """Part / whole, rounded once; 1 for 0/0."""
    return part / whole if whole else 1.0


def _adjusted(tp: int, fp: int, fn: int, tn: int) -> float:
    """Adjusted Rand index from exact pair counts."""
    if fp == 0 and fn == 0:
        return 1.0
    return 2 * (tp * tn - fn * fp) / ((tp + fn) * (fn + tn) + (tp + fp) * (fp + tn))
