"""Scores of members by shifts: in units of what this photo and this group have by chance."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from samecam import correlate
from samecam.case.grouping._strangers import without_strangers
from samecam.evidence import place_scores, shifts
from samecam.frames import Frame
from samecam.store import BitRows, pack

FRAME = Frame(640, 400)


class Frames(BitRows):
    frame = FRAME


def photos(rng, count, strength, smooth, pattern=None):
    """Smooth noise, and some of a pattern in it."""
    rows = []
    for _ in range(count):
        noise = gaussian_filter(rng.normal(size=FRAME.shape), smooth)
        row = noise / noise.std()
        rows.append((row if pattern is None else row + strength * pattern).ravel())
    return np.array(rows)


def world(smooth, strangers=40, seed=0):
    rng = np.random.default_rng(seed)
    pattern = gaussian_filter(rng.normal(size=FRAME.shape), smooth)
    pattern /= pattern.std()
    own = photos(rng, 6, 0.6, smooth, pattern)
    return np.concatenate([own, photos(rng, strangers, 0, smooth)])


def test_a_score_is_over_what_shifts_scatter_by():
    X = world(0.8, 2)
    rows = Frames(pack(X), FRAME.n_pixels)
    weak = np.arange(8)
    scores, count = place_scores(rows, weak)
    assert count == len(shifts(FRAME)) == 32
    signs = np.where(X > 0, 1.0, -1.0)
    for k in np.flatnonzero(np.isfinite(scores)):
        others = signs[[j for j in weak if j != k]].sum(axis=0)
        rest = [signs[k] @ np.roll(others, -offset) for offset in shifts(FRAME)]
        wanted = (signs[k] @ others - max(np.mean(rest), 0)) / np.std(rest, ddof=1)
        assert scores[k] == pytest.approx(wanted, rel=1e-9)
    assert np.isinf(scores[:6]).all()  # clear without shifts
    assert np.abs(scores[6:]).max() < 5


def test_smooth_strangers_have_the_scores_of_chance():
    """Their correlations scatter by more than those of white noise: by as much as at shifts."""
    X = world(1.2, 60)
    rows = Frames(pack(X), FRAME.n_pixels)
    scores = [place_scores(rows, np.append(np.arange(6), k))[0][-1] for k in range(6, 66)]
    signs = np.where(X > 0, 1.0, -1.0)
    total = signs[:6].sum(axis=0)
    white = signs[6:] @ total / np.linalg.norm(total)
    assert np.std(white) > 1.6
    assert 0.75 < np.std(scores) < 1.4


def test_some_members_are_shifted_alone():
    rows = Frames(pack(world(0.8, 2)), FRAME.n_pixels)
    offsets, members = np.array([0, 64, 640]), np.array([1, 3, 5, 6, 7])
    whole = correlate.shifted_products(rows, members, offsets)
    some = correlate.shifted_products(rows, members, offsets, among=np.array([4, 1]))
    np.testing.assert_array_equal(some, whole[[4, 1]])


class Store:
    """A store of one frame."""

    def __init__(self, rows):
        self._rows = rows

    def rows(self, _):
        return self._rows


def test_strangers_leave_where_many_photos_are_in_no_group():
    X = world(1.2, 40)
    rows = Frames(pack(X), FRAME.n_pixels)
    rows.close = lambda: None
    labels = np.where(np.arange(46) < 9, 0, -1)  # three strangers among them
    labels = np.concatenate([labels, np.full(400, -1)])
    frames = {FRAME: np.arange(46)}
    kept = without_strangers(Store(rows), frames, labels, 0.01, 2**28)
    assert np.flatnonzero(kept >= 0).tolist() == list(range(6))
    few = without_strangers(Store(rows), frames, labels[:46], 0.01, 2**28)
    assert (few == labels[:46]).all()
    alone = np.where(np.arange(446) < 2, 0, -1)
    alone[:2] = -1
    alone[6:8] = 0  # a group of two strangers
    assert (without_strangers(Store(rows), frames, alone, 0.01, 2**28) == -1).all()
