"""Rows of bits on a GPU: what the processor makes of them; here in PyTorch on the processor."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from samecam import correlate
from samecam.cluster import ConsolidatedSSC
from samecam.errors import SamecamError
from samecam.store import RowsWithout, Subset
from tests.cluster.test_bits import stores
from tests.correlate import test_two_bits as two
from tests.correlate.test_bits import bits, obvious, signs
from tests.devices import DEVICE, WHERE, host

torch = pytest.importorskip("torch")
from samecam.correlate import _device_bits, _gpu, _rows  # noqa: E402

pytestmark = pytest.mark.torch


def test_bits_become_signs():
    S = signs(5, 200)
    words = torch.as_tensor(bits(S).values.view(np.int64), device=WHERE)
    got = host(_device_bits.unpacked(words))
    np.testing.assert_array_equal(got[:, :200], S)
    np.testing.assert_array_equal(got[:, 200:], -1)
    np.testing.assert_array_equal(host(_device_bits.unpacked(words[:, 1:3])), S[:, 64:192])
    V = two.levels(5, 200)
    words = torch.as_tensor(two.stored(V).values.view(np.int64), device=WHERE)
    got = host(_device_bits.unpacked_pairs(words))
    np.testing.assert_array_equal(got[:, :200], V)
    np.testing.assert_array_equal(host(_device_bits.unpacked_pairs(words[:, 2:6])), V[:, 64:192])


@pytest.fixture(params=[1, 2])
def made(request):
    """Rows of so many bits a pixel, and what their correlations are."""
    if request.param == 1:
        return signs, bits, obvious
    return two.levels, two.stored, lambda V: two.with_ones(two.obvious(V))


@pytest.mark.parametrize("memory", [2**30, 2**15])
def test_gram_without_some_pixels_is_that_of_the_processor(made, memory):
    signs, bits, _ = made
    rows = RowsWithout(bits(signs(40, 3000)), np.isin(np.arange(3000), [100, 900, 2999]))
    G = correlate.gram(rows, device=DEVICE, memory=memory)
    np.testing.assert_allclose(G, correlate.gram(rows), atol=1e-6)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    n=st.integers(1, 90),
    d=st.integers(1, 3000),
    seed=st.integers(0, 9),
    buffer=st.sampled_from([1, 2**12, 2**29]),
    block=st.sampled_from([32, 4096]),
    work=st.sampled_from([1, 2**16, 2**28]),
)
def test_gram_is_exact(made, n, d, seed, buffer, block, work):
    signs, bits, obvious = made
    S = signs(n, d, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_rows, "_BUFFER_BYTES", buffer)
        patch.setattr(_gpu, "_BLOCK", block)
        patch.setattr(_gpu, "_WORK_BYTES", work)
        store = bits(S)
        np.testing.assert_array_equal(correlate.gram(store, device=DEVICE), obvious(S))
        held = correlate.rows_on(store, DEVICE, 2**30)
        np.testing.assert_array_equal(correlate.gram(held, device=DEVICE), obvious(S))


def test_some_rows_and_strips_of_words(made):
    signs, bits, obvious = made
    S = signs(75, 64 * 30 - 5)
    rows = np.random.default_rng(0).permutation(75)[:40]
    for source in (bits(S), Subset(bits(S), np.arange(75))):
        got = correlate.gram(source, rows=rows, device=DEVICE)
        np.testing.assert_array_equal(got, obvious(S[rows]))
    need = 12 * 75 * 75 + 8 * 96 * 7
    seen = []
    got = correlate.gram(
        bits(S), device=DEVICE, memory=need * 8 // 7 + 1, progress=lambda *a: seen.append(a)
    )
    np.testing.assert_array_equal(got, obvious(S))
    assert len(seen) > 8  # it was really split
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (75, 75)
    with pytest.raises(SamecamError, match="memory budget"):
        correlate.gram(bits(S), device=DEVICE, memory=4 * 75 * 75)


def test_rows_on_a_device_are_a_store_of_bits(made):
    signs, bits, obvious = made
    S = signs(20, 333)
    store = bits(S)
    held = correlate.rows_on(store, DEVICE, store.values.nbytes)
    assert held is not store  # words, not numbers, must fit
    assert correlate.rows_on(store, DEVICE, store.values.nbytes - 1) is store
    assert held.planes == store.planes
    assert held.is_bits
    assert list(held.keys) == list(store.keys)
    np.testing.assert_array_equal(held.read(), store.read())
    np.testing.assert_array_equal(held.read([4, 2]), store.read([4, 2]))
    for width in (7, 64, 333):
        parts = [part for _, part in held.columns(width, np.array([3, 1]))]
        np.testing.assert_array_equal(np.concatenate(parts, axis=1), store.read([3, 1]))
    words = np.concatenate([part for _, part in held.words(4)], axis=1)
    np.testing.assert_array_equal(words, store.values)
    out, scales = np.empty((2, 3), dtype=np.uint64), np.empty(2, dtype=np.float32)
    held.read_stored(np.array([7, 3]), out, scales, start=2)
    np.testing.assert_array_equal(out, store.values[[7, 3], 2:5])
    np.testing.assert_array_equal(scales, store.scales[[7, 3]])
    np.testing.assert_array_equal(correlate.gram(held), obvious(S))


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    n=st.integers(1, 60),
    d=st.integers(1, 400),
    count=st.integers(1, 12),
    seed=st.integers(0, 9),
    work=st.sampled_from([2**8, 2**14, 2**28]),
    strips=st.booleans(),
)
def test_sums_over_groups(made, n, d, count, seed, work, strips):
    signs, bits, _ = made
    S = signs(n, d, seed)
    store = bits(S)
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, count, n)
    weights, unit = correlate.whole_weights(rng.uniform(1, 2, n))
    members = correlate.Membership(labels, count, weights, unit)
    memory = 4 * count * n + 2 * 8 * 96 * store.planes if strips else 2**30
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_rows, "_WORK_BYTES", work)
        held = correlate.rows_on(store, DEVICE, 2**30)
        sums = held.weighted_sums(labels, weights, count)
        X, M = store.read().astype(np.float64), members.sparse().toarray()
        assert np.abs(host(sums) - M @ X).max() < 1e-4
        out = torch.zeros((count, n), device=WHERE)
        held.against(sums, out)
        # A GPU rounds sums to float16, see `against`.
        close = 1e-3 + 5e-4 * np.abs(M @ X @ X.T).max()
        assert np.abs(host(out) - M @ X @ X.T).max() < close
        expected = correlate.other_products(store, members, memory=2**30, device="cpu")
        own = np.square(weights, dtype=np.float64)
        between = correlate.other_group_products(store, members, own, memory=2**30, device="cpu")
        for source in (store, held):
            got = correlate.other_products(source, members, memory=memory, device=DEVICE)
            assert np.abs(host(got) - expected).max() < close
            got = correlate.other_group_products(source, members, own, memory=2**30, device=DEVICE)
            assert np.abs(got - between).max() < 1e-2


@pytest.mark.parametrize("planes", [1, 2])
@pytest.mark.parametrize("batches", [False, True])
def test_groups_are_those_of_the_processor(batches, planes):
    source, _, _ = stores([30] * 6, 0.15, 6399, seed=2, planes=planes)
    options = {"batch_size": 70} if batches else {}
    labels = [
        ConsolidatedSSC(device=device, **options).fit(source).labels_ for device in ("cpu", DEVICE)
    ]
    np.testing.assert_array_equal(*labels)
