"""Patterns that groups of several cameras share: found, placed, taken out."""

import numpy as np
import pytest

from samecam import evidence
from samecam.evidence import (
    SharedPattern,
    _without,
    comparisons_from_rows,
    correlations_without,
    group_chance,
    measured_null,
    photo_evidence,
    photo_scores,
    scores_without,
    shared_patterns,
    shared_place,
    shared_sentence,
)
from samecam.frames import Frame
from samecam.store import BitRows, ByteRows, MemoryStore, pack

FRAME = Frame(512, 384)
CORNER = (slice(340, 380), slice(400, 500))
SIZES = (10, 10, 9, 8, 7, 6)


class BitFrames(BitRows):
    frame = FRAME


def rows_of(X, kind="int8"):
    if kind == "2bits":
        return BitFrames(pack(X, np.abs(X) <= 1), FRAME.n_pixels)
    values = np.rint(32 * X).clip(-127, 127).astype(np.int8)
    return ByteRows(values, 1 / np.linalg.norm(values.astype(float), axis=1), FRAME)


def cameras(*, sharing=0, share=0.0, logo=0.0, sizes=SIZES, own=None, kind="int8", seed=1):
    """Rows and groups: the first `sharing` cameras have something in common.

    `share` of their patterns all over the frame, or a `logo` in the corner; `own`: strength of the
    cameras' own patterns.
    """
    rng = np.random.default_rng(seed)
    own = [0.15] * len(sizes) if own is None else own
    common, mark = rng.normal(size=FRAME.shape), np.zeros(FRAME.shape)
    mark[CORNER] = np.sign(rng.normal(size=mark[CORNER].shape))
    X, labels = [], []
    for k, (size, strength) in enumerate(zip(sizes, own, strict=True)):
        pattern = rng.normal(size=FRAME.shape) * strength
        if k < sharing:
            pattern = np.sqrt(1 - share**2) * pattern + 0.15 * share * common + logo * mark
        for _ in range(size):
            X.append((rng.normal(size=FRAME.shape) + pattern).ravel())
            labels.append(k)
    return rows_of(np.array(X), kind), np.array(labels)


def weighed(rows, labels):
    given = comparisons_from_rows(rows, labels)
    chance = group_chance(rows, given, labels)
    null = measured_null(given)
    patterns = shared_patterns(rows, given)
    return given, patterns, photo_scores(given, null, chance, chance), null, chance


def test_strangers_share_nothing():
    for seed in range(4):
        rows, labels = cameras(seed=seed)
        given = comparisons_from_rows(rows, labels)
        assert shared_patterns(rows, given) == [None] * len(SIZES)


@pytest.mark.parametrize("kind", ["2bits", "int8"])
def test_a_pattern_all_over_the_frame_is_found_with_whom_it_is_shared(kind):
    rows, labels = cameras(sharing=4, share=0.4, kind=kind)
    given = comparisons_from_rows(rows, labels)
    found = shared_patterns(rows, given)
    assert found[4:] == [None, None]
    for k, pattern in enumerate(found[:4]):
        others = tuple(j for j in range(4) if j != k)
        assert (pattern.groups, pattern.everywhere, pattern.boxes) == (others, others, ())
        assert pattern.score > 5
    again = shared_patterns(rows, given, memory=1)
    assert again == found


def test_a_logo_is_found_in_its_place():
    rows, labels = cameras(sharing=3, logo=0.5)
    found = shared_patterns(rows, comparisons_from_rows(rows, labels))
    assert found[3:] == [None] * 3
    for k, pattern in enumerate(found[:3]):
        assert pattern.groups == tuple(j for j in range(3) if j != k)
        assert pattern.everywhere == ()
        assert pattern.boxes == ((256, 384, 384, 512),)
        assert shared_place(pattern, FRAME) == "in the lower right corner"


def test_both_are_found_at_once():
    rows, labels = cameras(sharing=4, share=0.5, logo=0.5)
    found = shared_patterns(rows, comparisons_from_rows(rows, labels))
    assert all(pattern.everywhere and len(pattern.boxes) == 1 for pattern in found[:4])


class Small(MemoryStore):
    frame = Frame(64, 3)


def grouped(common, seed=3):
    """Rows and groups of cameras, each with one of some patterns besides its own."""
    rng = np.random.default_rng(seed)
    X, labels = [], []
    for k, part in enumerate(common):
        pattern = 0.15 * rng.normal(size=FRAME.n_pixels) + part
        X += [rng.normal(size=FRAME.n_pixels) + pattern for _ in range(8)]
        labels += [k] * 8
    return rows_of(np.array(X)), np.array(labels)


def test_two_patterns_are_told_apart():
    one, two = np.random.default_rng(8).normal(size=(2, FRAME.n_pixels)) * 0.06
    rows, labels = grouped([one, two, one, two, 0 * one, one, two])
    found = shared_patterns(rows, comparisons_from_rows(rows, labels))
    with_whom = [None if pattern is None else pattern.groups for pattern in found]
    assert with_whom == [(2, 5), (3, 6), (0, 5), (1, 6), None, (0, 2), (1, 3)]


def test_what_repeats_with_8_pixels_is_none():
    """It is taken off all scores, whoever has it."""
    tile = np.random.default_rng(8).normal(size=(8, 8)) * 0.05
    blocks = np.tile(tile, (FRAME.height // 8, FRAME.width // 8)).ravel()
    rows, labels = grouped([blocks] * 5)
    given = comparisons_from_rows(rows, labels)
    like = given.between.read(0, 5) / np.sqrt(np.outer(given.totals, given.totals))
    assert (like[np.triu_indices(5, 1)] * FRAME.n_pixels**0.5).min() > 3
    assert shared_patterns(rows, given) == [None] * 5


def test_two_groups_may_be_one_camera_and_that_is_no_shared_pattern():
    rows, labels = cameras(sharing=2, share=0.4)
    given = comparisons_from_rows(rows, labels)
    assert shared_patterns(rows, given) == [None] * len(SIZES)
    cut = labels + 2
    cut[:10] = np.arange(10) % 3  # the first camera in three
    given = comparisons_from_rows(rows, cut)
    assert shared_patterns(rows, given) == [None] * (len(SIZES) + 2)


def test_groups_of_one_camera_are_no_strangers():
    rows, labels = cameras(sharing=3, share=0.4)
    given = comparisons_from_rows(rows, labels)
    assert shared_patterns(rows, given)[0] is not None
    known = np.array([0, 0, 1, 2, 3, 4])
    assert shared_patterns(rows, given, cameras=known) == [None] * len(SIZES)
    assert shared_patterns(rows, given, cameras=np.zeros(6, dtype=int)) == [None] * len(SIZES)


@pytest.mark.parametrize("what", [{"share": 0.5}, {"logo": 0.4}, {"share": 0.5, "logo": 0.4}])
def test_without_it_strangers_are_strangers_again_and_members_stay(what):
    rows, labels = cameras(sharing=6, **what)
    given, patterns, *_ = weighed(rows, labels)
    for group in (0, 3):
        chance = group_chance(rows, given, np.full(len(labels), group))
        with_it = chance.scores(given.correlations.read(group, group + 1)[0])
        without = chance.scores(correlations_without(rows, given, group, patterns[group]))
        mine = labels == group
        assert with_it[~mine].mean() > 2
        assert abs(without[~mine].mean()) < 0.5
        assert without[~mine].std() < 1.35
        assert without[mine].mean() > 0.55 * with_it[mine].mean()


def test_leaving_out_tiles_is_what_rows_without_them_give():
    rows, labels = cameras(sharing=3, logo=0.5, sizes=(5, 4, 3))
    given = comparisons_from_rows(rows, labels)
    box = (256, 384, 384, 512)
    pattern = SharedPattern((1, 2), 9.0, (), (box,))
    got = correlations_without(rows, given, 0, pattern)
    X = rows.read().astype(float).reshape(-1, *FRAME.shape)
    X[:, 256:384, 384:512] = 0
    X = X.reshape(len(X), -1)
    for i in range(len(X)):
        others = X[(labels == 0) & (np.arange(len(X)) != i)].sum(axis=0)
        wanted = X[i] @ others / np.linalg.norm(X[i]) / np.linalg.norm(others)
        wanted *= (1 - 128**2 / FRAME.n_pixels) ** 0.5  # chance scatters as over the whole frame
        assert got[i] == pytest.approx(wanted, abs=2e-5)
    least = correlations_without(rows, given, 0, pattern, memory=1)
    np.testing.assert_allclose(least, got, atol=1e-12)


def test_chance_scatters_as_it_did_however_much_is_left_out():
    rng = np.random.default_rng(4)
    rows, labels = rows_of(rng.normal(size=(60, FRAME.n_pixels))), np.repeat([0, -1], [20, 40])
    given = comparisons_from_rows(rows, labels)
    pattern = SharedPattern((), 9.0, (), ((0, FRAME.height * 3 // 4, 0, FRAME.width),))
    got = correlations_without(rows, given, 0, pattern)[labels < 0]
    assert got.std() * FRAME.n_pixels**0.5 == pytest.approx(1, abs=0.35)


def test_where_nothing_is_left_nothing_is_alike():
    """Not what rounding leaves of it."""
    rng = np.random.default_rng(5)
    X = np.zeros((12, *FRAME.shape))
    X[:, :64, :64] = rng.normal(size=(12, 64, 64)) + rng.normal(size=(64, 64))
    X[:6] += 1e-4 * rng.normal(size=(6, *FRAME.shape))
    rows, labels = rows_of(X.reshape(12, -1)), np.repeat([0, 1], 6)
    given = comparisons_from_rows(rows, labels)
    pattern = SharedPattern((1,), 9.0, (), ((0, 64, 0, 64),))
    for group in (0, 1):
        assert not correlations_without(rows, given, group, pattern).any()
        assert not correlations_without(rows, given, group, pattern, memory=2**12).any()


def test_a_photo_is_not_measured_by_its_own_group():
    """Its group's sensor in the others' mean would be taken off it."""
    rows, labels = cameras(sharing=4, share=0.5)
    given, patterns, *_ = weighed(rows, labels)
    every = correlations_without(rows, given, 0, patterns[0])
    some = np.flatnonzero(labels == 2)
    fewer = SharedPattern((1, 3), 9.0, (1, 3), ())
    np.testing.assert_allclose(
        every[some], correlations_without(rows, given, 0, fewer, photos=some), atol=1e-12
    )
    pair = SharedPattern((1, 2), 9.0, (1, 2), ())
    assert np.isnan(correlations_without(rows, given, 0, pair, photos=some)).all()


def test_a_group_that_hangs_on_it_is_doubtful_without():
    """Photos of no camera at all that a logo holds together, beside groups of cameras."""
    rows, labels = cameras(sharing=6, logo=0.6, own=[0.15] * 5 + [0.0])
    given, patterns, scores, null, chance = weighed(rows, labels)
    without = scores_without(rows, given, patterns, null, chance)
    photos = photo_evidence(given, scores, FRAME.n_pixels, without=without)
    plain = photo_evidence(given, scores, FRAME.n_pixels)
    assert not plain.doubtful.any()
    np.testing.assert_array_equal(photos.doubtful, labels == 5)
    assert (photos.without_ratio[labels == 5] < 1).all()
    assert (photos.without_ratio[labels < 5] > 2).all()
    words = evidence.photo_sentence(photos, len(labels) - 1)
    assert "Without a pattern that is no sensor's the score is" in words
    assert words.count("Its place is doubtful") == 1
    assert "share" not in evidence.photo_sentence(plain, 0)


def test_frames_that_are_unknown_small_or_of_two_groups_are_left_alone():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 3)
    for frame in (Frame(4096, 1), Frame(68, 60)):
        X = rng.normal(size=(9, frame.n_pixels)) + rng.normal(size=frame.n_pixels)
        values = np.rint(16 * X).clip(-127, 127).astype(np.int8)
        rows = ByteRows(values, 1 / np.linalg.norm(values.astype(float), axis=1), frame)
        assert shared_patterns(rows, comparisons_from_rows(rows, labels)) == [None] * 3
    rows, labels = cameras(sharing=2, logo=1.0, sizes=(4, 4), own=[0.15] * 2)
    assert shared_patterns(rows, comparisons_from_rows(rows, labels)) == [None] * 2


@pytest.mark.parametrize(
    ("boxes", "place"),
    [
        ((), "all over the frame"),
        (((0, 128, 0, 128),), "in the upper left corner"),
        (((256, 384, 128, 256), (256, 384, 256, 384)), "at the lower edge"),
        (((128, 256, 384, 512),), "at the right edge"),
        (((128, 256, 128, 384),), "in the middle, or in several places"),
        (((0, 128, 0, 128), (256, 384, 384, 512)), "in the middle, or in several places"),
    ],
)
def test_places_in_words(boxes, place):
    everywhere = () if boxes else (1, 2)
    assert shared_place(SharedPattern((1, 2), 9.0, everywhere, boxes), FRAME) == place
    if boxes:
        both = SharedPattern((1, 2), 9.0, (1, 2), boxes)
        assert shared_place(both, FRAME) == f"all over the frame, and most {place}"


def test_the_sentence_says_whether_the_group_holds():
    hangs = shared_sentence("in the upper left corner", [1, 2, 5, 7], (12.3, 2.04), 6, 7)
    assert hangs == (
        "This group hangs on a pattern in the upper left corner that 4 other groups (1, 2, 5, 7) "
        "share, which speaks of processing, a stamp or a logo and not of a sensor: without it 6 of "
        "7 photos have a score below 5 (the median score is 2.0, and 12.3 with it)."
    )
    holds = shared_sentence("all over the frame", range(1, 11), (30.0, 21.0), 1, 7)
    assert holds == (
        "A pattern all over the frame is shared by 10 other groups (1, 2, 3, 4, 5, 6, 7, 8, …), "
        "which speaks of processing, a stamp or a logo and not of a sensor. Without it this group "
        "holds, but for 1 photo (the median score is 21.0, and 30.0 with it)."
    )
    alone = shared_sentence("at the lower edge", [], (30.0, 21.0), 0, 7)
    assert alone == (
        "The photos of this group have far more in common at the lower edge than elsewhere, which "
        "speaks of a stamp, a logo, dirt or one scene and not of a sensor. Without it this group "
        "holds (the median score is 21.0, and 30.0 with it)."
    )
    assert shared_sentence("at the lower edge", [], (12.0, 2.0), 6, 7).startswith(
        "This group hangs on what it has far more in common at the lower edge than elsewhere, which"
    )
    assert "but for" not in shared_sentence("all over the frame", [1, 2], (30.0, 21.0), 0, 7)


def test_what_is_left_does_not_depend_on_how_it_was_left(monkeypatch):
    """In one part or in two, of which the first leaves less than the second."""
    monkeypatch.setattr(_without, "_LEAST", 64)
    left = 3e-5**0.5
    row = np.concatenate([np.ones(64), np.full(64, left), np.full(64, left)])
    row = (row / np.linalg.norm(row)).astype(np.float32)
    rows = Small(64 * 3)
    for key in "abc":
        rows.add(key, row)
    rows.commit()
    labels = np.zeros(3, dtype=np.intp)
    given = comparisons_from_rows(rows, labels)
    pattern = SharedPattern((), 9.0, (), ((0, 2, 0, 64),))
    for memory in (2**20, 4 * 8 * 64):
        assert not correlations_without(rows, given, 0, pattern, memory=memory).any()
