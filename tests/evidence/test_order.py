import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.evidence._order import median_size, ranked


def blocks_of(values, size=1000):
    return lambda: (values[a : a + size] for a in range(0, len(values), size))


@pytest.mark.parametrize("capacity", [10, 5000, 10**6])
@pytest.mark.parametrize("law", ["normal", "equal", "few", "wide"])
def test_ranks_are_those_of_the_sorted_values(law, capacity):
    rng = np.random.default_rng(0)
    values = {
        "normal": rng.standard_normal(50_000),
        "equal": np.full(50_000, -0.25),
        "few": rng.integers(-2, 3, 50_000) / 7,
        "wide": rng.standard_normal(50_000) * 10.0 ** rng.integers(-300, 300, 50_000),
    }[law]
    ranks = np.unique(np.geomspace(1, len(values), 60).round().astype(int)) - 1
    got = ranked(blocks_of(values), ranks, len(values), capacity)
    assert np.array_equal(got, np.sort(values)[ranks])


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=40), st.integers(0, 50))
def test_any_values_and_any_capacity(values, capacity):
    array = np.array(values)
    ranks = np.arange(len(array))
    got = ranked(blocks_of(array, 7), ranks, len(array), capacity)
    assert np.array_equal(got, np.sort(array))


@pytest.mark.parametrize("count", [1, 2, 3, 1000, 1001])
@pytest.mark.parametrize("capacity", [3, 10**6])
def test_the_median_is_numpys(count, capacity):
    values = np.random.default_rng(count).standard_normal(count)
    got = median_size(blocks_of(values), count, capacity)
    assert got == np.median(np.abs(values))
