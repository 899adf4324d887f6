"""Eigenvalues and groups by the GPU's code, run by PyTorch on the processor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from samecam.cluster import SSC, SSCNC, _spectral, eigengap, spectral_groups, spectrum
from samecam.errors import SamecamError
from samecam.simulate import fingerprints, gram
from samecam.store import MemoryStore
from tests.cluster.graphs import as_sets, blocks, laplacian_values

torch = pytest.importorskip("torch")

from samecam.cluster import _spectral_gpu  # noqa: E402
from tests.devices import DEVICE  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small tensors: threads would only wait for one another."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@given(
    st.lists(st.integers(2, 30), min_size=1, max_size=5),
    st.sampled_from([0, 0.02, 0.3]),
    st.integers(0, 1000),
)
def test_values_are_those_of_the_cpu(sizes, between, seed):
    weights, _ = blocks(sizes, between=between, seed=seed)
    host, device = spectrum(weights), spectrum(weights, device=DEVICE)
    np.testing.assert_allclose(device.values, host.values, atol=1e-12)
    np.testing.assert_allclose(device.values, laplacian_values(weights), atol=1e-12)
    assert [p.tolist() for p in device.parts] == [p.tolist() for p in host.parts]


def test_vectors_belong_to_their_values():
    weights, _ = blocks([12, 30, 7], between=0.1)
    result = spectrum(weights, device=DEVICE)
    for part, nodes in enumerate(result.parts):
        matrix = _spectral._normalised(weights, nodes)
        vectors = result.vectors[part]
        values = result.values[result.owner == part]
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(nodes)), atol=1e-12)
        np.testing.assert_allclose(vectors - matrix @ vectors, vectors * values, atol=1e-12)


@pytest.mark.parametrize("sizes", [[20, 15, 10], [40, 40, 40, 40], [60, 3]])
@pytest.mark.parametrize("between", [0, 0.02])
def test_groups_are_those_of_the_cpu(sizes, between):
    weights, group = blocks(sizes, between=between)
    count = len(sizes)
    labels = spectral_groups(weights, spectrum(weights, device=DEVICE), count, 0)
    assert as_sets(labels) == as_sets(spectral_groups(weights, spectrum(weights), count, 0))
    assert as_sets(labels) == as_sets(group)


def test_as_many_values_of_a_large_part_as_on_the_cpu(monkeypatch):
    weights, _ = blocks([40] * 5 + [30], between=0.01)
    monkeypatch.setattr(_spectral, "_DENSE", 50)
    monkeypatch.setattr(_spectral, "_FIRST", 8)
    host, device = spectrum(weights), spectrum(weights, device=DEVICE)
    assert len(host.values) < len(laplacian_values(weights))
    assert len(device.values) == len(host.values)
    np.testing.assert_allclose(device.values, host.values, atol=1e-8)
    assert eigengap(device.values) == eigengap(host.values)
    labels = spectral_groups(weights, device, 6, 0)
    assert as_sets(labels) == as_sets(spectral_groups(weights, host, 6, 0))


def test_float32_where_float64_does_not_fit(monkeypatch):
    weights, group = blocks([20, 20])
    room = 6 * 6 * 40 * 40
    monkeypatch.setattr(_spectral_gpu, "device_memory", lambda _: room)
    result = spectrum(weights, device=DEVICE)
    assert 1e-13 < np.abs(result.values - spectrum(weights).values).max() < 1e-5
    assert as_sets(spectral_groups(weights, result, 2, 0)) == as_sets(group)
    monkeypatch.setattr(_spectral_gpu, "device_memory", lambda _: room // 2)
    with pytest.raises(SamecamError, match="The spectrum of 40 linked photos takes 38 kB"):
        spectrum(weights, device=DEVICE)


def test_no_edge_at_all():
    result = spectrum(sparse.csr_array((4, 4)), device=DEVICE)
    assert result.values.size == 0
    assert spectral_groups(sparse.csr_array((4, 4)), result, 2, 0).tolist() == [-1] * 4


@pytest.mark.parametrize("method", [SSC, SSCNC])
@pytest.mark.parametrize("solver", ["exact", "admm"])
def test_estimators_group_alike_on_a_device(method, solver):
    G, truth = gram([30, 25, 20, 15], 0.05, seed=3)
    options = {"metric": "precomputed", "n_pixels": 512**2, "solver": solver}
    host = method(**options).fit(G)
    device = method(**options, device=DEVICE).fit(G)
    np.testing.assert_array_equal(device.labels_, host.labels_)
    assert device.gamma_ == host.gamma_
    np.testing.assert_allclose(device.eigenvalues_, host.eigenvalues_, atol=1e-4)
    assert device.n_clusters_ == len(set(truth.tolist()))


def test_fingerprints_are_correlated_there_too():
    X, _ = fingerprints([12, 12, 12], 0.2, 4096, seed=1)
    store = MemoryStore(X.shape[1])
    for i, row in enumerate(X):
        store.add(f"{i:03d}", row)
    store.commit()
    host = SSCNC().fit(X).labels_
    np.testing.assert_array_equal(SSCNC(device=DEVICE).fit(X).labels_, host)
    np.testing.assert_array_equal(SSCNC(device=DEVICE).fit(store).labels_, host)


@pytest.mark.parametrize("method", [SSC, SSCNC])
def test_no_device_of_that_name(method):
    with pytest.raises(ValueError, match="device is 'gpu': choose auto"):
        method(device="gpu").fit(np.eye(4))
    if not torch.cuda.is_available():
        with pytest.raises(SamecamError, match="device is 'cuda' but"):
            method(device="cuda").fit(np.eye(4))
        assert method(device="auto", metric="precomputed").fit(np.eye(4)).labels_.shape == (4,)
