"""Pieces: the patterns of groups and photos, read when they are needed."""

import numpy as np
import pytest

from samecam.frames import Frame
from samecam.register import View
from samecam.register._pattern import as_pattern
from samecam.register._pieces import MOST_PHOTOS, Patterns, pieces
from tests.register.sensors import grouped, photos_of, sensor

FRAME = Frame(272, 260)
NOISE = 3


def given(count, alone=1, **told):
    pattern = sensor(1, FRAME)
    group = (4, photos_of(pattern, View(), FRAME, count, NOISE, seed=1))
    return grouped(FRAME, [group, (-1, photos_of(pattern, View(), FRAME, alone, 1, 2))], **told)


def test_a_group_is_the_sum_of_its_photos():
    rows = given(5)
    ((number, group),), ((photo, single),) = pieces([rows], Patterns(2**24))
    values = rows.rows.values * rows.rows.scales[:, np.newaxis]
    assert (number, group.photos, group.frame) == (4, 5, FRAME)
    expected = as_pattern(values[:5].sum(axis=0).reshape(FRAME.shape))
    assert np.abs(group.pattern().astype(int) - expected).max() <= 1
    assert (photo, single.photos) == (5, 1)
    assert (
        np.abs(single.pattern().astype(int) - as_pattern(values[5].reshape(FRAME.shape))).max() <= 1
    )
    assert np.isnan(single.reliable)


@pytest.mark.parametrize("bits", [False, True])
def test_how_reliable_a_group_is_follows_from_its_rows(bits):
    """Of n photos with noise σ the sum is the sensor's in n / (n + σ²) of its variance."""
    ((_, group),), _ = pieces([given(20, bits=bits)], Patterns(2**24))
    assert group.reliable == pytest.approx(20 / (20 + NOISE**2), abs=0.08)


def test_photos_that_have_nothing_in_common_are_not_reliable():
    made = [
        photo for k in range(8) for photo in photos_of(sensor(k, FRAME), View(), FRAME, 1, 1, k)
    ]
    ((_, group),), _ = pieces([grouped(FRAME, [(0, made)])], Patterns(2**24))
    assert 0 <= group.reliable < 0.05


def test_of_many_photos_some_are_enough():
    rows = given(MOST_PHOTOS + 9)
    ((_, group),), _ = pieces([rows], Patterns(2**24))
    assert group.photos == MOST_PHOTOS + 9
    assert group.reliable == pytest.approx(MOST_PHOTOS / (MOST_PHOTOS + NOISE**2), abs=0.05)


def test_a_zoom_is_that_of_most_photos():
    rows = given(3)
    rows.zoom[:] = [2.0, np.nan, 2.2, 1.0]
    ((_, group),), ((_, single),) = pieces([rows], Patterns(2**24))
    assert (group.zoom, single.zoom) == (pytest.approx(2.1), 1.0)
    rows.zoom[:] = np.nan
    ((_, group),), _ = pieces([rows], Patterns(2**24))
    assert np.isnan(group.zoom)


def test_patterns_are_kept_as_far_as_memory_goes():
    """Made again they are the same, and the two latest are always there."""
    made = []

    def pattern(k):
        made.append(k)
        return np.full((10, 10), k, dtype=np.int8)

    kept = Patterns(300)
    for k in (1, 2, 3, 1, 4, 1, 2):
        assert (kept.get(k, lambda k=k: pattern(k)) == k).all()
    assert made == [1, 2, 3, 4, 2]
    tiny = Patterns(1)
    for k in (5, 6, 5, 6, 7, 5):
        assert (tiny.get(k, lambda k=k: pattern(k)) == k).all()
    assert made[5:] == [5, 6, 7, 5]


def test_a_pattern_is_a_byte_a_pixel_without_what_changes_slowly():
    y, x = np.mgrid[:260, :272]
    noise = sensor(3, FRAME)
    made = as_pattern(noise + 50 * np.sin(x / 60) + 30 * (y / 260) ** 2)
    assert made.dtype == np.int8
    assert np.corrcoef(made.ravel(), noise.ravel())[0, 1] > 0.98
    assert made.astype(float).std() == pytest.approx(24, rel=0.02)
    assert (as_pattern(np.zeros((20, 20))) == 0).all()
    assert (as_pattern(1e-6 * noise) == as_pattern(noise)).mean() > 0.999


@pytest.mark.parametrize("bits", [False, True])
def test_places_that_are_left_out_make_no_pattern_and_none_more_reliable(bits):
    made = photos_of(sensor(1, FRAME), View(), FRAME, 6, NOISE, seed=1)
    inside = np.s_[180:250, :128]
    ((_, plain),), _ = pieces([grouped(FRAME, [(0, made)], bits=bits)], Patterns(2**24))
    for photo in made:
        photo[inside] += 12 * np.sign(sensor(2, FRAME)[inside])
    rows = grouped(FRAME, [(0, made)], bits=bits)
    ((_, misled),), _ = pieces([rows], Patterns(2**24))
    boxes = [(180, 250, 0, 128), (180, 250, 0, 64)]  # one in the other: of two groups
    ((_, group),), _ = pieces([rows._replace(left_out=boxes)], Patterns(2**24))
    pattern = group.pattern().astype(float)
    assert np.sqrt(np.mean(pattern[inside] ** 2)) < 0.1 * pattern.std()
    assert abs(misled.reliable - plain.reliable) > 0.1
    assert group.reliable == pytest.approx(plain.reliable, abs=0.05)
