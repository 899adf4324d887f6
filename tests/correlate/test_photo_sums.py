"""Inner products of photos with groups: the same numbers whatever the budget."""

import numpy as np
import pytest

from samecam import correlate
from samecam.correlate import _photo_sums
from samecam.errors import SamecamError
from samecam.simulate import fingerprints
from tests.stores import written


def collection(sizes, n_pixels, seed=0):
    X, truth = fingerprints(sizes, 0.1, n_pixels, seed=seed)
    order = np.random.default_rng(seed).permutation(len(X))
    labels = np.where(truth[order] == 1, -1, truth[order] - (truth[order] > 1))
    return X[order], labels


def test_every_budget_gives_the_same_numbers(tmp_path, monkeypatch):
    X, labels = collection([10] * 400, 1500)
    plans = set()
    made = _photo_sums._plan

    def noted(*args):
        plan = made(*args)
        plans.add((plan.in_memory, plan.one_pass))
        return plan

    monkeypatch.setattr(_photo_sums, "_plan", noted)
    X64 = X.astype(np.float64)
    sums = np.stack([X64[labels == c].sum(axis=0) for c in range(399)])
    with written(tmp_path / "s", X, "float32") as store:
        large = correlate.photo_sums(X, labels, memory=2**30)
        for memory in (2**30, 24 * 2**20, 2**20):
            got = correlate.photo_sums(store, labels, memory=memory, folder=tmp_path)
            assert np.array_equal(got.products.read(0, 399), large.products.read(0, 399))
            assert np.array_equal(got.norms, large.norms)
    assert plans == {(True, True), (True, False), (False, False)}
    np.testing.assert_allclose(large.products.read(0, 399), sums @ X64.T, atol=2e-5)
    np.testing.assert_allclose(large.norms, (X64**2).sum(axis=1), atol=1e-5)


def test_progress_counts_photos_up_to_all(monkeypatch):
    X, labels = collection([10] * 60, 4000)
    monkeypatch.setattr(_photo_sums, "LEAST_MEMORY", 0)
    for memory in (2**30, 2 * 2**20):
        seen = []
        correlate.photo_sums(X, labels, memory=memory, progress=lambda *a, s=seen: s.append(a))
        done = [d for d, total in seen]
        assert {total for _, total in seen} == {600}
        assert done == sorted(done)
        assert len(set(done)) > 3
        assert done[-1] == 600


def test_no_group_gives_no_product():
    X, _ = collection([3, 3], 900)
    got = correlate.photo_sums(X, np.full(6, -1))
    assert got.products.shape == (0, 6)
    np.testing.assert_allclose(got.norms, 1, atol=1e-5)


def test_a_budget_too_small_names_what_it_takes(monkeypatch):
    X, labels = collection([10] * 6, 4000)
    monkeypatch.setattr(_photo_sums, "LEAST_MEMORY", 0)
    with pytest.raises(SamecamError, match="60 photos with 5 groups takes .* budget is 900 B"):
        correlate.photo_sums(X, labels, memory=900)
