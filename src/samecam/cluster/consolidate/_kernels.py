"""Numba kernels of consolidation: group sums, the greedy start, merging."""

import numpy as np
import numpy.typing as npt

from samecam.compute import jit

Floats = npt.NDArray[np.floating]
Doubles = npt.NDArray[np.float64]
Labels = npt.NDArray[np.intp]


@jit(nogil=True)
def greedy_groups(first: Labels, second: Labels, n: int, largest: int) -> Labels:
    """Groups from edges given strongest first; no group grows past `largest`.

    An edge between two photos without a group founds one; between one with and one
    without it lets the latter in; between two groups it does nothing.
    """
    labels = np.full(n, -1, dtype=np.intp)
    size = np.zeros(n, dtype=np.intp)
    count = 0
    for e in range(first.size):
        a, b = first[e], second[e]
        if labels[a] < 0 and labels[b] < 0:
            labels[a] = labels[b] = count
            size[count] = 2
            count += 1
        elif labels[a] < 0 and size[labels[b]] < largest:
            labels[a] = labels[b]
            size[labels[b]] += 1
        elif labels[b] < 0 and size[labels[a]] < largest:
            labels[b] = labels[a]
            size[labels[a]] += 1
    return labels


@jit(nogil=True)
def group_products(gram: Floats, labels: Labels, count: int, rows: Labels, out: Floats) -> None:
    """out[r, c] = Σ_{j∈c} gram[rows[r], j] without the diagonal, for each group c."""
    for r in range(rows.size):
        i = rows[r]
        line, sums = gram[i], out[r]
        for c in range(count):
            sums[c] = 0.0
        for j in range(labels.size):
            if labels[j] >= 0:
                sums[labels[j]] += line[j]
        if labels[i] >= 0:
            sums[labels[i]] -= line[i]


@jit(nogil=True)
def _score(
    between: Doubles, inside: Doubles, size: Doubles, a: int, b: int, scale: float, z: float
) -> float:
    """How far two groups are above what it takes to be one: > 1 merges.

    The sum of correlations between them over what is needed: z standard deviations of
    chance, and half of what one camera would show, H₁/2 with the intra-correlations of
    the two.
    """
    pairs = size[a] * size[b]
    needed = z * scale * np.sqrt(pairs)
    own_a = max(inside[a], 0.0) / (size[a] * (size[a] - 1.0))
    own_b = max(inside[b], 0.0) / (size[b] * (size[b] - 1.0))
    needed = max(needed, 0.5 * pairs * np.sqrt(own_a * own_b))
    return between[a, b] / needed if needed > 0.0 else 0.0


@jit(nogil=True)
def merge_groups(
    between: Doubles, inside: Doubles, size: Doubles, scale: float, z: float, parent: Labels
) -> int:
    """Merge the best pair while its score exceeds 1; `parent` then names each group's root.

    `between[a, b]` is the sum of correlations between two groups, `inside[a]` that of all
    ordered pairs within one; both, and `size`, are updated in place. Returns the number
    of merges.
    """
    count = size.size
    best = np.full(count, -1, dtype=np.intp)
    value = np.zeros(count)
    for a in range(count):
        _find_best(between, inside, size, a, scale, z, best, value)
    merges = 0
    while True:
        a = int(np.argmax(value))
        if value[a] <= 1.0:
            return merges
        b = best[a]
        merges += 1
        parent[b] = a
        inside[a] += inside[b] + 2.0 * between[a, b]
        size[a] += size[b]
        size[b] = 0.0
        value[b] = 0.0
        for c in range(count):
            between[a, c] += between[b, c]
            between[c, a] = between[a, c]
        _find_best(between, inside, size, a, scale, z, best, value)
        for c in range(count):
            if c == a or size[c] == 0.0:
                continue
            if best[c] == a or best[c] == b:
                _find_best(between, inside, size, c, scale, z, best, value)
            else:
                new = _score(between, inside, size, c, a, scale, z)
                if new > value[c]:
                    value[c], best[c] = new, a


@jit(nogil=True)
def _find_best(
    between: Doubles,
    inside: Doubles,
    size: Doubles,
    a: int,
    scale: float,
    z: float,
    best: Labels,
    value: Doubles,
) -> None:
    value[a], best[a] = 0.0, -1
    for c in range(size.size):
        if c != a and size[c] > 0.0:
            new = _score(between, inside, size, a, c, scale, z)
            if new > value[a]:
                value[a], best[a] = new, c
