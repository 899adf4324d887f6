"""Likelihood ratios: the formula by hand, and calibrated where the models are true."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from samecam.evidence import (
    STRANGERS,
    expected_scores,
    known_members,
    largest_ratio,
    log_ratios,
    model_log_ratios,
    other_members,
    usual_members,
)


def by_hand(z, members, more=1.0):
    """A camera whose next score is so many times its members'."""
    y = np.log(members)
    n = len(y)
    spread = np.sqrt((4 * 0.55**2 + ((y - y.mean()) ** 2).sum()) / (n + 3) * (1 + 1 / n))
    seen = stats.t.pdf((np.log(z) - (y + np.log(more)).mean()) / spread, n + 3) / spread / z
    chance = np.exp(STRANGERS.log_density(z))
    return np.log10((0.98 * seen + 0.02 * chance) / chance)


def test_the_ratio_is_that_of_the_two_predictions():
    members, z = np.array([20.0, 31.0, 12.0, 25.0]), np.array([0.5, 3.0, 9.0, 18.0])
    next_one = by_hand(z, members, np.sqrt(4 / 3))
    np.testing.assert_allclose(log_ratios(z, known_members(members)), next_one)
    np.testing.assert_allclose(log_ratios(z, known_members(members[:1])), by_hand(z, members[:1]))
    each = log_ratios(members, other_members(members))
    for k in range(4):
        assert each[k] == pytest.approx(float(by_hand(members[k], np.delete(members, k))))


def test_what_shows_nothing_speaks_against_but_not_for_certain():
    members = known_members([20.0, 25.0, 22.0])
    np.testing.assert_allclose(log_ratios([-1.0, 0.0], members), np.log10(0.02))
    assert np.isnan(log_ratios(np.nan, members))


@given(st.lists(st.floats(-3, 500), min_size=2, max_size=30), st.floats(-10, 1000))
def test_any_scores_have_a_ratio(members, z):
    for law in (known_members(members), expected_scores(members[0])):
        assert np.isfinite(log_ratios(z, law))
        assert np.isfinite(model_log_ratios(z, law))
        assert model_log_ratios(z, law) <= 2


def test_bodies_of_one_model_get_no_more_than_the_statement_allows():
    """Kin that share 10 to 40 % of the pattern, however strong: hardly any support."""
    rng = np.random.default_rng(0)
    for strength in (8.0, 30.0, 150.0):
        members = strength * np.exp(0.2 * rng.normal(size=12))
        law = known_members(members)
        for share in (0.1, 0.2, 0.3, 0.4):
            z = share * strength * np.exp(0.2 * rng.normal(size=200)) + rng.normal(size=200)
            ratio = model_log_ratios(z, law)
            assert np.quantile(ratio, 0.95) < 1.5
            assert np.median(ratio) < 0.5
            assert ratio.max() <= 2
        own = strength * np.exp(0.2 * rng.normal(size=200)) + rng.normal(size=200)
        assert np.median(model_log_ratios(own, law)) > 0.5


@pytest.mark.parametrize("size", [2, 3, 8, 30])
def test_ratios_of_planted_cameras_are_calibrated(size):
    """Cameras of any strength: the cost is small and ratios mean what they say."""
    rng = np.random.default_rng(size)
    same, different = [], []
    for _ in range(400):
        strength = np.exp(rng.normal(3, 0.7))
        strengths = strength * np.exp(0.5 * rng.normal(size=size + 1))
        strengths[-1] *= np.sqrt(size / (size - 1))
        members = strengths + rng.normal(size=size + 1)
        law = known_members(members[:-1])
        same.append(float(log_ratios(members[-1], law)))
        strangers = STRANGERS.scale * rng.standard_t(STRANGERS.freedom, size=5)
        different.extend(log_ratios(strangers, law).tolist())
    same, different = np.array(same), np.array(different)
    cost = np.log2(1 + 10.0**-same).mean() + np.log2(1 + 10.0**different).mean()
    assert cost / 2 < 0.1
    assert (different > 1).mean() < 0.1  # a ratio of 10 for a stranger in less than 1 of 10


def test_the_largest_ratio_grows_with_the_pixels_to_what_was_counted():
    assert largest_ratio(256**2) == 2.5
    assert largest_ratio(512**2) == 3.5
    assert largest_ratio(1024**2) == largest_ratio(4000 * 3000) == 4
    assert 3.5 < largest_ratio(700**2) < 4


@pytest.mark.parametrize("scores", [[], [[1.0, 2.0]]])
def test_members_must_be_there(scores):
    with pytest.raises(ValueError, match="one member or more"):
        known_members(scores)
    with pytest.raises(ValueError, match="two members or more"):
        other_members(scores)


def test_two_photos_say_what_two_photos_can():
    usual = usual_members(1024**2)
    assert log_ratios(12.0, usual) > 4
    assert 0 < log_ratios(4.0, usual) < 3
    assert log_ratios(1.0, usual) < 0
    assert usual_members(512**2).mean < usual.mean
