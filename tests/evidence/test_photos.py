import numpy as np
import pytest

from samecam import correlate
from samecam.evidence import (
    comparisons_from_gram,
    comparisons_from_rows,
    false_alarm,
    measured_null,
    photo_evidence,
)
from samecam.simulate import fingerprints, gram


@pytest.fixture(scope="module")
def planted():
    """20 cameras of 15, 30 strangers, one photo put into the wrong group."""
    G, truth = gram([15] * 20 + [1] * 30, 0.05, seed=3, photo_cv=0.2)
    labels = np.where(truth < 20, truth, -1)
    wrong = int(np.flatnonzero(labels == 4)[0])
    labels[wrong] = 9
    given = comparisons_from_gram(G, labels)
    return truth, labels, wrong, photo_evidence(given, measured_null(given))


def test_right_photos_stand_at_the_floor_and_a_misplaced_one_does_not(planted):
    truth, labels, wrong, found = planted
    right = np.flatnonzero((labels >= 0) & (np.arange(len(labels)) != wrong))
    assert (found.adjusted[right] < 0.02).mean() > 0.97
    assert (found.margin[right] > 0).all()
    assert found.adjusted[wrong] > 0.2
    assert found.margin[wrong] < 0
    assert found.other[wrong] == truth[wrong]


def test_unclustered_photos_name_their_nearest_group(planted):
    _, labels, _, found = planted
    alone = labels < 0
    assert np.isnan(found.correlation[alone]).all()
    assert np.isnan(found.p_value[alone]).all()
    assert np.isnan(found.margin[alone]).all()
    assert (found.other[alone] >= 0).all()
    # The best of 20 comparisons: its p-value times 20 is seldom small.
    assert (found.other_p_value[alone] * 20 < 0.05).mean() < 0.2


def test_adjusted_counts_the_comparisons(planted):
    _, _, _, found = planted
    inside = found.group >= 0
    assert (found.comparisons == 20).all()
    expected = np.minimum(1, 20 * found.p_value[inside])
    assert np.array_equal(found.adjusted[inside], expected)


def test_store_and_gram_give_the_same_evidence():
    X, truth = fingerprints([12] * 8 + [1] * 6, 0.1, n_pixels=2500, seed=1)
    labels = np.where(truth < 8, truth, -1)
    by_gram = comparisons_from_gram(correlate.gram(X), labels)
    by_rows = comparisons_from_rows(X, labels, memory=2**17)
    a = photo_evidence(by_gram, measured_null(by_gram))
    b = photo_evidence(by_rows, measured_null(by_rows))
    for name in ("correlation", "z", "p_value", "other_correlation", "margin"):
        assert np.allclose(getattr(a, name), getattr(b, name), rtol=1e-3, atol=1e-5, equal_nan=True)
    assert np.array_equal(a.other, b.other)


def test_the_order_of_photos_does_not_matter():
    G, truth = gram([10] * 12 + [1] * 10, 0.04, seed=5)
    labels = np.where(truth < 12, truth, -1)
    order = np.random.default_rng(0).permutation(len(G))
    first = comparisons_from_gram(G, labels)
    second = comparisons_from_gram(G[np.ix_(order, order)], labels[order])
    a, b = (photo_evidence(s, measured_null(s)) for s in (first, second))
    assert np.allclose(a.p_value[order], b.p_value, rtol=1e-4, equal_nan=True)
    assert np.array_equal(a.other[order], b.other)


def test_one_group_and_no_group():
    G, truth = gram([10], 0.1)
    given = comparisons_from_gram(G, truth)
    found = photo_evidence(given, measured_null(given, null_scale=0.002))
    assert (found.other == -1).all()
    assert np.isnan(found.margin).all()
    assert (found.p_value == 1).all()
    assert (found.correlation > 0).all()
    nobody = comparisons_from_gram(G, np.full(10, -1))
    empty = photo_evidence(nobody, measured_null(nobody, null_scale=0.002))
    assert (empty.other == -1).all()
    assert (empty.comparisons == 0).all()


def test_a_null_of_other_groups_is_refused():
    G, truth = gram([10] * 3, 0.1)
    given = comparisons_from_gram(G, truth)
    other, labels = gram([10] * 4, 0.1)
    null = measured_null(comparisons_from_gram(other, labels))
    with pytest.raises(ValueError, match="4 groups and there are 3"):
        photo_evidence(given, null)
    assert false_alarm(0.0, null) >= 0.5
