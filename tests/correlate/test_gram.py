"""Correlations: equal to the obvious product, for any source, block size and budget."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam import correlate
from samecam.correlate import _cpu
from samecam.errors import SamecamError
from samecam.simulate import fingerprints
from samecam.store import MemoryStore
from tests.stores import written


def filled(store, X):
    for k, x in enumerate(X):
        store.add(f"{k:05d}", x)
    store.commit()
    return store


@pytest.fixture(scope="module")
def X():
    return fingerprints([9, 8, 7, 6], 0.05, 4096).X


@pytest.fixture
def sources(X, tmp_path):
    stores = [filled(MemoryStore(4096), X)]
    for dtype in ("float32", "float16", "int8"):
        stores.append(written(tmp_path / dtype, X, dtype))
    yield [X, X.astype(np.float64), np.asfortranarray(X), *stores]
    for store in stores:
        store.close()


def obvious(X):
    product = X.astype(np.float64) @ X.astype(np.float64).T
    np.fill_diagonal(product, 1)
    return product


def test_gram_of_many_photos_is_made_in_blocks(sources, X, monkeypatch):
    """For all of them BLAS is not asked at once: see `_MOST_ROWS`."""
    monkeypatch.setattr(_cpu, "_MOST_ROWS", 20)
    monkeypatch.setattr(_cpu, "_SIDE", 7)
    monkeypatch.setattr("scipy.linalg.blas.ssyrk", None)
    for source in sources[:-1]:
        np.testing.assert_allclose(correlate.gram(source), obvious(X), atol=3e-5)


@pytest.mark.long
def test_gram_of_more_photos_than_blas_can_do_at_once():
    """Without blocks this ends with a segmentation fault where BLAS has several threads."""
    rows = np.random.default_rng(0).standard_normal((33_334, 1024), dtype=np.float32) / 32
    G = correlate.gram(rows, memory=2**33)
    np.testing.assert_allclose(G[-1, :-1], rows[:-1] @ rows[-1], atol=1e-5)


def test_gram_of_every_kind_of_source(sources, X):
    for source, bound in zip(sources, (1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 3e-5, 1e-3), strict=True):
        G = correlate.gram(source)
        assert G.dtype == np.float32
        np.testing.assert_array_equal(G, G.T)
        np.testing.assert_array_equal(np.diag(G), 1)
        np.testing.assert_allclose(G, obvious(X), atol=bound)


@given(memory=st.integers(20_000, 3_000_000))
def test_the_budget_changes_nothing(memory):
    X = fingerprints([9, 8, 7, 6], 0.05, 4096).X
    store = filled(MemoryStore(4096), X)
    np.testing.assert_allclose(correlate.gram(store, memory=memory), obvious(X), atol=1e-6)
    out = np.full((30, 30), np.nan, dtype=np.float32)
    correlate.gram(store, memory=memory, out=out)
    np.testing.assert_allclose(out, obvious(X), atol=1e-6)
    np.testing.assert_array_equal(out, out.T)


def test_the_result_may_be_a_memory_map(sources, X, tmp_path):
    out = np.memmap(tmp_path / "gram", dtype=np.float32, mode="w+", shape=(30, 30))
    assert correlate.gram(sources[4], out=out, memory=2000) is out
    np.testing.assert_allclose(out, obvious(X), atol=1e-6)


def test_some_rows_in_any_order(sources, X):
    rows = np.array([5, 3, 20])
    for source in (sources[0], sources[1], sources[4]):
        G = correlate.gram(source, rows=rows)
        np.testing.assert_allclose(G, obvious(X[rows]), atol=1e-6)


def test_larger_than_one_block_of_the_mirror():
    X = fingerprints([700, 600], 0.05, 64).X
    np.testing.assert_allclose(correlate.gram(X), obvious(X), atol=1e-6)


def test_a_long_row_is_summed_well():
    X = fingerprints([2, 1], 0.3, 300_000).X
    np.testing.assert_allclose(correlate.gram(X), obvious(X), atol=1e-6)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_rows(n):
    X = fingerprints([3], 0.1, 100).X[:n]
    np.testing.assert_allclose(correlate.gram(X), obvious(X), atol=1e-6)
    store = filled(MemoryStore(100), X)
    np.testing.assert_allclose(correlate.gram(store), obvious(X), atol=1e-6)


def test_every_byte_is_read_once_when_it_fits(tmp_path, X, monkeypatch):
    with written(tmp_path / "s", X) as store:
        read = []
        real = type(store)._fetch

        def counting(self, place, start, raw):
            read.append(raw.nbytes)
            return real(self, place, start, raw)

        monkeypatch.setattr(type(store), "_fetch", counting)
        correlate.gram(store, memory=4 * 30 * 30 + 8 * 30 * 100)
        assert len(read) > 30
        assert sum(read) == 30 * 4096 * 2


def test_progress_counts_photos(sources):
    for options in (
        {"memory": 4 * 30 * 30 + 8 * 30 * 100},
        {"memory": 2000, "out": np.empty((30, 30), dtype=np.float32)},
    ):
        seen = []
        correlate.gram(sources[4], progress=lambda *what, s=seen: s.append(what), **options)
        done = [d for d, _ in seen]
        assert {total for _, total in seen} == {30}
        assert done == sorted(done)
        assert len(set(done)) > 20
        assert done[-1] == 30


def test_a_budget_too_small_gets_a_sentence(X):
    with pytest.raises(SamecamError, match="raise it"):
        correlate.gram(X, memory=1000)
    with pytest.raises(SamecamError, match="too little for one of each"):
        correlate.gram(X, memory=10, out=np.zeros((30, 30), np.float32))
    with pytest.raises(ValueError, match="out has shape"):
        correlate.gram(X, out=np.zeros((3, 30), np.float32))


def test_cross_correlations(sources, X):
    for source in sources[:5]:
        C = correlate.cross(X[:7], source, memory=10_000)
        np.testing.assert_allclose(C, X[:7].astype(np.float64) @ X.T, atol=1e-6)
    with pytest.raises(ValueError, match="one size"):
        correlate.cross(X, X[:, :5])


def test_the_source_is_not_modified(X):
    before = X.copy()
    correlate.gram(X)
    correlate.normalised(X)
    np.testing.assert_array_equal(X, before)


def test_normalised_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(5, 2, (6, 200)) * np.array([[1e-5], [1], [1e4], [1], [1], [1]])
    X[3], X[4] = 7.1, 0
    far = correlate.normalised(X[[1, 5]] + 1e8).astype(np.float64)
    np.testing.assert_allclose(far, correlate.normalised(X[[1, 5]]), atol=1e-5)
    np.testing.assert_allclose(correlate.normalised(X[[1]] * 1e300), correlate.normalised(X[[1]]))
    Y = correlate.normalised(X).astype(np.float64)
    good = [0, 1, 2, 5]
    np.testing.assert_allclose(Y[good].mean(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(Y[good], axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(Y[[3, 4]], 0)
