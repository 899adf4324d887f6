"""The steps of consolidation, each a function: start, refine, merge, found."""

from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.cluster.consolidate import _thresholds

Gram = npt.NDArray[np.floating]
Doubles = npt.NDArray[np.float64]
Labels = npt.NDArray[np.intp]

_EDGES = 5
_LARGEST_START = 8
_BLOCK_BYTES = 2**28


def start_groups(coefficients: Any) -> Labels:
    """Many small groups: the five largest coefficients of each photo as edges, strongest first.

    Far too many groups on purpose; none holds more than 8 photos.
    """
    from samecam.cluster.consolidate._kernels import greedy_groups

    matrix = coefficients.tocsr()
    first, second, weight = [], [], []
    for i in range(matrix.shape[0]):
        row = slice(matrix.indptr[i], matrix.indptr[i + 1])
        data, columns = np.abs(matrix.data[row]), matrix.indices[row]
        if len(data) > _EDGES:
            keep = np.argpartition(-data, _EDGES - 1)[:_EDGES]
            data, columns = data[keep], columns[keep]
        first.append(np.full(len(data), i))
        second.append(columns)
        weight.append(data)
    a = np.concatenate([*first, np.zeros(0)]).astype(np.intp)
    b = np.concatenate([*second, np.zeros(0)]).astype(np.intp)
    order = np.argsort(-np.concatenate([*weight, np.zeros(0)]), kind="stable")
    return greedy_groups(a[order], b[order], matrix.shape[0], _LARGEST_START)


def compact(labels: Labels) -> Labels:
    """Number the groups that are left from 0; groups of one dissolve."""
    inside = labels >= 0
    sizes = np.bincount(labels[inside], minlength=1)
    kept = np.flatnonzero(sizes >= 2)
    number = np.full(len(sizes), -1, dtype=np.intp)
    number[kept] = np.arange(len(kept))
    result = np.full(labels.shape, -1, dtype=np.intp)
    result[inside] = number[labels[inside]]
    return result


def refine(gram: Gram, labels: Labels, scale: float, rate: float) -> Labels:
    """Every photo to the group that it correlates with best, or to none.

    Sums s_ic = Σ_{j∈c, j≠i} g_ij leave the photo itself out. It may join where s_ic is above
    `joining` standard deviations σ₀√n_c of chance, and goes where the correlation with
    the group's fingerprint (its own part left out) is highest. All photos move at once,
    so their order does not matter.
    """
    from samecam.cluster.consolidate._kernels import group_products

    n, count = len(labels), int(labels.max(initial=-1)) + 1
    if count == 0:
        return labels
    size = np.bincount(labels[labels >= 0], minlength=count).astype(np.float64)
    inside = inner_sums(gram, labels, count)
    z = _thresholds.joining(count, rate)
    result = np.full(n, -1, dtype=np.intp)
    step = max(1, _BLOCK_BYTES // (8 * count))
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        sums = np.empty((len(rows), count))
        group_products(gram, labels, count, rows, sums)
        mine = labels[rows]
        own = np.flatnonzero(mine >= 0)
        others = np.broadcast_to(size, sums.shape).copy()
        others[own, mine[own]] -= 1
        squares = np.broadcast_to(inside + size, sums.shape).copy()
        squares[own, mine[own]] -= 1 + 2 * sums[own, mine[own]]
        usable = (others > 0) & (squares > 0)
        correlation = np.where(usable, sums / np.sqrt(np.where(usable, squares, 1)), -np.inf)
        enough = sums > z * scale * np.sqrt(np.maximum(others, 1))
        correlation[~enough] = -np.inf
        best = np.argmax(correlation, axis=1)
        found = np.isfinite(correlation[np.arange(len(rows)), best])
        result[rows[found]] = best[found]
    return result


def inner_sums(gram: Gram, labels: Labels, count: int) -> Doubles:
    """Σ g_ij over the ordered pairs i ≠ j of each group."""
    sums = np.zeros(count)
    for c in range(count):
        members = np.flatnonzero(labels == c)
        part = gram[np.ix_(members, members)]
        sums[c] = part.sum(dtype=np.float64) - np.trace(part, dtype=np.float64)
    return sums


def merge(gram: Gram, labels: Labels, scale: float, rate: float) -> Labels:
    """Join groups whose fingerprints are those of one camera, best pair first."""
    from samecam.cluster.consolidate._kernels import group_products, merge_groups

    count = int(labels.max(initial=-1)) + 1
    if count < 2:
        return labels
    between = np.zeros((count, count))
    inside = np.flatnonzero(labels >= 0)
    step = max(1, _BLOCK_BYTES // (8 * count))
    for start in range(0, len(inside), step):
        rows = inside[start : start + step]
        sums = np.empty((len(rows), count))
        group_products(gram, labels, count, rows, sums)
        np.add.at(between, labels[rows], sums)
    within = np.diag(between).copy()
    between = (between + between.T) / 2
    np.fill_diagonal(between, 0)
    size = np.bincount(labels[inside], minlength=count).astype(np.float64)
    parent = np.arange(count)
    z = _thresholds.merging(count, rate)
    merge_groups(between, within, size, scale, z, parent)
    root = parent.copy()
    while (root != parent[root]).any():
        root = parent[root]
    result = labels.copy()
    result[inside] = root[labels[inside]]
    return result


def found(gram: Gram, labels: Labels, scale: float, rate: float) -> Labels:
    """Dissolve the groups that chance could have made, family-wise over all groups there are.

    The sum over all pairs of a group of k photos must exceed `founding` standard
    deviations σ₀√(k(k−1)/2) of chance.
    """
    count = int(labels.max(initial=-1)) + 1
    if count == 0:
        return labels
    size = np.bincount(labels[labels >= 0], minlength=count)
    pairs = size * (size - 1) / 2
    z = inner_sums(gram, labels, count) / 2 / (scale * np.sqrt(np.maximum(pairs, 1)))
    stands = z > _thresholds.founding(len(labels), rate)[size]
    result = labels.copy()
    inside = labels >= 0
    result[inside] = np.where(stands[labels[inside]], labels[inside], -1)
    return result
