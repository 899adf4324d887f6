"""Objective, gradient, KKT violation, duality gap, gamma_max: against the obvious formulas."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from samecam.represent import (
    duality_gap,
    gamma_max,
    gradient,
    kkt_violation,
    objective,
    represent,
)
from tests.represent.grams import fingerprints, small_gram, weak_gram

GAMMA = 0.02


def some_coefficients(n, seed=1, signs=False):
    rng = np.random.default_rng(seed)
    C = rng.random((n, n)) * (rng.random((n, n)) < 0.3)
    if signs:
        C *= rng.choice([-1, 1], C.shape)
    np.fill_diagonal(C, 0)
    return C


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(3))
def test_objective_is_the_papers(seed, dtype):
    X = fingerprints(seed=seed)
    C = some_coefficients(len(X), seed, signs=True)
    Z = C.T  # the paper's columns
    expected = 0.5 * np.linalg.norm(X.T @ Z - X.T) ** 2 + GAMMA * np.abs(Z).sum()
    result = objective((X @ X.T).astype(dtype), C, GAMMA)
    assert result == pytest.approx(expected, rel=1e-12 if dtype == np.float64 else 1e-5)


def test_gradient_is_the_slope_of_the_objective():
    G = small_gram()
    C = some_coefficients(len(G))
    slope = gradient(G, C)
    np.testing.assert_allclose(slope, C @ G - G, atol=1e-12)
    step = np.zeros_like(C)
    step[3, 5] = 1e-6
    rise = objective(G, C + step, 1e-9) - objective(G, C - step, 1e-9)
    assert rise / 2e-6 == pytest.approx(slope[3, 5], rel=1e-5)


@pytest.mark.parametrize("n", [48, 600])
def test_blocks_and_tiles_do_not_show(n):
    G = weak_gram(n)
    C = csr_array(some_coefficients(n, signs=True).astype(np.float32))
    expected = C.toarray().astype(float) @ G.astype(float) - G
    np.testing.assert_allclose(gradient(G, C), expected, atol=1e-9)


@pytest.mark.parametrize("nonnegative", [True, False])
def test_kkt_violation_against_loops(nonnegative):
    G = small_gram()
    C = some_coefficients(len(G), signs=not nonnegative)
    r = G - C @ G
    expected = []
    for i in range(len(G)):
        worst = 0.0
        for j in range(len(G)):
            if j == i:
                continue
            if C[i, j] != 0:
                worst = max(worst, abs(r[i, j] - np.sign(C[i, j]) * GAMMA))
            else:
                worst = max(worst, (r[i, j] if nonnegative else abs(r[i, j])) - GAMMA)
        expected.append(worst)
    np.testing.assert_allclose(kkt_violation(G, C, GAMMA, nonnegative), expected, atol=1e-12)


def test_breaking_a_constraint_is_infinite():
    G = small_gram()
    own, negative = np.zeros_like(G), np.zeros_like(G)
    own[2, 2] = 0.1
    negative[4, 1] = -0.1
    for C, row in ((own, 2), (negative, 4)):
        for measure in (kkt_violation, duality_gap):
            result = measure(G, C, GAMMA)
            assert np.isinf(result[row])
            assert np.isfinite(np.delete(result, row)).all()
    assert np.isfinite(kkt_violation(G, negative, GAMMA, nonnegative=False)).all()


@pytest.mark.parametrize("nonnegative", [True, False])
def test_gap_bounds_the_distance_to_the_optimum(nonnegative):
    G = small_gram()
    best = represent(G, GAMMA, nonnegative=nonnegative, tol=1e-12).coefficients
    optimum = objective(G, best, GAMMA)
    gap_at_best = duality_gap(G, best, GAMMA, nonnegative)
    assert (gap_at_best >= 0).all()
    assert gap_at_best.max() < 1e-9
    gaps = []
    for share in (0.0, 0.5, 0.9, 0.99):
        gap = duality_gap(G, share * best, GAMMA, nonnegative)
        assert (gap >= 0).all()
        assert gap.sum() >= objective(G, share * best, GAMMA) - optimum - 1e-10
        gaps.append(gap.sum())
    assert gaps == sorted(gaps, reverse=True)
    wild = some_coefficients(len(G), signs=not nonnegative)
    excess = objective(G, wild, GAMMA) - optimum
    assert duality_gap(G, wild, GAMMA, nonnegative).sum() >= excess


@pytest.mark.parametrize("nonnegative", [True, False])
def test_gamma_max_is_where_everything_vanishes(nonnegative):
    G = -small_gram()  # the largest correlation in size is negative
    np.fill_diagonal(G, 1)
    G += np.where(np.eye(len(G)), 0, 0.01)
    limit = gamma_max(G, nonnegative)
    off = G[~np.eye(len(G), dtype=bool)]
    assert limit == (off if nonnegative else np.abs(off)).max()
    # Not positive semidefinite, but at gamma_max that does not matter.
    assert represent(G, limit, nonnegative=nonnegative).coefficients.nnz == 0
    below = represent(G, 0.999 * limit, nonnegative=nonnegative, max_iter=50).coefficients
    assert below.nnz > 0


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_to_represent_with(n):
    G = np.eye(n)
    empty = csr_array((n, n))
    assert gamma_max(G) == 0
    assert kkt_violation(G, empty, GAMMA).shape == (n,)
    assert duality_gap(G, empty, GAMMA).sum() == pytest.approx(0)
    assert objective(G, empty, GAMMA) == pytest.approx(n / 2)
    assert gradient(G, empty).shape == (n, n)


def test_shape_of_coefficients_is_checked():
    with pytest.raises(ValueError, match=r"coefficients have shape \(2, 2\) but gram is 3 × 3"):
        objective(np.eye(3), np.zeros((2, 2)), GAMMA)


def test_duplicate_and_unsorted_entries_count_once_summed():
    G = small_gram()
    n = len(G)
    dense = np.zeros((n, n))
    dense[0, [3, 7]] = 0.3, 0.1
    pointers = np.array([0, 3] + [3] * (n - 1))
    messy = csr_array((np.array([0.1, 0.1, 0.2]), np.array([7, 3, 3]), pointers), shape=(n, n))
    np.testing.assert_allclose(gradient(G, messy), gradient(G, dense), atol=1e-15)
    assert messy.nnz == 3
