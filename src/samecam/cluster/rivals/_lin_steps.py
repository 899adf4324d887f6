"""The steps of Lin-LS, each a function: sparse graph, coarse parts, merging, attraction."""

from collections.abc import Callable
from typing import Any

import numpy as np

from samecam.arrays import Doubles, Gram, Labels
from samecam.compute import once


def batched_graph(
    block: Callable[[Labels, Labels], Gram], nodes: Labels, batch: int, threshold: float
) -> Any:
    """Pairs of `nodes` that correlate above the threshold, as a symmetric 0/1 CSR.

    Batches come one after another. A new one is compared with itself and with what is held;
    then only photos that have a partner are held on. Pairs with a photo that was dropped
    are never seen: with one batch the graph is complete.
    """
    from scipy import sparse

    n = len(nodes)
    held = np.zeros(0, dtype=np.intp)
    first, second = [held], [held]
    has_partner = np.zeros(n, dtype=bool)
    for start in range(0, n, batch):
        new = np.arange(start, min(start + batch, n))
        among = np.concatenate([held, new])
        a, b = np.nonzero(block(nodes[new], nodes[among]) > threshold)
        pairs = new[a] != among[b]
        first.append(new[a[pairs]])
        second.append(among[b[pairs]])
        has_partner[first[-1]] = has_partner[second[-1]] = True
        held = among[has_partner[among]]
    rows, columns = np.concatenate(first), np.concatenate(second)
    graph = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    return sparse.csr_array(graph.maximum(graph.T))


def coarse_parts(graph: Any, count: int, random_state: np.random.RandomState) -> list[Labels]:
    """Nodes of each of `count` parts of small normalised cut; nodes without an edge in none."""
    from samecam.cluster._spectral import spectral_groups, spectrum

    eigen = once(spectrum, graph, count)
    labels = spectral_groups(graph, eigen, count, random_state)
    return [np.flatnonzero(labels == k) for k in range(int(labels.max(initial=-1)) + 1)]


def merge_centroids(products: Doubles, size: Labels, floor: float) -> Labels:
    """Root of each group after joining, best pair first, those whose fingerprints agree.

    With ⟨A, B⟩ the products of summed fingerprints of unit-norm photos, two groups
    correlate by ρ(A, B) = ⟨A, B⟩/√(⟨A, A⟩⟨B, B⟩), and the mean correlation within one
    is ρ_A = (⟨A, A⟩ − n_A)/(n_A(n_A − 1)). They are joined if ρ(A, B) exceeds `floor` and
    half of what one camera would show, H₁ = √(n_A n_B ρ_A ρ_B · n_A n_B/(⟨A, A⟩⟨B, B⟩)).
    """
    products, count = products.copy(), size.astype(np.float64)
    parent = np.arange(len(count))
    norms = np.sqrt(np.maximum(np.diag(products), np.finfo(float).tiny))
    excess = _excess(products, count, norms, floor)
    while len(count) > 1:
        a, b = np.unravel_index(int(np.argmax(excess)), excess.shape)
        if not excess[a, b] > 0:
            break
        parent[b] = a
        count[a], count[b] = count[a] + count[b], 0
        products[a] += products[b]
        products[:, a] += products[:, b]
        norms[a] = np.sqrt(products[a, a])
        line = _excess(products, count, norms, floor, int(a))
        excess[a] = excess[:, a] = line
        excess[b] = excess[:, b] = -1
    while (parent != parent[parent]).any():
        parent = parent[parent]
    return parent


def _excess(
    products: Doubles, size: Doubles, norms: Doubles, floor: float, row: int | None = None
) -> Doubles:
    """ρ(A, B) where it exceeds what joining takes, −1 elsewhere; all pairs, or one group's."""
    pairs = np.maximum(size * (size - 1), 1)
    own = np.maximum(norms**2 - size, 0) / pairs
    strength = size * np.sqrt(own) / norms
    rows = slice(None) if row is None else slice(row, row + 1)
    correlation = products[rows] / norms[rows, np.newaxis] / norms
    needed = np.maximum(floor, strength[rows, np.newaxis] * strength / 2)
    alive = (size > 0) & (size[rows, np.newaxis] > 0)
    result = np.where((correlation > needed) & alive, correlation, -1.0)
    if row is None:
        np.fill_diagonal(result, -1.0)
        return result
    result[0, row] = -1.0
    return np.asarray(result[0])


def attract(labels: Labels, correlations: Doubles, floor: float) -> Labels:
    """Photos without a group join the one they correlate with best, if above `floor`."""
    result = labels.copy()
    free = np.flatnonzero(labels < 0)
    if not len(free) or not correlations.shape[1]:
        return result
    best = np.argmax(correlations[free], axis=1)
    enough = correlations[free, best] > floor
    result[free[enough]] = best[enough]
    return result
