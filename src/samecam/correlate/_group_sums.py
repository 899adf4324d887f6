"""Sums of fingerprints over groups, and inner products with them: the one place for both.

With row i of the fingerprints x_i, a photo's weight w_i and s_c = Σ_{i∈c} w_i x_i there are

- `group_sums`, `centroids`: s_c itself,
- `row_products`, `gram_products`: x_i·s_c of photos with groups,
- `group_products`: s_a·s_b of groups with groups,
- `other_products`, `other_group_products`: the same without what a photo has with itself,

from fingerprints that are read in strips of pixels, or from correlations of all pairs.
`photo_sums` makes x_i·s_c of more photos and groups than fit in memory.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Floats, Gram, Rows
from samecam.correlate import _bit_sums
from samecam.correlate._membership import Membership, checked_labels
from samecam.correlate._strips import (
    DEFAULT_MEMORY,
    Source,
    are_bits,
    pixels,
    strip_bytes,
    strip_width,
    strips,
)

AnyLabels = npt.NDArray[np.integer]

_BLOCK_BYTES = 2**26
# The square of a norm; what rounding leaves of an emptied group is no group.
_EMPTY = 1e-6
_SMALL = 2**24
# Pixels of a strip for which more than a third of the memory is taken.
_LEAST = 16


def group_sums(source: Source, labels: AnyLabels, *, memory: int = DEFAULT_MEMORY) -> Floats:
    """Sum of the rows of each group, (n_groups, d) float32; label −1 belongs to none."""
    members = Membership(checked_labels(labels, len(source)))
    sums = np.zeros((members.count, pixels(source)), dtype=np.float32)
    for start, part in sum_strips(source, members, memory):
        sums[:, start : start + part.shape[1]] = part
    return sums


def sum_strips(
    source: Source,
    members: Membership,
    memory: int = DEFAULT_MEMORY,
    *,
    levels: int = _bit_sums.LEVELS,
) -> Iterator[tuple[int, Floats]]:
    """(first pixel, sums of all groups there) from the first pixel to the last.

    A strip may be overwritten by the next. Only rows of groups are read.

    Parameters
    ----------
    source : a store, or an (n, d) array
    members : who is in which group
    memory : bytes for what is held at a time; the result does not depend on it
    levels : to which scales of rows of two bits are rounded: fewer are faster
    """
    if not len(members.inside):
        yield 0, np.zeros((members.count, pixels(source)), dtype=np.float32)
        return
    if are_bits(source):
        yield from _bit_sums.sum_strips(source, members, memory, levels)
        return
    matrix = members.of(members.inside).sparse()
    width = strip_width(len(members.inside) + members.count, memory)
    for start, part in strips(source, width, members.inside):
        yield start, matrix @ part


def centroids(source: Source, labels: AnyLabels, *, memory: int = DEFAULT_MEMORY) -> Floats:
    """Unit-norm mean fingerprint of each group, (n_groups, d) float32."""
    sums = group_sums(source, labels, memory=memory)
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    unit: Floats = np.divide(sums, norms, out=np.zeros_like(sums), where=norms > 0)
    return unit


def row_products(source: Source, members: Membership, rows: Rows, width: int) -> Doubles:
    """x_i·s_c of some photos with all groups, (len(rows), count).

    Parameters
    ----------
    source : a store, or an (n, d) array
    members : who is in which group
    rows : numbers of the photos, rising
    width : pixels that are read at a time, of these photos and of all members
    """
    if are_bits(source):
        return _bit_sums.row_products(source, members, rows, _words(width))
    wanted = members.with_members(rows)
    matrix, at = members.of(wanted).sparse(), np.searchsorted(wanted, rows)
    result = np.zeros((len(rows), members.count))
    for _, part in strips(source, width, wanted):
        result += part[at] @ (matrix @ part).T
    return result


def gram_products(gram: Gram, members: Membership, rows: Rows) -> Doubles:
    """The same from the correlations of all pairs."""
    matrix = members.sparse()
    result = np.empty((len(rows), members.count))
    step = max(1, _BLOCK_BYTES // (8 * len(gram)))
    for start in range(0, len(rows), step):
        part = gram[rows[start : start + step]].astype(np.float64)
        result[start : start + step] = (matrix @ part.T).T
    return result


def other_products(source: Source, members: Membership, *, memory: int, device: str) -> Any:
    """x_i·s_c of all photos with all groups without the photo's own part, (count, n) float32.

    Parameters
    ----------
    source : a store, or an (n, d) array
    members : who is in which group
    memory : bytes for everything held at a time, the result included
    device : "cpu", or a GPU, where the result then is
    """
    if device != "cpu":
        from samecam.correlate import _group_sums_gpu

        return _group_sums_gpu.other_products(source, members, memory, device)
    if are_bits(source):
        return _bit_sums.other_products(source, members, memory)
    matrix, inside = members.sparse(), members.inside
    out = np.zeros((members.count, len(members)), dtype=np.float32)
    width = _width(len(members) + members.count, memory, 2 * out.nbytes)
    for _, part in strips(source, width):
        share = (matrix @ part) @ part.T
        norms = np.einsum("ij,ij->i", part, part)[inside]
        share[members.groups, inside] -= members.weights * norms
        out += share
    return out


def group_products(source: Source, members: Membership, width: int) -> Doubles:
    """s_a·s_b of all pairs of groups, (count, count).

    Parameters
    ----------
    source : a store, or an (n, d) array
    members : who is in which group
    width : pixels of all members that are read at a time
    """
    if are_bits(source):
        return _bit_sums.group_products(source, members, _words(width))
    matrix = members.of(members.inside).sparse()
    result = np.zeros((members.count, members.count))
    for _, part in strips(source, width, members.inside):
        sums = matrix @ part
        result += sums @ sums.T
    return result


def squared_norms(source: Source, labels: AnyLabels, *, memory: int = DEFAULT_MEMORY) -> Doubles:
    """s_c·s_c of the sum of each group's rows, (count,); label −1 belongs to none."""
    members = Membership(checked_labels(labels, len(source)))
    held = 8 * members.count**2
    width = _width(len(members.inside) + members.count, max(memory, _SMALL), held)
    return np.diag(group_products(source, members, width)).copy()


def other_group_products(
    source: Source, members: Membership, own: Doubles, *, memory: int, device: str
) -> Doubles:
    """The same without the part of each photo with itself, own[i]·‖x_i‖² with own[i] = w_i².

    `memory` and `device` are as for `other_products`; the result is an array.
    """
    if device != "cpu":
        from samecam.correlate import _group_sums_gpu

        return _group_sums_gpu.other_group_products(source, members, own, memory, device)
    if are_bits(source):
        return _bit_sums.other_group_products(source, members, own, memory)
    inside, count, matrix = members.inside, members.count, members.sparse()
    result = np.zeros((count, count))
    width = _width(len(members) + count, memory, 2 * result.nbytes)
    for _, part in strips(source, width):
        sums = matrix @ part
        share = (sums @ sums.T).astype(np.float64)
        norms = np.einsum("ij,ij->i", part, part)[inside] * own[inside]
        share[np.diag_indices(count)] -= np.bincount(members.groups, weights=norms, minlength=count)
        result += share
    return result


def _width(rows: int, memory: int, held: int) -> int:
    """Pixels of a strip beside so many bytes: in a third of the memory, if it is enough for some.

    Sums of other groups may be held meanwhile, and the allocator keeps some of what was before.
    """
    return strip_width(rows, min(memory - held, max(memory // 3, strip_bytes(rows, _LEAST))))


def _words(width: int) -> int:
    """Words of 64 pixels that with sums of them take no more than so many pixels in float32."""
    return max(1, width // 8)


def centroid_correlations(gram: npt.NDArray[np.floating], labels: AnyLabels) -> Doubles:
    """Each photo against each group's fingerprint, leaving the photo itself out.

    With s_ic = Σ_{j∈c} g_ij and t_c = Σ_{i∈c} s_ic (the squared norm of the group's sum),

        r_ic = s_ic / √t_c                              if i is not in c,
        r_ic = (s_ic − g_ii) / √(t_c − 2 s_ic + g_ii)   if it is,

    which is what correlating with the averaged fingerprints gives; 0 where nothing is
    left of a group. Returns (n, n_groups) float64.
    """
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1]:
        raise ValueError(f"gram has shape {gram.shape}; give the (n, n) correlations of all photos")
    members = Membership(checked_labels(labels, len(gram)))
    inside, mine = members.inside, members.groups
    products = np.asarray(gram @ members.dense(0, members.count).T, dtype=np.float64)
    totals = np.bincount(mine, weights=products[inside, mine], minlength=members.count)
    own = np.diag(gram)[inside]
    squares: Doubles = np.zeros_like(products) + totals
    squares[inside, mine] += own - 2 * products[inside, mine]
    products[inside, mine] -= own
    some = squares > _EMPTY
    return np.divide(products, np.sqrt(np.abs(squares)), out=np.zeros_like(products), where=some)
