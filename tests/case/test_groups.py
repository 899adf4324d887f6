"""What is said of groups, against the slow obvious way; and some rows seen as a store."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.case.extraction._scene import keep_scene, kept_scene
from samecam.case.folder import clusters_json, read_cameras
from samecam.case.grouping._cameras import each_a_camera
from samecam.case.grouping._evidence import COLUMNS, rows_of, weigh
from samecam.case.grouping._groups import about_evidence, describe_cameras, describe_groups
from samecam.correlate import centroid_correlations
from samecam.frames import Frame
from samecam.store import DiskStore, MemoryStore, Record, Subset


def filled(store, X, **more):
    for k, row in enumerate(X):
        store.add(f"{k:04d}", row, sha256=f"h{k}", meta={"status": "good"}, **more)
    store.commit()
    return store


@pytest.fixture
def stored(tmp_path):
    """Rows of unknown shape on disk."""
    made = []

    def make(X):
        folder = tmp_path / f"store{len(made)}"
        store = DiskStore.create(folder, frame=Frame(X.shape[1], 1), dtype="float32")
        made.append(store)
        return filled(store, X)

    yield make
    for store in made:
        store.close()


def unit_rows(n, d, seed, camera=0.0, labels=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if labels is not None:
        patterns = rng.normal(size=(labels.max() + 2, d))
        X += camera * patterns[labels]
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)


def weighed(store, labels, records=None, scale=0.2):
    said = {frame.name: {"null_scale": scale} for frame in store.frames}
    return weigh(store, records or store.records(), labels, said, 10**8, lambda *_: None)


def test_groups_carry_their_evidence(stored):
    labels = np.repeat([0, 1, 2, -1], [12, 9, 6, 5])
    X = unit_rows(len(labels), 2500, 0, 0.4, labels)
    G = X @ X.T
    store = stored(X)
    facts, records = weighed(store, labels, scale=0.02), store.records()
    groups = describe_groups(records, labels, facts)
    assert [group.size for group in groups] == [12, 9, 6]
    for group in groups:
        inside = G[np.ix_(labels == group.id, labels == group.id)]
        pairs = inside[np.triu_indices(group.size, 1)]
        assert group.correlation == pytest.approx(pairs.mean(), abs=1e-5)
        assert group.score == pytest.approx(pairs.sum() / np.sqrt(len(pairs)) / 0.02, rel=0.5)
        assert str(group.nearest) in group.why_apart
    rows = rows_of(records, labels, facts)
    expected = centroid_correlations(G, labels)
    for row, record, label, r in zip(rows, records, labels, expected, strict=True):
        assert row[:2] == [record.key, label]
        assert row[2] == (None if label < 0 else pytest.approx(r[label], abs=1e-5))
        others = [c for c in range(3) if c != label]
        assert row[COLUMNS.index("nearest")] == max(others, key=lambda c: r[c])
    assert all(row[COLUMNS.index("pce")] > 20 for row in rows[:12])
    assert all(row[COLUMNS.index("doubtful")] == "no" for row in rows[:12])


def test_progress_counts_photos(stored):
    labels = np.repeat([0, 1, 2, -1], [12, 9, 6, 5])
    store, seen = stored(unit_rows(len(labels), 2500, 0, 0.4, labels)), {}
    told = lambda phase, *counts: seen.setdefault(phase, []).append(counts)  # noqa: E731
    weigh(store, store.records(), labels, {"2500x1": {"null_scale": 0.02}}, 10**8, told)
    # 2,500 pixels are three strips of all photos; chance and scenes go group by group.
    assert seen["Weighing evidence"] == [(0, 32), (13, 32), (26, 32), (32, 32)]
    assert seen["Measuring chance"] == [(12, 27), (21, 27), (27, 27)]
    assert seen["Comparing members"] == [(12, 27), (21, 27), (27, 27)]


def test_no_group_at_all(stored):
    labels, store = np.full(4, -1), stored(unit_rows(4, 25, 0))
    assert weighed(store, labels) is None
    assert describe_groups(store.records(), labels, None) == []
    assert rows_of(store.records(), labels, None)[0][:2] == ["0000", -1]
    assert describe_cameras(store.records(), each_a_camera(labels), None, views=False) == []


def test_unmoving_scenes_are_named_and_the_rest_weighed_alone(stored):
    rng = np.random.default_rng(4)
    scene = rng.integers(0, 256, (64, 64, 3)).astype(np.uint8)
    pictures = [scene] * 4 + [rng.integers(0, 256, (64, 64, 3)).astype(np.uint8) for _ in range(4)]
    labels = np.zeros(8, dtype=np.intp)
    X = unit_rows(8, 900, 1, 0.5, labels)
    records = [
        Record(f"{k:04d}", f"h{k}", {"status": "good", "scene": keep_scene(picture)}, Frame(900, 1))
        for k, picture in enumerate(pictures)
    ]
    facts = weighed(stored(X), labels, records, scale=0.03)
    scenes = facts.scenes[0]
    assert scenes.paths == [["0000", "0001", "0002", "0003"]]
    assert scenes.pairs == 28 - 6
    group = describe_groups(records, labels, facts)[0]
    assert any("unmoving scene" in sentence for sentence in group.warnings)
    for broken in ("", "x", "AAAA", None, 5):
        assert kept_scene({"scene": broken}) is None
    assert keep_scene(scene[:20, :20]) is None


def test_groups_survive_the_file_with_odd_names_and_cameras(stored):
    odd = "x\udcff\n\"<script>'.jpg"
    metas = [
        {"make": "A", "model": "A 1"},
        {"make": "", "model": ""},
        {"make": "A", "model": "A 1"},
    ]
    names, frame = (odd, "y", "z"), Frame(36, 1)
    records = [Record(k, "h" + k, meta, frame) for k, meta in zip(names, metas, strict=True)]
    labels = np.array([0, 0, -1])
    facts = weighed(stored(unit_rows(3, 36, 0)), labels, records)
    cameras = describe_cameras(records, each_a_camera(labels), facts, views=False)
    text = clusters_json(cameras, [("z", "hz")], about_evidence(facts, 1), {"clusters.csv": "hash"})
    text.encode("ascii")
    content = json.loads(text)
    assert read_cameras(content) == cameras
    (camera,) = content["clusters"]
    (group,) = camera["groups"]
    assert (camera["id"], camera["size"], camera["placed"]) == (0, 2, [])
    assert group["members"][0] == {"path": odd, "sha256": "h" + odd}
    assert [c["photos"] for c in group["cameras"]] == [1, 1]
    assert group["nearest"] is None
    assert content["unclustered"] == [{"path": "z", "sha256": "hz"}]
    assert group["frame"] is None  # of rows that somebody brought
    for other in (2, 4):
        assert read_cameras({**content, "version": other}) is None


@given(st.lists(st.integers(0, 19), unique=True, min_size=1), st.integers(1, 60))
def test_a_subset_is_a_store_of_its_rows(rows, width):
    X = unit_rows(20, 50, 1)
    rows = np.array(sorted(rows))
    part = Subset(filled(MemoryStore(50), X), rows)
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
