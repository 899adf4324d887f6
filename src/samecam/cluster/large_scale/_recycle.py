"""Recycling: what batches left over makes new batches."""

import numpy as np

from samecam.arrays import Rows


def shares(sizes: list[int], total: int) -> list[int]:
    """How many to take of each pool, proportional to its size, `total` in all.

    s = |pool| · total / Σ|pool|, rounded by largest remainder (ties: the earlier pool);
    all of everything if there is not more than `total`.
    """
    available = sum(sizes)
    if available <= total:
        return list(sizes)
    whole = [size * total // available for size in sizes]
    rest = [size * total % available for size in sizes]
    for pool in sorted(range(len(sizes)), key=lambda i: (-rest[i], i))[: total - sum(whole)]:
        whole[pool] += 1
    return whole


def draw(pools: list[Rows], total: int, rng: np.random.Generator) -> tuple[Rows, list[Rows]]:
    """Take photos at random out of the pools; what was taken (sorted) and what remains."""
    taken, remain = [np.empty(0, dtype=np.intp)], []
    for pool, count in zip(pools, shares([len(p) for p in pools], total), strict=True):
        order = rng.permutation(len(pool))
        taken.append(pool[order[:count]])
        remain.append(np.sort(pool[order[count:]]))
    return np.sort(np.concatenate(taken)), remain
