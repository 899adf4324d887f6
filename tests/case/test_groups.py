"""What is said of groups, against the slow obvious way; and some rows seen as a store."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.case import group_facts
from samecam.case._groups import clusters_json, describe_groups, read_groups
from samecam.case._subset import Subset
from samecam.cluster import numbered
from samecam.store import MemoryStore, Record


def stored(X):
    store = MemoryStore(X.shape[1])
    for k, row in enumerate(X):
        store.add(f"{k:04d}", row, sha256=f"h{k}", meta={"status": "good"})
    store.commit()
    return store


def unit_rows(n, d, seed, camera=0.0, labels=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if labels is not None:
        patterns = rng.normal(size=(labels.max() + 2, d))
        X += camera * patterns[labels]
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)


@given(
    st.lists(st.integers(-1, 4), min_size=1, max_size=30), st.integers(0, 5),
    st.sampled_from([1, 5000, 10**8]),
)  # fmt: skip
def test_numbers_are_those_of_the_fingerprints_themselves(labels, seed, memory):
    labels = numbered(labels)
    X = unit_rows(len(labels), 90, seed, 0.6, labels)
    facts = group_facts(stored(X), labels, memory)
    count = labels.max() + 1
    means = [X[labels == c].mean(axis=0) for c in range(count)]
    for c in range(count):
        inside = X[labels == c].astype(float)
        pairs = [inside[i] @ inside[j] for i in range(len(inside)) for j in range(i)]
        if pairs:
            rho = np.mean(pairs)
            assert facts.correlation[c] == pytest.approx(rho, abs=1e-5)
            n, r = len(inside), max(rho, 0)
            assert facts.quality[c] == pytest.approx((n * r / (1 + (n - 1) * r)) ** 0.5, abs=1e-3)
        else:
            assert np.isnan(facts.correlation[c])
        others = {
            e: means[c] @ means[e] / np.linalg.norm(means[c]) / np.linalg.norm(means[e])
            for e in range(count)
            if e != c
        }
        if others:
            assert facts.nearest_correlation[c] == pytest.approx(max(others.values()), abs=1e-5)
            assert others[facts.nearest[c]] == pytest.approx(max(others.values()), abs=1e-5)
        else:
            assert facts.nearest[c] == -1


def test_quality_is_the_correlation_with_the_pattern():
    """Planted: one camera's pattern is known."""
    rng = np.random.default_rng(3)
    pattern = rng.normal(size=40_000)
    X = 0.15 * pattern + rng.normal(size=(25, 40_000))
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    facts = group_facts(stored(X), np.zeros(25, dtype=np.intp), 10**8)
    mean = X.mean(axis=0)
    truth = mean @ pattern / np.linalg.norm(mean) / np.linalg.norm(pattern)
    assert facts.quality[0] == pytest.approx(truth, abs=0.02)


def test_no_group_at_all():
    facts = group_facts(stored(unit_rows(4, 20, 0)), np.full(4, -1), 10**6)
    assert len(facts.correlation) == len(facts.nearest) == 0


def test_groups_survive_the_file_with_odd_names_and_cameras():
    odd = "x\udcff\n\"<script>'.jpg"
    metas = [
        {"make": "A", "model": "A 1"},
        {"make": "", "model": ""},
        {"make": "A", "model": "A 1"},
    ]
    records = [Record(k, "h" + k, meta) for k, meta in zip((odd, "y", "z"), metas, strict=True)]
    labels = np.array([0, 0, -1])
    facts = group_facts(stored(unit_rows(3, 30, 0)), labels, 10**6)
    groups = describe_groups(records, labels, facts)
    text = clusters_json(groups, records[2:], "hash")
    text.encode("ascii")
    content = json.loads(text)
    assert read_groups(content) == groups
    assert content["clusters"][0]["members"][0] == {"path": odd, "sha256": "h" + odd}
    assert [c["photos"] for c in content["clusters"][0]["cameras"]] == [1, 1]
    assert content["clusters"][0]["nearest"] is None
    assert content["unclustered"] == [{"path": "z", "sha256": "hz"}]
    assert read_groups({**content, "version": 2}) is None


@given(st.lists(st.integers(0, 19), unique=True, min_size=1), st.integers(1, 60))
def test_a_subset_is_a_store_of_its_rows(rows, width):
    X = unit_rows(20, 50, 1)
    rows = np.array(sorted(rows))
    part = Subset(stored(X), rows)
    assert len(part) == len(rows)
    assert list(part.keys) == [f"{k:04d}" for k in rows]
    assert list(part.hashes) == [f"h{k}" for k in rows]
    assert [r.key for r in part.records()] == list(part.keys)
    np.testing.assert_array_equal(part.read(), X[rows])
    np.testing.assert_array_equal(part.read([0]), X[rows[:1]])
    np.testing.assert_array_equal(np.hstack([p for _, p in part.columns(width)]), X[rows])
    last = np.array([len(rows) - 1])
    np.testing.assert_array_equal(np.hstack([p for _, p in part.columns(9, last)]), X[rows[-1:]])
    np.testing.assert_array_equal(np.vstack([b for _, b in part.blocks(1000)]), X[rows])
    for change in (lambda: part.add("k", X[0]), lambda: part.discard(["k"])):
        with pytest.raises(TypeError, match="reading"):
            change()
