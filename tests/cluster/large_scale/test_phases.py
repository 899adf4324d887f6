"""Every phase of LS-SSC alone, on planted cases and against slow obvious versions."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import norm
from sklearn.cluster import DBSCAN

from samecam.cluster.large_scale import _attract, _merge, _partition, _purify, _reassign, _recycle
from samecam.cluster.large_scale import _split as split
from samecam.cluster.large_scale._partition import Rules
from samecam.errors import SamecamError
from samecam.metrics import scores
from samecam.simulate import gram
from tests.cluster.large_scale.collections import as_sets
from tests.cluster.large_scale.formulas import expected, inner, regressor

SIGMA = 1 / 512


def sums(G, labels):
    """s_a·s_b of all groups, and their sizes."""
    members = np.stack([labels == k for k in range(labels.max() + 1)]).astype(float)
    return members @ G.astype(float) @ members.T, members.sum(axis=1), members @ G.astype(float)


# Split.


@pytest.mark.parametrize(("n", "count"), [(10, 3), (7, 7), (5, 9), (1, 1), (4001, 2)])
def test_batches_hold_every_photo_once_and_are_of_one_size(n, count):
    parts = split.batches(n, count, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(n))
    sizes = [len(part) for part in parts]
    assert len(parts) == min(n, count)
    assert max(sizes) - min(sizes) <= 1
    assert all((np.diff(part) > 0).all() for part in parts)


def test_batches_are_random_and_seeded():
    first, again, other = (split.batches(100, 2, np.random.default_rng(s))[0] for s in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert 10 < len(np.intersect1d(first, other)) < 40


@pytest.mark.parametrize("memory", [2**20, 2**25, 2**31, 2**40])
def test_the_largest_batch_fits_and_one_more_does_not(memory):
    size = split.largest_batch(memory)
    room = split.usable(memory)
    assert memory - 2**24 <= room < memory or room >= 2 * memory // 3
    assert split.batch_bytes(size) <= room < split.batch_bytes(size + 2)


def test_no_memory_gets_a_sentence():
    with pytest.raises(SamecamError, match="memory budget of 1 kB"):
        split.largest_batch(1024)


# Random walk.


def test_walk_is_the_mean_of_the_powers_of_the_transition_matrix():
    rng = np.random.default_rng(0)
    C = np.where(rng.random((12, 12)) < 0.4, rng.random((12, 12)), 0) + np.eye(12, k=1)
    C[-1, 0] = 1
    transition = C / C.sum(axis=1, keepdims=True)
    state, total = np.full(12, 1 / 12), np.zeros(12)
    for _ in range(50):
        state = state @ transition
        total += state
    np.testing.assert_allclose(_partition.walk(csr_array(C), 50), total / 50, rtol=1e-12)


def test_walkers_do_not_stay_with_photos_that_nobody_represents():
    """0 and 1 are alike, 2 is drawn to 3, and 3 to nobody: 3, and then 2, must not collect."""
    C = np.array([[0, 1, 0, 0], [1, 0, 0.2, 0], [0, 0, 0, 1], [0, 0, 0, 0]], dtype=float)
    scores_ = _partition.walk(csr_array(C))
    assert np.isnan(scores_[2:]).all()
    np.testing.assert_allclose(scores_[:2], 0.5, atol=1e-3)
    np.testing.assert_array_equal(_partition.outliers(scores_), [False, False, True, True])
    assert np.isnan(_partition.walk(csr_array((3, 3)))).all()


def test_only_the_low_side_is_cut():
    values = norm.ppf((np.arange(1000) + 0.5) / 1000, 10, 1)
    marked = _partition.outliers(values)
    assert np.count_nonzero(marked) == pytest.approx(200, abs=2)
    assert marked[:190].all()
    assert not marked[210:].any()


def test_equal_scores_hold_no_outlier():
    equal = np.full(50, 1 / 50) + np.random.default_rng(0).normal(0, 1e-17, 50)
    assert not _partition.outliers(equal).any()
    assert _partition.outliers(np.full(3, np.nan)).all()


def test_planted_strangers_are_outliers():
    G, truth = gram([40] * 6 + [1] * 20, 0.03, photo_cv=0.2, seed=3)
    C = _partition.represent(G, 2 * SIGMA).coefficients
    marked = _partition.outliers(_partition.walk(C))
    assert np.count_nonzero(marked[truth >= 6]) >= 18
    assert np.mean(marked[truth < 6]) < 0.25


# Nearest neighbours and dense regions.


def test_largest_of_each_row():
    C = csr_array(np.array([[0, 3, 1, 2], [5, 0, 5, 5], [0, 0, 0, 0], [1, 0, 0, 0]], dtype=float))
    expected = [[0, 3, 0, 2], [5, 0, 5, 0], [0, 0, 0, 0], [1, 0, 0, 0]]
    np.testing.assert_array_equal(_partition.largest(C, 2).toarray(), expected)
    assert _partition.largest(csr_array((0, 0)), 2).shape == (0, 0)


@pytest.mark.parametrize("seed", range(5))
def test_dense_regions_are_those_of_dbscan_on_distances(seed):
    rng = np.random.default_rng(seed)
    S = np.triu(np.where(rng.random((60, 60)) < 0.12, rng.random((60, 60)), 0), 1)
    S = S + np.tril(rng.random((60, 60)) < 0.05, -1) * 0.4
    either = np.maximum(S, S.T)
    labels = _partition.dense_regions(csr_array(S), 0.5, 5)
    distance = np.where(either > 0, 1 - either, 2.0)
    np.fill_diagonal(distance, 0)
    slow = DBSCAN(eps=0.5, min_samples=5, metric="precomputed").fit(distance)
    core = slow.core_sample_indices_
    assert len(core) > 3
    restricted, expected = np.full(60, -1), np.full(60, -1)
    restricted[core], expected[core] = labels[core], slow.labels_[core]
    assert as_sets(restricted) == as_sets(expected)
    np.testing.assert_array_equal(labels >= 0, slow.labels_ >= 0)
    for i in np.setdiff1d(np.flatnonzero(labels >= 0), core):
        assert labels[i] == labels[core[np.argmax(either[i, core])]]


def test_more_points_than_neighbours_give_no_region():
    """The paper: MinPts > K finds nothing."""
    ring = csr_array(np.eye(8, k=1) + np.eye(8, k=-7))
    assert (_partition.dense_regions(ring, 0.5, 4) == -1).all()
    assert (_partition.dense_regions(ring, 0.5, 3) == 0).all()


# A batch.


def test_a_batch_gives_pure_groups():
    G, truth = gram([30] * 6 + [1] * 15, 0.03, seed=1)
    answer = _partition.partition(G, Rules(2 * SIGMA))
    found = scores(truth, answer.labels)
    assert answer.groups >= 6
    assert found.precision > 0.97
    assert found.recall > 0.1
    assert answer.report.converged


def test_chance_makes_no_group():
    noise = gram([1] * 300, seed=2).gram
    assert _partition.partition(noise, Rules(2 * SIGMA)).groups > 0
    tested = _partition.partition(noise, Rules(2 * SIGMA, 5, 3, SIGMA, 0.001, 300))
    assert tested.groups == 0
    assert tested.dissolved > 0


def test_fewer_neighbours_are_tried_only_where_more_find_nothing():
    G, truth = gram([4] + [1] * 40, 0.2, photo_cv=0, camera_spread=0, seed=4)
    strict = Rules(2 * SIGMA, 5, 5, SIGMA, 0.001, 44)
    loose = Rules(2 * SIGMA, 5, 3, SIGMA, 0.001, 44)
    assert _partition.partition(G, strict).groups == 0
    answer = _partition.partition(G, loose)
    assert as_sets(answer.labels) == {frozenset(np.flatnonzero(truth == 0).tolist())}


def test_a_chain_between_two_cameras_is_cut():
    G, truth = gram([20, 14, 25], 0.03, seed=5)
    joined = np.where(truth == 2, 1, 0)
    cut = _purify.purify(G, joined, 3.1 * SIGMA)
    assert scores(truth, cut).precision > 0.98
    assert np.array_equal(cut, _purify.purify(G, cut, 3.1 * SIGMA))
    assert len(as_sets(cut)) <= 5


def test_large_groups_are_cut_as_small_ones(monkeypatch):
    G, truth = gram([150, 120], 0.03, seed=6)
    sparse = _purify.cut(G.astype(float))
    monkeypatch.setattr(_purify, "_DENSE", 1000)
    np.testing.assert_array_equal(sparse, _purify.cut(G.astype(float)))
    assert np.mean(sparse == (truth == truth[0])) > 0.9


# Recycling.


def test_shares_are_proportional_and_add_up():
    assert _recycle.shares([10, 20, 30], 6) == [1, 2, 3]
    assert _recycle.shares([5, 5, 5], 4) == [2, 1, 1]
    assert _recycle.shares([1, 1, 98], 50) == [1, 0, 49]
    assert _recycle.shares([3, 4], 50) == [3, 4]
    rng = np.random.default_rng(0)
    for _ in range(50):
        sizes = rng.integers(0, 40, 6).tolist()
        total = int(rng.integers(1, 100))
        got = _recycle.shares(sizes, total)
        assert sum(got) == min(total, sum(sizes))
        assert all(g <= s for g, s in zip(got, sizes, strict=True))


def test_draw_takes_and_leaves_every_photo_once():
    pools = [np.arange(10), np.arange(10, 40), np.arange(0)]
    taken, left = _recycle.draw(pools, 20, np.random.default_rng(0))
    assert len(taken) == 20
    assert [len(p) for p in left] == [5, 15, 0]
    np.testing.assert_array_equal(np.sort(np.concatenate([taken, *left])), np.arange(40))
    again, _ = _recycle.draw(pools, 20, np.random.default_rng(0))
    np.testing.assert_array_equal(taken, again)


# Merging.


def test_expected_correlation_of_one_cameras_groups():
    """Two groups of one camera correlate by H₁, by the millions of pixels."""
    rng = np.random.default_rng(0)
    pattern, rho = rng.standard_normal(400_000), 0.05
    rows = np.sqrt(rho) * pattern + np.sqrt(1 - rho) * rng.standard_normal((12, 400_000))
    centroids = rows[:4].mean(axis=0), rows[4:].mean(axis=0)
    assert np.corrcoef(*centroids)[0, 1] == pytest.approx(expected(4, 8, rho, rho), abs=0.005)


def slow_merge(products, size, chance, rule):
    """Joins the best pair above its own threshold, all looked at every time."""
    groups = [[i] for i in range(len(size))]
    while True:
        best = None
        for a in range(len(groups)):
            for b in range(a):
                P = lambda x, y: products[np.ix_(groups[x], groups[y])].sum()  # noqa: E731
                na, nb = size[groups[a]].sum(), size[groups[b]].sum()
                ra, rb = inner(P(a, a), na), inner(P(b, b), nb)
                half, R = expected(na, nb, ra, rb) / 2, regressor(na, nb, ra, rb)
                least = max(chance, {"half": half, "paper": R, "min": min(half, R)}[rule])
                r = P(a, b) / np.sqrt(P(a, a) * P(b, b))
                if r > least and (best is None or r > best[0]):
                    best = r, a, b
        if best is None:
            return {frozenset(g) for g in groups}
        _, a, b = best
        groups[b] += groups.pop(a)


@pytest.mark.parametrize("rule", _merge.THRESHOLDS)
@pytest.mark.parametrize("seed", range(3))
def test_merging_against_the_slow_one(rule, seed):
    G, truth = gram([18] * 5 + [1] * 3, 0.02, seed=seed)
    pieces = np.unique(truth * 5 + np.arange(len(truth)) % 5, return_inverse=True)[1]
    products, size, _ = sums(G, pieces)
    got = _merge.merge(products, size, 3.1 * SIGMA, rule)
    assert as_sets(got) == slow_merge(products, size, 3.1 * SIGMA, rule)
    assert got.max() + 1 < len(size)


def test_the_regressor_keeps_strong_cameras_apart_and_half_does_not():
    """Two groups of five of a strong camera: H₁ is .357, the regressor asks .418."""
    G, truth = gram([10] * 4, 0.1, photo_cv=0, camera_spread=0, seed=1)
    order = np.argsort(truth, kind="stable")
    pieces = np.empty(40, dtype=int)
    pieces[order] = np.arange(40) // 5
    products, size, _ = sums(G, pieces)
    assert len(set(_merge.merge(products, size, 3.1 * SIGMA, "paper"))) == 8
    for rule in ("half", "min"):
        merged = _merge.merge(products, size, 3.1 * SIGMA, rule)
        assert as_sets(merged[pieces]) == as_sets(truth)


def test_a_pair_that_fails_does_not_end_merging():
    """0 and 1 correlate most but are strong enough to ask for more; 2 and 3 go together."""
    products = np.array(
        [[80.0, 24, 0, 0], [24, 80, 0, 0], [0, 0, 11, 3], [0, 0, 3, 11]]
    )  # ρ within .78 and .011
    merged = _merge.merge(products, np.full(4, 10.0), 0.01, "half")
    assert as_sets(merged) == {frozenset({0}), frozenset({1}), frozenset({2, 3})}


def test_chance_is_the_least_that_is_asked():
    products = np.array([[10.0, 0.05], [0.05, 10.0]])
    assert _merge.merge(products, np.full(2, 10.0), 0.004, "half").tolist() == [0, 0]
    assert _merge.merge(products, np.full(2, 10.0), 0.006, "half").tolist() == [0, 1]


# Attraction.


def slow_attract(X, groups, least):
    """On the fingerprints themselves, every correlation computed anew every time."""
    groups = [list(g) for g in groups]
    centroid = [X[g].sum(axis=0) for g in groups]
    left = sorted(set(range(len(X))) - {i for g in groups for i in g})
    answer = {}
    while left:
        unit = np.stack([c / np.linalg.norm(c) for c in centroid])
        r = X[left] @ unit.T
        u, c = np.unravel_index(np.argmax(r), r.shape)
        if r[u, c] <= least:
            break
        photo = left.pop(u)
        answer[photo] = int(c)
        if len(groups[c]) <= 50:
            groups[c].append(photo)
            centroid[c] = X[groups[c]].sum(axis=0)
    return answer


def test_attraction_against_the_slow_one():
    from samecam.simulate import fingerprints

    X, truth = fingerprints([70, 30, 12] + [1] * 20, 0.04, 4096, seed=2)
    X = X.astype(np.float64)
    groups = [np.flatnonzero(truth == c)[:start] for c, start in ((0, 46), (1, 4), (2, 3))]
    labels = np.full(len(X), -1)
    for c, members in enumerate(groups):
        labels[members] = c
    G = X @ X.T
    products, size, each = sums(G, labels)
    left = np.flatnonzero(labels < 0)
    got = _attract.attract(each[:, left].T, np.diag(products), size, G[np.ix_(left, left)], 0.05)
    slow = slow_attract(X, groups, 0.05)
    assert {int(p): int(c) for p, c in zip(left, got, strict=True) if c >= 0} == slow
    assert sum(c == 0 for c in slow.values()) > 10
    assert np.count_nonzero(got < 0) > 0


def test_attraction_with_nobody_left_or_no_group():
    nobody = _attract.attract(np.zeros((0, 2)), np.ones(2), np.ones(2), np.zeros((0, 0)), 0.1)
    assert nobody.shape == (0,)
    none = _attract.attract(np.zeros((3, 0)), np.ones(0), np.ones(0), np.eye(3), 0.1)
    assert none.tolist() == [-1] * 3


# Reassignment.


def test_reassigning_takes_the_best_group_leaving_the_photo_out():
    from samecam.correlate import centroid_correlations

    G, truth = gram([30, 20, 10], 0.05, seed=1)
    labels = truth.copy()
    labels[:7] = -1
    labels[7] = (truth[7] + 1) % 3
    products, size, each = sums(G, labels)
    moved = _reassign.reassign(each.T, labels, np.diag(products), size, 3.5 * SIGMA)
    expected = centroid_correlations(G, labels)
    best = expected.argmax(axis=1)
    np.testing.assert_array_equal(moved, np.where(expected.max(axis=1) > 3.5 * SIGMA, best, -1))
    assert moved[7] == truth[7]


def test_a_photo_alone_is_no_group_of_its_own():
    G = np.eye(3)
    labels = np.array([0, 1, 1])
    products, size, each = sums(G, labels)
    moved = _reassign.reassign(each.T, labels, np.diag(products), size, 0.1)
    assert moved.tolist() == [-1, -1, -1]
