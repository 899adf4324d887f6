"""The steps of consolidation under what persons decided, beside the obvious way."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from samecam.cluster import Constraints
from samecam.cluster.consolidate import _kernels, _steps
from samecam.cluster.consolidate._constraints import Bonds, Counts
from samecam.cluster.consolidate._cpu import GramSums
from tests.cluster.test_constraints import SIGMA, fit, nobody, rows, together, with_photo


def obvious_merging(between, inside, size, z, bonds, labels):
    """Merge the best pair that may be one until none is good enough, all computed anew."""
    between, inside, size = between.copy(), inside.copy(), size.copy()
    alive, labels = set(range(len(size))), labels.copy()
    while True:
        best = (1.0, None)
        for a in alive:
            for b in alive - {a}:
                pairs = size[a] * size[b]
                own = [max(inside[c], 0) / (size[c] * (size[c] - 1)) for c in (a, b)]
                needed = max(z * np.sqrt(pairs), 0.5 * pairs * np.sqrt(own[0] * own[1]))
                best = max(best, (between[a, b] / needed, (a, b)), key=lambda x: x[0])
        if best[1] is None:
            return labels
        a, b = best[1]
        if not may_merge(labels, a, b, *bonds):
            between[a, b] = between[b, a] = -np.inf
            continue
        alive.remove(b)
        labels[labels == b] = a
        inside[a] += inside[b] + 2 * between[a, b]
        size[a] += size[b]
        between[a] += between[b]
        between[:, a] = between[a]


def may_merge(labels, a, b, pinned, apart):
    joined = np.where(labels == b, a, labels)
    for photos, others in apart:
        now, then = ranks(labels, others), ranks(joined, others)
        meet = False
        for c, d in ((a, b), (b, a)):
            meet |= (labels[photos] == c).any() and (labels[others] == d).any()
        for c, d in ((a, b), (b, a)) if meet else ():
            mine, theirs = photos[labels[photos] == c], others[labels[others] == d]
            if len(theirs) >= np.count_nonzero(labels == d) / 2 and speak(mine, labels, c, pinned):
                return False
            before = max(sorted(now), key=now.get)
            if then[a] < max(then.values()) or before == c or not speak(mine, labels, c, pinned):
                continue
            if not pinned[mine].any() or pinned[theirs].any():
                return False
    return True


def speak(photos, labels, group, pinned):
    """Whether photos speak for a group that they are in."""
    return pinned[photos].any() or len(photos) >= np.count_nonzero(labels == group) / 2


def ranks(labels, others):
    """Of groups that hold any of `others`: how many of them, and of all photos."""
    there, many = np.unique(labels[others][labels[others] >= 0], return_counts=True)
    pairs = zip(there.tolist(), many.tolist(), strict=True)
    return {c: (held, np.count_nonzero(labels == c)) for c, held in pairs}


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.integers(0, 10**6))
def test_merging_takes_the_best_pair_that_may_be_one(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 12))
    cameras = rng.integers(0, 3, count)
    labels = np.repeat(np.arange(count), rng.integers(2, 7, count))
    n, size = len(labels), np.bincount(labels).astype(np.float64)
    strength = rng.normal(1, 0.4, count)
    noise = rng.normal(size=(count, count)) * np.sqrt(np.outer(size, size))
    between = (noise + noise.T) / 2
    between += (cameras[:, None] == cameras) * np.outer(size * strength, size * strength)
    inside = np.diag(between) * (size - 1) / size
    np.fill_diagonal(between, 0)
    sets = np.where(rng.random(n) < 0.2, labels, -1)  # pinned within their groups
    apart = []
    for _ in range(int(rng.integers(1, 4))):
        some = rng.permutation(np.flatnonzero(np.isin(labels, rng.integers(0, count, 4))))
        cut = rng.integers(0, len(some) + 1)
        apart.append((some[:cut], some[cut:]))
    bonds = Bonds(Constraints(sets, tuple(apart)), n)
    counts = bonds.counts(labels, count)
    root = np.arange(count)
    given = between.copy(), inside.copy(), size.copy(), np.ones(count)
    _kernels.merge_groups(*given, 2.0, root, *counts)
    while (root != root[root]).any():
        root = root[root]
    expected = obvious_merging(between, inside, size, 2.0, (bonds.pinned, bonds._apart), labels)
    same = np.equal.outer(root[labels], root[labels])
    np.testing.assert_array_equal(same, np.equal.outer(expected, expected))


def test_sums_are_as_before_after_refining():
    G, photo, first, _ = with_photo(0, 8, 4)
    bonds = Bonds(Constraints(nobody(len(G)), ((rows(photo), first),)), len(G))
    labels = together(len(G), first)
    groups = _steps.Groups.make(GramSums(G, np.full(len(G), SIGMA**0.5)), labels, bonds)
    before = groups.products.copy()
    assert _steps.refine(groups, 0.01)[photo] == -1
    np.testing.assert_array_equal(groups.products, before)
    groups.bonds = None
    assert _steps.refine(groups, 0.01)[photo] == 0


def test_no_counts_are_of_no_pairs():
    assert [part.shape for part in Counts.none(4)] == [(0, 4)] * 4


def test_the_start_has_no_edge_between_those_who_are_apart():
    """Nor between those who are pinned to them; the rows are some of all."""
    bonds = Bonds(Constraints(together(7, rows(0, 6)), ((rows(0), rows(2, 4)),)), 7)
    some = rows(0, 1, 2, 4, 5, 6)
    edges = bonds.without_edges(sparse.csr_array(1 - np.eye(6)), some).toarray()
    expected = 1 - np.eye(6)
    for a in (0, 5):  # rows 0 and 6
        for b in (2, 3):
            expected[a, b] = expected[b, a] = 0
    np.testing.assert_array_equal(edges, expected)
    start = bonds.begun(np.array([0, 0, 0, -1, 1, 1, 1]))
    np.testing.assert_array_equal(start, [2, 0, 0, -1, 1, 1, 2])


def test_an_answer_is_settled_by_its_own_numbers():
    """One of the others is in either group, the photo with the larger; a group of one is none."""
    bonds = Bonds(Constraints(nobody(8), ((rows(7), rows(0, 2)),)), 8)
    larger, as_large = [0, 0, 3, 3, 3, 2, -1, 3], [0, 0, 3, 3, 3, 2, -1, 0]
    for labels in (larger, as_large):  # then that of the first photo
        np.testing.assert_array_equal(bonds.settled(np.array(labels)), [1, 1, 0, 0, 0, -1, -1, -1])
    smaller = np.array([0, 0, 3, 3, 3, 3, -1, 0])
    np.testing.assert_array_equal(bonds.settled(smaller), [1, 1, 0, 0, 0, 0, -1, 1])


def test_every_answer_is_settled(monkeypatch):
    G, photo, first, _ = with_photo(0, 8, 4)
    monkeypatch.setattr(Bonds, "settled", lambda _, labels: nobody(len(labels)))
    assert (fit(G, Constraints(nobody(len(G)), ((rows(photo), first),))) == -1).all()


def test_rows_of_a_batch_know_what_is_asked_of_them():
    sets, pairs = together(6, rows(0, 1, 5), rows(2, 3)), ((rows(4), rows(0, 2)),)
    bonds = Bonds(Constraints(sets, pairs), 6)
    part = bonds.among(rows(1, 3, 4, 5))
    np.testing.assert_array_equal(part.pinned, [True, False, False, True])
    assert len(part.counts(nobody(4), 1).others) == 0  # none of them is there
    part = bonds.among(rows(2, 4))
    assert not part.pinned.any()
    assert [counts.tolist() for counts in part.forbidden(rows(0, 0))] == [[1, 0], [0, 0]]
    assert bonds.among(rows(3, 4)) is None
