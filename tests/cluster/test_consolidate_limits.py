"""The consolidated method beside its steps: what else must hold."""

import numpy as np
import pytest

from samecam.cluster.consolidate import ConsolidatedSSC, _kernels
from samecam.cluster.consolidate._constraints import Counts
from samecam.simulate import fingerprints
from samecam.store import MemoryStore
from tests.cluster.test_consolidate import fit


def test_noise_in_batches_holds_no_group():
    X, _ = fingerprints([1] * 300, 0.1, 2048, seed=5)
    assert (ConsolidatedSSC(memory=150_000).fit(X).labels_ == -1).all()


def test_bad_rates_get_a_sentence():
    with pytest.raises(ValueError, match="join_rate"):
        fit(np.eye(3), join_rate=0.0)
    with pytest.raises(ValueError, match="metric"):
        ConsolidatedSSC(metric="x").fit(np.eye(3))


def obvious_merging(between, inside, size, z):
    """Merge the best pair of all until none is good enough, with everything computed anew."""
    groups = {a: [a] for a in range(len(size))}
    between, inside, size = between.copy(), inside.copy(), size.copy()
    while True:
        best = (1.0, None)
        for a in groups:
            for b in groups:
                if a != b:
                    pairs = size[a] * size[b]
                    own = [max(inside[c], 0) / (size[c] * (size[c] - 1)) for c in (a, b)]
                    needed = max(z * np.sqrt(pairs), 0.5 * pairs * np.sqrt(own[0] * own[1]))
                    best = max(best, (between[a, b] / needed, (a, b)), key=lambda x: x[0])
        if best[1] is None:
            return {frozenset(members) for members in groups.values()}
        a, b = best[1]
        groups[a] += groups.pop(b)
        inside[a] += inside[b] + 2 * between[a, b]
        size[a] += size[b]
        between[a] += between[b]
        between[:, a] = between[a]


@pytest.mark.parametrize("seed", range(8))
def test_merging_takes_the_best_pair_each_time(seed):
    rng = np.random.default_rng(seed)
    n = 24
    cameras, size = rng.integers(0, 4, n), rng.integers(2, 9, n).astype(np.float64)
    noise = rng.normal(size=(n, n)) * np.sqrt(np.outer(size, size))
    strength = rng.normal(1, 0.5, n)
    between = (noise + noise.T) / 2
    between += (cameras[:, None] == cameras) * np.outer(size * strength, size * strength)
    inside = np.diag(between) * (size - 1) / size
    np.fill_diagonal(between, 0)
    root = np.arange(n)
    given = between.copy(), inside.copy(), size.copy(), np.ones(n)
    merges = _kernels.merge_groups(*given, 3.0, root, *Counts.none(n))
    while (root != root[root]).any():
        root = root[root]
    found = {frozenset(np.flatnonzero(root == r).tolist()) for r in set(root.tolist())}
    assert found == obvious_merging(between, inside, size, 3.0)
    assert merges == n - len(found)
    assert 4 <= len(found) < n


def test_progress_counts_photos():
    X = fingerprints([12, 10, 9] + [1] * 5, 0.1, 20_000).X
    store = MemoryStore(X.shape[1])
    for i, row in enumerate(X):
        store.add(f"{i:03}", row)
    store.commit()
    seen = {}
    ConsolidatedSSC().fit(store, progress=lambda *a: seen.setdefault(a[0], []).append(a[1:]))
    assert list(seen) == ["Correlating", "Representing", "Grouping"]
    for counts in seen.values():
        assert counts[0] == (0, 36)
        assert counts[-1] == (36, 36)
    assert {done for done, _ in seen["Correlating"]} == {0, 14, 29, 36}  # strips of 8192 pixels
    assert len(seen["Grouping"]) > 2
