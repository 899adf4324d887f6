"""Chance from shifts of the camera's fingerprint: the obvious values, and what they are worth."""

import numpy as np
import pytest

from samecam import correlate
from samecam.case.matching._orientations import Orientation
from samecam.case.matching._rivals import Rivals
from samecam.case.matching._shifts import STEP, square_shifts
from samecam.evidence import STRANGERS, shifts, usual_members
from samecam.frames import Frame
from samecam.store import BitRows, ByteRows, MemoryStore, pack


def test_shifts_of_squares_are_those_of_rolling_by_hand():
    rng = np.random.default_rng(0)
    vector, camera = correlate.normalised(rng.normal(size=(2, 64 * 64)))
    steps = range(0, 64, STEP)
    slow = []
    for dy in steps:
        for dx in steps:
            if min(dy, 64 - dy) <= 16 and min(dx, 64 - dx) <= 16:
                continue
            rolled = np.roll(vector.reshape(64, 64), (-dy, -dx), axis=(0, 1)).ravel()
            slow.append(rolled @ camera)
    values = square_shifts(vector, 3 * camera)
    np.testing.assert_allclose(np.sort(values), np.sort(slow), atol=1e-6)
    assert len(values) == 64 - 25


@pytest.mark.parametrize("kind", ["bits", "2bits", "int8"])
@pytest.mark.parametrize("left_out", [None, 1])
def test_shifts_of_whole_frames_are_those_of_rolling_by_hand(kind, left_out):
    frame, rng = Frame(320, 192), np.random.default_rng(1)
    X = rng.normal(size=(6, frame.n_pixels))
    if kind == "bits":
        store, X = BitRows(pack(X), frame.n_pixels), np.sign(X) / frame.n_pixels**0.5
    elif kind == "2bits":
        store = BitRows(pack(X, np.abs(X) <= rng.uniform(0.5, 2, (6, 1))), frame.n_pixels)
        X = store.read().astype(float)
    else:
        values = np.rint(16 * X).clip(-127, 127).astype(np.int8)
        store = ByteRows(values, 1 / np.linalg.norm(values.astype(float), axis=1))
        X = store.read().astype(float)
    labels = np.array([0, 1, 1, 0, 1, 1])
    members = [k for k in np.flatnonzero(labels == 1) if k != left_out]
    camera = X[members].sum(axis=0)
    square = camera @ camera
    rivals = Rivals(store, labels, [7, 8], np.ones(2), {}, [usual_members(frame.n_pixels)] * 2)
    views = [
        Orientation(turned, frame, store.values[row], 1.0 if kind == "bits" else store.scales[row])
        for turned, row in ((0, 0), (180, 3))
    ]
    for _ in range(2):  # from what is kept, too
        got = np.concatenate(rivals._shifted(views, 1, square, left_out))
        slow = [
            X[row] @ np.roll(camera, -offset) / np.sqrt(square)
            for row in (0, 3)
            for offset in shifts(frame, bits=kind != "int8")
        ]
        error = {"bits": 1e-9, "2bits": 3e-5, "int8": 1e-5}[kind]
        np.testing.assert_allclose(got, slow, atol=error)
    assert len(got) == 2 * (64 if kind == "int8" else len(shifts(frame, bits=True)))
    # Of another camera than the photo's own nothing is left out.
    other = X[[0, 3]].sum(axis=0)
    (got,) = rivals._shifted(views[:1], 0, other @ other, left_out)
    first = shifts(frame, bits=kind != "int8")[0]
    assert got[0] == pytest.approx(X[0] @ np.roll(other, -first) / np.linalg.norm(other), abs=3e-5)
    assert [len(each) for each in rivals._shifted(views, 1, 0.0, None)] == [0, 0]


@pytest.mark.parametrize("side", [64, 96])
def test_rates_hold_for_noise(side):
    """Of photos of other cameras a share p has a rate below p, however few the shifts are."""
    rng, d = np.random.default_rng(5), side * side
    patterns = correlate.normalised(rng.normal(size=(1500, d)))
    store = MemoryStore(d)
    for k, row in enumerate(patterns[:8]):
        store.add(f"{k}", row)
    store.commit()
    labels, square = np.zeros(8, dtype=int), patterns[:8].sum(axis=0)
    rivals = Rivals(store, labels, [0], np.array([square @ square]), {}, [usual_members(d)])
    rates = []
    for row in patterns[8:]:
        one = Orientation(0, Frame(side, side), row.astype(np.float32), 1.0)
        r, squares = rivals.correlations((row @ patterns[:8].T)[np.newaxis], None)
        scores, _, shifts_of = rivals.scores([one], r, squares, None)
        rates.append(float(STRANGERS.measured_on(shifts_of).rate(scores)[0, 0]))
    for claimed, slack in ((0.1, 0.03), (0.01, 0.01)):
        assert abs(np.mean(np.array(rates) <= claimed) - claimed) < slack
