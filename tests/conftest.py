"""Options and fixtures shared by all tests."""

import os

# Before anything loads a BLAS: tests run side by side, and its threads wait for one another
# by spinning, which on a busy machine costs many times what they save.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from pathlib import Path

import pytest
from hypothesis import settings

from tests.processes import end_commands

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("dev", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


# Marks of tests that are run on demand, and what demands them in the Makefile.
SLOW = {"slow": "check", "long": "long"}


def pytest_configure():
    """Where all must be there, what is missing is no reason to skip."""
    for name in os.environ.get("SAMECAM_NEEDS", "").split():
        __import__(name)


def pytest_addoption(parser):
    parser.addoption(
        "--shared",
        metavar="DIR",
        default=None,
        help="folder with photos/ (real photographs) and golden/ (arrays to agree with)",
    )
    for name, target in SLOW.items():
        parser.addoption(
            f"--{name}", action="store_true", help=f"the tests marked {name}, too: `make {target}`"
        )


def pytest_collection_modifyitems(config, items):
    for item in items:
        for name, target in SLOW.items():
            if name in item.keywords and not config.getoption(f"--{name}"):
                item.add_marker(pytest.mark.skip(reason=f"{name}: run by `make {target}`"))


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


@pytest.fixture(autouse=True)
def no_process_is_left():
    """Ends what a test has started, that a failure has no consequences for the tests after it."""
    yield
    end_commands()
