"""Chance from shifts of the camera's fingerprint: the obvious values, and what they are worth."""

import numpy as np
import pytest

from samecam import correlate
from samecam.case.matching._orientations import Orientation
from samecam.case.matching._rivals import Rivals
from samecam.case.matching._shifts import STEP, shift_null, square_shifts
from samecam.evidence import false_alarm, shifts
from samecam.frames import Frame
from samecam.store import BitRows, ByteRows, pack


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
    null = shift_null(values, 64 * 64)
    assert null.comparisons == len(slow) == 64 - 25
    np.testing.assert_allclose(null.body_z * null.scale, np.sort(slow), atol=1e-6)
    assert null.scale == pytest.approx(
        max(np.std(slow), 1.4826 * np.median(np.abs(slow))), rel=0.01
    )
    assert null.floor == pytest.approx(3 / len(slow), rel=0.01)
    assert false_alarm(50.0, null) == pytest.approx(null.floor)
    nothing = shift_null(np.zeros(0), 64 * 64)
    assert false_alarm(50.0, nothing) == 1
    assert nothing.scale == correlate.usual_scale(64 * 64)


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
    rivals = Rivals(store, labels, [7, 8], np.ones(2), None, {})
    views = [
        Orientation(turned, frame, store.values[row], 1.0 if kind == "bits" else store.scales[row])
        for turned, row in ((0, 0), (180, 3))
    ]
    for _ in range(2):  # from what is kept, too
        got = rivals.shifted(views, 1, square, left_out)
        slow = [
            X[row] @ np.roll(camera, -offset) / np.sqrt(square)
            for row in (0, 3)
            for offset in shifts(frame, 512)
        ]
        error = {"bits": 1e-9, "2bits": 3e-5, "int8": 1e-5}[kind]
        np.testing.assert_allclose(got, slow, atol=error)
    assert len(got) == 2 * 14
    # Of another camera than the photo's own nothing is left out.
    other = X[[0, 3]].sum(axis=0)
    got = rivals.shifted(views[:1], 0, other @ other, left_out)
    assert got[0] == pytest.approx(X[0] @ np.roll(other, -64) / np.linalg.norm(other), abs=3e-5)
    assert len(rivals.shifted(views, 1, 0.0, None)) == 0


def test_chance_from_shifts_holds_for_noise():
    """Of photos of other cameras no more than a share p has a rate below p."""
    rng = np.random.default_rng(5)
    d = 96
    patterns = correlate.normalised(rng.normal(size=(400, d * d)))
    camera = patterns[:8].sum(axis=0)
    rates = []
    for row in patterns[8:]:
        null = shift_null(square_shifts(row, camera), d * d)
        rates.append(float(false_alarm(row @ camera / np.linalg.norm(camera) / null.scale, null)))
    assert np.mean(np.array(rates) <= 0.1) < 0.12
    assert np.mean(np.array(rates) <= 0.05) < 0.07


@pytest.mark.parametrize("frame", [Frame(128, 64), Frame(128, 128), Frame(192, 128)])
def test_few_shifts_of_small_frames_make_no_more_matches_than_the_rate(frame):
    """The scale of so few values is often far too small: chance was a match in 3 to 14 of 100."""
    rng, spread = np.random.default_rng(0), 1.2 / frame.n_pixels**0.5
    turns, wrong, photos = 2, 0, 2000
    for _ in range(photos):
        null = shift_null(spread * rng.normal(size=turns * len(shifts(frame))), frame.n_pixels)
        z = spread * rng.normal(size=turns) / null.scale
        wrong += false_alarm(z, null, bound=False).min() * turns <= 0.01
    assert wrong <= 0.01 * photos
