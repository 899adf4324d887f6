"""Purity: a dense region that a chain of photos holds together is cut (not in the paper)."""

import numpy as np

from samecam.arrays import Doubles, Gram, Labels, Mask
from samecam.cluster.large_scale._merge import Threshold, apart

_LEAST = 4
_DENSE = 200


def purify(gram: Gram, labels: Labels, chance: float, threshold: Threshold = "half") -> Labels:
    """Cut groups in two while merging would not join the two parts again.

    DBSCAN needs but one link between two regions to call them one. Each group is cut
    where its normalised cut is smallest; if the centroids of the two parts correlate by
    less than τ = max(chance, rule) of merging, they were two groups, and are looked at in
    turn. Groups under four photos, and parts of one photo, stay.
    """
    result = np.full(labels.shape, -1, dtype=np.intp)
    waiting = [np.flatnonzero(labels == g) for g in range(int(labels.max(initial=-1)) + 1)]
    count = 0
    while waiting:
        members = waiting.pop(0)
        part = np.asarray(gram[np.ix_(members, members)], dtype=np.float64)
        side = cut(part)
        fair = 2 <= np.count_nonzero(side) <= len(members) - 2
        if fair and _are_two(part, side, chance, threshold):
            waiting[:0] = [members[side], members[~side]]
            continue
        result[members] = count
        count += 1
    return result


def cut(part: Doubles) -> Mask:
    """One side of the smallest normalised cut of a group's correlations.

    Where the second eigenvector of D^-½ W D^-½ is positive, W the correlations above 0
    without the diagonal; nobody under four photos.
    """
    n = len(part)
    if n < _LEAST:
        return np.zeros(n, dtype=bool)
    weights = np.maximum(part, 0)
    np.fill_diagonal(weights, 0)
    root = 1 / np.sqrt(np.maximum(weights.sum(axis=1), 1e-12))
    graph = weights * root[:, np.newaxis] * root
    if n <= _DENSE:
        vector = np.linalg.eigh(graph)[1][:, -2]
    else:
        from scipy.sparse.linalg import eigsh

        values, vectors = eigsh(graph, k=2, which="LA", v0=np.linspace(1, 2, n), tol=1e-6)
        vector = vectors[:, np.argmin(values)]
    side = np.asarray(vector > 0)
    return side if side[0] else ~side


def _are_two(part: Doubles, side: Mask, chance: float, threshold: Threshold) -> bool:
    """Whether merging would leave the two parts apart."""
    sums = np.stack([part[:, side].sum(axis=1), part[:, ~side].sum(axis=1)])
    products = np.stack([sums[:, side].sum(axis=1), sums[:, ~side].sum(axis=1)], axis=1)
    size = np.array([np.count_nonzero(side), np.count_nonzero(~side)], dtype=np.float64)
    return apart(products, size, chance, threshold)
