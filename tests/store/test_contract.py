"""One suite for every store: what is promised holds on disk and in memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.errors import SamecamError
from samecam.frames import Frame
from samecam.store import DiskStore, MemoryStore, frame_dtype, pack

N = 300
MAKERS = {
    "memory": lambda _, n: MemoryStore(n),
    **{
        dtype: lambda folder, n, dtype=dtype: DiskStore.create(
            folder, frame=Frame(n, 1), dtype=dtype
        )
        for dtype in ("float32", "float16", "int8", "bits", "2bits")
    },
}
ERROR = {"memory": 0, "float32": 0, "float16": 3e-4, "int8": 2e-3, "bits": 0, "2bits": 1e-8}


def kept(X, kind):
    """What comes back of some vectors, but for rounding."""
    if kind == "2bits":
        small = np.abs(X) <= np.sqrt(np.square(X).mean(axis=-1, keepdims=True))
        levels = np.where(X > 0, 1, -1) * np.where(small, 1, 3)
        return levels / np.linalg.norm(levels, axis=-1, keepdims=True)
    if kind != "bits":
        return X
    return np.where(X > 0, 1, -1).astype(np.float32) * np.float32(X.shape[-1] ** -0.5)


def rows(store):
    """The store for reading."""
    return store if isinstance(store, MemoryStore) else store.rows()


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
    assert list(rows(store).keys) == [f"k{k}" for k in range(5)]
    assert list(rows(store).hashes) == [f"h{k}" for k in range(5)]
    assert len(rows(store)) == 5
    np.testing.assert_allclose(rows(store).read(), kept(X, kind), atol=ERROR[kind])
    assert rows(store).read().dtype == np.float32


def test_rows_by_key_hash_and_number(store, kind):
    X = vectors(4)
    for k, key in enumerate(["a", "b/ä", "c\nd", "\udcff.jpg"]):
        store.add(key, X[k], sha256=str(k))
    store.commit()
    assert rows(store).index("c\nd") == 2
    assert rows(store).index("\udcff.jpg") == 3
    assert rows(store).find("1") == 1
    np.testing.assert_allclose(
        rows(store).read([2, 0, 2]), kept(X[[2, 0, 2]], kind), atol=ERROR[kind]
    )
    np.testing.assert_allclose(rows(store).read(slice(1, 3)), kept(X[1:3], kind), atol=ERROR[kind])
    assert rows(store).read([]).shape == (0, N)
    with pytest.raises(KeyError):
        rows(store).index("bb")
    with pytest.raises(KeyError):
        rows(store).find("9")
    with pytest.raises(IndexError):
        rows(store).read([4])


def test_nothing_counts_before_commit(store):
    store.add("a", vectors(1)[0])
    assert len(rows(store)) == 0
    assert store.records() == []
    store.commit()
    assert len(rows(store)) == 1


def test_records_without_a_row(store):
    store.add("bad", None, meta={"reason": "ends \udcfe"})
    store.add("good", vectors(1)[0], sha256="1")
    store.commit()
    assert [(r.key, r.has_row) for r in store.records()] == [("bad", False), ("good", True)]
    assert store.records()[0].meta == {"reason": "ends \udcfe"}
    assert list(rows(store).keys) == ["good"]


def test_a_key_put_again_is_replaced(store, kind):
    X = vectors(2)
    store.add("a", X[0], sha256="1")
    store.commit()
    store.add("a", X[1], sha256="2")
    store.commit()
    assert list(rows(store).hashes) == ["2"]
    np.testing.assert_allclose(rows(store).read()[0], kept(X[1], kind), atol=ERROR[kind])
    store.add("a", None)
    store.commit()
    assert len(rows(store)) == 0


def test_discarded_records_are_gone(store, kind):
    X = vectors(3)
    for k in range(3):
        store.add(f"{k}", X[k] if k else None)
    store.commit()
    store.discard(["0", "1", "none"])
    assert [r.key for r in store.records()] == ["2"]
    np.testing.assert_allclose(rows(store).read(), kept(X[2:], kind), atol=ERROR[kind])


@pytest.mark.parametrize("many", [1, 2, 3, 100])
def test_blocks_keep_within_the_budget_and_give_everything(store, many):
    for k, x in enumerate(vectors(7)):
        store.add(f"{k}", x)
    store.commit()
    blocks = list(rows(store).blocks(many * rows(store).row_bytes + 1))
    assert all(len(block) <= many for _, block in blocks)
    assert [start for start, _ in blocks] == list(range(0, 7, many))
    np.testing.assert_array_equal(np.concatenate([b for _, b in blocks]), rows(store).read())


@pytest.mark.parametrize("width", [1, 7, 100, N, N + 5])
def test_columns_give_every_pixel_once(store, kind, width):
    for k, x in enumerate(vectors(5)):
        store.add(f"{k}", x)
    store.commit()
    parts = [(start, part.copy()) for start, part in rows(store).columns(width)]
    if kind in ("bits", "2bits"):  # whole words, so that none is read twice
        assert all(part.shape[1] <= max(width, 64) for _, part in parts)
        width = min(max(64, width // 64 * 64), N) if width < N else N
    assert [start for start, _ in parts] == list(range(0, N, width))
    np.testing.assert_array_equal(np.concatenate([p for _, p in parts], axis=1), rows(store).read())
    some = [part.copy() for _, part in rows(store).columns(width, np.array([3, 1]))]
    np.testing.assert_array_equal(np.concatenate(some, axis=1), rows(store).read([3, 1]))


def test_a_budget_under_one_row_is_refused(store):
    store.add("a", vectors(1)[0])
    store.commit()
    with pytest.raises(SamecamError, match="too small for one row"):
        list(rows(store).blocks(100))


def test_a_vector_of_another_length_is_refused(store):
    with pytest.raises(ValueError, match="shape"):
        store.add("a", np.zeros(N + 1))


def test_the_argument_is_copied(store, kind):
    x = vectors(1)[0]
    before = x.copy()
    store.add("a", x)
    x[:] = 0
    store.commit()
    np.testing.assert_allclose(rows(store).read()[0], kept(before, kind), atol=ERROR[kind])


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=30))
def test_disk_and_memory_agree_after_any_history(tmp_path_factory, history):
    X = vectors(10)
    disk = DiskStore.create(tmp_path_factory.mktemp("s") / "x", frame=Frame(N, 1), dtype="float32")
    memory = MemoryStore(N)
    for k, commit in history:
        for store in (disk, memory):
            store.add(f"key{k % 5}", X[k] if k % 3 else None, sha256=str(k))
            if commit:
                store.commit()
    assert disk.records() == memory.records()
    assert list(disk.rows().keys) == list(memory.keys)
    np.testing.assert_array_equal(disk.rows().read(), memory.read())
    folder = disk.folder
    disk.close()
    with DiskStore.open(folder) as again:
        assert again.records() == memory.records()
        np.testing.assert_array_equal(again.rows().read(), memory.read())


@pytest.mark.parametrize(("dtype", "bound"), [("float16", 5e-6), ("int8", 2e-4)])
def test_narrow_numbers_hardly_move_a_correlation(tmp_path, dtype, bound):
    n = 65536
    X = vectors(12, n)
    X[1] = (X[0] + 3 * X[1]) / np.linalg.norm(X[0] + 3 * X[1])
    with DiskStore.create(tmp_path / "s", frame=Frame(n, 1), dtype=dtype) as store:
        for k, x in enumerate(X):
            store.add(f"{k:02d}", x)
        store.commit()
        Y = rows(store).read().astype(np.float64)
    np.testing.assert_allclose(np.linalg.norm(Y, axis=1), 1, atol=1e-4)
    gram = X.astype(np.float64) @ X.T.astype(np.float64)
    between = ~np.eye(12, dtype=bool)
    assert np.abs(Y @ Y.T - gram)[between].max() < bound


def test_words_are_the_bits_of_the_rows(tmp_path):
    n = 64 * 5 + 13
    X = vectors(6, n)
    with DiskStore.create(tmp_path / "s", frame=Frame(n, 1), dtype="bits") as store:
        for k, x in enumerate(X):
            store.add(f"{k}", x)
        store.commit()
        stored = store.rows()
        assert stored.is_bits
        assert (stored.n_words, stored.frame) == (6, Frame(n, 1))
        for width in (1, 4, 6, 9):
            parts = [part.copy() for _, part in stored.words(width, np.array([4, 1]))]
            np.testing.assert_array_equal(np.hstack(parts), pack(X[[4, 1]] > 0))
        assert not (np.hstack(parts)[:, -1] >> np.uint64(13)).any()
        out, scales = np.empty((2, 3), dtype=np.uint64), np.empty(2, dtype=np.float32)
        checks = np.zeros(2, dtype=np.uint32)
        for start in (0, 3):
            stored.read_stored(np.array([0, 5]), out, scales, start=start, checks=checks)
            np.testing.assert_array_equal(out, pack(X[[0, 5]] > 0)[:, start : start + 3])
        np.testing.assert_allclose(scales, n**-0.5, rtol=1e-6)


def test_only_bits_have_words(tmp_path):
    store = DiskStore.create(tmp_path / "s", frame=Frame(N, 1), dtype="int8")
    with store, pytest.raises(TypeError, match="no bits"):
        store.rows().words(4)


def test_frames_have_folders_and_rows_of_their_own(tmp_path):
    wide, tall, small = Frame(30, 20), Frame(20, 30), Frame(8, 8)
    X, y = vectors(4, 600), vectors(1, 64)[0]
    with DiskStore.create(tmp_path / "s") as store:
        assert store.frames == []
        for k, frame in enumerate([wide, tall, wide, tall]):
            store.add(f"{k}", X[k], frame=frame, meta={"k": k})
        store.add("4", y, frame=small)
        store.add("5", None)
        with pytest.raises(ValueError, match="numbers"):
            store.add("6", y, frame=wide)
        with pytest.raises(ValueError, match="frame is None"):
            store.add("6", y)
        store.commit()
        assert store.frames == [small, tall, wide]
        assert [r.frame for r in store.records()] == [wide, tall, wide, tall, small, None]
        assert store.rows(wide).keys == ["0", "2"]
        assert [r.meta["k"] for r in store.rows(tall).records()] == [1, 3]
        assert store.rows(tall).frame == tall
        with pytest.raises(ValueError, match="3 frames"):
            store.rows()
    folders = sorted(p.name for p in (tmp_path / "s/shards").iterdir())
    assert folders == ["20x30", "30x20", "8x8"]
    with DiskStore.open(tmp_path / "s", "a") as store:
        np.testing.assert_allclose(store.rows(wide).read(), X[[0, 2]], atol=ERROR["int8"])
        store.add("0", X[0], frame=tall)  # the picture was turned since
        store.commit()
        assert store.rows(wide).keys == ["2"]
        assert store.rows(tall).keys == ["0", "1", "3"]
        assert store.verify() == []


def test_the_larger_a_frame_the_fewer_bits_a_pixel(tmp_path):
    frames = [Frame(1999, 2000), Frame(2000, 2000), Frame(4999, 4000), Frame(5000, 4000)]
    kinds = ["int8", "2bits", "2bits", "bits"]
    assert [frame_dtype(frame, "auto") for frame in frames] == kinds
    assert frame_dtype(frames[-1], "float16") == "float16"
    with DiskStore.create(tmp_path / "s") as store:
        assert [store.frame_dtype(frame) for frame in frames] == kinds
