"""HDBSCAN on 1 − correlation, from the shelf."""

import numpy as np

from samecam import correlate
from samecam.arrays import Gram, Labels
from samecam.cluster.rivals._base import Metric, Rival, check_at_least


class HDBSCANBaseline(Rival):
    """scikit-learn's HDBSCAN on the distance 1 − correlation, with its own defaults.

    What a user would reach for today.

    Parameters
    ----------
    min_cluster_size : photos a group has at least
    metric, memory, n_pixels : as for `Rival`
    """

    def __init__(
        self,
        *,
        min_cluster_size: int = 5,
        metric: Metric = "correlation",
        memory: int = correlate.DEFAULT_MEMORY,
        n_pixels: int | None = None,
    ) -> None:
        super().__init__(metric=metric, memory=memory, n_pixels=n_pixels)
        self.min_cluster_size = min_cluster_size

    def check_parameters(self) -> None:
        """Refuse the first parameter out of range, before any work."""
        super().check_parameters()
        check_at_least("min_cluster_size", self.min_cluster_size, 2)

    def _group(self, gram: Gram) -> Labels:
        from sklearn.cluster import HDBSCAN

        if len(gram) < self.min_cluster_size:
            return np.full(len(gram), -1, dtype=np.intp)
        distance = np.maximum(1 - np.asarray(gram, dtype=np.float64), 0)
        np.fill_diagonal(distance, 0)
        method = HDBSCAN(self.min_cluster_size, metric="precomputed", copy=False)
        return np.asarray(method.fit_predict(distance), dtype=np.intp)
