"""Numba kernels of LS-SSC: merging on sums of correlations, attraction best pair first."""

import numpy as np

from samecam.arrays import AnyFloats, Doubles, Labels
from samecam.compute import jit

HALF, MIN, PAPER = 0, 1, 2
LIMIT = 50.0


@jit(nogil=True)
def needed(
    products: Doubles, size: Doubles, a: int, b: int, chance: float, rule: int, weights: Doubles
) -> float:
    """τ: what the correlation of two groups' fingerprints must exceed for one camera."""
    rho_a, rho_b = 0.0, 0.0
    if size[a] > 1.0:
        rho_a = max((products[a, a] - size[a]) / (size[a] * (size[a] - 1.0)), 0.0)
    if size[b] > 1.0:
        rho_b = max((products[b, b] - size[b]) / (size[b] * (size[b] - 1.0)), 0.0)
    strength_a = size[a] * rho_a / (1.0 + (size[a] - 1.0) * rho_a)
    strength_b = size[b] * rho_b / (1.0 + (size[b] - 1.0) * rho_b)
    half = 0.5 * np.sqrt(strength_a * strength_b)
    sizes = min(size[a], LIMIT) + min(size[b], LIMIT)
    regressor = weights[0] * sizes + weights[1] * (rho_a + rho_b) + weights[2]
    if rule == HALF:
        least = half
    elif rule == MIN:
        least = min(regressor, half)
    else:
        least = regressor
    return float(max(chance, least))


@jit(nogil=True)
def _find_best(
    products: Doubles,
    size: Doubles,
    a: int,
    chance: float,
    rule: int,
    weights: Doubles,
    best: Labels,
    value: Doubles,
) -> None:
    """The partner of group `a` with the highest correlation of those that pass; 0 if none."""
    value[a], best[a] = 0.0, -1
    for c in range(size.size):
        if c != a and size[c] > 0.0:
            new = _passing(products, size, a, c, chance, rule, weights)
            if new > value[a]:
                value[a], best[a] = new, c


@jit(nogil=True)
def _passing(
    products: Doubles, size: Doubles, a: int, b: int, chance: float, rule: int, weights: Doubles
) -> float:
    """Correlation of two groups' fingerprints if it exceeds τ, else 0."""
    norms = products[a, a] * products[b, b]
    if norms <= 0.0:
        return 0.0
    correlation = products[a, b] / np.sqrt(norms)
    if correlation > needed(products, size, a, b, chance, rule, weights):
        return float(correlation)
    return 0.0


@jit(nogil=True)
def merge_groups(
    products: Doubles, size: Doubles, chance: float, rule: int, weights: Doubles, parent: Labels
) -> int:
    """Merge the pair of highest correlation of those above their τ, until there is none.

    `products[a, b]` is s_a·s_b of the groups' sums; it and `size` are updated in place
    (s_a + s_b), and `parent` names the group each went into. Returns the merges made.
    """
    count = size.size
    best = np.full(count, -1, dtype=np.intp)
    value = np.zeros(count)
    for a in range(count):
        _find_best(products, size, a, chance, rule, weights, best, value)
    merges = 0
    while True:
        a = int(np.argmax(value))
        if value[a] <= 0.0:
            return merges
        b = best[a]
        merges += 1
        parent[b] = a
        own = products[a, a] + products[b, b] + 2.0 * products[a, b]
        size[a] += size[b]
        size[b] = 0.0
        value[b] = 0.0
        for c in range(count):
            products[a, c] += products[b, c]
            products[c, a] = products[a, c]
        products[a, a] = own
        _find_best(products, size, a, chance, rule, weights, best, value)
        for c in range(count):
            if c == a or size[c] == 0.0:
                continue
            if best[c] == a or best[c] == b:
                _find_best(products, size, c, chance, rule, weights, best, value)
            else:
                new = _passing(products, size, c, a, chance, rule, weights)
                if new > value[c]:
                    value[c], best[c] = new, a


@jit(nogil=True)
def _best_group(products: Doubles, squares: Doubles, u: int, best: Labels, value: Doubles) -> None:
    value[u], best[u] = -2.0, -1
    for c in range(squares.size):
        if squares[c] > 0.0:
            new = products[u, c] / np.sqrt(squares[c])
            if new > value[u]:
                value[u], best[u] = new, c


@jit(nogil=True)
def attract_photos(
    products: Doubles, squares: Doubles, size: Doubles, gram: AnyFloats, least: float
) -> Labels:
    """Group of each photo, −1 for none: the best pair of photo and group first.

    `products[u, c]` is x_u·s_c, `squares[c]` = ‖s_c‖²; both, and `size`, are updated in
    place while a group has at most 50 members; after that its fingerprint stays.
    """
    n = products.shape[0]
    labels = np.full(n, -1, dtype=np.intp)
    best = np.full(n, -1, dtype=np.intp)
    value = np.full(n, -2.0)
    for u in range(n):
        _best_group(products, squares, u, best, value)
    for _ in range(n):
        u = int(np.argmax(value))
        if value[u] <= least:
            break
        c = best[u]
        labels[u] = c
        value[u] = -2.0
        if size[c] > LIMIT:
            continue
        squares[c] += 1.0 + 2.0 * products[u, c]
        size[c] += 1.0
        for v in range(n):
            products[v, c] += gram[u, v]
            if labels[v] >= 0:
                continue
            new = products[v, c] / np.sqrt(squares[c])
            if best[v] == c and new < value[v]:
                _best_group(products, squares, v, best, value)
            elif new > value[v] or best[v] == c:
                value[v], best[v] = new, c
    return labels
