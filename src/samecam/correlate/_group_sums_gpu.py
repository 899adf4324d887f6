"""Sums of fingerprints over groups on a GPU (or, for tests, in PyTorch on the processor).

Every sum is a matrix product or a reduction in a fixed order: the same input gives the same bits.
"""

from collections.abc import Iterator

import numpy as np
import torch

from samecam.arrays import Doubles
from samecam.compute import full_precision, torch_device
from samecam.correlate._membership import Membership
from samecam.correlate._rows import DeviceRows, strips_on
from samecam.correlate._strips import Source

# Bytes of work arrays, at most.
_WORK_BYTES = 2**28


def other_products(source: Source, members: Membership, memory: int, device: str) -> torch.Tensor:
    """See `_group_sums.other_products`: every fingerprint takes part twice."""
    labels, count, where = members.labels, members.count, torch_device(device)
    weights = torch.as_tensor(members.row_weights, device=where)
    out = weights.new_zeros((count, len(members)))
    norms = torch.zeros_like(weights)
    for rows in _slabs(source, device, memory, out):
        norms += rows.squared_norms()
        for a, b in _runs(count, rows.n_pixels, rows.work):
            some = np.where((labels >= a) & (labels < b), labels - a, -1)
            rows.against(rows.weighted_sums(some, members.row_weights, b - a), out[a:b])
    groups, inside = (torch.as_tensor(x, device=where) for x in (members.groups, members.inside))
    out[groups, inside] -= (weights * norms)[inside]
    return out


def other_group_products(
    source: Source, members: Membership, own: Doubles, memory: int, device: str
) -> Doubles:
    """See `_group_sums.other_group_products`."""
    count, inside = members.count, members.inside
    out = np.zeros((count, count))
    norms = torch.zeros(len(members), dtype=torch.float32, device=torch_device(device))
    for rows in _slabs(source, device, memory, norms):
        norms += rows.squared_norms()
        for start, end in _runs(rows.n_pixels, count, rows.work):
            part = rows.narrowed(start, end)
            sums = part.weighted_sums(members.labels, members.row_weights, count)
            for a, b in _runs(count, count, rows.work):
                with full_precision():
                    out[a:b] += (sums[a:b] @ sums.t()).double().cpu().numpy()
    squares = norms.double().cpu().numpy()[inside] * own[inside]
    out[np.diag_indices(count)] -= np.bincount(members.groups, weights=squares, minlength=count)
    return out


def _slabs(source: Source, device: str, memory: int, beside: torch.Tensor) -> Iterator[DeviceRows]:
    """The fingerprints as numbers, in half of what is left beside a result."""
    room = (memory - beside.numel() * beside.element_size()) // 2
    for strip in strips_on(source, device, room):
        yield from strip.slabs()


def _runs(count: int, width: int, work: int) -> Iterator[tuple[int, int]]:
    """Runs a … b of so many float32 each that fit into four times the work bytes."""
    step = max(1, 4 * min(work, _WORK_BYTES) // max(4 * width, 1))
    return ((a, min(a + step, count)) for a in range(0, count, step))
