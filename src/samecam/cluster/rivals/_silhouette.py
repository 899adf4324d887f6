"""The silhouette on correlations, and the level of a dendrogram where it is best."""

import numpy as np

from samecam.arrays import Doubles, Gram, Labels


def average_linkage(similarity: Gram) -> Doubles:
    """SciPy's average-linkage tree; heights are (largest similarity) − (mean similarity).

    The mean is the plain mean over all pairs of the two groups; the diagonal plays no part.
    """
    from scipy.cluster.hierarchy import linkage

    above = np.triu_indices(len(similarity), 1)
    values = np.asarray(similarity, dtype=np.float64)[above]
    return np.asarray(linkage(values.max() - values, "average"), dtype=np.float64)


def merges(tree: Doubles) -> tuple[Labels, Labels]:
    """The merges of a SciPy tree as group numbers: second[t] goes into first[t].

    A group bears the number of one of its photos.
    """
    n = len(tree) + 1
    name = np.arange(2 * n - 1)
    first, second = np.empty(n - 1, dtype=np.intp), np.empty(n - 1, dtype=np.intp)
    for t, (a, b) in enumerate(tree[:, :2].astype(np.intp)):
        first[t], second[t] = name[a], name[b]
        name[n + t] = name[a]
    return first, second


def silhouettes(gram: Gram, tree: Doubles) -> Doubles:
    """Mean silhouette after 0, 1, … n−1 merges of the tree; smaller is better.

    s_i = b_i − a_i: mean correlation with the nearest other group less that with the own.
    A photo alone has s_i = 0; with one group only, b_i = 0.
    """
    from samecam.cluster.rivals._kernels import silhouette_levels

    return np.asarray(silhouette_levels(np.ascontiguousarray(gram), *merges(tree)))


def cut_after(tree: Doubles, count: int) -> Labels:
    """Groups after the first `count` merges of the tree."""
    first, second = merges(tree)
    root = np.arange(len(tree) + 1)
    root[second[:count]] = first[:count]
    while (root != root[root]).any():
        root = root[root]
    return root
