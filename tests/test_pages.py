"""Pages made from JSON: figures as text, parts filled in, pictures that name their result."""

import numpy as np
import pytest

from samecam import pages


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0.5, ".50"), (0.996, ".996"), (0.99951, ".9995"), (0.999749, ".9997")),
        *((0.999999, ".999999"), (0.9999996, "1"), (0, ".00"), (1, "1"), (0.9949, ".99")),
    ],
)
def test_shares(value, text):
    assert pages.share(value) == text


def test_nothing_below_one_is_shown_as_one():
    for value in 1 - np.geomspace(1e-6, 0.9, 400):
        for digits in (2, 3):
            shown = pages.share(value, digits)
            assert float(shown) < 1
            assert float(shown) == pytest.approx(value, abs=0.5 * 10**-digits)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0, "0.0%"), (1, "100.0%"), (0.0005, "0.1%"), (0.0004, "0.04%")),
        *((0.9998, "99.98%"), (0.5, "50.0%")),
    ],
)
def test_rates_read_nought_or_all_only_where_they_are(value, text):
    assert pages.percent(value) == text
