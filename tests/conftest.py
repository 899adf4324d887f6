"""Options and fixtures shared by all tests."""

import os

# Before anything loads a BLAS: tests run side by side, and its threads wait for one another
# by spinning, which on a busy machine costs many times what they save.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import gc
import multiprocessing
from multiprocessing import forkserver
from pathlib import Path

import pebble.common
import pytest
from hypothesis import settings

from tests.extras import EXTRAS, demanded, missing
from tests.processes import end_commands

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("dev", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


# A pool that is closed waits for its next look at its workers; hundreds are closed here.
pebble.common.CONSTS.sleep_unit = 0.02


# Marks of tests that are run on demand, and what demands them in the Makefile.
ON_DEMAND = {"slow": "check", "long": "long"}


def pytest_configure():
    for mark in demanded():
        if reason := missing(mark):
            raise pytest.UsageError(f"SAMECAM_NEEDS asks for {mark}: {reason}")


def pytest_addoption(parser):
    parser.addoption(
        "--shared",
        metavar="DIR",
        default=None,
        help="folder with photos/ (real photographs) and golden/ (arrays to agree with)",
    )
    for name, target in ON_DEMAND.items():
        parser.addoption(
            f"--{name}", action="store_true", help=f"the tests marked {name}, too: `make {target}`"
        )


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keeps thousands of tests out of every later look for garbage, which took .3 s each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config, items):
    asked = [name for name in ON_DEMAND if config.getoption(f"--{name}")]
    reasons = {mark: reason for mark in EXTRAS if (reason := missing(mark))}
    reasons |= {n: f"{n}: `make {t}`" for n, t in ON_DEMAND.items() if n not in asked}
    for item in items:
        for mark in item.iter_markers():
            if mark.name in reasons:
                item.add_marker(pytest.mark.skip(reason=reasons[mark.name]))


def _shared(request, name):
    root = request.config.getoption("--shared")
    if not root:
        pytest.skip("needs --shared DIR")
    folder = Path(root) / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    return folder


@pytest.fixture(scope="session")
def golden_dir(request):
    """Folder of golden arrays, or skip."""
    return _shared(request, "golden")


@pytest.fixture(scope="session")
def photos_dir(request):
    """Folder of real photographs with truth.csv, or skip."""
    return _shared(request, "photos")


@pytest.fixture(scope="session")
def geometry_dir(request):
    """Folder with photographs of sensors that are seen in several ways, in phones/."""
    return _shared(request, "geometry")


@pytest.fixture(scope="session", autouse=True)
def server_of_workers():
    """Starts the server from which pools fork their workers, with all they need."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.preload"])
    forkserver.ensure_running()


@pytest.fixture(autouse=True)
def no_process_is_left():
    """Ends what a test has started, that a failure has no consequences for the tests after it."""
    yield
    end_commands()
