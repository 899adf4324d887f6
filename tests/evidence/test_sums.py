import numpy as np
import pytest

from samecam import correlate
from samecam.errors import SamecamError
from samecam.evidence import (
    fingerprint_correlations,
    fingerprint_quality,
    intra_correlations,
    leave_one_out,
    sums_from_gram,
    sums_from_rows,
)
from samecam.simulate import fingerprints
from samecam.store import DiskStore, MemoryStore


@pytest.fixture(scope="module")
def photos():
    X, truth = fingerprints([6, 5, 3, 1, 1], 0.1, n_pixels=900, seed=2)
    return X, np.where(truth < 3, truth, -1)


def slow_leave_one_out(X, labels):
    rows = X.astype(np.float64)
    result = np.zeros((len(X), labels.max() + 1))
    for i in range(len(X)):
        for c in range(labels.max() + 1):
            others = [j for j in range(len(X)) if labels[j] == c and j != i]
            if others:
                mean = rows[others].mean(axis=0)
                result[i, c] = rows[i] @ mean / np.linalg.norm(mean)
    return result


def test_leave_one_out_is_the_correlation_with_the_mean_of_the_others(photos):
    X, labels = photos
    slow = slow_leave_one_out(X, labels)
    G = correlate.gram(X)
    assert np.allclose(leave_one_out(sums_from_gram(G, labels)), slow, atol=1e-6)
    assert np.allclose(leave_one_out(sums_from_rows(X, labels)), slow, atol=1e-6)
    assert np.allclose(correlate.centroid_correlations(G, labels), slow, atol=1e-6)


@pytest.mark.parametrize("memory", [4_000, 20_000, 2**30])
def test_rows_arrays_and_stores_agree_within_any_budget(photos, tmp_path, memory):
    X, labels = photos
    expected = sums_from_gram(correlate.gram(X), labels)
    in_memory = MemoryStore(X.shape[1])
    on_disk = DiskStore.create(tmp_path / "store", n_pixels=X.shape[1], dtype="float32")
    for store in (in_memory, on_disk):
        for i, row in enumerate(X):
            store.add(f"{i:03}", row)
        store.commit()
    for source in (X, in_memory, on_disk):
        got = sums_from_rows(source, labels, memory=memory)
        for name in ("sums", "own", "between"):
            assert np.allclose(getattr(got, name), getattr(expected, name), atol=1e-5), name
    on_disk.close()


def test_a_group_of_one_leaves_nothing(photos):
    X, labels = photos
    labels = labels.copy()
    labels[np.flatnonzero(labels == 2)[1:]] = -1
    r = leave_one_out(sums_from_rows(X, labels))
    assert r[np.flatnonzero(labels == 2)[0], 2] == 0


def test_intra_correlation_is_the_mean_over_pairs(photos):
    X, labels = photos
    given = sums_from_rows(X, labels)
    for c in range(3):
        part = X[labels == c] @ X[labels == c].T
        pairs = part[np.triu_indices(len(part), 1)]
        assert intra_correlations(given)[c] == pytest.approx(pairs.mean(), abs=1e-6)


def test_fingerprint_correlations_are_those_of_the_means(photos):
    X, labels = photos
    means = np.stack([X[labels == c].mean(axis=0) for c in range(3)])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    assert np.allclose(
        fingerprint_correlations(sums_from_rows(X, labels)), means @ means.T, atol=1e-6
    )


def test_quality_is_the_correlation_with_the_true_pattern():
    rng = np.random.default_rng(0)
    d, rho = 40_000, 0.04
    pattern = rng.standard_normal(d)
    for n in (2, 8, 50):
        X = rho**0.5 * pattern + (1 - rho) ** 0.5 * rng.standard_normal((n, d))
        mean = X.mean(axis=0)
        measured = mean @ pattern / np.linalg.norm(mean) / np.linalg.norm(pattern)
        assert fingerprint_quality(n, rho) == pytest.approx(measured, abs=0.02)
    assert fingerprint_quality(5, -0.01) == 0


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([0, 1], "give 4 whole numbers"),
        ([0.0, 1.0, 0.0, 1.0], "give 4 whole numbers"),
        ([0, 2, 0, 2], "without gaps"),
        ([0, 1, 0, -2], "without gaps"),
    ],
)
def test_wrong_labels_are_named(labels, words):
    with pytest.raises(ValueError, match=words):
        sums_from_gram(np.eye(4), labels)


def test_a_budget_too_small_is_one_sentence(photos):
    X, labels = photos
    with pytest.raises(SamecamError, match="16 photos and 3 groups .* raise it"):
        sums_from_rows(X, labels, memory=900)


def test_gram_must_be_square():
    with pytest.raises(ValueError, match=r"\(3, 4\)"):
        sums_from_gram(np.zeros((3, 4)), [0, 0, 0])
