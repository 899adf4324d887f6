"""Numba kernels of consolidation: group sums, the greedy start, merging."""

import numpy as np

from samecam.arrays import AnyFloats, Doubles, Labels
from samecam.compute import jit


@jit(nogil=True)
def strongest(pointers: Labels, weights: AnyFloats, most: int) -> Labels:
    """Places of the `most` largest weights of each row of a CSR matrix, row by row.

    Of equal ones the first; within a row in the order of the matrix.
    """
    places = np.empty(most * (pointers.size - 1), dtype=np.intp)
    count = 0
    for row in range(pointers.size - 1):
        first = count
        for p in range(pointers[row], pointers[row + 1]):
            if count - first < most:
                places[count] = p
                count += 1
                continue
            least = first
            for k in range(first + 1, count):
                if weights[places[k]] <= weights[places[least]]:
                    least = k
            if weights[p] > weights[places[least]]:
                for k in range(least, count - 1):
                    places[k] = places[k + 1]
                places[count - 1] = p
    return places[:count]


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
def add_rows(
    gram: AnyFloats,
    inverse: AnyFloats,
    factors: AnyFloats,
    labels: Labels,
    first: int,
    last: int,
    out: AnyFloats,
) -> None:
    """out[c, i] = Σ_{j∈c, j≠i} w_j g_ij / (σ_i σ_j) for the photos i in [first, last).

    `inverse` is 1/σ, `factors` w/σ; `out` must be zero there.
    """
    for j in range(labels.size):
        if labels[j] >= 0:
            _add(gram[j], factors[j], j, first, last, out[labels[j]])
    for c in range(out.shape[0]):
        for i in range(first, last):
            out[c, i] *= inverse[i]


@jit(nogil=True)
def move_rows(
    gram: AnyFloats,
    inverse: AnyFloats,
    moved: Labels,
    old: Labels,
    new: Labels,
    first: int,
    last: int,
    out: AnyFloats,
) -> None:
    """Take the photos `moved` out of their old groups' sums and put them into the new ones'."""
    scaled = np.zeros(gram.shape[0], dtype=out.dtype)
    for m in range(moved.size):
        j = moved[m]
        for i in range(first, last):
            scaled[i] = gram[j, i] * inverse[i]
        if old[m] >= 0:
            _add(scaled, -inverse[j], j, first, last, out[old[m]])
        if new[m] >= 0:
            _add(scaled, inverse[j], j, first, last, out[new[m]])


@jit(nogil=True)
def _add(line: AnyFloats, factor: float, j: int, first: int, last: int, sums: AnyFloats) -> None:
    """Add factor · line to the sums, but for the photo j itself."""
    kept = sums[j] if first <= j < last else sums[first]
    for i in range(first, last):
        sums[i] += factor * line[i]
    if first <= j < last:
        sums[j] = kept


@jit(nogil=True)
def best_groups(
    products: AnyFloats,
    labels: Labels,
    own: Doubles,
    inside: Doubles,
    owns: Doubles,
    size: Doubles,
    needed: Doubles,
    best: Labels,
) -> None:
    """The group each photo correlates with best, of those where its sum is high enough.

    `needed[c]` is in standard deviations of a sum. The photo itself is left out of its
    own group: of the number, and of the squared norm `inside` + `owns`.
    """
    count, n = products.shape
    value = np.zeros(n)
    best[:] = -1
    for c in range(count):
        square, line, level = inside[c] + owns[c], products[c], needed[c]
        for i in range(n):
            total, members, norm = float(line[i]), size[c], square
            if labels[i] == c:
                members -= 1.0
                norm -= own[i] + 2.0 * total
            if members < 1.0 or norm <= 0.0 or total <= level * np.sqrt(members):
                continue
            correlation = total / np.sqrt(norm)
            if correlation > value[i]:
                value[i] = correlation
                best[i] = c


@jit(nogil=True)
def group_spreads(products: AnyFloats, labels: Labels, size: Doubles, prior: float) -> Doubles:
    """How much sums of photos outside a group scatter, in units of chance; at least 1.

    From the negative ones alone: those of the group's own camera are hardly among them.
    `prior` photos that scatter as chance does are added.
    """
    count, n = products.shape
    spreads = np.empty(count)
    for c in range(count):
        squares, many = prior, prior
        for i in range(n):
            if labels[i] != c and products[c, i] < 0.0:
                squares += float(products[c, i]) ** 2 / size[c]
                many += 1.0
        spreads[c] = max(1.0, np.sqrt(squares / many))
    return spreads


@jit(nogil=True)
def between_groups(products: AnyFloats, labels: Labels, out: Doubles) -> None:
    """out[a, b] = Σ_{i∈a, j∈b, i≠j} g_ij / (σ_i σ_j)."""
    for c in range(products.shape[0]):
        for i in range(labels.size):
            if labels[i] >= 0:
                out[c, labels[i]] += products[c, i]


@jit(nogil=True)
def pair_spreads(between: Doubles, size: Doubles, prior: float) -> Doubles:
    """As `group_spreads`, of the sums between a group and all others."""
    count = size.size
    spreads = np.empty(count)
    for a in range(count):
        squares, many = prior, prior
        for b in range(count):
            if a != b and between[a, b] < 0.0:
                squares += between[a, b] ** 2 / (size[a] * size[b])
                many += 1.0
        spreads[a] = max(1.0, np.sqrt(squares / many))
    return spreads


@jit(nogil=True)
def _score(
    total: float, inside: Doubles, size: Doubles, spread: Doubles, a: int, b: int, z: float
) -> float:
    """How far two groups are above what it takes to be one: > 1 merges.

    `total`, the sum between them, over what is needed: z standard deviations of chance, and
    half of what one camera would show, H₁/2 with the intra-correlations of the two.
    """
    pairs = size[a] * size[b]
    needed = z * spread[a] * spread[b] * np.sqrt(pairs)
    own_a = max(inside[a], 0.0) / (size[a] * (size[a] - 1.0))
    own_b = max(inside[b], 0.0) / (size[b] * (size[b] - 1.0))
    needed = max(needed, 0.5 * pairs * np.sqrt(own_a * own_b))
    if needed <= 0.0:  # any sum above 0 is enough
        return np.inf if total > 0.0 else 0.0
    return float(total / needed)


@jit(nogil=True)
def merge_groups(
    between: Doubles,
    inside: Doubles,
    size: Doubles,
    spread: Doubles,
    z: float,
    parent: Labels,
    photos: Labels,
    others: Labels,
    pinned_photos: Labels,
    pinned_others: Labels,
) -> int:
    """Merge the best pair while its score exceeds 1; `parent` then names each group's root.

    `between[a, b]` is the sum between two groups (symmetric), `inside[a]` that of all ordered
    pairs within one; `inside`, `size` and `spread` are updated in place, `between` is used up.
    `photos` to `pinned_others` are `Counts`, updated too: a pair that `_may_merge` refuses is not
    asked again. Returns the number of merges.

    Where a merge lowers the score of a group with the partner that was its best, the old
    score stays as a bound, and the group looks for its best again only when its turn comes.
    Of a group that grew only its row is kept up to date: the sum of two groups stands in the
    row of the one that grew last (`grown`).
    """
    count = size.size
    best = np.full(count, -1, dtype=np.intp)
    value = np.zeros(count)
    bound = np.zeros(count, dtype=np.bool_)
    grown = np.zeros(count, dtype=np.intp)
    for a in range(count):
        _find_best(between, grown, inside, size, spread, a, z, best, value)
    merges = 0
    while True:
        a = int(np.argmax(value))
        if value[a] <= 1.0:
            return merges
        if bound[a]:
            _find_best(between, grown, inside, size, spread, a, z, best, value)
            bound[a] = False
            continue
        b = best[a]
        if not _may_merge(photos, others, pinned_photos, pinned_others, size, a, b):
            between[a, b] = between[b, a] = -np.inf
            for c in (a, b):
                _find_best(between, grown, inside, size, spread, c, z, best, value)
                bound[c] = False
            continue
        merges += 1
        parent[b] = a
        for k in range(photos.shape[0]):
            for counts in (photos, others, pinned_photos, pinned_others):
                counts[k, a] += counts[k, b]
                counts[k, b] = 0
        inside[a] += inside[b] + 2.0 * _sum(between, grown, a, b)
        for c in range(count):
            if size[c] > 0.0 and c != a and c != b:
                between[a, c] = _sum(between, grown, a, c) + _sum(between, grown, b, c)
        grown[a] = merges
        size[a] += size[b]
        spread[a] = max(spread[a], spread[b])
        size[b] = 0.0
        value[b] = 0.0
        bound[b] = False
        value[a], best[a], bound[a] = 0.0, -1, False
        for c in range(count):
            if c == a or size[c] == 0.0:
                continue
            new = _score(between[a, c], inside, size, spread, a, c, z)
            if new > value[a]:
                value[a], best[a] = new, c
            if new > value[c]:
                value[c], best[c], bound[c] = new, a, False
            elif best[c] == a or best[c] == b:
                bound[c] = True


@jit(nogil=True)
def _may_merge(
    photos: Labels,
    others: Labels,
    pinned_photos: Labels,
    pinned_others: Labels,
    size: Doubles,
    a: int,
    b: int,
) -> bool:
    """Whether two groups may be one by what persons decided.

    Photos speak for a group of which they are at least half, or in which they are pinned. One for
    which `photos` speak does not come to be with most of `others`, nor with a group of which they
    are half. Where photos do not speak for their group it is they who leave, once it is merged:
    `photos`, or `others` from those that are pinned.
    """
    for k in range(photos.shape[0]):
        if photos[k, a] * others[k, b] + photos[k, b] * others[k, a] == 0:
            continue
        most = _holder(others[k], size)
        held = others[k, a] + others[k, b] - others[k, most]
        holds = held > 0 or (held == 0 and size[a] + size[b] >= size[most])
        for c, d in ((a, b), (b, a)):
            half = 2 * others[k, d] >= size[d]
            if pinned_photos[k, c] > 0:
                refused = half or (holds and c != most and pinned_others[k, d] > 0)
            else:
                refused = half or (holds and c != most)
                refused = refused and 2 * photos[k, c] >= size[c]
            if refused:
                return False
    return True


@jit(nogil=True)
def _holder(others: Labels, size: Doubles) -> int:
    """The group that holds most, of several the largest; some hold any."""
    most = int(np.argmax(others))
    for c in range(size.size):
        if others[c] == others[most] and size[c] > size[most]:
            most = c
    return most


@jit(nogil=True)
def _sum(between: Doubles, grown: Labels, a: int, b: int) -> float:
    """The sum between two groups, from the row of the one that grew last."""
    return float(between[a, b] if grown[a] >= grown[b] else between[b, a])


@jit(nogil=True)
def _find_best(
    between: Doubles,
    grown: Labels,
    inside: Doubles,
    size: Doubles,
    spread: Doubles,
    a: int,
    z: float,
    best: Labels,
    value: Doubles,
) -> None:
    value[a], best[a] = 0.0, -1
    for c in range(size.size):
        if c != a and size[c] > 0.0:
            new = _score(_sum(between, grown, a, c), inside, size, spread, a, c, z)
            if new > value[a]:
                value[a], best[a] = new, c
