"""Scores and peaks by shifts: the obvious by hand."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from samecam.case.grouping._strangers import without_strangers
from samecam.evidence import comparisons_from_rows, group_chance, place_scores, shifts
from samecam.frames import Frame
from samecam.store import BitRows, ByteRows, MemoryStore, pack

FRAME = Frame(320, 200)


class BitFrames(BitRows):
    """Rows of bits of a known frame."""

    frame = FRAME


class ByteFrames(ByteRows):
    frame = FRAME


def cameras(labels, strength=0.3):
    """Patterns of cameras, by label, in noise; −1 is noise alone."""
    rng = np.random.default_rng(3)
    patterns = rng.normal(size=(max(labels) + 2, FRAME.n_pixels))
    patterns[-1] = 0
    return strength * patterns[labels] + rng.normal(size=(len(labels), FRAME.n_pixels))


def obvious(rows, labels, groups, bits):
    """Roll rows that are filled up with zeros to whole words, correlate; mean and spread."""
    period = -(-FRAME.n_pixels // 64) * 64 if bits else FRAME.n_pixels
    filled = np.pad(rows, ((0, 0), (0, period - rows.shape[1])))
    result = np.full((len(rows), 3), np.nan)
    for i, group in enumerate(groups):
        others = filled[[j for j, g in enumerate(labels) if g == group and j != i]].sum(axis=0)
        if group < 0 or not others.any():
            continue
        norm = np.linalg.norm(filled[i]) * np.linalg.norm(others)
        at = shifts(FRAME, bits=bits)
        rest = np.array([filled[i] @ np.roll(others, -offset) for offset in at]) / norm
        result[i] = filled[i] @ others / norm, rest.mean(), rest.std(ddof=1)
    return result


LABELS = np.array([0, 1, 0, -1, 1, 0, 2, 1, 0])


def rows_of(kind, X):
    if kind == "bits":
        return BitFrames(pack(X), FRAME.n_pixels)
    if kind == "2bits":
        small = np.abs(X) <= np.linspace(0.8, 1.2, len(X))[:, np.newaxis]
        return BitFrames(pack(X, small), FRAME.n_pixels)
    values = np.rint(16 * X).clip(-127, 127).astype(np.int8)
    return ByteFrames(values, 1 / np.linalg.norm(values.astype(float), axis=1))


@pytest.mark.parametrize("kind", ["bits", "2bits", "int8"])
def test_chance_is_what_shifts_do(kind):
    rows = rows_of(kind, cameras(LABELS))
    given = comparisons_from_rows(rows, LABELS)
    stored = rows.read().astype(float)
    told = []
    nearest = np.where(LABELS == 0, 1, 0)
    for groups in (LABELS, nearest):
        got = group_chance(rows, given, groups, progress=lambda *each: told.append(each))
        wanted = obvious(stored, LABELS, groups, kind != "int8")
        np.testing.assert_allclose(got.mean, wanted[:, 1], rtol=0.05, atol=2e-5)
        np.testing.assert_allclose(got.spread, wanted[:, 2], rtol=0.01)
        again = group_chance(rows, given, groups, memory=1)
        np.testing.assert_array_equal(again.spread, got.spread)
    assert told[:3] == [(4, 8), (7, 8), (8, 8)]
    own = group_chance(rows, given, LABELS)
    assert np.flatnonzero(np.isnan(own.mean)).tolist() == [3, 6]  # in no group, and alone in one
    assert np.nanmin(own.scores(given.own)) > 5
    assert np.nanmin(own.peaks(given.own)) > 30


@pytest.mark.parametrize("kind", ["bits", "2bits", "int8"])
def test_large_sums_are_rounded_and_chance_is_the_same(kind):
    labels = np.repeat([0, 1], [20, 12])
    rows = rows_of(kind, cameras(labels))
    given = comparisons_from_rows(rows, labels)
    got = group_chance(rows, given, labels)
    wanted = obvious(rows.read().astype(float), labels, labels, kind != "int8")
    np.testing.assert_allclose(got.spread, wanted[:, 2], rtol=0.35)
    assert got.spread.mean() == pytest.approx(wanted[:, 2].mean(), rel=0.06)


def test_a_pattern_that_repeats_is_taken_off():
    rng = np.random.default_rng(1)
    tile = np.tile(rng.normal(size=(8, 8)), (FRAME.height // 8, FRAME.width // 8)).ravel()
    X = rng.normal(size=(9, FRAME.n_pixels)) + 0.3 * tile
    rows = rows_of("int8", X)
    labels = np.zeros(9, dtype=int)
    given = comparisons_from_rows(rows, labels)
    chance = group_chance(rows, given, labels)
    assert (given.own * FRAME.n_pixels**0.5 > 20).all()
    assert np.abs(chance.scores(given.own)).max() < 5
    np.testing.assert_allclose(chance.mean, given.own, rtol=0.1)


def test_what_shares_nothing_has_no_score():
    rows = rows_of("bits", cameras(LABELS, strength=0.0))
    given = comparisons_from_rows(rows, LABELS)
    assert np.nanmax(np.abs(group_chance(rows, given, LABELS).scores(given.own))) < 4.5


@pytest.mark.parametrize(
    ("frame", "of_bits", "of_bytes"),
    [((64, 64), 3, 39), ((130, 64), 1, 64), ((322, 200), 14, 64), ((4000, 3000), 64, 64)],
)
def test_shifts_are_whole_blocks_down_and_across(frame, of_bits, of_bytes):
    frame = Frame(*frame)
    for bits, count in ((True, of_bits), (False, of_bytes)):
        offsets = shifts(frame, bits=bits)
        down, across = np.divmod(offsets, frame.width)
        assert len(offsets) == count
        assert (down % 8 == 0).all()
        assert (across % 8 == 0).all()
        assert not bits or (offsets % 64 == 0).all()
        assert (np.diff(offsets) > 0).all()
        # A pixel that leaves on the right comes in on the left: no shift is near to none.
        far = (across > 16) & (across < frame.width - 16) | (down > 16) & (down < frame.height - 16)
        assert far.all()


def test_a_frame_without_room_for_shifts_is_not_measured():
    class Small(BitRows):
        frame = Frame(64, 64)

    rows = Small(pack(np.random.default_rng(0).normal(size=(4, 4096))), 4096)
    labels = np.zeros(4, dtype=int)
    chance = group_chance(rows, comparisons_from_rows(rows, labels), labels)
    assert np.isnan(chance.scores(np.ones(4))).all()
    assert np.isinf(place_scores(rows, np.arange(4))[0]).all()


LARGE = Frame(640, 400)


class LargeFloats(MemoryStore):
    frame = property(lambda _: LARGE)


class LargeFrames(BitRows):
    frame = LARGE


def large_bytes(X):
    values = np.rint(16 * X).clip(-127, 127).astype(np.int8)
    return ByteRows(values, 1 / np.linalg.norm(values.astype(float), axis=1), LARGE)


def photos(rng, count, strength, smooth, pattern=None):
    """Smooth noise, and some of a pattern in it."""
    rows = []
    for _ in range(count):
        noise = gaussian_filter(rng.normal(size=LARGE.shape), smooth)
        row = noise / noise.std()
        rows.append((row if pattern is None else row + strength * pattern).ravel())
    return np.array(rows)


def world(smooth, strangers=40, seed=0):
    rng = np.random.default_rng(seed)
    pattern = gaussian_filter(rng.normal(size=LARGE.shape), smooth)
    pattern /= pattern.std()
    own = photos(rng, 6, 0.6, smooth, pattern)
    return np.concatenate([own, photos(rng, strangers, 0, smooth)])


def test_a_score_is_over_what_shifts_scatter_by():
    X = world(0.8, 1)
    rows = LargeFrames(pack(X), LARGE.n_pixels)
    weak = np.arange(7)  # of eight on, the sum is rounded
    scores, count = place_scores(rows, weak)
    assert count == len(shifts(LARGE, bits=True)) == 64
    signs = np.where(X > 0, 1.0, -1.0)
    for k in np.flatnonzero(np.isfinite(scores)):
        others = signs[[j for j in weak if j != k]].sum(axis=0)
        rest = [signs[k] @ np.roll(others, -offset) for offset in shifts(LARGE, bits=True)]
        wanted = (signs[k] @ others - max(np.mean(rest), 0)) / np.std(rest, ddof=1)
        assert scores[k] == pytest.approx(wanted, rel=1e-9)
    assert np.isinf(scores[:6]).all()  # clear without shifts
    assert np.abs(scores[6:]).max() < 5


def test_places_that_are_left_out_make_no_place_clear():
    X = world(0.8, 3).reshape(-1, *LARGE.shape)
    X[:, -80:, -200:] += 2 * np.sign(np.random.default_rng(1).normal(size=(80, 200)))
    X = X.reshape(len(X), -1)
    for rows in (LargeFrames(pack(X), LARGE.n_pixels), large_bytes(X)):
        with_all, _ = place_scores(rows, np.arange(9))
        assert with_all[6:].min() > 10
        boxes = [(LARGE.height - 80, LARGE.height, LARGE.width - 200, LARGE.width)]
        without, _ = place_scores(rows, np.arange(9), boxes=boxes)
        assert without[:6].min() > 10
        assert without[6:].max() < 4
        assert place_scores(rows, np.arange(9), boxes=boxes, memory=1)[0] == pytest.approx(without)


def test_smooth_strangers_have_the_scores_of_chance():
    """Their correlations scatter by more than those of white noise: by as much as at shifts."""
    X = world(1.2, 60)
    rows = LargeFrames(pack(X), LARGE.n_pixels)
    scores = [place_scores(rows, np.append(np.arange(6), k))[0][-1] for k in range(6, 66)]
    signs = np.where(X > 0, 1.0, -1.0)
    total = signs[:6].sum(axis=0)
    white = signs[6:] @ total / np.linalg.norm(total)
    assert np.std(white) > 1.6
    assert 0.75 < np.std(scores) < 1.4


class Store:
    """A store of one frame."""

    def __init__(self, rows):
        self._rows = rows

    def rows(self, _):
        return self._rows


def test_strangers_leave_where_many_photos_are_in_no_group():
    X = world(1.2, 40)
    rows = LargeFrames(pack(X), LARGE.n_pixels)
    rows.close = lambda: None
    labels = np.where(np.arange(46) < 9, 0, -1)  # three strangers among them
    labels = np.concatenate([labels, np.full(400, -1)])
    frames = {LARGE: np.arange(46)}
    kept = without_strangers(Store(rows), frames, labels, 0.01, 2**28)
    assert np.flatnonzero(kept >= 0).tolist() == list(range(6))
    floats = LargeFloats(X[:46])
    floats.close = lambda: None
    assert (without_strangers(Store(floats), frames, labels, 0.01, 2**28) == labels).all()
    few = without_strangers(Store(rows), frames, labels[:46], 0.01, 2**28)
    assert (few == labels[:46]).all()
    alone = np.where(np.arange(446) < 2, 0, -1)
    alone[:2] = -1
    alone[6:8] = 0  # a group of two strangers
    assert (without_strangers(Store(rows), frames, alone, 0.01, 2**28) == -1).all()


def test_strangers_leave_that_only_share_places_that_are_left_out():
    X = world(1.2, 40).reshape(-1, *LARGE.shape)
    X[:9, -80:, -200:] += 2 * np.sign(np.random.default_rng(1).normal(size=(80, 200)))
    rows = LargeFrames(pack(X.reshape(46, -1)), LARGE.n_pixels)
    rows.close = lambda: None
    labels = np.concatenate([np.where(np.arange(46) < 9, 0, -1), np.full(400, -1)])
    given = Store(rows), {LARGE: np.arange(46)}, labels, 0.01, 2**28
    place = (LARGE.height - 80, LARGE.height, LARGE.width - 200, LARGE.width)
    assert (without_strangers(*given) == labels).all()
    kept = without_strangers(*given, left_out={LARGE: [place]})
    assert np.flatnonzero(kept >= 0).tolist() == list(range(6))
