"""Sums over groups on the processor."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from samecam import compute, correlate
from samecam.arrays import AnyFloats, Doubles, Floats, Labels, Mask

if TYPE_CHECKING:
    from samecam.cluster.consolidate._sums import Kernels


def inner(products: AnyFloats, labels: Labels) -> Doubles:
    """See `Kernels`."""
    inside = np.flatnonzero(labels >= 0)
    mine = labels[inside]
    own = products[mine, inside].astype(np.float64)
    return np.bincount(mine, weights=own, minlength=len(products)).astype(np.float64)


def spreads(products: AnyFloats, labels: Labels, size: Doubles, prior: float) -> Doubles:
    """See `Kernels`."""
    from samecam.cluster.consolidate._kernels import group_spreads

    return group_spreads(products, labels, size, prior)


def best(
    products: AnyFloats,
    labels: Labels,
    own: Doubles,
    inside: Doubles,
    owns: Doubles,
    size: Doubles,
    needed: Doubles,
) -> Labels:
    """See `Kernels`."""
    from samecam.cluster.consolidate._kernels import best_groups

    found = np.empty(len(labels), dtype=np.intp)
    best_groups(products, labels, own, inside, owns, size, needed, found)
    return found


def between(products: AnyFloats, labels: Labels) -> Doubles:
    """See `Kernels`."""
    from samecam.cluster.consolidate._kernels import between_groups

    out = np.zeros((len(products), len(products)))
    between_groups(products, labels, out)
    return out


def joined(products: AnyFloats, root: Labels) -> AnyFloats:
    """See `Kernels`."""
    for c in np.flatnonzero(root != np.arange(len(root))):
        products[root[c]] += products[c]
    return products


def kept(products: AnyFloats, which: Mask) -> AnyFloats:
    """See `Kernels`."""
    return products[which]


class GramSums:
    """From the correlations of all pairs."""

    kernels = cast("Kernels", sys.modules[__name__])

    def __init__(self, gram: AnyFloats, scales: Doubles, n_threads: int | None = None) -> None:
        self.own = 1 / np.square(scales)
        self._gram = gram
        self._inverse = (1 / scales).astype(gram.dtype)
        self._threads = n_threads or compute.machine().cores

    def products(self, labels: Labels, count: int) -> AnyFloats:
        """See `Sums`: every correlation is read once."""
        from samecam.cluster.consolidate._kernels import add_rows

        out = np.zeros((count, len(labels)), dtype=self._gram.dtype)
        self._share(lambda a, b: add_rows(self._gram, self._inverse, labels, a, b, out))
        return out

    def moved(self, products: AnyFloats, before: Labels, after: Labels) -> AnyFloats:
        """See `Sums`: only the rows of photos that moved are read."""
        from samecam.cluster.consolidate._kernels import move_rows

        rows = np.flatnonzero(before != after)
        if 2 * len(rows) > len(before):
            return self.products(after, len(products))
        old, new = before[rows], after[rows]
        self._share(
            lambda a, b: move_rows(self._gram, self._inverse, rows, old, new, a, b, products)
        )
        return products

    def _share(self, work: Callable[[int, int], Any]) -> None:
        """Each thread takes its share of the photos, so the result does not depend on them."""
        edges = np.linspace(0, len(self._gram), self._threads + 1).astype(int)
        with ThreadPoolExecutor(self._threads) as pool:
            list(pool.map(work, edges[:-1], edges[1:]))


class FingerprintSums:
    """From the fingerprints, some pixels of all photos at a time: no Gram is kept."""

    kernels = cast("Kernels", sys.modules[__name__])

    def __init__(self, source: correlate.Source, scales: Doubles, memory: int) -> None:
        self.own = 1 / np.square(scales)
        self._source = source
        self._inverse = (1 / scales).astype(np.float32)
        self._memory = memory

    def products(self, labels: Labels, count: int) -> AnyFloats:
        """See `Sums`: every fingerprint is read once."""
        inside = np.flatnonzero(labels >= 0)
        mine, weights = labels[inside], self._inverse[inside]
        members = self._members(labels, count)
        out = np.zeros((count, len(labels)), dtype=np.float32)
        for part in self._strips(out.nbytes):
            share = (members @ part) @ part.T
            share[mine, inside] -= weights * np.einsum("ij,ij->i", part, part)[inside]
            out += share
        out *= self._inverse
        return out

    def between(self, labels: Labels, count: int) -> Doubles:
        """(count, count) sums Σ_{i∈a, j∈b, i≠j} h_ij, without the sums of single photos."""
        members = self._members(labels, count)
        inside = np.flatnonzero(labels >= 0)
        out = np.zeros((count, count))
        for part in self._strips(out.nbytes):
            sums = members @ part
            share = (sums @ sums.T).astype(np.float64)
            norms = np.einsum("ij,ij->i", part, part)[inside] * self.own[inside]
            share[np.diag_indices(count)] -= np.bincount(
                labels[inside], weights=norms, minlength=count
            )
            out += share
        return out

    def _strips(self, taken: int) -> Iterator[Floats]:
        """The fingerprints, some pixels at a time, beside a result and what is added to it."""
        width = correlate.strip_width(len(self._source), self._memory - 2 * taken)
        return (part for _, part in correlate.strips(self._source, width))

    def _members(self, labels: Labels, count: int) -> Any:
        """(count, n) sparse: 1/σ_i where photo i is in group c."""
        from scipy import sparse

        inside = np.flatnonzero(labels >= 0)
        entries = (self._inverse[inside], (labels[inside], inside))
        return sparse.csr_array(entries, shape=(count, len(labels)))

    def moved(self, products: AnyFloats, before: Labels, after: Labels) -> AnyFloats:
        """See `Sums`: computed again for the groups that photos left or came to."""
        rows = before != after
        touched = np.union1d(before[rows], after[rows])
        touched = touched[touched >= 0]
        number = np.full(len(products) + 1, -1, dtype=np.intp)  # the last is for label −1
        number[touched] = np.arange(len(touched))
        products[touched] = self.products(number[after], len(touched))
        return products
