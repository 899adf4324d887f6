"""Merging: groups whose fingerprints are those of one camera."""

from numbers import Real
from typing import Literal

import numpy as np

from samecam.arrays import Doubles, Labels

Rule = Literal["half", "min", "paper"]
# A rule by name, or the three weights of a regressor of one's own.
Threshold = Rule | tuple[float, float, float]

THRESHOLDS: tuple[Rule, ...] = ("half", "min", "paper")
PUBLISHED = (0.0016, 2.2474, -0.0474)


def known_threshold(threshold: object) -> bool:
    """Whether it is the name of a rule, or three finite numbers."""
    if isinstance(threshold, str):
        return threshold in THRESHOLDS
    weights = threshold if isinstance(threshold, tuple | list) else ()
    numbers = [w for w in weights if isinstance(w, Real) and np.isfinite(float(w))]
    return len(numbers) == len(weights) == 3


def merge(products: Doubles, size: Doubles, chance: float, threshold: Threshold = "half") -> Labels:
    """New number of each group, from 0; groups with the same one are one camera's.

    The pair of the highest centroid correlation among those above their
    τ = max(chance, rule) is joined, until there is none; rule: "half" H₁/2, "paper" R,
    "min" the smaller of both, three numbers: R with these weights of n_A + n_B, of ρ_A + ρ_B
    and of 1. A pair that fails does not end it: τ belongs to the pair. With n photos (at most 50
    in R) of mean correlation ρ in a group,

        H₁ = √(n_A ρ_A / (1 + (n_A−1)ρ_A)) · √(n_B ρ_B / (1 + (n_B−1)ρ_B)),
        R = .0016(n_A + n_B) + 2.2474(ρ_A + ρ_B) − .0474,

    what the fingerprints of two groups of one camera show, and what was trained to imitate
    half of it.

    Parameters
    ----------
    products : (L, L) s_a·s_b of the sums of the groups' fingerprints
    size : (L,) photos in each
    chance : what strangers' centroids may reach, Q⁻¹(P_FA)·σ₀
    """
    from samecam.cluster.large_scale._kernels import merge_groups

    parent = np.arange(len(size), dtype=np.intp)
    named: Rule = threshold if isinstance(threshold, str) else "paper"
    weights = np.array(PUBLISHED if isinstance(threshold, str) else threshold, dtype=np.float64)
    rule = THRESHOLDS.index(named)
    merge_groups(products.copy(), size.astype(np.float64), chance, rule, weights, parent)
    while (parent != parent[parent]).any():
        parent = parent[parent]
    return np.unique(parent, return_inverse=True)[1].astype(np.intp)


def apart(products: Doubles, size: Doubles, chance: float, threshold: Threshold) -> bool:
    """Whether two groups, given as to `merge`, would not be joined."""
    return int(merge(products, size, chance, threshold).max()) == 1
