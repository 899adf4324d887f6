"""Star graph and Yu–Shi discretisation, the building blocks of multiclass spectral clustering."""

from typing import Any

import numpy as np

from samecam.arrays import Doubles, Gram, Labels

_ITERATIONS = 100


def star_graph(gram: Gram, k: int) -> Any:
    """CSR weights W = max(A, Aᵀ), A the k largest positive correlations of each photo.

    The diagonal is empty. Of equal correlations the earlier photo counts as the nearer one.
    """
    from scipy import sparse

    n = len(gram)
    k = min(k, n - 1)
    columns = np.empty((n, k), dtype=np.intp)
    weights = np.empty((n, k))
    for i in range(n):
        line = np.array(gram[i], dtype=np.float64)
        line[i] = -np.inf
        columns[i] = np.argsort(-line, kind="stable")[:k]
        weights[i] = np.maximum(line[columns[i]], 0)
    rows = np.repeat(np.arange(n), k)
    one_way = sparse.csr_array((weights.ravel(), (rows, columns.ravel())), shape=(n, n))
    result = sparse.csr_array(one_way.maximum(one_way.T))
    result.eliminate_zeros()
    return result


def leading_vectors(weights: Doubles) -> Doubles:
    """D^−½·(eigenvectors of D^−½ W D^−½), largest eigenvalue first; every degree is positive."""
    from scipy.linalg import eigh

    root = np.sqrt(weights.sum(axis=1))
    vectors = eigh(weights / root[:, np.newaxis] / root)[1]
    return np.asarray(vectors[:, ::-1] / root[:, np.newaxis], dtype=np.float64)


def discretise(vectors: Doubles, random_state: np.random.RandomState) -> Labels:
    """Yu–Shi 2003: the partition nearest to the span of K eigenvectors, rows of (n, K).

    Rows are brought to unit norm, X̃. R begins with a random row and rows as orthogonal
    to those before as there are; then, in turn, each photo goes to the largest entry of its
    row of X̃R (X), and R = Ũ Uᵀ of the SVD Xᵀ X̃ = U Ω Ũᵀ, until tr Ω stands still to
    machine precision (at most 100 times).
    """
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    n, k = rows.shape
    rotation = np.empty((k, k))
    rotation[:, 0] = rows[random_state.randint(n)]
    seen = np.zeros(n)
    for j in range(1, k):
        seen += np.abs(rows @ rotation[:, j - 1])
        rotation[:, j] = rows[np.argmin(seen)]
    before = 0.0
    for _ in range(_ITERATIONS):
        labels: Labels = np.argmax(rows @ rotation, axis=1)
        sums = np.zeros((k, k))
        np.add.at(sums, labels, rows)
        left, values, right = np.linalg.svd(sums)
        if abs(values.sum() - before) < np.finfo(float).eps:
            break
        before = float(values.sum())
        rotation = right.T @ left.T
    return labels
