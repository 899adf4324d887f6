"""LS-SSC with the GPU's code, run by PyTorch on the processor."""

from concurrent.futures import Future

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from samecam.cluster import LargeScaleSSC
from samecam.cluster.large_scale import _batches
from samecam.compute import LocalPool
from samecam.errors import SamecamError
from samecam.simulate import fingerprints, gram
from tests.cluster.large_scale.collections import on_disk

torch = pytest.importorskip("torch")

from samecam.represent import gpu  # noqa: E402
from tests.devices import DEVICE  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small tensors: threads would only wait for one another."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def planted():
    return fingerprints([25] * 4 + [1] * 8, 0.05, 8192, seed=1)


@pytest.fixture
def solved(monkeypatch):
    """Photos in each batch that the GPU's solver has worked on."""
    seen = []
    plain = gpu.solve

    def solve(task, *rest):
        seen.append(len(task.gram))
        return plain(task, *rest)

    monkeypatch.setattr(gpu, "solve", solve)
    return seen


@pytest.mark.parametrize("preset", ["default", "paper"])
@pytest.mark.parametrize("seed", range(2))
def test_labels_agree_with_the_cpus(preset, seed, solved):
    G, _ = gram([40] * 6 + [1] * 12, 0.03, seed=seed)
    options = {
        "metric": "precomputed", "n_pixels": 512**2, "preset": preset, "n_batches": 2,
        "random_state": seed,
    }  # fmt: skip
    host = LargeScaleSSC(**options).fit(G).labels_
    assert not solved
    device = LargeScaleSSC(**options, device=DEVICE).fit(G)
    assert adjusted_rand_score(host, device.labels_) >= 0.999
    assert len(solved) >= 2
    assert device.report_.converged


def test_arrays_and_stores(planted, tmp_path, solved):
    X, _ = planted
    options = {"n_batches": 2, "random_state": 4}
    host = LargeScaleSSC(**options).fit(X).labels_
    array = LargeScaleSSC(**options, device=DEVICE).fit(X).labels_
    with on_disk(tmp_path / "store", X) as store:
        stored = LargeScaleSSC(**options, device=DEVICE).fit(store).labels_
    assert adjusted_rand_score(host, array) >= 0.999
    assert adjusted_rand_score(host, stored) >= 0.999
    assert len(solved) >= 4


class Elsewhere:
    """Runs tasks at once and keeps them."""

    workers, remote = 2, True

    def __init__(self):
        self.tasks = []

    def submit(self, function, task):
        self.tasks.append(task)
        done = Future()
        try:
            done.set_result(function(task))
        except Exception as error:
            done.set_exception(error)
        return done

    def close(self):
        pass


def test_tasks_carry_the_device(planted, solved):
    X, _ = planted
    options = {"n_batches": 3, "device": DEVICE}
    executor = Elsewhere()
    labels = LargeScaleSSC(**options).fit(X, executor=executor).labels_
    assert len(solved) == len(executor.tasks) >= 3
    assert {task.rules.device for task in executor.tasks} == {DEVICE}
    np.testing.assert_array_equal(labels, LargeScaleSSC(**options).fit(X).labels_)


@pytest.mark.skipif(torch.cuda.is_available(), reason="has a GPU")
def test_a_worker_without_the_device_says_so(planted):
    X, _ = planted
    executor = Elsewhere()
    LargeScaleSSC(n_batches=3, device=DEVICE).fit(X, executor=executor)
    task = executor.tasks[0]
    rules = type(task.rules)(**{
        name: getattr(task.rules, name) for name in task.rules.__dataclass_fields__
    } | {"device": "cuda:0"})  # fmt: skip
    with pytest.raises(SamecamError, match="device is 'cuda:0' but"):
        _batches.cluster_remote_batch(_batches.RemoteBatch(task.data, rules))


def test_in_real_processes(planted):
    X, _ = planted
    options = {"n_batches": 2, "device": DEVICE}
    pool = LocalPool(1)
    try:
        labels = LargeScaleSSC(**options).fit(X, executor=pool).labels_
    finally:
        pool.close()
    assert adjusted_rand_score(labels, LargeScaleSSC(**options).fit(X).labels_) >= 0.999


def test_no_device_of_that_name():
    with pytest.raises(ValueError, match="device is 'gpu'"):
        LargeScaleSSC(device="gpu").fit(np.eye(20))
