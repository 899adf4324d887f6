"""One suite for every store: what is promised holds on disk and in memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.errors import SamecamError
from samecam.store import DiskStore, MemoryStore

N = 300
MAKERS = {
    "memory": lambda _, n: MemoryStore(n),
    "float32": lambda folder, n: DiskStore.create(folder, n_pixels=n, dtype="float32"),
    "float16": lambda folder, n: DiskStore.create(folder, n_pixels=n),
    "int8": lambda folder, n: DiskStore.create(folder, n_pixels=n, dtype="int8"),
}
ERROR = {"memory": 0, "float32": 0, "float16": 3e-4, "int8": 2e-3}


@pytest.fixture(params=MAKERS)
def kind(request):
    return request.param


@pytest.fixture
def store(kind, tmp_path):
    with MAKERS[kind](tmp_path / "store", N) as store:
        yield store


def vectors(count, n=N, seed=0):
    X = np.random.default_rng(seed).normal(size=(count, n))
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)


def test_rows_come_back_in_the_order_of_their_keys(store, kind):
    X = vectors(5)
    for k in (3, 0, 4, 1, 2):
        store.add(f"k{k}", X[k], sha256=f"h{k}", meta={"n": k})
    store.commit()
    assert list(store.keys) == [f"k{k}" for k in range(5)]
    assert list(store.hashes) == [f"h{k}" for k in range(5)]
    assert len(store) == 5
    np.testing.assert_allclose(store.read(), X, atol=ERROR[kind])
    assert store.read().dtype == np.float32


def test_rows_by_key_hash_and_number(store, kind):
    X = vectors(4)
    for k, key in enumerate(["a", "b/ä", "c\nd", "\udcff.jpg"]):
        store.add(key, X[k], sha256=str(k))
    store.commit()
    assert store.index("c\nd") == 2
    assert store.index("\udcff.jpg") == 3
    assert store.find("1") == 1
    np.testing.assert_allclose(store.read([2, 0, 2]), X[[2, 0, 2]], atol=ERROR[kind])
    np.testing.assert_allclose(store.read(slice(1, 3)), X[1:3], atol=ERROR[kind])
    assert store.read([]).shape == (0, N)
    with pytest.raises(KeyError):
        store.index("bb")
    with pytest.raises(KeyError):
        store.find("9")
    with pytest.raises(IndexError):
        store.read([4])


def test_nothing_counts_before_commit(store):
    store.add("a", vectors(1)[0])
    assert len(store) == 0
    assert store.records() == []
    store.commit()
    assert len(store) == 1


def test_records_without_a_row(store):
    store.add("bad", None, meta={"reason": "ends \udcfe"})
    store.add("good", vectors(1)[0], sha256="1")
    store.commit()
    assert [(r.key, r.has_row) for r in store.records()] == [("bad", False), ("good", True)]
    assert store.records()[0].meta == {"reason": "ends \udcfe"}
    assert list(store.keys) == ["good"]


def test_a_key_put_again_is_replaced(store, kind):
    X = vectors(2)
    store.add("a", X[0], sha256="1")
    store.commit()
    store.add("a", X[1], sha256="2")
    store.commit()
    assert list(store.hashes) == ["2"]
    np.testing.assert_allclose(store.read()[0], X[1], atol=ERROR[kind])
    store.add("a", None)
    store.commit()
    assert len(store) == 0


def test_discarded_records_are_gone(store, kind):
    X = vectors(3)
    for k in range(3):
        store.add(f"{k}", X[k] if k else None)
    store.commit()
    store.discard(["0", "1", "none"])
    assert [r.key for r in store.records()] == ["2"]
    np.testing.assert_allclose(store.read(), X[2:], atol=ERROR[kind])


@pytest.mark.parametrize("rows", [1, 2, 3, 100])
def test_blocks_keep_within_the_budget_and_give_everything(store, rows):
    for k, x in enumerate(vectors(7)):
        store.add(f"{k}", x)
    store.commit()
    blocks = list(store.blocks(rows * store.row_bytes + 1))
    assert all(len(block) <= rows for _, block in blocks)
    assert [start for start, _ in blocks] == list(range(0, 7, rows))
    np.testing.assert_array_equal(np.concatenate([b for _, b in blocks]), store.read())


@pytest.mark.parametrize("width", [1, 7, 100, N, N + 5])
def test_columns_give_every_pixel_once(store, width):
    for k, x in enumerate(vectors(5)):
        store.add(f"{k}", x)
    store.commit()
    parts = [(start, part.copy()) for start, part in store.columns(width)]
    assert [start for start, _ in parts] == list(range(0, N, width))
    np.testing.assert_array_equal(np.concatenate([p for _, p in parts], axis=1), store.read())
    some = [part.copy() for _, part in store.columns(width, np.array([3, 1]))]
    np.testing.assert_array_equal(np.concatenate(some, axis=1), store.read([3, 1]))


def test_a_budget_under_one_row_is_refused(store):
    store.add("a", vectors(1)[0])
    store.commit()
    with pytest.raises(SamecamError, match="too small for one row"):
        list(store.blocks(100))


def test_a_vector_of_another_length_is_refused(store):
    with pytest.raises(ValueError, match="shape"):
        store.add("a", np.zeros(N + 1))


def test_the_argument_is_copied(store, kind):
    x = vectors(1)[0]
    kept = x.copy()
    store.add("a", x)
    x[:] = 0
    store.commit()
    np.testing.assert_allclose(store.read()[0], kept, atol=ERROR[kind])


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=30))
def test_disk_and_memory_agree_after_any_history(tmp_path_factory, history):
    X = vectors(10)
    disk = DiskStore.create(tmp_path_factory.mktemp("s") / "x", n_pixels=N, dtype="float32")
    memory = MemoryStore(N)
    for k, commit in history:
        for store in (disk, memory):
            store.add(f"key{k % 5}", X[k] if k % 3 else None, sha256=str(k))
            if commit:
                store.commit()
    assert disk.records() == memory.records()
    assert list(disk.keys) == list(memory.keys)
    np.testing.assert_array_equal(disk.read(), memory.read())
    folder = disk.folder
    disk.close()
    with DiskStore.open(folder) as again:
        assert again.records() == memory.records()
        np.testing.assert_array_equal(again.read(), memory.read())


@pytest.mark.parametrize(("dtype", "bound"), [("float16", 5e-6), ("int8", 2e-4)])
def test_narrow_numbers_hardly_move_a_correlation(tmp_path, dtype, bound):
    n = 65536
    X = vectors(12, n)
    X[1] = (X[0] + 3 * X[1]) / np.linalg.norm(X[0] + 3 * X[1])
    with DiskStore.create(tmp_path / "s", n_pixels=n, dtype=dtype) as store:
        for k, x in enumerate(X):
            store.add(f"{k:02d}", x)
        store.commit()
        Y = store.read().astype(np.float64)
    np.testing.assert_allclose(np.linalg.norm(Y, axis=1), 1, atol=1e-4)
    gram = X.astype(np.float64) @ X.T.astype(np.float64)
    between = ~np.eye(12, dtype=bool)
    assert np.abs(Y @ Y.T - gram)[between].max() < bound
