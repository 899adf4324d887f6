"""Groups: sums and leave-one-out correlations, the fast way and the obvious way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam import correlate
from samecam.simulate import fingerprints
from tests.correlate.test_gram import filled


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
    from samecam.store import DiskStore

    X, labels = fingerprints([5, 6], 0.1, 900)
    with filled(DiskStore.create(tmp_path / "s", n_pixels=900, dtype="float32"), X) as store:
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
