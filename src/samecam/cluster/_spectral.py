"""Spectral reading of a graph: eigenvalues, their gap, and the groups."""

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Labels
from samecam.compute import once

Eigengap = Literal["guarded", "authors"]

# Up to so many nodes of one connected part its whole spectrum is computed.
_DENSE = 2000
_FIRST, _MOST = 64, 1024
_LEAST_CONTRAST = 1.7
_NEAR, _REACH = 0.4, 1.15


class Spectrum(NamedTuple):
    """Smallest eigenvalues of the normalised Laplacian, ascending, and their vectors' parts.

    `owner[k]` is the connected part that eigenvalue k belongs to. `vectors[p]` are the
    first eigenvectors of part p, where they came with the values (on a GPU).
    """

    values: Doubles
    owner: npt.NDArray[np.intp]
    parts: list[npt.NDArray[np.intp]]
    vectors: list[Doubles] | None = None

    @property
    def n_nodes(self) -> int:
        """Nodes with an edge: as many eigenvalues would there be, were all computed."""
        return sum(len(nodes) for nodes in self.parts)


def connected_parts(weights: Any) -> list[npt.NDArray[np.intp]]:
    """Node numbers of each connected part of two nodes or more, largest first."""
    from scipy.sparse.csgraph import connected_components

    _, part = connected_components(weights, directed=False)
    order = np.argsort(part, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(part[order])) + 1)
    groups = [g for g in groups if len(g) > 1]
    return sorted(groups, key=lambda g: (-len(g), g[0]))


def spectrum(weights: Any, least: int = 0, device: str = "cpu") -> Spectrum:
    """Eigenvalues of L = I − D^−½ S D^−½, one connected part after another.

    The parts share no edge, so their eigenvalues together are those of the whole, and a
    zero for each part is exact. Of parts above 2000 nodes only the smallest are
    computed: 64, or more than `least`, then twice as many, up to 1024, until they reach
    into the bulk and the guarded eigengap lies in the first three quarters. What other
    parts have beyond them is left out, so that none is missing between two that are there.
    On a GPU (`device`, as `compute.choose_device` gave it) all are computed, with their
    vectors, and the same number of them is used.
    """
    parts = connected_parts(weights)
    matrices = [_normalised(weights, nodes) for nodes in parts]
    solvers = [_solver(matrix, max(_MOST, least + 1), device) for matrix in matrices]
    large = [k for k, nodes in enumerate(parts) if len(nodes) > _DENSE]
    values = [solver.values(len(nodes)) for solver, nodes in zip(solvers, parts, strict=True)
             if len(nodes) <= _DENSE]  # fmt: skip
    values = [np.zeros(0)] * len(large) + values  # the largest parts come first
    vectors = None if device == "cpu" else [solver.vectors for solver in solvers]
    count = max(_FIRST, least + 1)
    while True:
        for k in large:
            values[k] = solvers[k].values(min(count, len(parts[k]) - 1))
        limit = min((values[k][-1] for k in large), default=np.inf)
        result = _merged(values, parts, limit)._replace(vectors=vectors)
        if not large or count >= _MOST:
            return result
        deep = all(_reaches_bulk(matrices[k], values[k]) for k in large)
        kappa = eigengap(result.values, n_nodes=result.n_nodes)
        if deep and kappa < 3 * len(result.values) // 4:
            return result
        count *= 2


class _Host:
    """Eigenvalues of I − matrix on the processor: all of a dense one, else by Lanczos."""

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix

    def values(self, count: int) -> Doubles:
        """The `count` smallest, ascending."""
        if isinstance(self._matrix, np.ndarray):
            return _all_values(self._matrix)[:count]
        return np.asarray(1 - _lanczos(self._matrix, count)[0], dtype=np.float64)


def _solver(matrix: Any, most: int, device: str) -> Any:
    """What gives the eigenvalues of a part; on a GPU with at most `most` vectors."""
    if device == "cpu":
        return _Host(matrix)
    from samecam.cluster._spectral_gpu import Eigenpairs

    return Eigenpairs.of(matrix, most, device)


def _reaches_bulk(matrix: Any, values: Doubles) -> bool:
    """Whether the last of the smallest eigenvalues of I − matrix is one of many alike.

    The squares of all eigenvalues of `matrix` add up to those of its entries. Were those
    not computed yet spread like noise (a semicircle), the edge would be at twice their
    root mean square; groups not seen yet lie beyond it.
    """
    rest = float((matrix.data**2).sum() - ((1 - values) ** 2).sum())
    left = matrix.shape[0] - len(values)
    return bool(1 - values[-1] <= 2 * np.sqrt(max(rest, 0) / left))


def _merged(by_part: list[Doubles], parts: list[npt.NDArray[np.intp]], limit: float) -> Spectrum:
    """Eigenvalues of all parts up to `limit` in one ascending row."""
    values = np.concatenate([np.zeros(0), *by_part])
    owner = np.repeat(np.arange(len(parts)), [len(v) for v in by_part])
    order = np.lexsort((owner, values))
    order = order[values[order] <= limit]
    return Spectrum(np.clip(values[order], 0, 2), owner[order], parts)


def eigengap(
    values: Doubles,
    rule: Eigengap = "guarded",
    most: int | None = None,
    n_nodes: int | None = None,
) -> int:
    """Number of groups κ, read off the ascending eigenvalues of the Laplacian.

    Parameters
    ----------
    values : ascending eigenvalues
    rule : "authors": κ = argmax_k λ_{k+1} − λ_k over all gaps but the first, as the
        released code does, so that 2 ≤ κ ≤ n − 1. "guarded" looks only at the lower half,
        since at the upper end the widest gap can be anywhere; weighs the gap by √k, since
        the first few eigenvalues of a weakly connected graph lie far apart without meaning
        anything; takes the last k, at most 15 % further, that has 40 % of the best weighted
        gap, since among many small cameras the gap frays and splitting one does less harm
        than joining two; and says 1 if the first gap is the widest and the best weighted one
        is under 1.7 times the mean distance λ_k/k of the eigenvalues below it.
    most : upper bound of κ
    n_nodes : number of nodes, if `values` are only the smallest eigenvalues
    """
    n = len(values)
    bound = n if most is None else most
    if n < 3:
        return min(n, bound, 1 if rule == "guarded" else 2)
    gaps = np.diff(values)
    high = max(2, (n_nodes or n) // 2) if rule == "guarded" else n - 1
    k = np.arange(2, min(high, len(gaps), bound) + 1)
    if not len(k):
        return 1
    if rule == "authors":
        return int(k[np.argmax(gaps[k - 1])])
    score = gaps[k - 1] * np.sqrt(k)
    peak = int(k[np.argmax(score)])
    contrast = peak * gaps[peak - 1] / max(values[peak - 1], 1e-3)
    if contrast < _LEAST_CONTRAST and np.argmax(gaps[: k[-1]]) == 0:
        return 1
    near = (score >= _NEAR * score.max()) & (k <= _REACH * peak)
    return int(k[np.flatnonzero(near)[-1]])


def spectral_groups(
    weights: Any, eigen: Spectrum, count: int, random_state: int | np.random.RandomState | None
) -> Labels:
    """Ng–Jordan–Weiss: `count` smallest eigenvectors, rows to unit norm, k-means.

    Nodes without an edge get −1.
    """
    from sklearn.cluster import KMeans

    n = weights.shape[0]
    labels = np.full(n, -1, dtype=np.intp)
    inside = np.sort(np.concatenate([np.zeros(0, dtype=np.intp), *eigen.parts]))
    count = min(count, len(inside))
    if count < 1:
        return labels
    embedding = np.zeros((n, min(count, len(eigen.values))))
    for part, nodes in enumerate(eigen.parts):
        mine = np.flatnonzero(eigen.owner[:count] == part)
        if not len(mine):
            continue
        if eigen.vectors is None:
            vectors = once(_part_vectors, _normalised(weights, nodes), len(mine))
        else:
            vectors = eigen.vectors[part][:, : len(mine)]
        embedding[np.ix_(nodes, mine)] = vectors
    rows = embedding[inside]
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    means = KMeans(count, n_init=10, random_state=random_state)
    labels[inside] = means.fit_predict(rows)
    return labels


def _normalised(weights: Any, nodes: npt.NDArray[np.intp]) -> Any:
    """D^−½ S D^−½ of one connected part, dense if small."""
    from scipy import sparse

    part = weights[nodes][:, nodes].astype(np.float64)
    degree = np.asarray(part.sum(axis=1)).ravel()
    scale = sparse.diags_array(1 / np.sqrt(degree))
    matrix = scale @ part @ scale
    return matrix.toarray() if len(nodes) <= _DENSE else sparse.csr_array(matrix)


def _all_values(matrix: Doubles) -> Doubles:
    """Ascending eigenvalues of I − matrix."""
    from scipy.linalg import eigvalsh

    return np.asarray(1 - eigvalsh(matrix)[::-1], dtype=np.float64)


def _part_vectors(matrix: Any, count: int) -> Doubles:
    """Eigenvectors of the `count` smallest eigenvalues of I − matrix."""
    if isinstance(matrix, np.ndarray):
        from scipy.linalg import eigh

        n = len(matrix)
        vectors = eigh(matrix, subset_by_index=[n - count, n - 1])[1]
    else:
        vectors = _lanczos(matrix, count)[1]
    return np.asarray(vectors[:, ::-1], dtype=np.float64)


def _lanczos(matrix: Any, count: int) -> tuple[Doubles, Doubles]:
    """Largest eigenvalues, descending, with their vectors ascending; the same at every call."""
    from scipy.sparse.linalg import eigsh

    start = np.random.default_rng(0).standard_normal(matrix.shape[0])
    values, vectors = eigsh(matrix, k=count, which="LA", v0=start)
    order = np.argsort(values)
    return values[order][::-1], vectors[:, order]
