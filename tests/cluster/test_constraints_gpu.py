"""Decisions are honoured on a GPU as on the processor; here in PyTorch on the processor."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from sklearn.metrics import adjusted_rand_score

from samecam.cluster import ConsolidatedSSC, Constraints
from samecam.cluster.consolidate import _cpu
from samecam.simulate import fingerprints
from tests.cluster.test_constraints import assert_honoured, collections, nobody, together
from tests.devices import DEVICE, host, there

pytest.importorskip("torch")
from samecam.cluster.consolidate import _gpu

pytestmark = pytest.mark.torch


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=30)
@given(collections())
def test_the_same_photos_are_together_and_apart(collection):
    G, weak, constraints = collection
    answers = [
        ConsolidatedSSC(metric="precomputed", n_pixels=512**2, device=device)
        .fit(G.copy(), weak=weak, constraints=constraints)
        .labels_
        for device in ("cpu", DEVICE)
    ]
    assert_honoured(answers[1], constraints)
    np.testing.assert_array_equal(*answers)


@pytest.mark.parametrize("batch_size", [None, 45])
def test_labels_agree_whole_and_in_batches(batch_size):
    X, truth = fingerprints([50, 40, 20, *[1] * 10], 0.06, 4096, seed=1)
    first, n = np.flatnonzero(truth == 0), len(X)
    for sets in (nobody(n), together(n, first[:20])):
        constraints = Constraints(sets, ((first[:20], first[20:]), (first[20:], first[:20])))
        answers = [
            ConsolidatedSSC(batch_size=batch_size, device=device)
            .fit(X, constraints=constraints)
            .labels_
            for device in ("cpu", DEVICE)
        ]
        assert_honoured(answers[1], constraints)
        assert adjusted_rand_score(*answers) >= 0.99


def test_sums_are_set_aside_alike():
    values = np.random.default_rng(1).normal(size=(4, 9)).astype(np.float32)
    groups, photos = np.array([0, 3, 3]), np.array([8, 0, 1])
    device = there(values)
    _gpu.put_at(device, groups, photos, np.array([-np.inf, 2.0, 0.1]))
    _cpu.put_at(values, groups, photos, np.array([-np.inf, 2.0, 0.1]))
    np.testing.assert_array_equal(host(device), values)
    assert values[3, 0] == 2
