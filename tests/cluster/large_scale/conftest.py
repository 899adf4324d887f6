"""A collection that several files of tests look at."""

import pytest

from samecam.simulate import fingerprints


@pytest.fixture(scope="session")
def planted():
    """Five cameras and some strangers, as fingerprints."""
    return fingerprints([30] * 5 + [1] * 10, 0.05, 16384, seed=1)
