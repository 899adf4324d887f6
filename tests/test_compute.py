"""Machine, memory and kernels: what is decided in one place."""

import os
import subprocess
import sys
import threading

import pytest

from samecam import compute
from samecam.errors import SamecamError


@pytest.mark.parametrize(
    ("text", "count"),
    [("1", 1), ("800M", 800 * 2**20), ("8G", 8 * 2**30), ("1.5 GiB", 3 * 2**29), ("2tb", 2**41)],
)
def test_parse_bytes(text, count):
    assert compute.parse_bytes(text) == count


@pytest.mark.parametrize("text", ["", "G", "-1G", "8X", "0", "1e9"])
def test_what_is_no_amount_of_memory_gets_a_sentence(text):
    with pytest.raises(SamecamError, match="like 800M or 8G"):
        compute.parse_bytes(text)


def test_the_machine_is_seen():
    here = compute.machine()
    assert 1 <= here.cores <= (os.cpu_count() or 1)
    assert 2**26 < here.available <= here.memory


def test_worker_count():
    assert compute.worker_count(3) == 3
    assert 1 <= compute.worker_count(None) <= compute.machine().cores
    with pytest.raises(SamecamError):
        compute.worker_count(0)


def test_rows_per_block():
    assert compute.rows_per_block(1000, 300) == 3
    with pytest.raises(SamecamError, match="too small for one row"):
        compute.rows_per_block(299, 300)


@pytest.mark.slow
def test_kernels_compile_where_no_cache_can_be_kept(tmp_path):
    """A module in a folder that cannot be written, and no home: compiled all the same."""
    module = tmp_path / "frozen.zip" / "kernel.py"
    code = (
        "import numba.core.caching as c\n"
        "c.CacheImpl._locator_classes = []\n"
        "from samecam.fingerprint import noise_residual\n"
        "import numpy as np\n"
        "print(noise_residual(np.random.default_rng(0).normal(size=(64, 64))).shape)\n"
    )
    assert not module.exists()
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "(64, 64)", result.stderr


def fail_to_start():
    os._exit(1)


def test_a_task_that_was_not_begun_with_when_all_workers_ended_is_told_so(monkeypatch):
    pool = compute.LocalPool(1, initializer=fail_to_start)
    manager = pool._pool._pool_manager
    schedule, broken = manager.schedule, threading.Event()
    abort = manager.handle_broken_pool

    def late(task):
        broken.wait(60)
        schedule(task)

    def note(error):
        abort(error)
        broken.set()

    monkeypatch.setattr(manager, "schedule", late)
    monkeypatch.setattr(manager, "handle_broken_pool", note)
    with pytest.raises(compute.PoolBrokenError, match="could not be started"):
        pool.submit(int, "3").result(60)
    assert broken.is_set()
    pool.close()


def test_what_another_worker_might_not_meet():
    for error in (compute.TaskTimeoutError(), compute.WorkerDiedError(-9), MemoryError()):
        assert compute.worth_another(error)
    for answer in (ValueError("x"), None, 3, SamecamError("y")):
        assert not compute.worth_another(answer)


def test_a_local_cluster_has_the_workers_that_are_asked_for():
    assert compute.cluster_workers(compute.LOCAL, 3) == 3
    assert compute.cluster_workers(compute.LOCAL) == compute.worker_count(None)


@pytest.mark.parametrize(
    ("name", "fine"),
    [
        *((name, True) for name in ("auto", "cpu", "cuda", "cuda:7", "torch-cpu")),
        *((name, False) for name in ("gpu", "", "cuda:", "cuda:x", "CPU")),
    ],
)
def test_names_of_devices(name, fine):
    if fine:
        compute.check_device(name)
    else:
        with pytest.raises(SamecamError, match="is no device: choose auto, cpu"):
            compute.check_device(name)


def test_a_device_that_is_chosen():
    assert compute.choose_device("cpu") == "cpu"
    assert compute.choose_device("auto") in ("cpu", "cuda:0")
    with pytest.raises(SamecamError, match="cuda:99.*--device cpu"):
        compute.choose_device("cuda:99")


@pytest.mark.torch
def test_less_memory_where_a_gpu_has_none_left(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    tried = []

    def work(memory):
        tried.append(memory)
        if memory > 2**28:
            raise torch.cuda.OutOfMemoryError
        return "done"

    assert compute.with_less(work, 2**30, "cuda:0") == "done"
    assert tried == [2**30, 2**29, 2**28]

    def never(_memory):
        raise torch.cuda.OutOfMemoryError

    with pytest.raises(SamecamError, match="'cuda:0' has no room.*--device cpu"):
        compute.with_less(never, 2**30, "cuda:0")
    with pytest.raises(ZeroDivisionError):
        compute.with_less(lambda memory: memory / 0, 1, "cpu")
