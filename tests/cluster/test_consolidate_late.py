"""Weak photos that join at the end, by fingerprints in which photos count by what they show."""

import numpy as np
import pytest

from samecam.cluster import Constraints
from samecam.cluster.consolidate import ConsolidatedSSC, _cpu, _steps
from samecam.cluster.consolidate._constraints import bonds
from samecam.cluster.consolidate._cpu import GramSums
from samecam.cluster.consolidate._sums import FingerprintSums
from samecam.metrics import scores
from samecam.simulate import fingerprints, gram
from samecam.store import BitRows
from tests.cluster.test_bits import stores
from tests.cluster.test_consolidate import example, groups_of, in_units_of_chance


@pytest.mark.parametrize("threads", [1, 3])
def test_weighted_products_are_weighted_sums(threads):
    G, X, scales, labels = example()
    weights = np.random.default_rng(5).uniform(0.2, 2, len(X))
    members = np.equal.outer(np.arange(3), labels) * weights
    expected = members @ in_units_of_chance(G, scales)
    for sums in (GramSums(G, scales, threads), FingerprintSums(X, scales, 2**20)):
        np.testing.assert_allclose(sums.products(labels, 3, weights), expected, atol=1e-4)


@pytest.mark.parametrize("planes", [1, 2])
def test_rows_of_bits_are_weighted_to_a_few_percent(planes):
    bits, _, _ = stores([9, 8], 0.1, 901, planes=planes)
    assert isinstance(bits, BitRows)
    rng = np.random.default_rng(0)
    scales, weights = rng.uniform(0.02, 0.05, 17), rng.uniform(0.3, 2, 17)
    labels = np.repeat([0, 1, -1], [8, 7, 2])
    S = bits.read().astype(np.float64)
    H = in_units_of_chance(S @ S.T, scales)
    expected = (np.equal.outer(np.arange(2), labels) * weights) @ H
    got = FingerprintSums(bits, scales, 2**20).products(labels, 2, weights)
    np.testing.assert_allclose(got, expected, atol=0.04 * np.abs(expected).max())


def test_shares_follow_what_photos_show_and_keep_the_scatter_of_strangers():
    rng = np.random.default_rng(1)
    strength = rng.uniform(0.2, 1.8, 40)
    H = 6 * np.outer(strength, strength) + np.triu(rng.normal(size=(40, 40)), 1)
    G = (np.triu(H, 1) + np.triu(H, 1).T) / 512
    groups = groups_of(G.astype(np.float32), np.zeros(40, dtype=np.intp))
    shares = _steps.shares(groups)
    assert np.square(shares).sum() == pytest.approx(40)
    assert np.corrcoef(shares, strength)[0, 1] > 0.99


def test_photos_of_one_strength_have_equal_shares():
    """What scatters as chance does is no share."""
    rng = np.random.default_rng(2)
    H = 1 + np.triu(rng.normal(size=(60, 60)), 1)
    G = (np.triu(H, 1) + np.triu(H, 1).T) / 512
    shares = _steps.shares(groups_of(G.astype(np.float32), np.zeros(60, dtype=np.intp)))
    assert shares.std() < 0.05


def without_late(monkeypatch):
    monkeypatch.setattr(_steps, "late", lambda groups, _rate, _among: groups.labels)


def fit(G):
    return ConsolidatedSSC(metric="precomputed", n_pixels=512**2).fit(G).labels_


def test_weak_photos_are_found_and_strangers_are_not(monkeypatch):
    more = alone = strangers = wrong = 0
    for seed in range(6):
        G, truth = gram([25] * 30 + [1] * 200, 0.01, seed=seed)
        late = fit(G)
        with monkeypatch.context() as patch:
            without_late(patch)
            before = fit(G)
        stayed = before >= 0
        pairs = set(zip(late[stayed].tolist(), before[stayed].tolist(), strict=True))
        assert len(pairs) == before.max() + 1 == late.max() + 1  # nobody else moves
        came = (late >= 0) & ~stayed
        more += int(came.sum())
        alone += int((~stayed & (truth < 30)).sum())
        strangers += int((late[truth >= 30] >= 0).sum())
        owner = [np.bincount(truth[late == k]).argmax() for k in range(late.max() + 1)]
        wrong += int((np.array(owner)[late[came]] != truth[came]).sum())
        assert scores(truth, late).f > scores(truth, before).f
    assert more > 0.1 * alone
    # Half a rate of .01, and half of what it may be after the other steps: 6 expected at most.
    assert strangers <= 8
    assert wrong <= 8


def test_small_groups_and_cases_without_anybody_left_are_as_they_were():
    G, truth = gram([4] * 5, 0.2, seed=3)
    groups = groups_of(G, truth)
    np.testing.assert_array_equal(_steps.late(groups, 0.01, np.ones(20, dtype=bool)), truth)
    G, truth = gram([10] * 2, 0.2, seed=3)
    groups = groups_of(G, truth)
    np.testing.assert_array_equal(_steps.late(groups, 0.01, np.ones(20, dtype=bool)), truth)


def test_who_may_not_be_there_does_not_come_late():
    G, truth = gram([20] * 3, 0.05, seed=4)
    labels = truth.copy()
    strongest = np.argmax(groups_of(G, truth).own_sums())
    labels[strongest] = -1  # a clear photo that stands outside
    groups, everybody = groups_of(G, labels), np.ones(60, dtype=bool)
    assert _steps.late(groups, 0.01, everybody)[strongest] == truth[strongest]
    others = np.flatnonzero(labels == truth[strongest])
    apart = ((np.array([strongest]), others),)
    groups.bonds = bonds(Constraints(np.full(60, -1), apart), 60)
    assert _steps.late(groups, 0.01, everybody)[strongest] == -1


def test_who_comes_late_drives_nobody_out():
    """A decision about a member and somebody outside holds for the member."""
    G, truth = gram([20] * 3, 0.05, seed=4)
    labels = truth.copy()
    order = np.argsort(-groups_of(G, truth).own_sums())
    newcomer = order[0]
    member = next(i for i in order[1:] if truth[i] == truth[newcomer])
    labels[newcomer] = -1
    groups, everybody = groups_of(G, labels), np.ones(60, dtype=bool)
    assert _steps.late(groups, 0.01, everybody)[newcomer] == truth[newcomer]
    apart = ((np.array([member]), np.array([newcomer])),)
    groups.bonds = bonds(Constraints(np.full(60, -1), apart), 60)
    late = _steps.late(groups, 0.01, everybody)
    assert late[newcomer] != labels[member]
    np.testing.assert_array_equal(late[labels >= 0], labels[labels >= 0])


def test_shares_do_not_hide_that_a_group_is_smooth():
    """The bound compares a group with most photos, not with their shares."""
    rng = np.random.default_rng(3)
    scales = np.where(np.arange(80) < 20, 1.3, 1.0)
    labels = np.repeat([0, 1, 2, 3], 20)
    strength = rng.gamma(4, 0.25, 80)
    H = 4 * np.outer(strength, strength) * (labels[:, None] == labels)
    H = np.triu(H + rng.normal(size=H.shape), 1)
    G = ((H + H.T) * np.outer(scales, scales)).astype(np.float32)
    seen = []
    for bounded in (False, True):
        sums = GramSums(G, scales, bounded=bounded)
        groups = _steps.Groups.make(sums, labels)
        weights = _steps.shares(groups)
        weighted = sums.products(labels, 4, weights)
        met = _steps.Groups(sums, labels, weighted, None, weights)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_cpu, "best", lambda *given: seen.append(given[-1]) or labels)
            _steps.best_places(met, 0.01)
    plain, bound = seen
    assert bound[0] > 1.5 * plain[0]  # the smooth one
    np.testing.assert_allclose(bound[1:], plain[1:])


@pytest.mark.parametrize("batches", [{}, {"batch_size": 90}])
def test_photos_come_late_once(batches, monkeypatch):
    X = fingerprints([25] * 12 + [1] * 60, 0.02, 16384, seed=1).X.astype(np.float32)
    calls, late = [], _steps.late

    def noted(groups, rate, among):
        come = late(groups, rate, among)
        calls.append(int((come != groups.labels).sum()))
        return come

    monkeypatch.setattr(_steps, "late", noted)
    labels = ConsolidatedSSC(**batches).fit(X).labels_
    assert len(calls) == 1
    assert calls[0] > 0
    assert (labels >= 0).sum() > 100


@pytest.mark.parametrize(("members", "comes"), [(4, False), (5, True)])
def test_small_groups_take_nobody_late(members, comes):
    """Of few photos, what each shows of the camera cannot be told."""
    G, truth = gram([members + 1] * 3, 0.3, seed=6, photo_cv=0, camera_spread=0)
    labels = truth.copy()
    labels[0] = -1  # a clear photo that stands outside
    come = _steps.late(groups_of(G, labels), 0.01, np.ones(len(labels), dtype=bool))
    assert come[0] == (truth[0] if comes else -1)
