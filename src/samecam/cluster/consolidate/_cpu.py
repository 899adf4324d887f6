"""Sums over groups on the processor."""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from samecam import compute
from samecam.arrays import AnyFloats, Doubles, Floats, Labels, Mask

if TYPE_CHECKING:
    from samecam.cluster.consolidate._sums import Kernels


def at(products: AnyFloats, groups: Labels, photos: Labels) -> Doubles:
    """See `Kernels`."""
    return products[groups, photos].astype(np.float64)


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

    group = np.empty(len(labels), dtype=np.intp)
    best_groups(products, labels, own, inside, owns, size, needed, group)
    return group


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


def put(products: AnyFloats, groups: Labels, values: AnyFloats) -> AnyFloats:
    """See `Kernels`."""
    products[groups] = values
    return products


def put_at(products: AnyFloats, groups: Labels, photos: Labels, values: Doubles) -> None:
    """See `Kernels`."""
    products[groups, photos] = values


def placed(values: Floats, device: str) -> Floats:  # noqa: ARG001 - there is but one place
    """See `Kernels`."""
    return values


class GramSums:
    """From the correlations of all pairs."""

    kernels = cast("Kernels", sys.modules[__name__])

    def __init__(
        self,
        gram: AnyFloats,
        scales: Doubles,
        n_threads: int | None = None,
        *,
        bounded: bool = False,
    ) -> None:
        self.own, self.bounded = 1 / np.square(scales), bounded
        self._gram = gram
        self._inverse = (1 / scales).astype(gram.dtype)
        self._threads = n_threads or compute.machine().cores

    def products(self, labels: Labels, count: int, weights: Doubles | None = None) -> AnyFloats:
        """See `Sums`: every correlation is read once."""
        from samecam.cluster.consolidate._kernels import add_rows

        out = np.zeros((count, len(labels)), dtype=self._gram.dtype)
        inverse = self._inverse
        factors = inverse if weights is None else (inverse * weights).astype(inverse.dtype)
        self._share(lambda a, b: add_rows(self._gram, inverse, factors, labels, a, b, out))
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
