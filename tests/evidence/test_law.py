"""The law of strangers, and how a case widens it."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from samecam.evidence import LAW_VERSION, SAME_MODEL, STRANGERS, Law, law_of_case


def test_rates_and_densities_are_those_of_students_t():
    law, z = Law(12.0, 1.3, 0.4), np.array([-2.0, 0.0, 1.0, 4.0])
    scaled = (z - 0.4) / 1.3
    np.testing.assert_allclose(law.rate(z), stats.t.sf(scaled, 12))
    np.testing.assert_allclose(law.log_density(z), stats.t.logpdf(scaled, 12) - np.log(1.3))
    assert law.rate(law.score(0.003)) == pytest.approx(0.003)
    assert law.rate(1e6) == 1e-7  # no smaller rate was counted
    assert np.isnan(law.rate(np.nan))


def test_few_shifts_make_a_longer_tail():
    assert STRANGERS.measured_on(64) == STRANGERS
    assert STRANGERS.measured_on(20).freedom == 19
    assert STRANGERS.measured_on(20).rate(4) > STRANGERS.rate(4)


@pytest.mark.parametrize("groups", [1, 10, 60])
def test_a_case_of_usual_strangers_leaves_the_law_as_it_is(groups):
    rng = np.random.default_rng(groups)
    kept = 0
    for _ in range(20):
        z = STRANGERS.scale * rng.standard_t(STRANGERS.freedom, size=(300, groups)).max(axis=1)
        kept += law_of_case(z, np.full(300, groups)).scale < 1.1 * STRANGERS.scale
    assert kept >= 19


def test_heavier_tails_widen_it():
    rng = np.random.default_rng(0)
    z = 2 * rng.standard_t(40, size=(300, 10)).max(axis=1)
    law = law_of_case(z, np.full(300, 10))
    assert 1.5 < law.scale < 2.2
    heavy = rng.standard_t(3, size=(300, 10)).max(axis=1)
    assert law_of_case(heavy, np.full(300, 10)).scale > 1.3


def test_nothing_to_measure_leaves_it():
    assert law_of_case([], []) == STRANGERS
    assert law_of_case([np.nan, 3.0], [4, 0]) == STRANGERS


def test_what_is_shipped_is_what_was_measured():
    path = Path(__file__).parents[2] / "benchmarks" / "results" / "calibration.json"
    shipped = json.loads(path.read_text())["result"]["shipped"]
    assert shipped["version"] == LAW_VERSION
    for name, law in (("strangers", STRANGERS), ("same_model", SAME_MODEL)):
        assert shipped[name] == {"freedom": law.freedom, "scale": law.scale, "mean": law.mean}
