"""Correlations that no fingerprints have, and parameters of a wrong kind: a sentence, always."""

import inspect

import numpy as np
import pytest

from samecam import correlate, evidence
from samecam.cluster import METHODS
from samecam.represent import check_correlations
from samecam.simulate import fingerprints

ROWS = fingerprints([6, 6], 0.3, 1024)[0]
LABELS = np.repeat([0, 1], 6)
PRECOMPUTED = {
    name: method
    for name, method in METHODS.items()
    if "metric" in inspect.signature(method.__init__).parameters
}


def matrix(**entries):
    """The correlations of some photos, but for these: a01=5 is of the first two."""
    gram = correlate.gram(correlate.normalised(ROWS))
    for place, value in entries.items():
        i, j = int(place[1]), int(place[2])
        gram[i, j] = gram[j, i] = value
    return gram


def one_sided():
    gram = matrix()
    gram[0, 1] += 0.5
    return gram


IMPOSSIBLE = {
    "beyond 1": (matrix(a01=5), "between -1 and 1"),
    "little beyond 1": (matrix(a01=-1.01), "between -1 and 1"),
    "indefinite": (matrix(a01=0.99, a12=0.99, a02=-0.99), "eigenvalues far below 0"),
    "not finite": (matrix(a01=np.nan), "NaN|not finite|nan"),
    "one-sided": (one_sided(), "not symmetric"),
    "of other norms": (2 * matrix(), "not 1"),
}


@pytest.mark.parametrize("kind", IMPOSSIBLE)
@pytest.mark.parametrize("name", PRECOMPUTED)
def test_impossible_correlations_are_refused_by_all_methods(name, kind):
    gram, words = IMPOSSIBLE[kind]
    method = PRECOMPUTED[name](metric="precomputed")
    if "n_pixels" in method.get_params():
        method.set_params(n_pixels=1024)
    with pytest.raises(ValueError, match=words):
        method.fit(gram)


@pytest.mark.parametrize("kind", [k for k in IMPOSSIBLE if k != "indefinite"])
def test_impossible_correlations_are_no_evidence(kind):
    gram, words = IMPOSSIBLE[kind]
    with pytest.raises(ValueError, match=words):
        evidence.comparisons_from_gram(gram, LABELS)
    with pytest.raises(ValueError, match=words):
        evidence.pair_evidence(gram, 0.01)


@pytest.mark.parametrize("function", [correlate.null_scale, correlate.centroid_correlations])
def test_correlations_are_square(function):
    more = (LABELS,) if function is correlate.centroid_correlations else ()
    with pytest.raises(ValueError, match="shape"):
        function(matrix()[:5], *more)


def test_correlations_that_were_rounded_are_taken():
    for n, pixels in ((3, 64), (40, 8), (1500, 64)):
        rows = correlate.normalised(np.random.default_rng(n).normal(size=(n, pixels)))
        check_correlations(correlate.gram(rows).round(2) * 0.9999 + 0.0001 * np.eye(n))
    check_correlations(np.zeros((0, 0)))


WRONG = {"a word": "x", "a list": [1], "a table": {}, "too much": 10**400, "nothing": object()}


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("name", METHODS)
def test_parameters_of_a_wrong_kind_are_refused(name, value):
    method = METHODS[name]
    for parameter, known in inspect.signature(method.__init__).parameters.items():
        numeric = isinstance(known.default, int | float) and not isinstance(known.default, bool)
        if not (numeric or parameter in ("n_pixels", "null_scale", "batch_size", "device")):
            continue
        if parameter == "random_state" or (parameter == "memory" and value == "too much"):
            continue
        with pytest.raises(ValueError, match=parameter):
            method(**{parameter: WRONG[value]}).fit(ROWS)
