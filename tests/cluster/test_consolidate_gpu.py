"""Consolidation on a GPU is that of the processor; here in PyTorch on the processor."""

from concurrent.futures import Future

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from sklearn.metrics import adjusted_rand_score

from samecam import correlate
from samecam.cluster.consolidate import ConsolidatedSSC, _batches, _cpu
from samecam.cluster.consolidate._sums import FingerprintSums
from samecam.fingerprint import fingerprint
from samecam.frames import Frame
from samecam.photos import exposure
from samecam.simulate import fingerprints, gram
from samecam.store import DiskStore, StoredRows, Subset
from tests.devices import DEVICE, there
from tests.devices import host as at_host

pytest.importorskip("torch")
from samecam.cluster.consolidate import _gpu
from samecam.correlate import _gpu as correlate_gpu
from samecam.correlate import _group_sums_gpu, _rows

pytestmark = pytest.mark.torch


@st.composite
def groupings(draw):
    """Fingerprints, scales of chance, and groups of at least two photos."""
    n = draw(st.integers(4, 60))
    count = draw(st.integers(1, min(8, n // 2)))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    X = rng.normal(size=(n, 50)) + 0.5 * rng.normal(size=(count, 50))[rng.integers(0, count, n)]
    labels = np.concatenate([np.repeat(np.arange(count), 2), rng.integers(-1, count, n)])[:n]
    return correlate.normalised(X), 0.1 * (1 + rng.random(n)), rng.permutation(labels), count


def both(X, scales, work):
    """Sums from the Gram and from the rows, on the processor and in PyTorch."""
    G = correlate.gram(X)
    host = _cpu.GramSums(G, scales), FingerprintSums(X, scales, 2**30)
    device = (
        _gpu.GramSums(there(G), scales),
        FingerprintSums(X, scales, 2**30 if work > 1 else strips_of_16(X), DEVICE),
    )
    return zip(host, device, strict=True)


def strips_of_16(X):
    """A budget that leaves room for 16 pixels of all rows beside the largest result."""
    return 4 * 8 * len(X) + 2 * 4 * 16 * (-(-len(X) // 32) * 32)


@settings(suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
@given(groupings(), st.sampled_from([1, 2**11, 2**28]), st.randoms(use_true_random=False))
def test_sums_and_all_that_is_made_of_them(grouping, work, random):
    X, scales, labels, count = grouping
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_gpu, "_WORK_BYTES", work)
        patch.setattr(_group_sums_gpu, "_WORK_BYTES", work)
        patch.setattr(_rows, "STRIP_LEAST", 16)
        for host, device in both(X, scales, work):
            a, b = host.products(labels, count), device.products(labels, count)
            weights = np.linspace(0.3, 2, len(labels))
            weighted = [each.products(labels, count, weights) for each in (host, device)]
            np.testing.assert_allclose(
                at_host(weighted[1]),
                weighted[0],
                rtol=1e-5,
                atol=1e-4 * np.abs(weighted[0]).max(initial=1),
            )
            size = np.bincount(labels[labels >= 0], minlength=count).astype(float)
            tolerance = {"atol": 1e-4 * np.abs(a).max(initial=1), "rtol": 1e-5}
            np.testing.assert_allclose(at_host(b), a, **tolerance)
            inside = np.flatnonzero(labels >= 0)
            own = _cpu.at(a, labels[inside], inside)
            np.testing.assert_allclose(_gpu.at(b, labels[inside], inside), own, **tolerance)
            inner = np.bincount(labels[inside], weights=own, minlength=count)
            spreads = _cpu.spreads(a, labels, size, 5.0)
            np.testing.assert_allclose(
                _gpu.spreads(there(a), labels, size, 5.0), spreads, rtol=1e-6
            )
            np.testing.assert_allclose(
                _gpu.between(b, labels), _cpu.between(a, labels), atol=n_times(tolerance, len(X))
            )
            given = (labels, host.own, inner, sums_of(host.own, labels, count))
            needed = among_the_members(a, labels, size)
            same = _gpu.best(there(a), *given, size, needed)
            assert (same == _cpu.best(a, *given, size, needed)).all()
            after = np.array([random.randrange(-1, count) if random.random() < 0.4 else x for x in labels])  # fmt: skip  # noqa: E501
            a, b = host.moved(a, labels, after), device.moved(b, labels, after)
            np.testing.assert_allclose(at_host(b), a, **tolerance)
            root = np.arange(count)
            root[count // 2 :] = 0
            a, b = _cpu.joined(a, root), _gpu.joined(b, root)
            np.testing.assert_allclose(at_host(b), a, **tolerance)
            which = root == np.arange(count)
            np.testing.assert_allclose(
                at_host(_gpu.kept(b, which)), _cpu.kept(a, which), **tolerance
            )


def among_the_members(products, labels, size):
    """Levels that half of each group's members pass, the lowest of them by little."""
    z = [products[c, labels == c] / np.sqrt(size[c] - 1) for c in range(len(size))]
    return np.array([0.999 * np.sort(values)[len(values) // 2] for values in z])


def n_times(tolerance, n):
    return n * tolerance["atol"]


def sums_of(own, labels, count):
    inside = labels >= 0
    return np.bincount(labels[inside], weights=own[inside], minlength=count)


def test_candidates_meet_alike():
    drawn = fingerprints([12, 10, 9], 0.05, 2048)
    labels = np.random.default_rng(0).integers(-1, 5, len(drawn.X))
    scales = np.full(len(labels), 0.15)
    host = FingerprintSums(drawn.X, scales, 2**30).between(labels, 5)
    for memory in (2**30, 2**18):
        device = FingerprintSums(drawn.X, scales, memory, DEVICE).between(labels, 5)
        np.testing.assert_allclose(device, host, atol=1e-4 * np.abs(host).max())


def labels_of(X, **options):
    return ConsolidatedSSC(**options).fit(X).labels_


@pytest.mark.parametrize("mean", [0.01, 0.03])
def test_labels_agree_on_correlations(mean):
    rng = np.random.default_rng(3)
    drawn = gram(rng.integers(5, 30, 25).tolist(), mean, seed=3)
    options = {"metric": "precomputed", "n_pixels": 512**2}
    G = drawn.gram.copy()
    first = ConsolidatedSSC(**options).fit(G)
    second = ConsolidatedSSC(**options, device=DEVICE).fit(G)
    assert (drawn.gram == G).all()
    assert adjusted_rand_score(first.labels_, second.labels_) >= 0.999
    assert second.report_.converged
    assert second.null_scale_ == pytest.approx(first.null_scale_, rel=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "int8"])
def test_labels_agree_on_a_store_whole_and_in_batches(tmp_path, dtype):
    drawn = fingerprints([40, 35, 30, 25, 20], 0.06, 4096, seed=2)
    with DiskStore.create(tmp_path / "s", frame=Frame(64, 64), dtype=dtype) as made:
        for i, row in enumerate(drawn.X):
            made.add(f"{i:04d}", row, sha256=f"{i}")
        made.commit()
        store = made.rows()
        whole = labels_of(store)
        assert adjusted_rand_score(whole, labels_of(store, device=DEVICE)) >= 0.999
        batched = labels_of(store, batch_size=60)
        device = labels_of(store, batch_size=60, device=DEVICE)
        assert adjusted_rand_score(batched, device) >= 0.999
        assert adjusted_rand_score(whole, device) >= 0.97
        few = Subset(store, np.arange(0, 150, 2))
        assert adjusted_rand_score(labels_of(few), labels_of(few, device=DEVICE)) >= 0.999


def test_weak_photos_and_an_earlier_answer():
    drawn = gram([20, 20, 20], 0.03, seed=2)
    weak = np.arange(60) % 7 == 0
    start = np.where(np.arange(60) < 20, 0, -1)
    answers = [
        ConsolidatedSSC(metric="precomputed", n_pixels=512**2, device=device)
        .fit(drawn.gram, weak=weak, start=start)
        .labels_
        for device in ("cpu", DEVICE)
    ]
    assert (answers[0] == answers[1]).all()


class Elsewhere:
    """An executor with memory of its own, which it has not."""

    workers, remote = 2, True

    def __init__(self):
        self.tasks = []

    def submit(self, function, argument):
        self.tasks.append(argument)
        future = Future()
        future.set_result(function(argument))
        return future

    def close(self):
        pass


@pytest.mark.parametrize("seed", [1, 2])
def test_batches_of_an_array_do_not_depend_on_its_order(seed):
    X = fingerprints([40] * 6, 0.06, 1024, seed=seed).X
    order = np.random.default_rng(seed).permutation(len(X))
    found = labels_of(X, batch_size=80, device=DEVICE)
    assert adjusted_rand_score(found, labels_of(X, batch_size=80)) >= 0.999
    again = labels_of(X[order], batch_size=80, device=DEVICE)
    assert adjusted_rand_score(found[order], again) >= 0.999


@pytest.mark.parametrize("some", [False, True])
def test_batches_elsewhere_give_the_same_and_no_fingerprint_travels(tmp_path, some):
    drawn = fingerprints([30, 30, 30], 0.06, 2048, seed=1)
    with DiskStore.create(tmp_path / "s", frame=Frame(64, 32), dtype="float16") as made:
        for i, row in enumerate(drawn.X):
            made.add(f"{i:04d}", row, sha256=f"{i}")
        made.commit()
        store = made.rows()
        source = Subset(store, np.arange(0, 90, 2)) if some else store
        executor = Elsewhere()
        model = ConsolidatedSSC(batch_size=20).fit(source, executor=executor)
        assert len(executor.tasks) > 2
        assert all(isinstance(task.data.fingerprints, StoredRows) for task in executor.tasks)
        assert (model.labels_ == labels_of(source, batch_size=20)).all()


def test_a_device_that_is_none_is_refused_before_any_work():
    with pytest.raises(ValueError, match="device is 'gpu'"):
        ConsolidatedSSC(device="gpu").fit(np.eye(3))


def test_labels_agree_on_real_photographs(photos_dir):
    rows = []
    for path in sorted(photos_dir.rglob("*.*")):
        if path.suffix.lower() in (".png", ".jpg", ".jpeg", ".tif"):
            with Image.open(path) as image:
                pixels = np.asarray(image.convert("RGB").crop((0, 0, 512, 512)))
            if exposure(pixels).saturated <= 0.3:
                rows.append(fingerprint(pixels))
    X = np.stack(rows)
    assert len(X) == 384
    host = labels_of(X, memory=2**32)
    assert host.max() > 15
    assert adjusted_rand_score(host, labels_of(X, memory=2**32, device=DEVICE)) >= 0.999


@pytest.mark.parametrize("memory", [2**19, 2**20, 2**22])
def test_little_memory_means_batches(memory):
    drawn = fingerprints([40, 40, 40, 40, 40, 40], 0.06, 1024, seed=1)
    host = labels_of(drawn.X, memory=memory)
    device = labels_of(drawn.X, memory=memory, device=DEVICE)
    assert device.max() >= 4
    assert adjusted_rand_score(host, device) >= 0.9


def test_a_budget_is_enough_for_the_batch_it_allows():
    for memory in (2**k for k in range(19, 31)):
        n = _batches.largest_batch(memory, DEVICE)
        there_are = np.broadcast_to(np.float32(0), (n, 4096))
        assert correlate_gpu._strip(there_are, n, memory) >= 16


def test_the_memory_that_was_used_is_told(monkeypatch):
    drawn = gram([20, 20], 0.03, seed=2)
    tried = []

    def short(work, memory, _device):
        tried.append(memory)
        return work(memory // 4)

    monkeypatch.setattr("samecam.compute.retry_with_less_memory", short)
    model = ConsolidatedSSC(metric="precomputed", n_pixels=512**2, memory=2**30)
    assert model.fit(drawn.gram).memory_ == 2**28
    assert tried == [2**30]
