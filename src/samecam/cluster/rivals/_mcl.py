"""Markov clustering (van Dongen 2000)."""

from typing import Any

import numpy as np

from samecam.arrays import Doubles, Labels

_PRUNE = 1e-5
_SETTLED = 1e-6
_ITERATIONS = 200


def markov_clusters(adjacency: Any, inflation: float = 2.0) -> Labels:
    """Groups of an undirected graph, (n, n) dense or sparse without self-loops; all get a label.

    Self-loops of weight 1 are added and columns brought to sum 1; then M ← M², entries to
    the power `inflation`, those below 1e-5 dropped, columns to sum 1, until nothing
    changes. Photos that flow to one another are a group. Connected parts do not touch
    each other and are treated one by one.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    graph = csr_array(adjacency)
    count, part = connected_components(graph, directed=False)
    labels = np.full(graph.shape[0], -1, dtype=np.intp)
    used = 0
    for k in range(count):
        nodes = np.flatnonzero(part == k)
        if len(nodes) <= 2:
            labels[nodes] = used
            used += 1
            continue
        limit = flow_limit(graph[nodes][:, nodes].toarray().astype(np.float64), inflation)
        inner, group = connected_components(csr_array(limit > 0), directed=False)
        labels[nodes] = used + group
        used += inner
    return labels


def flow_limit(weights: Doubles, inflation: float) -> Doubles:
    """Where the flow of a dense graph without self-loops settles; columns sum to 1."""
    flow = weights + np.eye(len(weights))
    flow /= flow.sum(axis=0)
    for _ in range(_ITERATIONS):
        after = (flow @ flow) ** inflation
        after /= after.sum(axis=0)
        after[after < _PRUNE] = 0
        after /= after.sum(axis=0)
        settled = np.abs(after - flow).max() < _SETTLED
        flow = after
        if settled:
            break
    return flow
