"""Sums over groups, and what the steps need of them: one set of functions per device.

All correlations are in units of chance, h_ij = g_ij / (σ_i σ_j) with each photo's own scale
of chance σ_i: for photos of different cameras they have variance 1, and a sum of m has m.

`products` is a (groups, photos) matrix of sums, an array or a tensor: only the functions of
the `Sums` it came from know which.
"""

from typing import Any, Protocol, cast

import numpy as np

from samecam import correlate
from samecam.arrays import Doubles, Floats, Labels, Mask


class Kernels(Protocol):
    """The functions of `_cpu` and `_gpu` on products; labels from 0, −1 in no group."""

    def at(self, products: Any, groups: Labels, photos: Labels) -> Doubles:
        """(n,) sums of some photos, each over one group."""
        ...

    def spreads(self, products: Any, labels: Labels, size: Doubles, prior: float) -> Doubles:
        """(groups,) how much sums of photos outside scatter, in units of chance; at least 1."""
        ...

    def best(
        self,
        products: Any,
        labels: Labels,
        own: Doubles,
        inside: Doubles,
        owns: Doubles,
        size: Doubles,
        needed: Doubles,
    ) -> Labels:
        """(photos,) the group each correlates with best where its sum suffices, or −1."""
        ...

    def between(self, products: Any, labels: Labels) -> Doubles:
        """(groups, groups) sums over the pairs of two groups."""
        ...

    def joined(self, products: Any, root: Labels) -> Any:
        """Products with group c added to group root[c]; all groups are still there."""
        ...

    def kept(self, products: Any, which: Mask) -> Any:
        """Products of some groups."""
        ...

    def put(self, products: Any, groups: Labels, values: Any) -> Any:
        """Products with those of some groups replaced."""
        ...

    def put_at(self, products: Any, groups: Labels, photos: Labels, values: Doubles) -> None:
        """Replace sums of some photos, each over one group."""
        ...

    def placed(self, values: Floats, device: str) -> Any:
        """An array where products are."""
        ...


class Sums(Protocol):
    """Sums over groups for the steps of consolidation."""

    own: Doubles  # h_ii = 1/σ_i²
    bounded: bool  # whether σ_i is at least what the colour of photo i makes it
    kernels: Kernels

    def products(self, labels: Labels, count: int, weights: Doubles | None = None) -> Any:
        """(count, n) sums Σ_{j∈c, j≠i} h_ij; with weights Σ w_j h_ij."""
        ...

    def moved(self, products: Any, before: Labels, after: Labels) -> Any:
        """The products after some photos went to other groups; may change `products`."""
        ...


class FingerprintSums:
    """From the fingerprints, some pixels at a time: no correlations of all pairs are kept.

    Rows of bits are weighted by whole multiples of a unit; `own` is of these weights too.
    """

    def __init__(
        self,
        source: correlate.Source,
        scales: Doubles,
        memory: int,
        device: str = "cpu",
        *,
        bounded: bool = False,
    ) -> None:
        self.own, self.bounded = 1 / np.square(scales), bounded
        self.kernels = _kernels(device)
        self._source, self._memory, self._device = source, memory, device
        self._weights, self._unit = (1 / scales).astype(np.float32), 1.0
        if correlate.are_bits(source):
            self._weights, self._unit = correlate.whole_weights(1 / scales)
            self.own = np.square(self._weights, dtype=np.float64)
        self._inverse = self.kernels.placed(self._weights, device)

    def products(self, labels: Labels, count: int, weights: Doubles | None = None) -> Any:
        """See `Sums`."""
        factors, unit = self._weights, self._unit
        if weights is not None:
            factors = (factors * weights).astype(np.float32)
            if correlate.are_bits(self._source):
                factors, unit = correlate.whole_weights(factors)
        members = correlate.Membership(labels, count, factors, unit)
        out = correlate.other_products(
            self._source, members, memory=self._memory, device=self._device
        )
        out *= self._inverse
        return out

    def moved(self, products: Any, before: Labels, after: Labels) -> Any:
        """See `Sums`: computed again for the groups that photos left or came to."""
        changed = before != after
        touched = np.union1d(before[changed], after[changed])
        touched = touched[touched >= 0]
        if len(touched) == (count := len(products)):
            del products  # before as much memory is taken again
            return self.products(after, count)
        number = np.full(len(products) + 1, -1, dtype=np.intp)  # the last is for label −1
        number[touched] = np.arange(len(touched))
        return self.kernels.put(products, touched, self.products(number[after], len(touched)))

    def between(self, labels: Labels, count: int) -> Doubles:
        """(count, count) sums Σ_{i∈a, j∈b, i≠j} h_ij, without the sums of single photos."""
        members = correlate.Membership(labels, count, self._weights, self._unit)
        return correlate.other_group_products(
            self._source, members, self.own, memory=self._memory, device=self._device
        )


def _kernels(device: str) -> Kernels:
    """The functions for a device that `compute.choose_device` gave."""
    if device == "cpu":
        from samecam.cluster.consolidate import _cpu

        return cast(Kernels, _cpu)
    from samecam.cluster.consolidate import _gpu

    return cast(Kernels, _gpu)


def gram_sums(gram: Any, scales: Doubles, *, bounded: bool = False) -> Sums:
    """Sums from the correlations of all pairs: an array, or a tensor, whose diagonal is cleared."""
    if isinstance(gram, np.ndarray):
        from samecam.cluster.consolidate import _cpu

        return _cpu.GramSums(gram, scales, bounded=bounded)
    from samecam.cluster.consolidate import _gpu

    return _gpu.GramSums(gram, scales, bounded=bounded)
