import dataclasses

import numpy as np
import pytest

from samecam.evidence import _null as module
from samecam.evidence import comparisons_from_gram, measured_null
from samecam.simulate import gram


@pytest.fixture(scope="module")
def plain():
    """40 cameras of 20 photos, and strangers."""
    G, truth = gram([20] * 40 + [1] * 60, 0.03, seed=0)
    labels = np.where(truth < 40, truth, -1)
    return G, truth, labels, measured_null(comparisons_from_gram(G, labels))


def test_scale_is_that_of_chance_and_follows_each_group(plain):
    G, _, labels, null = plain
    totals = comparisons_from_gram(G, labels).totals
    # Entries of this Gram are independent: a sum of 20 scatters by √20/512.
    assert np.allclose(null.group_scale, np.sqrt(20 / totals) / 512, rtol=0.1)
    # A group of noisier correlations gets a scale of its own.
    noisy = labels == 7
    loud = np.where(noisy, 3.0, 1.0)
    G = np.where(noisy[:, None] == noisy[None], G, G * np.maximum.outer(loud, loud))
    after = measured_null(comparisons_from_gram(G, labels))
    assert after.group_scale[7] / null.group_scale[7] == pytest.approx(3, rel=0.05)
    assert after.group_scale[3] / null.group_scale[3] == pytest.approx(1, rel=0.05)


def split(labels, cameras):
    """Cut cameras into halves, as a clustering that missed a merge would."""
    result = labels.copy()
    for number, camera in enumerate(cameras):
        members = np.flatnonzero(labels == camera)
        result[members[::2]] = labels.max() + 1 + number
    return result


def test_groups_cut_from_one_camera_are_no_strangers(plain, monkeypatch):
    G, _, labels, whole = plain
    cut = split(labels, [0, 1, 2])
    null = measured_null(comparisons_from_gram(G, cut))
    assert null.left_out.tolist() == [[0, 40], [1, 41], [2, 42]]
    assert null.scale == pytest.approx(whole.scale, rel=0.02)
    assert null.comparisons == 800 * 42 - 3 * 20
    monkeypatch.setattr(module, "_SHARED", np.inf)
    spoilt = measured_null(comparisons_from_gram(G, cut))
    assert len(spoilt.left_out) == 0
    assert spoilt.comparisons == 800 * 42


def test_what_many_groups_share_stays_in_the_law(plain):
    # A pattern common to half of the cameras is no camera cut in two.
    G, _, labels, _ = plain
    common = ((labels >= 0) & (labels % 2 == 0)).astype(float)
    shared = G + 0.002 * np.outer(common, common) * (1 - np.eye(len(G)))
    null = measured_null(comparisons_from_gram(shared, labels))
    assert len(null.left_out) <= 0.05 * 40 * 39 / 2


def test_of_many_related_pairs_the_most_alike_are_left_out(plain):
    G, _, labels, _ = plain
    cut = split(labels, [0])
    common = ((labels >= 0) & (labels % 2 == 0)).astype(float)
    shared = G + 0.002 * np.outer(common, common) * (1 - np.eye(len(G)))
    null = measured_null(comparisons_from_gram(shared, cut))
    assert len(null.left_out) == int(0.05 * 41 * 40 / 2)
    assert [0, 40] in null.left_out.tolist()


def test_photos_in_no_group_do_not_count(plain):
    G, _, labels, null = plain
    known = np.flatnonzero(labels >= 0)
    alone = measured_null(comparisons_from_gram(G[np.ix_(known, known)], labels[known]))
    for field in dataclasses.fields(null):
        a, b = getattr(null, field.name), getattr(alone, field.name)
        assert np.allclose(a, b, rtol=1e-5), field.name


def test_one_group_has_nobody_to_measure_on():
    G, truth = gram([12], 0.1)
    with pytest.raises(ValueError, match="1 groups of 12 photos; give a positive null_scale"):
        measured_null(comparisons_from_gram(G, truth))
    null = measured_null(comparisons_from_gram(G, truth), null_scale=0.002)
    assert (null.comparisons, null.scale) == (0, 0.002)


def test_correlations_that_are_all_zero_have_no_scale():
    given = comparisons_from_gram(np.eye(6), [0, 0, 0, 1, 1, 1])
    with pytest.raises(ValueError, match="give a positive null_scale"):
        measured_null(given)
    assert measured_null(given, null_scale=0.002).scale == 0.002
