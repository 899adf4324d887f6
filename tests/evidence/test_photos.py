import numpy as np
import pytest

from samecam import correlate
from samecam.evidence import (
    Chance,
    comparisons_from_gram,
    comparisons_from_rows,
    measured_null,
    photo_evidence,
    photo_scores,
)
from samecam.simulate import fingerprints, gram

PIXELS = 512**2


def evidence_of(given, null_scale=None, **more):
    null = measured_null(given, null_scale=null_scale)
    unknown = Chance.unknown(len(given.labels))
    return photo_evidence(given, photo_scores(given, null, unknown, unknown), PIXELS, **more)


@pytest.fixture(scope="module")
def planted():
    """20 cameras of 15, 30 strangers, one photo put into the wrong group."""
    G, truth = gram([15] * 20 + [1] * 30, 0.05, seed=3, photo_cv=0.2)
    labels = np.where(truth < 20, truth, -1)
    wrong = int(np.flatnonzero(labels == 4)[0])
    labels[wrong] = 9
    return truth, labels, wrong, evidence_of(comparisons_from_gram(G, labels))


def test_right_photos_are_at_the_cap_and_a_misplaced_one_is_not(planted):
    truth, labels, wrong, found = planted
    right = np.flatnonzero((labels >= 0) & (np.arange(len(labels)) != wrong))
    assert (found.log_ratio[right] == found.cap[right]).mean() > 0.97
    assert (found.cap == 3.5).all()
    assert (found.margin[right] > 0).all()
    assert not found.doubtful[right].any()
    assert found.log_ratio[wrong] < 0
    assert found.doubtful[wrong]
    assert found.adjusted[wrong] > 0.2
    assert found.margin[wrong] < 0
    assert found.other[wrong] == truth[wrong]
    assert found.other_ratio[wrong] == 3.5


def test_what_is_asked_for_one_photo_at_a_time_is_made_once(planted):
    *_, found = planted
    assert found.doubtful is found.doubtful  # else all photos are looked at for each


def test_against_another_body_of_the_model_less_is_said(planted):
    _, labels, wrong, found = planted
    right = np.flatnonzero((labels >= 0) & (np.arange(len(labels)) != wrong))
    assert (found.model_ratio[right] <= 2).all()
    assert np.median(found.model_ratio[right]) > 0.5


def test_weak_photos_have_a_lower_cap():
    G, truth = gram([15] * 4, 0.05, seed=3)
    weak = np.arange(len(G)) % 2 == 0
    found = evidence_of(comparisons_from_gram(G, truth), weak=weak)
    assert (found.log_ratio[weak] <= 2.5).all()
    assert found.log_ratio[~weak].max() == 3.5


def test_unclustered_photos_name_their_nearest_group(planted):
    _, labels, _, found = planted
    alone = labels < 0
    for name in ("correlation", "p_value", "margin", "log_ratio", "score"):
        assert np.isnan(getattr(found, name)[alone]).all()
    assert (found.other[alone] >= 0).all()
    assert not found.doubtful[alone].any()
    # The best of 20 comparisons: its rate times 20 is seldom small.
    assert (found.other_p_value[alone] * 20 < 0.05).mean() < 0.2
    assert (found.other_ratio[alone] < 0.5).mean() > 0.9


def test_adjusted_counts_the_comparisons(planted):
    _, _, _, found = planted
    inside = found.group >= 0
    assert (found.comparisons == 20).all()
    expected = np.minimum(1, 20 * found.p_value[inside])
    assert np.array_equal(found.adjusted[inside], expected)


def test_store_and_gram_give_the_same_evidence():
    X, truth = fingerprints([12] * 8 + [1] * 6, 0.1, n_pixels=2500, seed=1)
    labels = np.where(truth < 8, truth, -1)
    a = evidence_of(comparisons_from_gram(correlate.gram(X), labels))
    b = evidence_of(comparisons_from_rows(X, labels, memory=2**17))
    for name in ("correlation", "score", "p_value", "log_ratio", "other_correlation", "margin"):
        assert np.allclose(getattr(a, name), getattr(b, name), rtol=1e-3, atol=1e-5, equal_nan=True)
    assert np.array_equal(a.other, b.other)


def test_the_order_of_photos_does_not_matter():
    G, truth = gram([10] * 12 + [1] * 10, 0.04, seed=5)
    labels = np.where(truth < 12, truth, -1)
    order = np.random.default_rng(0).permutation(len(G))
    a = evidence_of(comparisons_from_gram(G, labels))
    b = evidence_of(comparisons_from_gram(G[np.ix_(order, order)], labels[order]))
    assert np.allclose(a.log_ratio[order], b.log_ratio, rtol=1e-4, equal_nan=True)
    assert np.array_equal(a.other[order], b.other)


def test_one_group_and_no_group():
    G, truth = gram([10], 0.1)
    found = evidence_of(comparisons_from_gram(G, truth), 0.002)
    assert (found.other == -1).all()
    assert np.isnan(found.margin).all()
    assert (found.log_ratio == 3.5).all()  # the law does not need other groups
    nobody = comparisons_from_gram(G, np.full(10, -1))
    empty = evidence_of(nobody, 0.002)
    assert (empty.other == -1).all()
    assert (empty.comparisons == 0).all()


def test_scores_are_over_the_chance_of_this_very_photo():
    G, truth = gram([10] * 3, 0.1)
    given = comparisons_from_gram(G, truth)
    null = measured_null(given)
    own = Chance(np.full(30, 0.01), np.full(30, 0.004), np.full(30, 1e-5), 64)
    own.mean[0], own.spread[1] = -0.5, np.nan
    scores, other = photo_scores(given, null, own, Chance.unknown(30))
    np.testing.assert_allclose(scores[2:], (given.own[2:] - 0.01) / 0.004)
    assert scores[0] == pytest.approx(given.own[0] / 0.004)  # less than chance is not added
    assert scores[1] == pytest.approx(given.own[1] / null.group_scale[given.labels[1]])
    np.testing.assert_allclose(other, given.other_correlation / null.group_scale[given.other])
