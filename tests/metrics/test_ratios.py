"""Figures of likelihood ratios: closed forms, what must not change them, and NFI's own package."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from samecam.metrics import (
    cllr,
    cllr_min,
    counted,
    elub,
    equal_error_rate,
    pav,
    tippett,
)

TWO_SIDED = (cllr, cllr_min, elub, equal_error_rate, pav)
ratios = st.lists(st.integers(-300, 300).map(lambda k: k / 50), min_size=1, max_size=40)


def drawn(seed, n_same=60, n_different=500, apart=3.0):
    """Ratios of two normal laws of scores, as they are and too bold by half."""
    rng = np.random.default_rng(seed)
    bold = rng.choice([1.0, 1.5])
    scores = rng.normal(apart, 1, n_same), rng.normal(0, 1, n_different)
    return [bold * (apart * z - apart**2 / 2) / np.log(10) for z in scores]


def test_cost_of_saying_nothing_of_the_truth_and_of_the_contrary():
    assert cllr([0, 0], [0]) == pytest.approx(1)
    assert cllr([np.inf], [-np.inf]) == 0
    assert cllr([np.inf, -np.inf], [0]) == np.inf
    assert cllr([1], [-1]) == pytest.approx(np.log2(1.1))
    assert cllr([1], [0]) == pytest.approx((np.log2(1.1) + 1) / 2)
    assert cllr([-400], [400]) == pytest.approx(400 * np.log2(10)), "no overflow"


def test_pools_by_hand():
    """Order: s d | s d d | s: pools of one kind, and those that adjacent violators make."""
    same, different = [1.0, 3.0, 9.0], [0.0, 2.0, 2.5, 4.0]
    after = pav(same, different)
    # d alone; then s, d, d (1/3 to 2/4), s, d (1/3 to 1/4); s alone.
    np.testing.assert_allclose(after[0], np.log10([(1 / 3) / (2 / 4), (1 / 3) / (1 / 4), np.inf]))
    np.testing.assert_allclose(
        after[1], [-np.inf, np.log10(2 / 3), np.log10(2 / 3), np.log10(4 / 3)]
    )
    assert pav([0, 0], [0]) == (pytest.approx([0, 0]), pytest.approx([0]))


def test_what_separates_costs_nothing():
    assert cllr_min([2, 3], [-1, 1]) == 0
    assert cllr_min([-1, 1], [2, 3]) == pytest.approx(1), "the wrong way round"
    assert equal_error_rate([2, 3], [-1, 1]) == 0
    assert equal_error_rate([-1, 1], [2, 3]) == pytest.approx(0.5)


def test_equal_error_rate_by_hand():
    """One of four of each kind lies on the other side: half of both, drawn by lot, is wrong."""
    same, different = [-1, 5, 6, 7], [1, -5, -6, -7]
    assert equal_error_rate(same, different) == pytest.approx(0.125)
    assert equal_error_rate([0] * 9, [0] * 3) == pytest.approx(0.5)


def test_equal_error_rate_of_two_normal_laws():
    from scipy.stats import norm

    rng = np.random.default_rng(1)
    same, different = rng.normal(2, 1, 100_000), rng.normal(0, 1, 100_000)
    assert equal_error_rate(same, different) == pytest.approx(norm.sf(1), abs=0.003)


def test_support_grows_with_what_was_compared():
    """All that is perfectly told apart supports no more than its number does."""
    for n in (9, 99, 999):
        lower, upper = elub(np.full(n, 8.0), np.full(n, -8.0))
        assert upper == pytest.approx(np.log10(n), abs=0.011)
        assert lower == pytest.approx(-np.log10(n), abs=0.011)
    assert elub([-3.0] * 20, [3.0] * 20) == (0, 0), "a system that misleads supports nothing"
    assert elub([np.inf] * 9, [-np.inf] * 9) == elub([8.0] * 9, [-8.0] * 9)


def test_shares_that_reach():
    shares = tippett([0, 1, 2, np.inf], [-1, 1, 1.5, 3, np.inf])
    np.testing.assert_allclose(shares, [1, 0.75, 0.5, 0.25, 0.25])


def test_counted_rates_and_their_intervals():
    p = np.concatenate([np.full(3, 0.001), np.linspace(0.02, 1, 97)])
    first, second, third = counted(p, [0.01, 1e-4, 1.0])
    assert (first.claimed, first.n, first.count, first.rate) == (0.01, 100, 3, 0.03)
    # 3 of 100, as in any table of binomial limits.
    assert (first.low, first.high) == (pytest.approx(0.00623, 1e-3), pytest.approx(0.08518, 1e-3))
    assert (second.count, second.low) == (0, 0)
    assert second.high == pytest.approx(1 - 0.025**0.01)
    assert (third.count, third.high) == (100, 1)
    (wide,), (narrow,) = counted(p, [0.01], level=0.99), counted(p, [0.01], level=0.5)
    assert wide.low < first.low < narrow.low < narrow.high < first.high < wide.high


@given(ratios, ratios)
def test_no_monotone_change_of_ratios_changes_what_discrimination_lacks(same, different):
    def change(x):
        return np.arctan(np.asarray(x)) * 3 + 7

    args, changed = (same, different), (change(same), change(different))
    assert cllr_min(*changed) == pytest.approx(cllr_min(*args))
    assert equal_error_rate(*changed) == pytest.approx(equal_error_rate(*args))
    for one, other in zip(pav(*args), pav(*changed), strict=True):
        np.testing.assert_allclose(one, other)


@given(ratios, ratios)
def test_bounds_that_always_hold(same, different):
    least = cllr_min(same, different)
    assert 0 <= least <= min(1, cllr(same, different)) + 1e-12
    assert 0 <= equal_error_rate(same, different) <= 0.5 + 1e-12
    lower, upper = elub(same, different)
    assert lower <= 0 <= upper
    assert cllr_min(*pav(same, different)) == pytest.approx(least)
    turned = [-x for x in different], [-x for x in same]
    assert cllr(*turned) == pytest.approx(cllr(same, different))
    assert equal_error_rate(*turned) == pytest.approx(equal_error_rate(same, different))


@given(ratios, ratios)
def test_calibrated_ratios_rise_with_those_given(same, different):
    given_all, after = np.concatenate([same, different]), np.concatenate(pav(same, different))
    order = np.lexsort((after, given_all))
    assert np.all(after[order][1:] >= after[order][:-1])


@pytest.mark.parametrize("function", TWO_SIDED)
def test_what_cannot_be_ratios_is_refused(function):
    for same, different, message in (
        ([], [1.0], "same is empty"),
        ([1.0], [], "different is empty"),
        ([1.0, np.nan], [1.0], "same holds NaN"),
        ([1.0], [[1.0]], r"different has shape \(1, 1\)"),
    ):
        with pytest.raises(ValueError, match=message):
            function(same, different)


def test_what_cannot_be_rates_is_refused():
    with pytest.raises(ValueError, match="strangers_p is empty"):
        counted([], [0.1])
    with pytest.raises(ValueError, match="outside of 0 to 1"):
        counted([0.5, 1.5], [0.1])
    with pytest.raises(ValueError, match="level is 1"):
        counted([0.5], [0.1], level=1)
    with pytest.raises(ValueError, match="values is empty"):
        tippett([], [0])


def of_lir(same, different):
    """Cost, least cost, calibrated ratios and bounds by the package of NFI."""
    from lir.algorithms.bayeserror import elub as bounds
    from lir.algorithms.isotonic_regression import IsotonicCalibrator
    from lir.data.models import LLRData
    from lir.metrics import cllr as cost
    from lir.metrics import cllr_min as least

    values = np.concatenate([same, different])
    labels = np.concatenate([np.ones(len(same), int), np.zeros(len(different), int)])
    data = LLRData(features=values, labels=labels)
    calibrated = IsotonicCalibrator().fit_transform(values, labels)
    return cost(data), least(data), calibrated, bounds(values.copy(), labels)


def agree(same, different):
    cost, least, calibrated, bounds = of_lir(same, different)
    assert cllr(same, different) == pytest.approx(cost, abs=1e-6)
    assert cllr_min(same, different) == pytest.approx(least, abs=1e-6)
    np.testing.assert_allclose(np.concatenate(pav(same, different)), calibrated, atol=1e-6)
    np.testing.assert_allclose(elub(same, different), bounds, atol=1e-6)


@pytest.mark.validator
@pytest.mark.parametrize("seed", range(20))
def test_figures_are_those_of_nfi(seed):
    rng = np.random.default_rng(seed)
    agree(*drawn(seed, rng.integers(2, 200), rng.integers(2, 3000), rng.uniform(0, 5)))


@pytest.mark.validator
@given(ratios, ratios)
def test_figures_are_those_of_nfi_where_ratios_are_capped_and_repeat(same, different):
    same, different = np.clip(same, -4, 4), np.clip(different, -4, 4)
    assume(len(np.unique(np.concatenate([same, different]))) > 1)
    agree(same, different)
