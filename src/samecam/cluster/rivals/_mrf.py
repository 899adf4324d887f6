"""Markov random field with a membership committee (Li 2010; Li and Lin 2017)."""

import numpy as np
from sklearn.utils import check_random_state

from samecam import correlate
from samecam.arrays import Doubles, Gram, Labels
from samecam.cluster.rivals._base import Metric, Rival, Seed, check_at_least

_SWEEPS = 100
_QUIET = 2


class MRF(Rival):
    """Every photo takes the label that its committee, the photos most like it, speaks for.

    Li, "Unsupervised classification of digital images using enhanced sensor pattern noise",
    2010; Li and Lin, "A fast source-oriented image clustering method for digital forensics",
    2017. Two-means on a photo's correlations gives r_i, the border between its own camera
    and others; all labels differ at first; in random order each photo takes, of the labels in
    its committee, the one with the largest Σ (g_ij − r_i), until nothing has changed for two
    sweeps.

    Not published, and chosen: the exact cost (the sum above is the weighted vote of 2017); two
    means are exact; at most 100 sweeps. The enhancement of fingerprints belongs to
    extraction and is left out, and all photos are trained on, so that no classification of a
    rest is needed.

    Parameters
    ----------
    committee : photos in a committee; None is a fifth of all, as published
    random_state : of the order in which photos are visited
    metric, memory, n_pixels : as for `Rival`
    """

    def __init__(
        self,
        *,
        committee: int | None = None,
        metric: Metric = "correlation",
        memory: int = correlate.DEFAULT_MEMORY,
        random_state: Seed = 0,
        n_pixels: int | None = None,
    ) -> None:
        super().__init__(metric=metric, memory=memory, n_pixels=n_pixels)
        self.random_state = random_state
        self.committee = committee

    def check_parameters(self) -> None:
        """Refuse the first parameter out of range, before any work."""
        super().check_parameters()
        if self.committee is not None:
            check_at_least("committee", self.committee, 1)

    def _group(self, gram: Gram) -> Labels:
        from samecam.cluster.rivals._kernels import committee_sweep

        n = len(gram)
        size = min(self.committee or max(n // 5, 1), n - 1)
        members, reference = committees(gram, size), two_means_borders(gram)
        state = check_random_state(self.random_state)
        labels, quiet = np.arange(n), 0
        for _ in range(_SWEEPS):
            order = state.permutation(n)
            changed = committee_sweep(np.ascontiguousarray(gram), members, reference, order, labels)
            quiet = 0 if changed else quiet + 1
            if quiet == _QUIET:
                break
        return labels


def committees(gram: Gram, size: int) -> Labels:
    """The `size` photos most like each, most alike first, (n, size)."""
    result = np.empty((len(gram), size), dtype=np.intp)
    for i, line in enumerate(gram):
        order = np.argsort(-line, kind="stable")
        result[i] = order[order != i][:size]
    return result


def two_means_borders(gram: Gram) -> Doubles:
    """Half-way between the two means of each photo's correlations with the others.

    The two means are those with the least sum of squares over all divisions of the
    sorted values.
    """
    borders = np.zeros(len(gram))
    for i, line in enumerate(gram):
        values = np.sort(np.delete(line, i).astype(np.float64))
        m = len(values)
        if m < 2:
            continue
        low = np.arange(1, m)
        below = np.cumsum(values)[:-1]
        above = values.sum() - below
        between = below**2 / low + above**2 / (m - low)
        k = int(np.argmax(between))
        borders[i] = (below[k] / low[k] + above[k] / (m - low[k])) / 2
    return borders
