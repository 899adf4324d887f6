"""The consolidated method: its thresholds are error rates, its steps do what they say."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import comb
from scipy.stats import norm

from samecam.cluster import _thresholds
from samecam.cluster.consolidate import (
    ConsolidatedSSC,
    _batches,
    _kernels,
    _steps,
)
from samecam.cluster.consolidate._cpu import GramSums
from samecam.cluster.consolidate._loop import Loop, Rates
from samecam.cluster.consolidate._sums import FingerprintSums
from samecam.correlate import centroid_correlations, photo_scales
from samecam.metrics import scores
from samecam.simulate import fingerprints, gram
from samecam.store import MemoryStore

SIGMA = 1 / 512


def fit(G, *, weak=None, **options):
    return ConsolidatedSSC(metric="precomputed", n_pixels=512**2, **options).fit(G, weak=weak)


def groups_of(G, labels):
    return _steps.Groups.make(GramSums(G, np.full(len(G), SIGMA**0.5)), labels)


def in_units_of_chance(G, scales):
    H = np.asarray(G, dtype=np.float64) / np.outer(scales, scales)
    np.fill_diagonal(H, 0)
    return H


# Thresholds


def test_quantiles_of_rates_large_and_tiny():
    for rate in (0.3, 1e-3, 1e-12):
        assert _thresholds.quantile(np.log(rate)) == pytest.approx(norm.isf(rate), rel=1e-9)
    assert _thresholds.quantile(-5000.0) == pytest.approx(np.sqrt(2 * 5000), rel=0.01)
    assert _thresholds.quantile(np.log(0.9)) == 0


def test_founding_counts_every_group_there_could_be():
    z = _thresholds.founding(100, 0.01)
    assert np.isinf(z[:2]).all()
    for k in (2, 3, 10):
        assert norm.sf(z[k]) == pytest.approx(0.01 / comb(100, k) / 2 ** (k - 1), rel=1e-6)


def test_joining_and_merging_share_their_rate_over_the_comparisons():
    assert norm.sf(_thresholds.joining(40, 0.02)) == pytest.approx(0.02 / 40)
    assert norm.sf(_thresholds.merging(40, 0.001)) == pytest.approx(0.001 / 780)


# Sums


def example(seed=0):
    """Correlations, fingerprints, scales and labels of 3 cameras and some strangers."""
    X, truth = fingerprints([9, 7, 5] + [1] * 6, 0.1, 900, seed=seed)
    X = X.astype(np.float32)
    scales = np.random.default_rng(seed).uniform(0.15, 0.25, len(X))
    return X @ X.T, X, scales, np.where(truth < 3, truth, -1)


@pytest.mark.parametrize("threads", [1, 3])
def test_products_are_sums_in_units_of_chance_without_the_photo_itself(threads):
    G, X, scales, labels = example()
    members = np.equal.outer(np.arange(3), labels)
    expected = members @ in_units_of_chance(G, scales)
    np.testing.assert_allclose(
        GramSums(G, scales, threads).products(labels, 3), expected, atol=1e-4
    )
    np.testing.assert_allclose(
        FingerprintSums(X, scales, 2**20).products(labels, 3), expected, atol=1e-4
    )


def test_few_moves_and_all_moves_end_at_the_same_sums():
    G, X, scales, before = example(1)
    rng = np.random.default_rng(1)
    for many in (3, 20):
        after = before.copy()
        after[rng.permutation(len(after))[:many]] = rng.integers(-1, 3, many)
        for sums in (GramSums(G, scales), FingerprintSums(X, scales, 2**20)):
            moved = sums.moved(sums.products(before, 3), before, after)
            np.testing.assert_allclose(moved, sums.products(after, 3), atol=1e-4)


def test_spreads_are_measured_on_those_outside():
    rng = np.random.default_rng(2)
    labels = np.repeat([0, -1], [4, 4000])
    products = rng.normal(scale=[[2 * 1.5]], size=(1, len(labels)))  # √4 · 1.5
    products[0, 4:1000] = 500  # many more of the same camera do not matter
    spread = _kernels.group_spreads(products, labels, np.array([4.0]), 50.0)
    assert spread[0] == pytest.approx(1.5, rel=0.05)
    quiet = _kernels.group_spreads(products / 9, labels, np.array([4.0]), 50.0)
    assert quiet[0] == 1


# Steps


def test_start_makes_small_groups_of_the_strongest_edges():
    C = sparse.csr_array(
        np.array([[0, 5, 1, 0, 0], [5, 0, 0, 0, 0], [0, 2, 0, 0, 0], [0] * 5, [0] * 5], float)
    )
    np.testing.assert_array_equal(_steps.start_groups(C), [0, 0, 0, -1, -1])
    dense = sparse.csr_array(np.ones((40, 40)) - np.eye(40))
    labels = _steps.start_groups(dense)
    assert np.bincount(labels[labels >= 0]).max() <= 8


def test_compact_dissolves_single_photos():
    np.testing.assert_array_equal(
        _steps.compact(np.array([5, 5, 2, -1, 7, 7, 7])), [0, 0, -1, -1, 1, 1, 1]
    )


def test_refine_takes_the_best_group_leaving_the_photo_out():
    G, truth = gram([30, 20, 10], 0.05, seed=1)
    labels = truth.copy()
    labels[:7] = -1
    labels[7] = (truth[7] + 1) % 3
    refined = _steps.refine(groups_of(G, labels), 0.02)
    expected = centroid_correlations(G, labels)
    inside = refined >= 0
    np.testing.assert_array_equal(refined[inside], expected.argmax(axis=1)[inside])
    assert np.mean(refined == truth) > 0.9
    only = np.zeros(len(G), dtype=bool)
    only[7] = True
    np.testing.assert_array_equal(
        np.flatnonzero(_steps.refine(groups_of(G, labels), 0.02, only) != labels), [7]
    )


def test_join_rate_is_the_rate_of_strangers_that_join():
    G, truth = gram([40] * 10 + [1] * 1500, 0.03, seed=2)
    labels = np.where(truth < 10, truth, -1)
    for rate in (0.2, 0.05):
        joined = _steps.refine(groups_of(G, labels), rate)[truth >= 10] >= 0
        assert np.mean(joined) == pytest.approx(rate, abs=4 * np.sqrt(rate / 1500))


def test_join_rate_holds_where_chance_is_wider_for_some_photos_and_groups():
    G, truth = gram([40] * 10 + [1] * 1500, 0.03, seed=2)
    labels = np.where(truth < 10, truth, -1)
    factor = np.random.default_rng(0).uniform(0.6, 1.6, len(G))
    G = G * np.outer(factor, factor)
    np.fill_diagonal(G, 1)
    measured = GramSums(G, photo_scales(G, SIGMA))
    joined = _steps.refine(_steps.Groups.make(measured, labels), 0.05)[truth >= 10] >= 0
    assert np.mean(joined) == pytest.approx(0.05, abs=0.025)
    fixed = _steps.refine(groups_of(G, labels), 0.05)[truth >= 10] >= 0
    assert np.mean(fixed) > 1.5 * np.mean(joined)  # one scale for all


def test_moving_leaves_no_group_of_one():
    G, truth = gram([10, 10, 2], 0.05, seed=5)
    groups = groups_of(G, truth)
    labels = truth.copy()
    labels[truth == 2] = [1, 2]
    groups.move(labels)
    assert sorted(groups.sizes.tolist()) == [10, 11]
    np.testing.assert_allclose(
        groups.products, groups.sums.products(groups.labels, 2), rtol=1e-4, atol=1e-2
    )


def test_merge_joins_pieces_of_a_camera_and_no_others():
    G, truth = gram([24] * 8, 0.02, seed=3)
    groups = groups_of(G, truth * 4 + np.arange(len(truth)) % 4)
    _steps.merge(groups, 0.001)
    score = scores(truth, groups.labels)
    assert score.precision == 1
    assert score.recall > 0.95
    np.testing.assert_allclose(
        groups.products, groups.sums.products(groups.labels, len(groups.products)), atol=0.05
    )


@pytest.mark.parametrize(("total", "roots"), [(2.0, [0, 0]), (0.0, [0, 1]), (-2.0, [0, 1])])
def test_groups_without_a_bond_of_their_own_can_be_compared(total, roots):
    """A merge rate so high that nothing is asked of chance, and photos unlike each other."""
    between = np.array([[-1.0, total], [total, -3.0]])
    root, _ = _steps.merged(between, np.array([2.0, 2.0]), 0.9)
    assert root.tolist() == roots


def test_what_is_dissolved_is_what_chance_could_have_made():
    G = gram([1] * 60 + [6], 0.05, seed=4).gram
    truth = gram([1] * 60 + [6], 0.05, seed=4).labels
    labels = np.where(truth == 60, 0, -1)
    strangers = np.flatnonzero(truth < 60)
    best = np.unravel_index(np.argmax(G[np.ix_(strangers, strangers)] - np.eye(60)), (60, 60))
    labels[strangers[list(best)]] = 1  # the most alike pair of strangers
    groups = groups_of(G, labels)
    _steps.dissolve(groups, 0.001, len(G))
    assert (groups.labels[truth == 60] == 0).all()
    assert (groups.labels[truth < 60] == -1).all()


# The whole


@pytest.mark.parametrize("seed", range(5))
def test_noise_holds_no_group(seed):
    assert (fit(gram([1] * 600, 0.01, seed=seed).gram).labels_ == -1).all()


@pytest.mark.parametrize(
    ("sizes", "mean", "least"),
    [([40] * 5, 0.03, 0.97), ([25] * 20, 0.02, 0.95), ([10] * 40, 0.03, 0.94), ([200], 0.01, 0.95)],
)
def test_cameras_are_found(sizes, mean, least):
    G, truth = gram(sizes, mean, seed=5)
    fitted = fit(G)
    score = scores(truth, fitted.labels_)
    assert score.f > least
    assert score.precision > 0.99
    assert fitted.trace_[-1]["changed"] == 0


def test_strangers_stay_alone():
    G, truth = gram([50] * 20 + [1] * 50, 0.02, seed=6)
    labels = fit(G).labels_
    assert np.count_nonzero(labels[truth >= 20] == -1) >= 47


def test_weak_photos_join_but_found_nothing():
    G, truth = gram([30, 30, 12], 0.05, seed=8)
    weak = (truth == 2) | (np.arange(len(truth)) % 5 == 0)
    labels = fit(G, weak=weak).labels_
    assert (labels[truth == 2] == -1).all()  # a camera of weak photos alone is not found
    others = truth < 2
    assert np.mean(labels[weak & others] >= 0) > 0.8
    assert scores(truth[others], labels[others]).precision == 1
    without = fit(G[np.ix_(~weak, ~weak)]).labels_
    assert scores(labels[~weak], without).f == 1  # and they do not change the others
    with pytest.raises(ValueError, match="weak"):
        fit(G, weak=weak[:5])


def test_the_order_of_photos_does_not_matter():
    G, _ = gram([20] * 10, 0.02, seed=7)
    order = np.random.default_rng(0).permutation(len(G))
    a, b = fit(G).labels_, fit(G[np.ix_(order, order)]).labels_
    assert scores(a[order], b).f == 1


def test_few_photos():
    G, _ = gram([2], 0.3, camera_spread=0, photo_cv=0)
    assert fit(G).labels_.tolist() == [0, 0]
    assert fit(gram([1, 1], 0.01, seed=3).gram).labels_.tolist() == [-1, -1]
    assert fit(np.ones((1, 1))).labels_.tolist() == [-1]


def test_fingerprints_and_correlations_give_the_same():
    X, truth = fingerprints([12] * 4, 0.1, 4096, seed=8)
    labels = ConsolidatedSSC().fit(X).labels_
    assert scores(truth, labels).precision == 1
    assert scores(truth, labels).f > 0.9


# Beyond memory


def test_batches_depend_on_what_the_rows_are_not_on_their_order():
    X, _ = fingerprints([5] * 8, 0.1, 256, seed=1)
    order = np.random.default_rng(0).permutation(len(X))
    names = _batches.names_of(X)
    first, second = (_batches.shuffled(n, 0) for n in (names, _batches.names_of(X[order])))
    np.testing.assert_array_equal(first, order[second])
    assert (_batches.shuffled(names, 1) != first).any()
    batches = _batches.split(first, 12)
    assert [len(b) for b in batches] == [10, 10, 10, 10]
    np.testing.assert_array_equal(np.sort(np.concatenate(batches)), np.arange(40))


def test_a_batch_fits_its_memory():
    for memory in (2**20, 2**30, 2**34):
        size = _batches.largest_batch(memory)
        assert 0.98 * memory < 6 * size**2 + 1024 * size <= memory


def test_candidates_of_one_camera_meet_and_those_of_chance_dissolve():
    X, truth = fingerprints([12, 12, *[1] * 30], 0.15, 4096, seed=2)
    X = X.astype(np.float32)
    half = np.arange(len(X)) % 2
    labels = np.where(truth < 2, truth * 2 + half, -1)
    labels[np.flatnonzero(truth >= 2)[:2]] = 4
    sums = FingerprintSums(X, np.full(len(X), 1 / 8), 2**22)
    met = _batches.merge_candidates(sums, labels, Rates(0.001, 0.01, 0.001), len(X))
    np.testing.assert_array_equal(met, np.where(truth < 2, truth, -1))
    expected = groups_of(X @ X.T, labels).products * 64 / 512  # other units of chance
    members = np.equal.outer(np.arange(5), labels)
    np.testing.assert_allclose(sums.between(labels, 5), expected @ members.T, rtol=1e-3, atol=0.02)


@pytest.mark.parametrize(("sizes", "mean"), [([30] * 12, 0.05), ([8] * 80, 0.1)])
def test_there_is_no_cliff_where_memory_ends(sizes, mean):
    X, truth = fingerprints(sizes, mean, 6400, seed=3)
    n = len(X)
    in_memory = ConsolidatedSSC(memory=64 * n * n).fit(X)
    f = scores(truth, in_memory.labels_).f
    for share in (1, 0.5, 0.25):
        fitted = ConsolidatedSSC(memory=int(share * 4 * n * n)).fit(X)
        assert _batches.largest_batch(fitted.memory) < n  # it is really split
        assert scores(truth, fitted.labels_).f == pytest.approx(f, abs=0.02)


def test_batches_from_a_store_and_an_array_in_any_order():
    X, truth = fingerprints([25] * 4, 0.08, 4096, seed=4)
    X = X.astype(np.float32)
    memory = 40_000
    labels = ConsolidatedSSC(memory=memory).fit(X).labels_
    order = np.random.default_rng(1).permutation(len(X))
    again = ConsolidatedSSC(memory=memory).fit(X[order]).labels_
    assert scores(labels[order], again).f == 1
    store = MemoryStore(4096)
    for i, row in enumerate(X):
        store.add(f"{i:04}", row)
    store.commit()
    weak = np.zeros(len(X), dtype=bool)
    weak[::10] = True
    seen = []
    fitted = ConsolidatedSSC(memory=memory).fit(
        store, weak=weak, progress=lambda *what: seen.append(what)
    )
    assert scores(truth, fitted.labels_).f > 0.9
    assert np.mean(fitted.labels_[weak] >= 0) > 0.8
    assert seen


# Kin


def with_kin(n, kin, common, share, seed=7):
    """Correlations of n photos of a camera, and of one photo each of kin of its model."""
    rng = np.random.default_rng(seed)
    G = rng.normal(0, SIGMA, (n + kin, n + kin)) + share * common
    G[:n, :n] += (1 - share) * common
    G = np.tril(G) + np.tril(G, -1).T
    np.fill_diagonal(G, 1)
    return G


def test_kin_do_not_bear_each_other_up_in_a_group():
    G = with_kin(6, 30, 0.08, 0.015)
    groups = groups_of(G, np.zeros(len(G), dtype=np.intp))
    assert (_steps.refine(groups, 0.01) == 0).sum() > 20  # all together each has enough
    core = _steps.core(groups)
    assert (core[:6] == 0).all()
    assert (core[6:] == -1).all()
    groups.narrow(core)
    assert (_steps.refine(groups, 0.01)[6:] == 0).sum() < 10
    labels = fit(G).labels_
    assert (labels[:6] == labels[0]).all()
    assert (labels[6:] == -1).sum() > 20


def test_strangers_may_be_a_thousandth_of_the_photos_in_groups():
    """Rates at which the last places are judged, of groups with 100 and 2000 photos."""
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        best = _steps.best_places
        patch.setattr(_steps, "best_places", lambda *given: seen.append(given[1]) or best(*given))
        for cameras, alone in ((2, 200), (40, 400)):
            G, truth = gram([50] * cameras + [1] * alone, 0.2, seed=3, photo_cv=0)
            labels = np.where(truth < cameras, truth, -1)
            Loop(Rates(0.001, 0.1, 0.001), len(G))._prune(groups_of(G, labels), truth >= 0)
    assert seen == pytest.approx([0.5 / 200, 2 / 400])


def test_the_rate_of_joining_is_shared_among_many_strangers():
    G, truth = gram([30] * 6 + [1] * 1500, 0.03, seed=2)
    assert (fit(G).labels_[truth >= 6] >= 0).sum() <= 3
