"""Numba kernels of the rivals: label sweeps and the silhouette along a dendrogram."""

import numpy as np

from samecam.arrays import AnyFloats, Doubles, Labels
from samecam.compute import jit


@jit(nogil=True)
def al_icm_sweep(
    gram: AnyFloats, alpha: float, order: Labels, labels: Labels, size: Labels, free: Labels
) -> int:
    """One Gauss–Seidel sweep of AL-ICM; returns how many photos changed.

    Photo i takes the label ℓ with the largest Σ_{j≠i, l_j=ℓ} (g_ij − α) if that is
    positive, and a new label of its own otherwise. `labels`, `size` (photos of each
    label) and `free` (stack of unused labels, free[n] their number) are updated in place.
    """
    n = labels.size
    sums = np.zeros(n)
    changed = 0
    for i in order:
        mine = labels[i]
        sums[:] = 0.0
        line = gram[i]
        for j in range(n):
            sums[labels[j]] += line[j] - alpha
        sums[mine] -= line[i] - alpha
        best, value = -1, 0.0
        for c in range(n):
            if size[c] > 0 and sums[c] > value:
                best, value = c, sums[c]
        if best < 0:
            if size[mine] == 1:
                continue
            free[n] -= 1
            best = free[free[n]]
        if best == mine:
            continue
        changed += 1
        labels[i] = best
        size[best] += 1
        size[mine] -= 1
        if size[mine] == 0:
            free[free[n]] = mine
            free[n] += 1
    return changed


@jit(nogil=True)
def committee_sweep(
    gram: AnyFloats, committee: Labels, reference: Doubles, order: Labels, labels: Labels
) -> int:
    """One sweep of the membership committee; returns how many photos changed.

    Photo i takes, of the labels in its committee C_i and its own, the one with the
    largest Σ_{j∈C_i, l_j=ℓ} (g_ij − r_i); its own if none is better.
    """
    n = labels.size
    sums = np.zeros(n)
    changed = 0
    for i in order:
        for j in committee[i]:
            sums[labels[j]] = 0.0
        sums[labels[i]] = 0.0
        for j in committee[i]:
            sums[labels[j]] += gram[i, j] - reference[i]
        best = labels[i]
        for j in committee[i]:
            if sums[labels[j]] > sums[best]:
                best = labels[j]
        if best != labels[i]:
            labels[i] = best
            changed += 1
    return changed


@jit(nogil=True)
def _find_nearest(sums: Doubles, size: Labels, alive: Labels, count: int, own: int) -> int:
    """Number of the other group with the highest mean correlation; −1 if there is none."""
    best, value = -1, -np.inf
    for k in range(count):
        c = alive[k]
        if c != own:
            mean = sums[c] / size[c]
            if mean > value:
                best, value = c, mean
    return best


@jit(nogil=True)
def _mean_silhouette(sums: Doubles, size: Labels, group: Labels, nearest: Labels) -> float:
    """Mean of b_i − a_i over all photos, 0 for a photo alone; b_i = 0 without another group."""
    total = 0.0
    for i in range(group.size):
        own, other = group[i], nearest[i]
        if size[own] > 1:
            if other >= 0:
                total += sums[i, other] / size[other]
            total -= sums[i, own] / (size[own] - 1)
    return total / group.size


@jit(nogil=True)
def silhouette_levels(gram: AnyFloats, first: Labels, second: Labels) -> Doubles:
    """Mean silhouette after 0, 1, … n−1 merges; step t merges group second[t] into first[t].

    s_i = b_i − a_i with a_i the mean correlation with the rest of the own group and b_i
    the highest mean correlation with another group (0 if there is none); a photo alone has
    s_i = 0. Sums per photo and group are kept, and of each photo the nearest other group;
    a merged mean is never above both, so only photos next to a merged group look again.
    """
    n = gram.shape[0]
    sums = gram.astype(np.float64)
    for i in range(n):
        sums[i, i] = 0.0
    group = np.arange(n)
    size = np.ones(n, dtype=np.intp)
    alive = np.arange(n)
    place = np.arange(n)
    nearest = np.empty(n, dtype=np.intp)
    for i in range(n):
        nearest[i] = _find_nearest(sums[i], size, alive, n, i)
    result = np.zeros(n)
    count = n
    for t in range(n - 1):
        a, b = first[t], second[t]
        for i in range(n):
            sums[i, a] += sums[i, b]
        size[a] += size[b]
        count -= 1
        alive[place[b]] = alive[count]
        place[alive[count]] = place[b]
        for i in range(n):
            moved = group[i] == b or group[i] == a
            if group[i] == b:
                group[i] = a
            if moved or nearest[i] == a or nearest[i] == b:
                nearest[i] = _find_nearest(sums[i], size, alive, count, group[i])
        result[t + 1] = _mean_silhouette(sums, size, group, nearest)
    return result
