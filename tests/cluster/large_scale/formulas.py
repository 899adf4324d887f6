"""The paper's formulas of merging, written out."""

import numpy as np


def inner(square, size):
    """ρ_A, the mean correlation within a group, from ‖s_A‖² of its sum; 0 for one photo."""
    return max((square - size) / (size * (size - 1)), 0.0) if size > 1 else 0.0


def regressor(n_a, n_b, rho_a, rho_b):
    """The published R = .0016(n_A + n_B) + 2.2474(ρ_A + ρ_B) − .0474, n at most 50."""
    return 0.0016 * (min(n_a, 50) + min(n_b, 50)) + 2.2474 * (rho_a + rho_b) - 0.0474


def expected(n_a, n_b, rho_a, rho_b):
    """H₁, the correlation of the fingerprints of two groups of one camera."""
    a = n_a * rho_a / (1 + (n_a - 1) * rho_a)
    b = n_b * rho_b / (1 + (n_b - 1) * rho_b)
    return float(np.sqrt(a * b))
