"""Pixels taken out of correlations."""

import numpy as np
import pytest

from samecam import correlate
from samecam.correlate import _leave_out
from samecam.store import BitRows, pack


def unit(X):
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("side", [7, 4096])
def test_as_if_they_had_not_been_there(monkeypatch, side):
    monkeypatch.setattr(_leave_out, "_SIDE", side)
    monkeypatch.setattr(_leave_out, "_WIDTH", 300)
    rng = np.random.default_rng(0)
    inside = rng.random(2000) < 0.2
    X = unit(rng.standard_normal((20, 2000)) + 0.4 * rng.standard_normal(2000))
    gram = correlate.gram(X)
    correlate.leave_out(gram, X, inside)
    left = unit(X[:, ~inside])
    np.testing.assert_allclose(gram, left @ left.T, atol=1e-5)
    np.testing.assert_array_equal(gram, gram.T)


def test_rows_of_bits_and_a_photo_of_which_nothing_is_left():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((5, 640))
    rows = BitRows(pack(X, np.abs(X) <= 1), 640)
    gram, some = correlate.gram(rows), np.arange(640) < 64
    correlate.leave_out(gram, rows, some)
    left = unit(rows.read()[:, 64:])
    np.testing.assert_allclose(gram, left @ left.T, atol=1e-5)
    correlate.leave_out(gram, rows, np.ones(640, dtype=bool))
    assert np.isfinite(gram).all()
