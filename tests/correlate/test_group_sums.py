"""Groups: sums and leave-one-out correlations, the fast way and the obvious way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam import correlate
from samecam.simulate import fingerprints
from tests.stores import written


def obvious(X, labels):
    """Average the others of each group, then correlate."""
    X = X.astype(np.float64)
    result = np.zeros((len(X), labels.max(initial=-1) + 1))
    for i in range(len(X)):
        for c in range(result.shape[1]):
            others = (labels == c) & (np.arange(len(X)) != i)
            if others.any():
                mean = X[others].mean(axis=0)
                result[i, c] = X[i] @ mean / np.linalg.norm(mean)
    return result


@given(labels=st.lists(st.integers(-1, 4), min_size=24, max_size=24), seed=st.integers(0, 5))
def test_leave_one_out_is_the_obvious_correlation(labels, seed):
    X = fingerprints([12, 12], 0.1, 600, seed=seed).X
    labels = np.array(labels)
    expected = obvious(X, labels)
    from_gram = correlate.centroid_correlations(correlate.gram(X), labels)
    np.testing.assert_allclose(from_gram, expected, atol=2e-6)


def test_from_a_store(tmp_path):
    X, labels = fingerprints([5, 6], 0.1, 900)
    with written(tmp_path / "s", X, "float32") as store:
        sums = correlate.group_sums(store, labels, memory=5000)
    for c in (0, 1):
        np.testing.assert_allclose(sums[c], X[labels == c].sum(axis=0), atol=1e-5)


def test_centroids_are_unit_norm_and_empty_groups_zero():
    X = fingerprints([4], 0.1, 500).X
    C = correlate.centroids(X, np.array([0, 0, 2, -1]))
    np.testing.assert_allclose(np.linalg.norm(C, axis=1), [1, 0, 1], atol=1e-6)
    np.testing.assert_allclose(C[2], X[2], atol=1e-6)


@pytest.mark.parametrize("labels", [[0, 1], [0.0] * 4, [[0] * 4]])
def test_bad_labels_get_a_sentence(labels):
    with pytest.raises(ValueError, match="labels have shape"):
        correlate.group_sums(np.eye(4, dtype=np.float32), np.array(labels))


@given(
    labels=st.lists(st.integers(-1, 4), min_size=24, max_size=24),
    some=st.sets(st.integers(0, 23), min_size=1),
    width=st.sampled_from([7, 100, 1000]),
)
def test_products_with_sums_are_those_of_the_sums(labels, some, width):
    X = fingerprints([12, 12], 0.1, 600).X
    labels, rows = np.array(labels), np.array(sorted(some))
    weights = np.random.default_rng(1).random(24).astype(np.float32)
    for given_weights in (None, weights):
        members = correlate.Membership(labels, 5, given_weights)
        w = np.ones(24) if given_weights is None else weights.astype(float)
        inside = [(labels == c) * w for c in range(5)]
        sums = np.array(inside) @ X.astype(float)
        assert members.sizes.tolist() == [(labels == c).sum() for c in range(5)]
        found = correlate.row_products(X, members, rows, width)
        np.testing.assert_allclose(found, X[rows] @ sums.T, atol=1e-5)
        found = correlate.gram_products(correlate.gram(X), members, rows)
        np.testing.assert_allclose(found, X[rows] @ sums.T, atol=1e-5)
        found = correlate.group_products(X, members, width)
        np.testing.assert_allclose(found, sums @ sums.T, atol=1e-5)
        norms = np.array(inside) * (X.astype(float) ** 2).sum(axis=1)
        found = correlate.other_products(X, members, memory=50_000, device="cpu")
        np.testing.assert_allclose(found, sums @ X.T - norms, atol=1e-5)
        own = np.diag((np.array(inside) * w * (X.astype(float) ** 2).sum(axis=1)).sum(axis=1))
        found = correlate.other_group_products(X, members, w**2, memory=50_000, device="cpu")
        np.testing.assert_allclose(found, sums @ sums.T - own, atol=1e-5)
