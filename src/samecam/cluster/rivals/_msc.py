"""Multiclass spectral clustering (Liu, Lee, Hu, Choi 2010)."""

import numpy as np
from sklearn.utils import check_random_state

from samecam import correlate
from samecam.arrays import Gram, Labels
from samecam.cluster.rivals._base import Metric, Rival, Seed, check_at_least
from samecam.cluster.rivals._yu_shi import discretise, leading_vectors, star_graph
from samecam.compute import once


class MSC(Rival):
    """Spectral clustering into 2, 3, … groups until one of them is a single photo.

    Liu, Lee, Hu, Choi, "On classification of source cameras: a graph based approach",
    2010. Each photo is linked to its `n_neighbours` best, Yu–Shi discretisation
    (`_yu_shi.discretise`) divides the graph into K = 2, 3, … groups, and the first K with a
    group of exactly one photo ends it: the groups for K − 1 are the answer.

    Not published, and chosen: links are symmetrised by max(A, Aᵀ), negative correlations are no
    links, a photo's weight with itself is its correlation with itself, 1, photos linked to
    nobody are left out first, and K is at most n/2. The weight 1 matters: a weak photo then
    nearly stands alone and ends the search soon after the cameras are apart, as the published
    counts of groups suggest; with 0 there are four times as many groups as cameras. One
    random start, as published; results vary with `random_state`.

    Parameters
    ----------
    n_neighbours : links of each photo
    random_state : of the start of the discretisation
    metric, memory, n_pixels : as for `Rival`
    """

    def __init__(
        self,
        *,
        n_neighbours: int = 5,
        metric: Metric = "correlation",
        memory: int = correlate.DEFAULT_MEMORY,
        random_state: Seed = 0,
        n_pixels: int | None = None,
    ) -> None:
        super().__init__(metric=metric, memory=memory, n_pixels=n_pixels)
        self.random_state = random_state
        self.n_neighbours = n_neighbours

    def check_parameters(self) -> None:
        """Refuse the first parameter out of range, before any work."""
        super().check_parameters()
        check_at_least("n_neighbours", self.n_neighbours, 1)

    def _group(self, gram: Gram) -> Labels:
        weights = once(star_graph, gram, self.n_neighbours)
        linked = np.flatnonzero(np.diff(weights.indptr))
        labels = np.full(len(gram), -1, dtype=np.intp)
        if len(linked) == 0:
            return labels
        state = check_random_state(self.random_state)
        inside = weights[linked][:, linked].toarray() + np.eye(len(linked))
        vectors = once(leading_vectors, inside)
        groups = np.zeros(len(linked), dtype=np.intp)
        for count in range(2, len(linked) // 2 + 1):
            tried = discretise(vectors[:, :count], state)
            if (np.bincount(tried) == 1).any():
                break
            groups = tried
        labels[linked] = groups
        return labels
