"""The building blocks of the rivals against the slow and obvious."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from samecam.cluster.rivals import _kernels
from samecam.cluster.rivals._al_icm import al_icm
from samecam.cluster.rivals._ccc import stable_level
from samecam.cluster.rivals._likelihood import log_ratios, merge_by_likelihood
from samecam.cluster.rivals._silhouette import average_linkage, cut_after
from samecam.cluster.rivals._weac import (
    agreement_weights,
    coassociation,
    entropy,
    normalised_information,
)
from samecam.cluster.rivals._yu_shi import discretise, leading_vectors, star_graph
from samecam.metrics import scores
from samecam.simulate import gram
from tests.cluster.graphs import as_sets, blocks


def random_labels(n, k, seed):
    return np.random.default_rng(seed).integers(0, k, n).astype(np.intp)


# Star graph and Yu–Shi


def test_star_graph_links_each_to_its_best():
    G = gram([8, 7], 0.02, seed=1).gram
    expected = np.zeros((15, 15))
    for i in range(15):
        for j in sorted((j for j in range(15) if j != i), key=lambda j: -G[i, j])[:3]:
            expected[i, j] = max(G[i, j], 0)
    expected = np.maximum(expected, expected.T)
    np.testing.assert_allclose(star_graph(G, 3).toarray(), expected)
    assert star_graph(-np.ones((4, 4)), 2).nnz == 0
    assert star_graph(G, 100).nnz == np.count_nonzero(np.maximum(G, 0) - np.eye(15))


def test_leading_vectors_solve_the_generalised_problem():
    W = blocks([6, 5, 4])[0].toarray() + np.eye(15)
    Z = leading_vectors(W)
    D = np.diag(W.sum(axis=1))
    value = np.diag(Z.T @ W @ Z) / np.diag(Z.T @ D @ Z)
    assert (np.diff(value) <= 1e-9).all()
    np.testing.assert_allclose(W @ Z, D @ Z * value, atol=1e-9)


def trace_of(rows, labels, k):
    """The objective of Yu–Shi for one partition: max over rotations R of tr(Xᵀ X̃ R)."""
    X = np.eye(k)[labels]
    return np.linalg.svd(X.T @ rows, compute_uv=False).sum()


@pytest.mark.parametrize("seed", range(5))
def test_discretisation_finds_groups_whatever_the_basis(seed):
    rng = np.random.default_rng(seed)
    truth = random_labels(60, 4, seed)
    rotation = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    vectors = (np.eye(4)[truth] + rng.normal(0, 0.05, (60, 4))) @ rotation
    labels = discretise(vectors * rng.uniform(0.1, 3, (60, 1)), np.random.RandomState(seed))
    assert as_sets(labels) == as_sets(truth)


def test_discretisation_is_no_worse_than_moving_any_one_photo():
    """A slow check of the optimum: by the objective, no single move is better."""
    rng = np.random.default_rng(3)
    rows = np.eye(3)[random_labels(12, 3, 0)] + rng.normal(0, 0.25, (12, 3))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = discretise(rows, np.random.RandomState(0))
    best = trace_of(rows, labels, 3)
    for i, c in itertools.product(range(12), range(3)):
        moved = labels.copy()
        moved[i] = c
        assert trace_of(rows, moved, 3) <= best + 1e-9


def test_discretisation_of_zero_rows():
    labels = discretise(np.zeros((5, 2)), np.random.RandomState(0))
    assert labels.shape == (5,)


# Correlation clustering


def slow_sweep(G, alpha, order, labels):
    """One sweep in plain Python; new labels are numbers never used before."""
    labels, changed = list(labels), 0
    for i in order:
        gain = {}
        for j in range(len(labels)):
            if j != i:
                gain[labels[j]] = gain.get(labels[j], 0.0) + float(G[i, j]) - alpha
        best = max(gain, key=gain.get)
        if gain[best] <= 0:
            best = labels[i] if labels.count(labels[i]) == 1 else max(labels) + 1
        changed += best != labels[i]
        labels[i] = best
    return labels, changed


@pytest.mark.parametrize("seed", range(6))
def test_al_icm_sweeps_are_the_plain_ones(seed):
    G = gram([5, 4, 3, 1], 0.01, seed=seed, dtype=np.float64).gram
    n, rng = len(G), np.random.default_rng(seed)
    slow = random_labels(n, 4, seed).tolist()
    fast = np.array(slow, dtype=np.intp)
    size = np.bincount(fast, minlength=n)
    free = np.append(np.flatnonzero(size == 0), [0] * np.count_nonzero(size)).astype(np.intp)
    free = np.append(free, np.count_nonzero(size == 0))
    for _ in range(4):
        order = rng.permutation(n)
        slow, expected = slow_sweep(G, 0.004, order, slow)
        assert _kernels.al_icm_sweep(G, 0.004, order, fast, size, free) == expected
        assert as_sets(fast) == as_sets(np.array(slow))
        np.testing.assert_array_equal(size, np.bincount(fast, minlength=n))


def test_labels_that_fell_empty_are_used_again():
    """A low threshold makes one group of all, a high one needs as many labels as photos."""
    G = gram([6, 5], 0.05, seed=1, dtype=np.float64).gram
    n = len(G)
    labels, size = np.arange(n), np.ones(n, dtype=np.intp)
    free, slow = np.zeros(n + 1, dtype=np.intp), list(range(n))
    for alpha in (-0.5, -0.5, 0.5, 0.5, 0.02, 0.02):
        slow, _ = slow_sweep(G, alpha, np.arange(n), slow)
        _kernels.al_icm_sweep(G, alpha, np.arange(n), labels, size, free)
        assert as_sets(labels) == as_sets(np.array(slow))


def energy(G, labels, alpha):
    """What AL-ICM makes small."""
    n = len(G)
    together = [(i, j) for i in range(n) for j in range(n) if i != j and labels[i] == labels[j]]
    return -sum(G[i, j] - alpha for i, j in together)


def test_al_icm_ends_where_no_single_move_helps():
    G = gram([9, 6, 4, 1, 1], 0.01, seed=2, dtype=np.float64).gram
    alpha = 0.005
    labels = al_icm(G, alpha, np.random.RandomState(0))
    best = energy(G, labels, alpha)
    for i, c in itertools.product(range(len(G)), [*set(labels.tolist()), 99]):
        moved = labels.copy()
        moved[i] = c
        assert energy(G, moved, alpha) >= best - 1e-12


def test_al_icm_finds_clear_cameras():
    drawn = gram([10] * 4, 0.1, photo_cv=0.1, seed=0)
    for alpha in (0.003, 0.03):
        labels = al_icm(drawn.gram, alpha, np.random.RandomState(1))
        assert as_sets(labels) == as_sets(drawn.labels)


# Consensus


def test_information_is_that_of_scikit_learn():
    for seed in range(5):
        a, b = random_labels(50, 4, seed), random_labels(50, 7, seed + 10)
        expected = normalized_mutual_info_score(a, b, average_method="max")
        assert normalised_information(a, b) == pytest.approx(expected)
    same = np.zeros(5, dtype=np.intp)
    assert normalised_information(same, same) == 1
    assert normalised_information(same, np.arange(5)) == 0
    assert entropy(np.array([2, 2, 0])) == pytest.approx(np.log(2))


def test_coassociation_slowly():
    partitions = [random_labels(12, k, k) for k in (2, 3, 5)]
    cai = [
        np.mean([
            normalized_mutual_info_score(p, q, average_method="max")
            for j, q in enumerate(partitions)
            if j != i
        ])
        for i, p in enumerate(partitions)
    ]  # fmt: skip
    weight = (np.array(cai) / max(cai)) ** 2
    np.testing.assert_allclose(agreement_weights(partitions), weight)
    expected = np.zeros((12, 12))
    for w, p in zip(weight, partitions, strict=True):
        for i, j in itertools.product(range(12), range(12)):
            expected[i, j] += w * (p[i] == p[j]) / weight.sum()
    np.testing.assert_allclose(coassociation(partitions), expected)
    np.testing.assert_array_equal(agreement_weights(partitions[:1]), [1])


@pytest.mark.parametrize("tolerance", [0.01, 0.05, 0.2])
def test_stable_level_slowly(tolerance):
    tree = average_linkage(gram([9, 7, 5], 0.01, seed=3).gram)
    n = len(tree) + 1
    levels = [cut_after(tree, n - groups) for groups in range(1, n + 1)]  # 1 … n groups
    agreement = [
        normalized_mutual_info_score(a, b, average_method="max")
        for a, b in itertools.pairwise(levels)
    ]
    expected = max(k for k, value in enumerate(agreement, 2) if value < 1 - tolerance)
    assert n - stable_level(tree, tolerance) == expected


# Likelihood ratio


def test_log_ratios_are_those_of_two_normal_laws():
    from scipy.stats import median_abs_deviation, norm

    rng = np.random.default_rng(0)
    own = np.arange(60) < 10
    x = np.where(own, rng.normal(0.05, 0.01, 60), rng.normal(0, 0.002, 60))
    strangers = norm(np.median(x[~own]), median_abs_deviation(x[~own], scale="normal"))
    family = norm(x[own].mean(), x[own].std())
    np.testing.assert_allclose(log_ratios(x, own), family.logpdf(x) - strangers.logpdf(x))
    narrow = np.where(own, 0.05, x)  # the family is never narrower than strangers
    assert log_ratios(narrow, own)[0] == pytest.approx(
        norm(0.05, strangers.std()).logpdf(0.05) - strangers.logpdf(0.05)
    )


def slow_merging(G, labels):
    """Merge by likelihood with everything computed anew each time."""
    from samecam.correlate import centroid_correlations

    labels, limit = labels.copy(), 1
    while True:
        size = {c: np.count_nonzero(labels == c) for c in set(labels.tolist())}
        large = [c for c in size if size[c] > limit]
        if not large:
            return labels
        best, pair = 0.0, None
        for p in large:
            only = np.where(labels == p, 0, -1)
            ratios = log_ratios(centroid_correlations(G, only)[:, 0], labels == p)
            for q in size:
                if size[q] <= limit and ratios[labels == q].sum() > best:
                    best, pair = ratios[labels == q].sum(), (p, q)
        if pair is None:
            limit += 1
        else:
            labels[labels == pair[1]] = pair[0]


@pytest.mark.parametrize("seed", [7, 13, 19, 24])
def test_merging_of_mixed_groups_slowly(seed):
    """Groups that grew as large ones join larger ones later, with all they took in."""
    G, mixed = gram([14, 9, 6], 0.006, seed=seed).gram, random_labels(29, 12, seed)
    mixed = np.unique(mixed, return_inverse=True)[1].astype(np.intp)
    assert as_sets(merge_by_likelihood(G, mixed)) == as_sets(slow_merging(G, mixed))


@pytest.mark.parametrize("seed", range(3))
def test_merging_by_likelihood_slowly(seed):
    drawn = gram([14, 9, 6], 0.01, seed=seed)
    pieces = drawn.labels * 6 + np.arange(29) % 6
    pieces = np.unique(pieces, return_inverse=True)[1].astype(np.intp)
    before = pieces.copy()
    merged = merge_by_likelihood(drawn.gram, pieces)
    np.testing.assert_array_equal(pieces, before)
    assert as_sets(merged) == as_sets(slow_merging(drawn.gram, pieces))
    assert scores(drawn.labels, merged).f > scores(drawn.labels, pieces).f


# Markov clustering


def slow_flow(weights, inflation, steps=60):
    M = [
        [float(weights[i][j]) + (i == j) for j in range(len(weights))] for i in range(len(weights))
    ]
    n = len(M)
    for step in range(steps + 1):
        if step:
            M = [[sum(M[i][k] * M[k][j] for k in range(n)) ** inflation for j in range(n)]
                 for i in range(n)]  # fmt: skip
        for j in range(n):
            total = sum(M[i][j] for i in range(n))
            for i in range(n):
                M[i][j] /= total
    return np.array(M)
