"""Sums over groups on a GPU; labels stay on the host.

Every sum is a matrix product or a reduction in a fixed order, none is added up by atomic
operations: the same input gives the same bits.
"""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import torch

from samecam.arrays import Doubles, Floats, Labels, Mask
from samecam.compute import full_precision, torch_device

if TYPE_CHECKING:
    from samecam.cluster.consolidate._sums import Kernels


# Bytes of work arrays: membership of some groups, or some groups' sums in float64.
_WORK_BYTES = 2**28


def at(products: torch.Tensor, groups: Labels, photos: Labels) -> Doubles:
    """See `Kernels`."""
    chosen: Doubles = products[_at(groups, products), _at(photos, products)].double().cpu().numpy()
    return chosen


def spreads(products: torch.Tensor, labels: Labels, size: Doubles, prior: float) -> Doubles:
    """See `Kernels`."""
    out = products.new_empty(len(products), dtype=torch.float64)
    sizes = _at(size, products)
    for a, b in _chunks(products):
        negative = products[a:b].double().clamp(max=0)
        members, photos = _members_of(labels, a, b)
        negative[_at(members, products), _at(photos, products)] = 0
        squares = negative.square().sum(dim=1) / sizes[a:b].clamp_min(1) + prior
        many = (negative < 0).sum(dim=1) + prior
        out[a:b] = torch.sqrt(squares / many).clamp_min(1.0)
    result: Doubles = out.cpu().numpy()
    return result


def best(
    products: torch.Tensor,
    labels: Labels,
    own: Doubles,
    inside: Doubles,
    owns: Doubles,
    size: Doubles,
    needed: Doubles,
) -> Labels:
    """See `Kernels`; of groups that are equally good the first."""
    count, n = products.shape
    value = products.new_zeros(n, dtype=torch.float64)
    group = torch.full((n,), -1, dtype=torch.int64, device=products.device)
    squares, sizes, levels = (_at(x, products) for x in (inside + owns, size, needed))
    for a, b in _chunks(products):
        total = products[a:b].double()
        members = sizes[a:b, None].expand(-1, n).clone()
        norm = squares[a:b, None].expand(-1, n).clone()
        mine, photos = (_at(x, products) for x in _members_of(labels, a, b))
        members[mine, photos] -= 1
        norm[mine, photos] -= _at(own, products)[photos] + 2 * total[mine, photos]
        enough = (members >= 1) & (norm > 0) & (total > levels[a:b, None] * members.sqrt())
        score = torch.where(enough, total / norm.clamp_min(1e-300).sqrt(), 0.0)
        top = score.amax(dim=0)
        number = torch.arange(a, b, device=products.device)[:, None]
        first = torch.where(score == top, number, count).amin(dim=0)
        better = top > value
        value = torch.where(better, top, value)
        group = torch.where(better, first, group)
    result: Labels = group.cpu().numpy().astype(np.intp)
    return result


def between(products: torch.Tensor, labels: Labels) -> Doubles:
    """See `Kernels`."""
    count = len(products)
    out = products.new_empty((count, count))
    weights = np.ones(len(labels), dtype=np.float32)
    for a, b in _chunks(products):
        with full_precision():
            out[:, a:b] = products @ _membership(products, labels, weights, a, b).t()
    result: Doubles = out.double().cpu().numpy()
    return result


def joined(products: torch.Tensor, root: Labels) -> torch.Tensor:
    """See `Kernels`."""
    moved = np.flatnonzero(root != np.arange(len(root)))
    targets, place = np.unique(root[moved], return_inverse=True)
    if len(moved):
        add = products.new_zeros((len(targets), len(moved)))
        add[_at(place, products), torch.arange(len(moved), device=products.device)] = 1
        with full_precision():
            products[_at(targets, products)] += add @ products[_at(moved, products)]
    return products


def kept(products: torch.Tensor, which: Mask) -> torch.Tensor:
    """See `Kernels`."""
    return products[_at(np.flatnonzero(which), products)]


def put(products: torch.Tensor, groups: Labels, values: torch.Tensor) -> torch.Tensor:
    """See `Kernels`."""
    products[_at(groups, products)] = values
    return products


def put_at(products: torch.Tensor, groups: Labels, photos: Labels, values: Doubles) -> None:
    """See `Kernels`."""
    products[_at(groups, products), _at(photos, products)] = _at(values, products).to(
        products.dtype
    )


def placed(values: Floats, device: str) -> torch.Tensor:
    """See `Kernels`."""
    return torch.as_tensor(values, device=torch_device(device))


class GramSums:
    """From the correlations of all pairs, whose diagonal is cleared."""

    kernels = cast("Kernels", sys.modules[__name__])

    def __init__(self, gram: torch.Tensor, scales: Doubles, *, bounded: bool = False) -> None:
        self.own, self.bounded = 1 / np.square(scales), bounded
        self._gram = gram.fill_diagonal_(0)
        self._weights = (1 / scales).astype(np.float32)
        self._inverse = _at(self._weights, gram)

    def products(self, labels: Labels, count: int, weights: Doubles | None = None) -> torch.Tensor:
        """See `Sums`: one matrix product."""
        out = self._gram.new_empty((count, len(labels)))
        factors = self._weights
        if weights is not None:
            factors = (factors * weights).astype(np.float32)
        for a, b in _chunks(out):
            members = _membership(self._gram, labels, factors, a, b)
            with full_precision():
                torch.matmul(members, self._gram, out=out[a:b])
        out *= self._inverse
        return out

    def moved(self, products: torch.Tensor, before: Labels, after: Labels) -> torch.Tensor:
        """See `Sums`: only the rows of photos that moved take part."""
        rows = np.flatnonzero(before != after)
        if 2 * len(rows) > len(before):
            return self.products(after, len(products))
        step = max(1, _WORK_BYTES // max(4 * len(before), 1))
        for start in range(0, len(rows), step):
            self._move(products, rows[start : start + step], before, after)
        return products

    def _move(self, products: torch.Tensor, rows: Labels, before: Labels, after: Labels) -> None:
        touched, place = np.unique(np.concatenate([before[rows], after[rows]]), return_inverse=True)
        change = np.zeros((len(touched), len(rows)), dtype=np.float32)
        turn = np.arange(len(rows))
        change[place[: len(rows)], turn] -= self._weights[rows]
        change[place[len(rows) :], turn] += self._weights[rows]
        there = touched >= 0
        with full_precision():
            share = _at(change[there], products) @ self._gram[_at(rows, products)]
        products[_at(touched[there], products)] += share * self._inverse


def _at(values: npt.NDArray[Any], like: torch.Tensor) -> torch.Tensor:
    return torch.as_tensor(values, device=like.device)


def _chunks(products: torch.Tensor) -> Iterator[tuple[int, int]]:
    """Runs of groups whose sums, in float64 and a few times, fit into the work bytes."""
    count, n = products.shape
    step = max(1, 4 * _WORK_BYTES // max(64 * n, 1))
    return ((a, min(a + step, count)) for a in range(0, count, step))


def _members_of(labels: Labels, a: int, b: int) -> tuple[Labels, Labels]:
    """Of the photos in groups a … b − 1: the group, counted from a, and the photo."""
    photos = np.flatnonzero((labels >= a) & (labels < b))
    return labels[photos] - a, photos


def _membership(
    like: torch.Tensor, labels: Labels, weights: npt.NDArray[np.float32], a: int, b: int
) -> torch.Tensor:
    """(b − a, n): the photo's weight where it is in the group."""
    members = like.new_zeros((b - a, len(labels)))
    mine, photos = _members_of(labels, a, b)
    members[_at(mine, like), _at(photos, like)] = _at(weights[photos], like)
    return members
