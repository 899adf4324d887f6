"""Rows of one or two bits a pixel are grouped as the numbers they stand for are."""

import numpy as np
import pytest

from samecam.cluster import RIVALS, ConsolidatedSSC, LargeScaleSSC
from samecam.cluster._remote import batch_data
from samecam.cluster.consolidate._sums import FingerprintSums
from samecam.metrics import scores
from samecam.simulate import fingerprints
from samecam.store import BitRows, MemoryStore, Subset, pack


def stores(sizes, mean, n_pixels, seed=0, planes=1):
    """The same rows as bits and as numbers, and the cameras."""
    X, truth = fingerprints(sizes, mean, n_pixels, seed=seed)
    keys = [f"{i:04}" for i in range(len(X))]
    small = np.abs(X) <= np.random.default_rng(seed).uniform(0.8, 1.2, (len(X), 1)) * X.std()
    bits = BitRows(pack(X) if planes == 1 else pack(X, small), n_pixels, keys)
    floats = MemoryStore(n_pixels)
    for key, row in zip(keys, bits.read(), strict=True):
        floats.add(key, row)
    floats.commit()
    return bits, floats, truth


@pytest.mark.parametrize("planes", [1, 2])
@pytest.mark.parametrize("batches", [False, True])
def test_labels_are_those_of_the_numbers(batches, planes):
    bits, floats, truth = stores([30] * 6, 0.15, 6399, seed=2, planes=planes)
    weak = np.zeros(len(bits), dtype=bool)
    weak[::10] = True
    options = {"batch_size": 70} if batches else {}
    fitted = [ConsolidatedSSC(**options).fit(source, weak=weak) for source in (bits, floats)]
    np.testing.assert_array_equal(fitted[0].labels_, fitted[1].labels_)
    assert scores(truth, fitted[0].labels_).f > 0.95
    part = Subset(bits, np.arange(0, len(bits), 2))
    labels = ConsolidatedSSC(**options).fit(part).labels_
    assert scores(truth[::2], labels).f > 0.9


@pytest.mark.parametrize(("planes", "error"), [(1, 1e-5), (2, 0.005)])
def test_sums_in_units_of_chance_hold(planes, error):
    """What is made of rounded weights is what the correlations in these units give."""
    bits, _, _ = stores([9, 8], 0.1, 901, planes=planes)
    scales = np.random.default_rng(0).uniform(0.02, 0.05, 17)
    labels = np.repeat([0, 1, -1], [8, 7, 2])
    sums = FingerprintSums(bits, scales, 2**20)
    np.testing.assert_allclose(sums.own, 1 / scales**2, rtol=0.04)
    S = bits.read().astype(np.float64)
    H = (S @ S.T) * np.sqrt(np.outer(sums.own, sums.own))
    np.fill_diagonal(H, 0)
    members = np.equal.outer(np.arange(2), labels)
    np.testing.assert_allclose(sums.products(labels, 2), members @ H, rtol=error, atol=100 * error)
    between = members @ H @ members.T
    np.testing.assert_allclose(sums.between(labels, 2), between, rtol=error, atol=100 * error)


@pytest.mark.parametrize("planes", [1, 2])
def test_a_batch_goes_to_a_worker_as_bits(planes):
    bits, _, _ = stores([5, 5], 0.1, 300, planes=planes)
    rows = np.array([1, 4, 8])
    for source in (bits, Subset(bits, np.arange(10))):
        sent = batch_data(source, rows).fingerprints
        assert isinstance(sent, BitRows)
        np.testing.assert_array_equal(sent.values, bits.values[rows])


@pytest.mark.parametrize("planes", [1, 2])
def test_other_methods_read_bits(planes):
    bits, floats, truth = stores([20] * 4, 0.3, 4000, seed=1, planes=planes)
    for method in (LargeScaleSSC(batch_size=40), RIVALS["lin-ls"](), RIVALS["ccc"]()):
        labels = [method.fit(source).labels_ for source in (bits, floats)]
        np.testing.assert_array_equal(*labels)
        assert scores(truth, labels[0]).f > 0.8
