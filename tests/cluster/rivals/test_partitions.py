"""Parts of the rivals that divide and link, against the slow obvious way."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from samecam.cluster.rivals import _kernels, _mcl
from samecam.cluster.rivals._mcl import flow_limit, markov_clusters
from samecam.cluster.rivals._mrf import committees, two_means_borders
from samecam.cluster.rivals._ncuts import bisect, normalised_cuts, second_vector
from samecam.cluster.rivals._silhouette import average_linkage, cut_after, silhouettes
from samecam.simulate import gram
from tests.cluster.graphs import as_sets, blocks
from tests.cluster.rivals.test_blocks import random_labels, slow_flow


@pytest.mark.parametrize("inflation", [1.6, 2.0, 3.0])
@pytest.mark.parametrize("share", [0, 0.05, 2])  # never sparse, at the end, from the beginning
def test_flow_slowly(share, inflation, monkeypatch):
    monkeypatch.setattr(_mcl, "_SPARSE", share)
    weights = (blocks([4, 5], between=0.15, seed=2)[0].toarray() > 0.1) * 1.0
    limit = flow_limit(weights, inflation).toarray()
    np.testing.assert_allclose(limit, slow_flow(weights, inflation), atol=1e-4)


@pytest.mark.parametrize("inflation", [1.3, 2.0])
def test_a_sparse_flow_settles_where_a_dense_one_does(inflation, monkeypatch):
    path = np.diag(np.linspace(0.5, 1, 39), 1)
    limits = []
    for share in (0, 0.05, 2):
        monkeypatch.setattr(_mcl, "_SPARSE", share)
        limits.append(flow_limit(path + path.T, inflation).toarray())
    np.testing.assert_allclose(limits[1:], limits[:1] * 2, atol=1e-9)


def test_markov_clusters():
    two = np.kron(np.eye(2), np.ones((6, 6)) - np.eye(6))
    two[0, 6] = two[6, 0] = 1  # a bridge between two cliques
    labels = markov_clusters(sparse.csr_array(two))
    assert as_sets(labels) == {frozenset(range(6)), frozenset(range(6, 12))}
    np.testing.assert_array_equal(markov_clusters(two), labels)
    across = np.kron([[0, 1], [1, 0]], np.ones((3, 3)))  # without self-loops: two sides
    assert len(set(markov_clusters(across).tolist())) == 1
    lone = np.zeros((4, 4))
    lone[1, 2] = lone[2, 1] = 1
    assert as_sets(markov_clusters(lone)) == {frozenset({0}), frozenset({1, 2}), frozenset({3})}


def test_inflation_makes_smaller_groups():
    path = np.diag(np.ones(19), 1) + np.diag(np.ones(19), -1)
    count = [len(set(markov_clusters(path, r).tolist())) for r in (1.3, 2.0, 4.0)]
    assert count[0] < count[1] <= count[2]


# Silhouette


def slow_silhouette(G, labels):
    total = 0.0
    for i in range(len(G)):
        groups = [np.flatnonzero(labels == c) for c in set(labels.tolist())]
        own = next(g for g in groups if i in g)
        if len(own) == 1:
            continue
        a = np.mean([G[i, j] for j in own if j != i])
        b = max((np.mean([G[i, j] for j in g]) for g in groups if i not in g), default=0.0)
        total += b - a
    return total / len(G)


@pytest.mark.parametrize("seed", range(3))
def test_silhouettes_slowly(seed):
    G = gram([7, 5, 4, 1], 0.02, seed=seed, dtype=np.float64).gram
    tree = average_linkage(G)
    expected = [slow_silhouette(G, cut_after(tree, t)) for t in range(len(G))]
    np.testing.assert_allclose(silhouettes(G, tree), expected, atol=1e-12)


def test_average_linkage_slowly():
    """Merge the two groups with the highest mean correlation, again and again."""
    G = gram([5, 4, 3], 0.03, seed=1, dtype=np.float64).gram
    groups = [[i] for i in range(12)]
    tree = average_linkage(G)
    for count in range(12):
        assert as_sets(cut_after(tree, count)) == {frozenset(g) for g in groups}
        if len(groups) > 1:
            a, b = max(itertools.combinations(groups, 2), key=lambda pair: G[np.ix_(*pair)].mean())
            groups = [g for g in groups if g not in (a, b)] + [a + b]


# Membership committee


def test_two_means_slowly():
    G = gram([6, 5], 0.05, seed=4, dtype=np.float64).gram
    for i, border in enumerate(two_means_borders(G)):
        values = np.sort(np.delete(G[i], i))
        cost = [
            ((values[:k] - values[:k].mean()) ** 2).sum()
            + ((values[k:] - values[k:].mean()) ** 2).sum()
            for k in range(1, 10)
        ]
        k = 1 + int(np.argmin(cost))
        assert border == pytest.approx((values[:k].mean() + values[k:].mean()) / 2)


def test_committees_are_the_most_alike():
    G = gram([6, 5], 0.05, seed=4).gram
    for i, members in enumerate(committees(G, 4)):
        assert members.tolist() == sorted(set(range(11)) - {i}, key=lambda j: -G[i, j])[:4]


@pytest.mark.parametrize("seed", range(4))
def test_committee_sweep_slowly(seed):
    G = gram([6, 5, 4], 0.01, seed=seed, dtype=np.float64).gram
    members, border = committees(G, 5), two_means_borders(G)
    order = np.random.default_rng(seed).permutation(15)
    fast = random_labels(15, 6, seed)
    slow = fast.copy()
    changed = _kernels.committee_sweep(G, members, border, order, fast)
    count = 0
    for i in order:
        vote = {int(slow[i]): 0.0}
        for j in members[i]:
            vote[int(slow[j])] = vote.get(int(slow[j]), 0.0) + G[i, j] - border[i]
        best = max(vote, key=vote.get)
        count += best != slow[i]
        slow[i] = best
    np.testing.assert_array_equal(fast, slow)
    assert changed == count


# Normalised cuts


def test_normalised_cuts_slowly():
    W = blocks([5, 4], between=0.3)[0].toarray()
    result = normalised_cuts(W)
    for k in range(1, 9):
        cut, a, b = W[:k, k:].sum(), W[:k].sum(), W[k:].sum()
        assert result[k - 1] == pytest.approx(cut / a + cut / b)


@pytest.mark.parametrize("sizes", [[12, 9], [200, 180]])
def test_second_vector_solves_the_generalised_problem(sizes):
    """Dense and by Lanczos; also for a graph in two pieces."""
    from scipy.linalg import eigh

    for between in (0.1, 0.0):
        W = blocks(sizes, between=between)[0].toarray()
        D = np.diag(W.sum(axis=1))
        y = second_vector(W)
        value = y @ (D - W) @ y / (y @ D @ y)
        assert value == pytest.approx(eigh(D - W, D, eigvals_only=True)[1], abs=1e-5)
        assert abs(y @ D @ np.ones(len(W))) < 1e-5 * np.sqrt((y @ D @ y) * D.sum())


def test_bisection_cuts_between_groups_and_sets_lone_nodes_aside():
    W, group = blocks([8, 6, 1], between=0.02)
    W = W.toarray()
    W[14] = W[:, 14] = 0
    side, lone = bisect(W)
    assert lone.tolist() == [False] * 14 + [True]
    assert as_sets(side[:14].astype(int)) == as_sets(group[:14])
    assert bisect(np.zeros((3, 3)))[1].all()
