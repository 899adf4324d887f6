"""The paper's methods on real photographs, whose fingerprints are made once."""

import numpy as np
import pytest

from samecam import correlate
from samecam.cluster import SSCNC
from samecam.metrics import scores
from tests.cluster.large_scale.test_estimator import fit
from tests.cluster.photographs import judged_photographs


def normalised_cuts_find_the_cameras(rows, cameras):
    fitted = SSCNC(gamma=0.0036).fit(rows)
    assert scores(cameras, fitted.labels_).f >= 0.93


def two_batches_find_the_cameras(rows, cameras):
    G = correlate.gram(rows)
    found = [scores(cameras, fit(G, n_batches=2, random_state=s).labels_).f for s in range(3)]
    assert found[0] >= 0.92
    assert np.mean(found) >= 0.94
    paper = [fit(G, preset="paper", n_batches=2, random_state=s).labels_ for s in range(3)]
    assert np.mean([scores(cameras, labels).f for labels in paper]) >= 0.88


@pytest.mark.slow
def test_the_cameras_of_real_photographs(photos_dir):
    rows, cameras = judged_photographs(photos_dir)
    normalised_cuts_find_the_cameras(rows, cameras)
    two_batches_find_the_cameras(rows, cameras)
