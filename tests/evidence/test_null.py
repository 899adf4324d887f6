import dataclasses
import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from samecam.evidence import _null as module
from samecam.evidence import comparisons_from_gram, false_alarm, measured_null
from samecam.simulate import gram

RATES = (1e-1, 1e-2, 1e-3)


def collection(seed=0, spread=0.0, mean=0.03, strangers=600):
    """Correlations of 40 cameras and strangers; `spread` makes some photos' noise louder."""
    sizes = [20] * 40 + [1] * strangers
    G, truth = gram(sizes, mean, seed=seed)
    loud = np.exp(spread * np.random.default_rng(seed).standard_normal(len(G)))
    G = np.where(truth[:, None] == truth[None], G, G * np.outer(loud, loud))
    return G, truth, np.where(truth < 40, truth, -1)


@functools.cache
def null_of(spread):
    G, _, labels = collection(spread=spread, strangers=1)
    return measured_null(comparisons_from_gram(G, labels))


def stranger_z(G, labels, null):
    z = comparisons_from_gram(G, labels).array() / null.group_scale
    return z[labels < 0].ravel()


@pytest.fixture(scope="module")
def plain():
    G, truth, labels = collection()
    return G, truth, labels, measured_null(comparisons_from_gram(G, labels))


@pytest.mark.parametrize("spread", [0.0, 0.35])
def test_claimed_rates_hold_for_photos_that_were_not_measured(spread):
    counted, bounded = dict.fromkeys(RATES, 0), dict.fromkeys(RATES, 0)
    total = 0
    for seed in range(3):
        G, _, labels = collection(seed, spread)
        null = measured_null(comparisons_from_gram(G, labels))
        z = stranger_z(G, labels, null)
        total += z.size
        for rate in RATES:
            counted[rate] += int((false_alarm(z, null, bound=False) <= rate).sum())
            bounded[rate] += int((false_alarm(z, null) <= rate).sum())
    for rate in RATES:
        # Loud photos come in clusters: allow the counts four times the scatter.
        slack = 4 * np.sqrt(rate * total) * (2 if spread else 1) + 0.05 * rate * total
        assert abs(counted[rate] - rate * total) < slack, (rate, counted, total)
        assert 0.3 * rate * total < bounded[rate] < counted[rate], (rate, bounded, total)
        assert bounded[rate] < rate * total * (1.15 if spread else 1.0), (rate, bounded, total)


def test_the_normal_law_is_optimistic_where_tails_are_heavy_and_the_fit_is_not():
    G, _, labels = collection(spread=0.35)
    null = measured_null(comparisons_from_gram(G, labels))
    z = stranger_z(G, labels, null)
    assert (z > stats.norm.isf(1e-3)).mean() > 4e-3
    assert (false_alarm(z, null) <= 1e-3).mean() < 2e-3


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


def test_no_p_value_is_smaller_than_the_data_support(plain):
    _, _, _, null = plain
    assert null.comparisons == 800 * 39
    assert null.floor == pytest.approx(-np.log(0.05) * null.design_effect / null.comparisons)
    assert np.allclose(false_alarm([1e3, np.inf], null), null.floor, rtol=1e-12)
    # The bound is that of counts: k of N seen, the rate is below chi2.isf(.05, 2k + 2)/2N.
    z, n = np.array([2.0, 3.0, 4.0]), null.comparisons / null.design_effect
    seen = false_alarm(z, null, bound=False) * n
    assert np.allclose(false_alarm(z, null), stats.chi2.isf(0.05, 2 * seen + 2) / 2 / n)
    G, _, labels = collection()
    some = np.flatnonzero((labels >= 0) & (labels < 4))
    small = measured_null(comparisons_from_gram(G[np.ix_(some, some)], labels[some]))
    assert small.comparisons == 80 * 3
    assert small.floor >= 3 * 0.99 / 240
    assert small.spread == 0
    assert false_alarm(100.0, small) == pytest.approx(small.floor)
    assert false_alarm(small.body_z[-1], small) > small.floor


@given(st.lists(st.floats(-50, 50), min_size=2, max_size=20), st.sampled_from([0.0, 0.35]))
def test_p_falls_with_z_and_is_never_below_the_normal_tail(z, spread):
    null = null_of(spread)
    values = np.sort(z)
    p = false_alarm(values, null)
    assert (np.diff(p) <= 1e-15).all()
    assert (p >= np.minimum(stats.norm.sf(values), 1)).all()
    assert ((p >= null.floor * (1 - 1e-12)) & (p <= 1)).all()
    assert (p >= false_alarm(values, null, bound=False)).all()


def test_nan_stays_nan(plain):
    assert np.isnan(false_alarm([np.nan], plain[3])).all()


def test_clustered_exceedances_raise_the_floor():
    G, _, labels = collection(spread=0.5)
    heavy = measured_null(comparisons_from_gram(G, labels))
    assert heavy.design_effect > 2


def split(labels, cameras):
    """Cut cameras into halves, as a clustering that missed a merge would."""
    result = labels.copy()
    for number, camera in enumerate(cameras):
        members = np.flatnonzero(labels == camera)
        result[members[::2]] = labels.max() + 1 + number
    return result


def test_groups_cut_from_one_camera_do_not_spoil_the_law(plain, monkeypatch):
    G, _, labels, whole = plain
    cut = split(labels, [0, 1, 2])
    null = measured_null(comparisons_from_gram(G, cut))
    assert null.left_out.tolist() == [[0, 40], [1, 41], [2, 42]]
    z = stats.norm.isf(1e-3)
    assert false_alarm(z, null) == pytest.approx(false_alarm(z, whole), rel=0.2)
    monkeypatch.setattr(module, "_SHARED", np.inf)
    spoilt = measured_null(comparisons_from_gram(G, cut))
    assert false_alarm(z, spoilt) > 2 * false_alarm(z, whole)


def test_what_many_groups_share_stays_in_the_law(plain):
    # A pattern common to half of the cameras is no camera cut in two.
    G, _, labels, whole = plain
    common = ((labels >= 0) & (labels % 2 == 0)).astype(float)
    shared = G + 0.002 * np.outer(common, common) * (1 - np.eye(len(G)))
    null = measured_null(comparisons_from_gram(shared, labels))
    assert len(null.left_out) <= 0.05 * 40 * 39 / 2
    assert false_alarm(3.1, null) > 5 * false_alarm(3.1, whole)


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


def test_one_group_has_no_error_rate():
    G, truth = gram([12], 0.1)
    with pytest.raises(ValueError, match="1 groups of 12 photos; give a positive null_scale"):
        measured_null(comparisons_from_gram(G, truth))
    null = measured_null(comparisons_from_gram(G, truth), null_scale=0.002)
    assert null.comparisons == 0
    assert false_alarm([3.0, 100.0], null).tolist() == [1.0, 1.0]
    assert np.isnan(false_alarm(np.nan, null))


def test_correlations_that_are_all_zero_have_no_error_rate():
    given = comparisons_from_gram(np.eye(6), [0, 0, 0, 1, 1, 1])
    with pytest.raises(ValueError, match="give a positive null_scale"):
        measured_null(given)
    assert measured_null(given, null_scale=0.002).floor == 1


@pytest.mark.parametrize(("shape", "spread"), [(0.3, 1.0), (0.0, 0.5), (-0.2, 2.0)])
def test_the_tail_fit_finds_a_planted_tail(shape, spread):
    values = stats.genpareto.rvs(shape, scale=spread, size=20_000, random_state=1)
    found_shape, found_spread = module._pareto(values)
    assert found_shape == pytest.approx(shape, abs=0.04)
    assert found_spread == pytest.approx(spread, rel=0.05)
    z = np.array([0.5, 2.0, 5.0])
    expected = stats.genpareto.sf(z, found_shape)
    assert np.allclose(module._pareto_survival(z, found_shape), expected, atol=1e-6)
