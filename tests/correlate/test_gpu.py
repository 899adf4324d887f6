"""The GPU's correlations are those of the processor; here in PyTorch on the processor."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samecam import correlate
from samecam.errors import SamecamError
from samecam.store import FingerprintStore, MemoryStore, RowsWithout, Subset
from tests.devices import DEVICE, WHERE, host, there
from tests.stores import written

torch = pytest.importorskip("torch")
from samecam.correlate import _gpu, _rows  # noqa: E402

pytestmark = pytest.mark.torch


def rows_of(n, d, seed=0):
    return correlate.normalised(np.random.default_rng(seed).normal(size=(n, d)))


def filled(store, X):
    for i in np.random.default_rng(1).permutation(len(X)):
        store.add(f"{i:06d}", X[i], sha256=f"h{i}")
    store.commit()
    return store


@pytest.fixture(params=["array", "memory", "float32", "float16", "int8"])
def source(request, tmp_path):
    X = rows_of(75, 1111)
    if request.param == "array":
        yield X
    elif request.param == "memory":
        yield filled(MemoryStore(X.shape[1]), X)
    else:
        with written(tmp_path / "s", X, request.param, digits=6, hashes=True) as store:
            yield store


def test_gram_is_that_of_the_processor(source):
    G = correlate.gram(source, device=DEVICE)
    assert np.abs(G - correlate.gram(source)).max() < 1e-6
    assert (G == G.T).all()
    assert (np.diag(G) == 1).all()


@pytest.mark.parametrize("memory", [2**30, 2**18])
def test_gram_without_some_pixels_is_that_of_the_processor(source, memory):
    if isinstance(source, FingerprintStore):
        rows = RowsWithout(source, np.isin(np.arange(1111), [100, 900, 1100]))
        G = correlate.gram(rows, device=DEVICE, memory=memory)
        assert np.abs(G - correlate.gram(rows)).max() < 1e-6


def test_progress_counts_photos(source, monkeypatch):
    monkeypatch.setattr(_rows, "_BUFFER_BYTES", 32 * 1111 * 4)
    seen = []
    correlate.gram(source, device=DEVICE, progress=lambda *what: seen.append(what))
    assert seen[-1] == (75, 75)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_no_rows_have_no_correlations(source):
    G = correlate.gram(source, rows=np.array([], dtype=np.intp), device=DEVICE)
    assert (G.shape, G.dtype) == ((0, 0), np.float32)


def test_some_rows_and_given_out(source):
    rows = np.array([3, 70, 5, 41])
    out = np.empty((4, 4), dtype=np.float32)
    G = correlate.gram(source, rows=rows, device=DEVICE, out=out)
    assert G is out
    assert np.abs(G - correlate.gram(source, rows=rows)).max() < 1e-6
    with pytest.raises(ValueError, match="out has shape"):
        correlate.gram(source, device=DEVICE, out=out)


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(1, 90),
    d=st.integers(2, 3000),
    seed=st.integers(0, 9),
    dtype=st.sampled_from(["float32", "float16", "int8"]),
    buffer=st.sampled_from([1, 2**12, 2**29]),
    block=st.sampled_from([32, 64, 4096]),
)
def test_any_shape_type_and_block(tmp_path_factory, n, d, seed, dtype, buffer, block):
    X = rows_of(n, d, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_rows, "_BUFFER_BYTES", buffer)
        patch.setattr(_gpu, "_BLOCK", block)
        folder = tmp_path_factory.mktemp("s") / "s"
        with written(folder, X, dtype) as store:
            G = correlate.gram(store, device=DEVICE)
            assert np.abs(G - correlate.gram(store)).max() < 2e-6


def test_strips_of_pixels_where_rows_do_not_fit(source, monkeypatch):
    monkeypatch.setattr(_rows, "STRIP_LEAST", 16)
    need = 4 * 75 * 75 + 8 * 75 * 75 + 4 * 96 * 160
    G = correlate.gram(source, device=DEVICE, memory=need)
    assert np.abs(G - correlate.gram(source)).max() < 1e-6
    with pytest.raises(SamecamError, match="memory budget"):
        correlate.gram(source, device=DEVICE, memory=4 * 75 * 75)


@pytest.mark.parametrize("strips", [False, True])
def test_a_damaged_row_is_named(tmp_path, monkeypatch, strips):
    X = rows_of(40, 600)
    store = written(tmp_path / "s", X)
    (shard,) = (tmp_path / "s" / "shards").glob("*/*")
    data = bytearray(shard.read_bytes())
    data[7 * 1200 + 5] ^= 1
    shard.write_bytes(data)
    monkeypatch.setattr(_rows, "STRIP_LEAST", 16)
    with store:
        memory = 12 * 1600 + 2 * 64 * (160 if strips else 608)
        with pytest.raises(SamecamError, match="damaged on disk"):
            correlate.gram(store, device=DEVICE, memory=memory)


def test_int8_sums_are_exact_past_what_32_bits_hold():
    a = torch.full((32, 2**18), 127, dtype=torch.int8, device=WHERE)
    assert _rows.product(a, a)[0, 0].item() == 127 * 127 * 2**18


def test_rows_on_a_device_are_a_store(source):
    held = correlate.rows_on(source, DEVICE, 2**30)
    assert np.array_equal(held.read(), source if isinstance(source, np.ndarray) else source.read())
    assert np.abs(correlate.gram(held, device=DEVICE) - correlate.gram(source)).max() < 1e-6
    rows = np.array([2, 9, 33])
    part = correlate.gram(held, rows=rows, device=DEVICE)
    assert np.abs(part - correlate.gram(source, rows=rows)).max() < 1e-6
    assert correlate.rows_on(held, DEVICE, 2**30) is held
    with pytest.raises(TypeError, match="for reading"):
        held.add("x", None)


def test_a_subset_of_a_store(tmp_path):
    X = rows_of(30, 500)
    with written(tmp_path / "s", X, "int8") as store:
        some = Subset(store, np.arange(0, 30, 3))
        G = correlate.gram(some, device=DEVICE)
        assert np.abs(G - correlate.gram(some)).max() < 1e-6


def test_scales_of_chance_agree():
    X = rows_of(900, 4000)
    X[:300] += 0.15 * rows_of(1, 4000, 5)
    G = correlate.gram(correlate.normalised(X))
    T = there(G)
    assert correlate.null_scale(T, 4000) == pytest.approx(correlate.null_scale(G, 4000), rel=1e-6)
    scale = correlate.null_scale(G)
    difference = correlate.photo_scales(T, scale) - correlate.photo_scales(G, scale)
    assert np.abs(difference).max() < 1e-5 * np.sqrt(scale)


@settings(max_examples=20, deadline=None)
@given(
    n=st.integers(1, 60),
    d=st.integers(1, 400),
    count=st.integers(1, 12),
    seed=st.integers(0, 9),
    work=st.sampled_from([2**8, 2**28]),
)
def test_sums_over_groups(n, d, count, seed, work):
    X = rows_of(n, d + 1, seed)
    rng = np.random.default_rng(seed)
    labels, weights = rng.integers(-1, count, n), rng.random(n).astype(np.float32)
    M = np.zeros((count, n))
    M[labels[labels >= 0], np.flatnonzero(labels >= 0)] = weights[labels >= 0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_rows, "_WORK_BYTES", work)
        held = correlate.rows_on(X, DEVICE, 2**30)
        sums = held.weighted_sums(labels, weights, count)
        assert np.abs(host(sums) - M @ X).max() < 1e-5
        out = torch.zeros((count, n), device=WHERE)
        held.against(sums, out)
    assert np.abs(host(out) - M @ X @ X.T).max() < 1e-5


@pytest.mark.skipif(not torch.cuda.is_available(), reason="streams are of a GPU")
def test_a_strip_waits_for_the_work_on_the_one_before():
    X = rows_of(64, 640)
    total = torch.zeros((64, 64), device=WHERE)
    for rows in _rows.DeviceRows.strips(X, DEVICE, 64):
        torch.cuda._sleep(10**8)
        total += rows.values[:64] @ rows.values[:64].t()
    assert np.abs(host(total) - X @ X.T).max() < 1e-5
