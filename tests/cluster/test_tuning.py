"""Choosing hyperparameters: planted laws are found again, and slow counts agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam import correlate
from samecam.cluster import (
    PUBLISHED_REGRESSOR,
    GroupPairs,
    LargeScaleSSC,
    MergeRegressor,
    choose_k_and_recycling,
    draw_pairs,
    fit_merge_regressor,
    recycled_labels,
    select_gamma,
    select_k_and_recycling,
)
from samecam.cluster.large_scale._phases import Run
from samecam.cluster.tuning._gamma import best_of_plateau
from samecam.cluster.tuning._regressor import fit_pairs
from samecam.metrics import scores
from samecam.simulate import fingerprints, gram
from tests.cluster.large_scale.formulas import expected, regressor


def vectors(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 400)) + np.repeat(rng.standard_normal((2, 400)), 15, axis=0) * 0.4
    X -= X.mean(axis=1, keepdims=True)
    return X / np.linalg.norm(X, axis=1, keepdims=True), np.repeat([0, 1], 15)


def test_the_published_regressor_is_that_of_merging():
    rng = np.random.default_rng(0)
    for n_a, n_b in rng.integers(2, 120, (20, 2)).tolist():
        rho_a, rho_b = rng.uniform(0, 0.2, 2).tolist()
        ours = float(PUBLISHED_REGRESSOR(n_a, n_b, rho_a, rho_b))
        assert ours == pytest.approx(regressor(n_a, n_b, rho_a, rho_b), abs=1e-12)


@given(
    size=st.floats(-0.01, 0.01),
    correlation=st.floats(-5, 5),
    bias=st.floats(-0.2, 0.2),
    seed=st.integers(0, 1000),
)
def test_a_planted_law_is_found_again(size, correlation, bias, seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(2, 50, (2, 300)).astype(float)
    rho = rng.uniform(0.001, 0.2, (2, 300))
    law = MergeRegressor(size, correlation, bias)
    pairs = GroupPairs(*n, *rho, 2 * law(*n, *rho))
    fit = fit_pairs(pairs)
    np.testing.assert_allclose(fit.regressor, law, atol=1e-9)
    assert fit.error < 1e-9


def test_roles_are_exchanged():
    """An unsymmetric law is fitted by its symmetric part: least squares on the sums."""
    rng = np.random.default_rng(1)
    n = rng.integers(2, 50, (2, 500)).astype(float)
    rho = rng.uniform(0.001, 0.2, (2, 500))
    target = 0.004 * n[0] + 0.5 * rho[1] + 0.1 + 0.01 * rng.standard_normal(500)
    fit = fit_pairs(GroupPairs(*n, *rho, 2 * target))
    sums = np.stack([n.sum(axis=0), rho.sum(axis=0), np.ones(500)], axis=1)
    slow = np.linalg.lstsq(sums, target, rcond=None)[0]
    np.testing.assert_allclose(fit.regressor, slow, rtol=1e-9)


def test_pairs_are_what_their_photos_say():
    """Every number of a pair, against the groups' fingerprints themselves."""
    X, cameras = vectors()
    pairs = draw_pairs(X @ X.T, cameras, 40, sizes=(7, 8), random_state=3)
    rng = np.random.default_rng(3)
    for k in range(40):
        camera = rng.choice(2, 1, replace=False)[0]
        own = np.flatnonzero(cameras == camera)
        rng.permutation(own), rng.permutation(own)
        chosen = rng.permutation(own)
        a, b = X[chosen[:7]], X[chosen[7:15]]
        slow_a = np.mean([a[i] @ a[j] for i in range(7) for j in range(7) if i != j])
        assert pairs.rho_a[k] == pytest.approx(slow_a, abs=1e-12)
        slow = np.corrcoef(a.mean(axis=0), b.mean(axis=0))[0, 1]
        assert pairs.correlation[k] == pytest.approx(slow, abs=1e-12)
        h = expected(7, 8, max(pairs.rho_a[k], 0), max(pairs.rho_b[k], 0))
        assert pairs.expected[k] == pytest.approx(h, abs=1e-12)


def test_groups_share_no_photo_and_keep_to_the_limit():
    marks = np.diag(np.arange(1.0, 41.0))  # a product of two groups is 0 unless they share a photo
    cameras = np.repeat([0, 1], 20)
    pairs = draw_pairs(marks, cameras, 200, limit=9)
    assert not pairs.correlation.any()
    assert set(pairs.n_a) == set(pairs.n_b) == set(range(2, 10))
    strangers = draw_pairs(np.kron(np.eye(2), np.ones((20, 20))), cameras, 50, same=False)
    assert not strangers.correlation.any()
    assert strangers.n_a.max() > 10


def test_the_threshold_lies_between_strangers_and_one_camera():
    """Learnt on some photos, it separates groups of other photos."""
    X, cameras = fingerprints([80, 80, 80], 0.05, 16384, camera_spread=0.2, photo_cv=0.3)
    G = correlate.gram(X)
    fit = fit_merge_regressor(G, cameras)
    assert fit.explained > 0.8
    Y, others = fingerprints([80, 80, 80], 0.05, 16384, camera_spread=0.2, photo_cv=0.3, seed=7)
    H = correlate.gram(Y)
    for n in (5, 10, 20, 40):
        one = draw_pairs(H, others, 300, sizes=(n, n))
        two = draw_pairs(H, others, 300, sizes=(n, n), same=False)
        assert (one.correlation > fit.regressor(one.n_a, one.n_b, one.rho_a, one.rho_b)).mean() > 0.97  # noqa: E501  # fmt: skip
        assert (two.correlation < fit.regressor(two.n_a, two.n_b, two.rho_a, two.rho_b)).mean() > 0.97  # noqa: E501  # fmt: skip


def test_the_fit_repeats_itself_and_follows_the_seed():
    G, cameras = gram([40, 40], 0.05)
    once, again = (fit_merge_regressor(G, cameras, n_pairs=50) for _ in range(2))
    assert once.regressor == again.regressor
    assert once.regressor != fit_merge_regressor(G, cameras, n_pairs=50, random_state=1).regressor


def test_gamma_where_only_one_is_right():
    """Above what photos of one camera share, few are linked, and then nobody."""
    G, cameras = gram([25, 25, 25, 25], 0.02, camera_spread=0, photo_cv=0, n_pixels=65536)
    tried = (0.5, 0.008, 0.03)
    result = select_gamma(G, cameras, candidates=tried)
    assert result.candidates == (0.008, 0.03, 0.5)
    assert result.gamma == result.by_f == 0.008
    assert result.f[0] > 0.95
    assert result.f[1] < 0.5
    assert result.f[2] == 0
    assert np.isinf(result.costs[2])
    by_cost = select_gamma(G, cameras, candidates=tried, by="cost")
    assert by_cost.gamma == by_cost.by_cost == result.candidates[int(np.argmin(by_cost.costs))]


def test_the_middle_of_a_plateau():
    tried = np.geomspace(0.001, 0.016, 5)
    for default in (1e-9, 0.004, 1.0):
        assert best_of_plateau([0.2, 0.9, 0.901, 0.899, 0.5], tried, default) == 2
        assert best_of_plateau([0.95, 0.2, 0.94, 0.94, 0.94], tried, default) == 0
        assert best_of_plateau([0.2, 0.95, 0.94, 0.1, 0.949], tried, default) == 1


def test_a_plateau_at_an_end_of_the_range_has_no_middle():
    """Where it would end is not known; what is nearest to twice the scale of chance is."""
    tried = np.geomspace(0.001, 0.016, 5)
    assert [best_of_plateau([0.9] * 5, tried, d) for d in (1e-5, 0.0019, 0.009, 1)] == [0, 1, 3, 4]
    low, high = [0.9, 0.9, 0.9, 0.5, 0.2], [0.2, 0.5, 0.9, 0.9, 0.9]
    assert [best_of_plateau(low, tried, d) for d in (1e-5, 0.0019, 0.009)] == [0, 1, 2]
    assert [best_of_plateau(high, tried, d) for d in (0.0019, 0.009, 1)] == [2, 3, 4]
    assert best_of_plateau([0.9] * 5, tried, 0.0028) == 1, "by ratio, not by difference"


def test_gamma_of_easy_photos_does_not_depend_on_the_range():
    """Where every candidate gives F = 1, it is about 2σ₀, and weak cameras can live with it."""
    G, cameras = gram([20, 20, 20], 0.3, n_pixels=262144, camera_spread=0, photo_cv=0)
    chance = correlate.null_scale(G, 262144)
    for candidates in (np.geomspace(1e-4, 0.02, 9), np.geomspace(1e-3, 0.1, 9)):
        result = select_gamma(G, cameras, candidates=candidates, n_pixels=262144)
        assert min(result.f) == 1
        assert result.default == pytest.approx(2 * chance)
        step = np.log(candidates[1] / candidates[0])
        assert abs(np.log(result.gamma / (2 * chance))) <= step / 2 * 1.001
        assert result.at_edge
        assert result.plateau == (result.candidates[0], result.candidates[-1])
    authors = select_gamma(G, cameras, candidates=[0.001, 0.002, 0.004], solver="authors")
    assert authors.default == pytest.approx(correlate.null_scale(G))


def test_gamma_in_the_middle_says_so():
    """The middle of three that are right is taken, far from twice the scale of chance, .0156."""
    G, cameras = gram([12] * 12, 0.02, camera_spread=0, photo_cv=0.3, n_pixels=16384)
    result = select_gamma(G, cameras, candidates=(0.0001, 0.0015, 0.002, 0.004, 0.1))
    assert result.plateau == (0.0015, 0.004)
    assert not result.at_edge
    assert result.gamma == 0.002
    assert result.default > 0.015


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_rounds_of_recycling_are_those_of_the_estimator(preset, monkeypatch):
    """Row r is what a run with r rounds has when merging is over; merging is not carried on."""
    G, _ = gram([6, 9, 12, 15, 20, 40] * 2, 0.02, seed=4)
    before = []
    merge = Run.merge
    with monkeypatch.context() as patched:
        patched.setattr(Run, "merge", lambda run: (before.append(run.labels.max() + 1), merge(run)))
        rows = recycled_labels(G, 5, 3, n_batches=4, preset=preset, n_pixels=262144, random_state=2)
    for rounds, labels in enumerate(rows):
        method = LargeScaleSSC(
            preset=preset, n_batches=4, recycling=rounds, metric="precomputed", n_pixels=262144,
            random_state=2,
        ).fit(G)  # fmt: skip
        state = next(entry for entry in method.trace_ if entry["phase"] == "merge")
        assert state["before"] == before[rounds]
        assert state["groups"] == labels.max() + 1
        assert state["clustered"] == np.count_nonzero(labels >= 0)
        assert sum(entry["phase"] == "recycle" for entry in method.trace_) <= rounds
        if preset == "paper":  # attraction adds photos to groups and changes nothing else
            inside = labels >= 0
            pairs = set(zip(labels[inside].tolist(), method.labels_[inside].tolist(), strict=True))
            assert len(pairs) == labels.max() + 1 == len({group for _, group in pairs})
    assert len({np.count_nonzero(labels >= 0) for labels in rows}) > 1


def test_k_and_recycling_on_hidden_cameras():
    """Where one batch sees too little of each camera, rounds of recycling find more of them."""
    G, cameras = gram([12] * 12, 0.03, camera_spread=0, photo_cv=0.3, seed=1)
    result = select_k_and_recycling(G, cameras, neighbours=(5, 12), rounds=4, runs=3, n_batches=3)
    assert result.precision.shape == result.discovered.shape == (2, 5, 3)
    means = result.discovered.mean(axis=2)
    assert means[0, 4] > means[0, 0]
    assert result.n_neighbours == 5
    assert result.recycling > 0


def test_k_and_recycling_are_chosen_with_the_threshold_and_the_seed_given():
    G, cameras = gram([12] * 6, 0.03, camera_spread=0, photo_cv=0.3, seed=1)
    options = {"neighbours": (4,), "rounds": 2, "runs": 2, "n_batches": 3}

    def slow(seeds, threshold):
        runs = []
        for seed in seeds:
            labels = recycled_labels(G, 4, 2, n_batches=3, threshold=threshold, random_state=seed)
            runs.append([scores(cameras, row).precision for row in labels])
        return np.transpose(runs)

    everything = (0.0, 0.0, -1.0)  # joins whatever is above chance
    never = (0.0, 0.0, 1.0)
    result = [
        select_k_and_recycling(G, cameras, threshold=threshold, random_state=seed, **options)
        for threshold in (everything, never)
        for seed in (0, 1)
    ]
    wanted = [slow(seeds, t) for t in (everything, never) for seeds in ((0, 1), (2, 3))]
    for one, precision in zip(result, wanted, strict=True):
        np.testing.assert_array_equal(one.precision[0], precision)
    np.testing.assert_array_equal(
        select_k_and_recycling(G, cameras, threshold=never, **options).precision,
        result[2].precision,
    )
    assert (result[2].discovered != result[3].discovered).any()
    apart = recycled_labels(G, 4, 2, n_batches=3, threshold=never)[-1].max()
    assert apart > recycled_labels(G, 4, 2, n_batches=3)[-1].max()
    large = select_k_and_recycling(G, cameras, random_state=2**32 - 1, **options)
    assert large.precision.shape == (1, 3, 2)


def test_the_choice_of_k_and_recycling():
    precision = np.array([[1.0, 1.0, 0.6], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    discovered = np.array([[0.5, 0.9, 1.0], [0.5, 0.9, 0.9], [0.5, 0.8, 0.9]])
    assert choose_k_and_recycling((3, 6, 9), precision, discovered) == (6, 1)
    discovered[0, 1] = 1.0
    assert choose_k_and_recycling((3, 6, 9), precision, discovered) == (3, 1)


def test_what_cannot_be_chosen_from_is_refused():
    G, cameras = gram([4, 4], 0.05)
    with pytest.raises(ValueError, match=r"n_pairs is 2; three coefficients need 3"):
        fit_merge_regressor(G, cameras, n_pairs=2)
    with pytest.raises(ValueError, match="limit is 60; give 2 to 50 photos"):
        fit_merge_regressor(G, cameras, limit=60)
    with pytest.raises(ValueError, match="0 cameras have 4 photos or more; give photos of one"):
        fit_merge_regressor(G[:3, :3], [0, 0, 0])
    with pytest.raises(ValueError, match="0 cameras have 10 photos or more; give photos of two"):
        draw_pairs(G, cameras, 5, sizes=(10, 3), same=False)
    with pytest.raises(ValueError, match=r"cameras has shape \(3,\); give one for each of 8"):
        select_gamma(G, [0, 1, 2])
    with pytest.raises(ValueError, match="the photos are of 1 camera; give those of two or more"):
        select_gamma(G, np.zeros(8))
    with pytest.raises(ValueError, match="by is 'luck'; choose 'f' or 'cost'"):
        select_gamma(G, cameras, by="luck")
    with pytest.raises(ValueError, match=r"candidates are \(-1.0, 0.1\); give one positive"):
        select_gamma(G, cameras, candidates=[0.1, -1])
    with pytest.raises(ValueError, match=r"neighbours are \(1,\) and runs is 1; give 2 or more"):
        select_k_and_recycling(G, cameras, neighbours=[1], runs=1)
    with pytest.raises(ValueError, match="rounds is -1; give 0 or more"):
        recycled_labels(G, 5, -1)


def test_a_learnt_threshold_is_used_in_merging():
    """The published weights given as numbers are the published rule; others join nothing or all."""
    G, _ = gram([20, 25, 30], 0.03, seed=1)
    options = {"preset": "paper", "n_batches": 3, "metric": "precomputed", "n_pixels": 262144}
    named = LargeScaleSSC(threshold="paper", **options).fit(G)
    given_as_numbers = LargeScaleSSC(threshold=tuple(PUBLISHED_REGRESSOR), **options).fit(G)
    np.testing.assert_array_equal(named.labels_, given_as_numbers.labels_)
    never = LargeScaleSSC(threshold=(0.0, 0.0, 1.0), **options).fit(G)
    merging = next(entry for entry in never.trace_ if entry["phase"] == "merge")
    assert merging["groups"] == merging["before"] > named.n_clusters_
    for wrong in ("third", (1.0, 2.0), (1.0, 2.0, float("nan")), 3.0):
        with pytest.raises(ValueError, match="or give the three weights of a regressor"):
            LargeScaleSSC(threshold=wrong).fit(G)
