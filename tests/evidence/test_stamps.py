"""Places where photos are far more alike than elsewhere."""

import numpy as np
import pytest

from samecam.evidence import (
    SharedPattern,
    _stamps,
    inside_boxes,
    left_out,
    misled,
    stamps,
    standing_out,
    with_stamps,
)
from samecam.frames import Frame
from samecam.store import BitRows, ByteRows, pack

FRAME = Frame(640, 512)
CORNER = (slice(470, 500), slice(40, 200))


class BitFrames(BitRows):
    frame = FRAME


def photos(sizes=(9, 8, 7), *, stamp=0.0, stamped=3, strength=0.15, seed=0, kind="int8", hot=0):
    """Rows and groups; a stamp of that many standard deviations in the first `stamped` groups."""
    rng = np.random.default_rng(seed)
    mark = np.zeros(FRAME.shape)
    mark[CORNER] = np.sign(rng.standard_normal(mark[CORNER].shape))
    X, labels = [], []
    for k, size in enumerate(sizes):
        pattern = strength * rng.standard_normal(FRAME.shape) + stamp * mark * (k < stamped)
        pattern.ravel()[rng.integers(pattern.size, size=hot)] += 20
        X += [(rng.standard_normal(FRAME.shape) + pattern).ravel() for _ in range(size)]
        labels += [k] * size
    X, labels = np.array(X), np.array(labels)
    if kind == "2bits":
        return BitFrames(pack(X, np.abs(X) <= 1), FRAME.n_pixels), labels
    values = np.rint(16 * X).clip(-127, 127).astype(np.int8)
    return ByteRows(values, 1 / np.linalg.norm(values.astype(float), axis=1), FRAME), labels


@pytest.mark.parametrize("kind", ["int8", "2bits"])
@pytest.mark.parametrize("stamped", [1, 3])
def test_a_stamp_is_found_where_it_is(kind, stamped):
    rows, labels = photos(stamp=0.8, stamped=stamped, kind=kind)
    places = stamps(rows, labels)
    assert [bool(boxes) for boxes in places] == [k < stamped for k in range(3)]
    boxes = [box for boxes in places for box in boxes]
    there = np.zeros(FRAME.shape, dtype=bool)
    for top, bottom, left, right in boxes:
        there[top:bottom, left:right] = True
    assert there[CORNER].all()
    assert there.mean() < 0.25
    assert not there[:300].any()
    assert stamps(rows, labels, memory=1) == places


def test_cameras_that_are_one_group_by_their_stamp_show_it_too():
    rows, _ = photos((6, 6, 6), stamp=0.8, strength=0.03)
    (boxes,) = stamps(rows, np.zeros(18, dtype=np.intp))
    assert boxes


@pytest.mark.parametrize("strength", [0.03, 0.15, 0.4])
def test_patterns_of_sensors_and_hot_pixels_are_no_stamps(strength):
    for seed in range(3):
        rows, labels = photos(strength=strength, hot=40, seed=seed)
        assert stamps(rows, labels) == [[], [], []]


def test_what_is_in_a_large_part_of_the_frame_is_no_stamp():
    rng = np.random.default_rng(0)
    scene = np.zeros(FRAME.shape)
    scene[:200] = 0.8 * rng.standard_normal((200, FRAME.width))
    X = (rng.standard_normal((8, *FRAME.shape)) + scene).reshape(8, -1)
    values = np.rint(16 * X).clip(-127, 127).astype(np.int8)
    rows = ByteRows(values, 1 / np.linalg.norm(values.astype(float), axis=1), FRAME)
    assert stamps(rows, np.zeros(8, dtype=np.intp)) == [[]]


def test_without_groups_or_with_too_few_pixels_there_are_none():
    rows, labels = photos(stamp=0.8)
    assert stamps(rows, np.full(len(labels), -1)) == []
    small = ByteRows(np.ones((8, 96 * 96), dtype=np.int8), np.full(8, 1 / 96), Frame(96, 96))
    assert stamps(small, np.zeros(8, dtype=np.intp)) == [[]]


def test_what_stands_out_is_told_where_nothing_is_known_to_be_shared():
    rows, labels = photos((8, 8, 8, 8), stamp=0.8, stamped=3)
    known = SharedPattern((1, 2), 9.0, (), ((0, 64, 0, 64),))
    found = with_stamps([known, None, None, None], rows, labels)
    assert found[0] is known
    assert (found[1].groups, found[2].groups, found[3]) == ((0, 2), (0, 1), None)
    assert found[1].boxes == tuple(stamps(rows, labels)[1])


def test_what_is_left_out_is_all_that_stands_out_in_any_group():
    rows, labels = photos(stamp=0.8, stamped=2)
    every = [box for boxes in stamps(rows, labels) for box in boxes]
    np.testing.assert_array_equal(
        inside_boxes(rows, left_out(rows, labels)), inside_boxes(rows, every)
    )
    assert left_out(rows, np.full(len(labels), -1)) == []
    plain, labels = photos()
    assert left_out(plain, labels) == []


def test_of_much_that_stands_out_that_of_most_photos_is_left_out(monkeypatch):
    monkeypatch.setattr(_stamps, "_MOST_LEFT_OUT", 0.2)
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((20, *FRAME.shape)), np.repeat([0, 1], [14, 6])
    X[labels == 0, 10:50, 20:200] += 0.8 * rng.standard_normal((40, 180))
    X[labels == 1, 460:500, 400:600] += 0.8 * rng.standard_normal((40, 200))
    values = np.rint(16 * X.reshape(20, -1)).clip(-127, 127).astype(np.int8)
    rows = ByteRows(values, 1 / np.linalg.norm(values.astype(float), axis=1), FRAME)
    several, few = stamps(rows, labels)
    assert several
    assert few
    there = inside_boxes(rows, left_out(rows, labels))
    assert there[inside_boxes(rows, several)].all()
    assert there.mean() <= 0.2
    assert not there[inside_boxes(rows, few)].all()


@pytest.mark.parametrize("kind", ["int8", "2bits"])
@pytest.mark.parametrize("size", [2, 3])
def test_small_groups_that_hang_on_a_stamp_are_told(kind, size):
    weak, labels = photos((size, 9, size), stamp=0.8, stamped=2, strength=0.01, kind=kind)
    assert misled(weak, labels).tolist() == [0]  # neither the large one nor that without a stamp
    own, labels = photos((size, 9, size), stamp=0.8, stamped=2, strength=0.15, kind=kind)
    assert stamps(own, labels)[1]
    assert misled(own, labels).tolist() == []  # most is all over the frame


@pytest.mark.parametrize("kind", ["int8", "2bits"])
def test_what_is_elsewhere_is_enough_however_strong_the_stamp(kind):
    rows, labels = photos((2, 3, 2), stamp=8, stamped=2, strength=0.2, kind=kind)
    assert standing_out(*rows.read()[:2].reshape(2, *FRAME.shape))
    assert misled(rows, labels).tolist() == []


def test_what_was_left_out_already_misleads_nobody():
    rows, labels = photos((2, 9), stamp=0.8, strength=0.01)
    assert misled(rows, labels).tolist() == [0]
    assert misled(rows, labels, left_out(rows, labels)).tolist() == []


def test_places_are_left_out_for_groups_of_four_and_more():
    rows, labels = photos((3, 3), stamp=0.8)
    assert left_out(rows, labels) == []
    assert stamps(rows, labels) == [[], []]
    assert misled(rows, np.full(len(labels), -1)).tolist() == []


@pytest.mark.parametrize("strength", [0.01, 0.15, 0.4])
def test_two_pictures_show_where_they_are_alike(strength):
    rows, _ = photos((1, 1, 2), stamp=0.8, stamped=2, strength=strength, hot=20)
    first, second, *own = rows.read().reshape(4, *FRAME.shape)
    there = inside_boxes(rows, standing_out(first, second)).reshape(FRAME.shape)
    assert there[CORNER].all()
    assert there.mean() < 0.2
    assert standing_out(*own) == []
    assert standing_out(first, -second) == []
    assert standing_out(first[:100, :100], second[:100, :100]) == []


def test_a_watermark_that_is_repeated_leaves_more_than_the_tiles_around_it():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2, *FRAME.shape))
    for top in range(80, 480, 192):
        for left in range(80, 600, 192):
            X[:, top : top + 30, left : left + 30] += 2 * rng.standard_normal((30, 30))
    boxes = standing_out(*X.astype(np.float32))
    there = np.zeros(FRAME.shape, dtype=bool)
    for top, bottom, left, right in boxes:
        there[top:bottom, left:right] = True
    assert boxes
    assert there.mean() < 0.2


@pytest.mark.parametrize("kind", ["int8", "2bits"])
def test_of_groups_of_two_or_three_it_is_where_it_stands_out_in_others(kind):
    rows, labels = photos((9, 2, 3, 2), stamp=0.8, stamped=3, strength=0.05, kind=kind)
    none = [None] * 4
    boxes = left_out(rows, labels)
    found = with_stamps(none, rows, labels, boxes=boxes)
    assert [pattern is not None for pattern in found] == [True, True, True, False]
    assert found[1].boxes == found[0].boxes
    assert found[0].groups == (1, 2)
    one_camera = with_stamps(none, rows, labels, boxes=boxes, cameras=np.array([0, 0, 1, 2]))
    assert [pattern.groups for pattern in one_camera[:3]] == [(2,), (2,), (0, 1)]
    plain, labels = photos((9, 2, 3, 2), stamp=0.8, stamped=1, strength=0.15, kind=kind)
    found = with_stamps(none, plain, labels, boxes=left_out(plain, labels))
    assert [pattern is not None for pattern in found] == [True, False, False, False]


def test_places_are_known_of_patterns_all_over_the_frame_too():
    rows, labels = photos((8, 8, 8, 8), stamp=0.8, stamped=3)
    found = with_stamps([SharedPattern((1, 2), 9.0, (1, 2), ()), None, None, None], rows, labels)
    assert found[0].everywhere == (1, 2)
    assert found[0].boxes == tuple(stamps(rows, labels)[0])
