"""What tests of experiments share: simulated photographs, and nothing that waits in vain."""

import os

import pytest
from threadpoolctl import threadpool_limits

from samecam.experiments import rivals_table
from samecam.experiments._methods import METHODS
from samecam.experiments.benchmarking import _benchmark, _run
from samecam.metrics import read_truth
from samecam.simulate import simulate_photos
from tests.case.studied import compare_here
from tests.experiments.small_sets import SMALL
from tests.once import made_once


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    """Threads of BLAS and k-means wait for each other longer than such small work takes."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_fsync():
    """A study flushes each of hundreds of small files; no test here takes the power away."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


def _take_shots(folder):
    simulate_photos(folder, cameras=6, images=10, size=(544, 528), workers=1)


@pytest.fixture(scope="session")
def shots(tmp_path_factory):
    """Photographs of six simulated cameras, ten each: their files, camera by camera."""
    root = made_once(tmp_path_factory, "shots", _take_shots)
    by_camera = {}
    for path, camera in read_truth(root / "truth.csv").items():
        by_camera.setdefault(camera, []).append(root / path)
    return list(by_camera.values())


@pytest.fixture
def small_table(monkeypatch):
    """The table of rivals on its two small collections: `small_table(KEY, …)` chooses methods."""
    monkeypatch.setattr(rivals_table, "_NAMES", ("phan-D1", "phan-D3"))

    def choose(*keys):
        monkeypatch.setattr(rivals_table, "METHODS", {key: METHODS[key] for key in keys})

    return choose


@pytest.fixture
def small(monkeypatch):
    """Two sets that take no time; `small(b=…)` puts others in their place."""

    def use(**changes):
        known = {**SMALL, **changes}
        monkeypatch.setattr(_benchmark, "fixed_sets", lambda: known)
        monkeypatch.setattr(_run, "fixed_sets", lambda: known)

    use()
    return use


@pytest.fixture
def here(small, monkeypatch):
    """And no process but this one."""
    compare_here(monkeypatch)
    return small
