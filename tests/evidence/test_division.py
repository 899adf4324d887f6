"""A group's best division in two."""

import numpy as np
import pytest

from samecam.evidence import best_division
from samecam.simulate import fingerprints


def gram_of(sizes, mean=0.05, seed=0):
    X, truth = fingerprints(sizes, mean, 40_000, seed=seed)
    return X @ X.T, truth


@pytest.mark.parametrize("sizes", [[12, 12], [20, 4], [5, 5]])
def test_two_cameras_fall_apart(sizes):
    G, truth = gram_of(sizes)
    order = np.random.default_rng(1).permutation(len(G))
    found = best_division(G[np.ix_(order, order)], 1 / 200)
    assert found.falls_apart
    assert found.share < 0.1
    smaller = np.bincount(truth).argmin() if sizes[0] != sizes[1] else truth[order][found.second][0]
    np.testing.assert_array_equal(found.second, truth[order] == smaller)


@pytest.mark.parametrize("size", [4, 8, 30])
@pytest.mark.parametrize("mean", [0.01, 0.05, 0.3])
def test_one_camera_does_not(size, mean):
    for seed in range(5):
        G, _ = gram_of([size], mean, seed)
        found = best_division(G, 1 / 200)
        assert found is None or not found.falls_apart


def test_photos_of_unlike_strength_are_no_two_cameras():
    X, _ = fingerprints([16], 0.2, 40_000, seed=3)
    rng = np.random.default_rng(0)
    X[:8] += 0.01 * rng.normal(size=X[:8].shape)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    found = best_division(X @ X.T, 1 / 200)
    assert found is None or not found.falls_apart


def test_three_photos_are_not_divided():
    assert best_division(np.eye(3), 0.005) is None
