"""Markov clustering (van Dongen 2000)."""

from typing import Any

import numpy as np

from samecam.arrays import Doubles, Labels

_PRUNE = 1e-5
_SETTLED = 1e-6
_ITERATIONS = 200
# Share of entries that are left below which the flow goes on as a sparse matrix.
_SPARSE = 0.05


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
        inner, group = connected_components(limit > 0, directed=False)
        labels[nodes] = used + group
        used += inner
    return labels


def flow_limit(weights: Doubles, inflation: float) -> Any:
    """Where the flow of a dense graph without self-loops settles, sparse; columns sum to 1."""
    from scipy.sparse import csc_array

    flow: Any = weights + np.eye(len(weights))
    flow /= flow.sum(axis=0)
    for _ in range(_ITERATIONS):
        if isinstance(flow, np.ndarray) and np.count_nonzero(flow) < _SPARSE * flow.size:
            flow = csc_array(flow)
        after = _inflated(flow @ flow, inflation)
        settled = abs(after - flow).max() < _SETTLED
        flow = after
        if settled:
            break
    return csc_array(flow)


def _inflated(flow: Any, inflation: float) -> Any:
    """Entries to the power `inflation`, small ones dropped, columns to sum 1."""
    if isinstance(flow, np.ndarray):
        flow **= inflation
        flow /= flow.sum(axis=0)
        flow[flow < _PRUNE] = 0
        flow /= flow.sum(axis=0)
        return flow
    flow.data **= inflation
    _norm_columns(flow)
    flow.data[flow.data < _PRUNE] = 0
    flow.eliminate_zeros()
    _norm_columns(flow)
    return flow


def _norm_columns(flow: Any) -> None:
    """Bring the columns of a sparse matrix to sum 1, in place; none is empty."""
    flow.data /= np.repeat(np.add.reduceat(flow.data, flow.indptr[:-1]), np.diff(flow.indptr))
