"""Small graphs and the obvious way to compute on them."""

import numpy as np
from scipy import sparse


def blocks(sizes, inside=1.0, between=0.05, seed=0):
    """Dense groups with random weights; `between` is the share of links that cross."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    same = group[:, None] == group
    weights = rng.uniform(0.2, 1, same.shape) * (inside * same)
    weights += rng.uniform(0, 0.3, same.shape) * (rng.random(same.shape) < between) * ~same
    weights = np.triu(weights, 1)
    return sparse.csr_array(weights + weights.T), group


def laplacian_values(weights):
    """Eigenvalues of I − D^−½ S D^−½ over the nodes that have an edge."""
    dense = weights.toarray().astype(np.float64)
    linked = dense.sum(axis=1) > 0
    dense = dense[linked][:, linked]
    root = np.sqrt(dense.sum(axis=1))
    return np.linalg.eigvalsh(np.eye(len(dense)) - dense / root[:, None] / root)


def as_sets(labels):
    """The groups, whatever their numbers; −1 is no group."""
    labels = np.asarray(labels)
    return {frozenset(np.flatnonzero(labels == k).tolist()) for k in set(labels.tolist()) - {-1}}
