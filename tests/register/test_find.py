"""Cameras out of groups of photos: views are joined, strangers and kin are not."""

import numpy as np
import pytest

from samecam.frames import Frame
from samecam.register import GroupedRows, View, find_cameras
from samecam.store import ByteRows
from tests.register.sensors import (
    byte_rows,
    far_apart,
    grouped,
    photos_of,
    sensor,
    shown,
)

VGA, WIDE = Frame(640, 480), Frame(640, 360)
FIRST, SECOND, STRANGER = (sensor(k, VGA) for k in range(3))
NOISE = 4
# How each group sees its sensor, and its frame.
PLANTED = {
    0: (FIRST, View(), VGA),
    1: (SECOND, View(), VGA),
    2: (FIRST, View(scale=0.985, shift=(1.0, 0.0)), VGA),
    3: (SECOND, View(scale=1.5), VGA),
    4: (FIRST, View(), WIDE),
}
PLACED, ALONE = 24, 25  # numbers of the photos in no group
LABELS = [0] * 6 + [1] * 6 + [0] * 6 + [1] * 6 + [0, -1] + [0] * 6


def photos(group, noise=NOISE):
    return photos_of(*PLANTED[group], 6, noise, seed=10 + group)


def frames(bits=False, zoom=((1, 1.0), (3, 1.5))):
    """Two frames, five groups, a photo of the first camera, and one of no camera."""
    given = [(group, photos(group)) for group in range(4)]
    given.append((-1, photos_of(FIRST, View(shift=(1.0, 1.0)), VGA, 1, NOISE, seed=20)))
    given.append((-1, photos_of(STRANGER, View(), VGA, 1, NOISE, seed=21)))
    return [
        grouped(VGA, given, bits=bits, zoom=zoom),
        grouped(WIDE, [(4, photos(4))], first=26, bits=bits),
    ]


def assert_as_planted(cameras):
    assert cameras.labels.tolist() == LABELS
    assert cameras.first == (0, 1)
    for group, (_, planted, frame) in PLANTED.items():
        assert far_apart(planted, cameras.views[group], frame, VGA) < 1
    assert set(cameras.alone) == {PLACED}
    assert far_apart(View(shift=(1, 1)), cameras.alone[PLACED], VGA, VGA) < 1


@pytest.fixture(scope="module")
def cameras():
    return find_cameras(frames(), search="quick")


def test_groups_that_see_one_sensor_are_one_camera(cameras):
    assert_as_planted(cameras)
    assert cameras.groups.tolist() == [*np.repeat(range(4), 6), -1, -1, *[4] * 6]
    assert cameras.searched["contradictions"] == 0
    assert cameras.searched["pairs"] >= 10


def test_what_speaks_for_a_view_is_told(cameras):
    for group, view in enumerate(cameras.views):
        if group in cameras.first:
            assert view == View()
        else:
            assert view.score > 10
            assert view.rate < 1e-6
            assert view.share > 0.3
            assert view.area >= 128**2
    assert cameras.alone[PLACED].score > 10


def shuffled(parts):
    """The same rows in another order."""
    made = []
    for part in reversed(parts):
        at = np.random.default_rng(5).permutation(len(part.photos))
        rows = ByteRows(part.rows.values[at], part.rows.scales[at])
        some = (part.photos[at], part.groups[at], part.zoom[at])
        made.append(GroupedRows(part.frame, rows, *some))
    return made


def test_the_order_of_frames_and_rows_does_not_matter():
    alone = photos_of(FIRST, View(shift=(1.0, 1.0)), VGA, 1, NOISE, seed=20)
    given = [grouped(VGA, [(1, photos(0)), (-1, alone)]), grouped(WIDE, [(0, photos(4))], first=7)]
    one, other = (find_cameras(some, search="quick") for some in (given, shuffled(given)))
    assert one.labels.tolist() == other.labels.tolist() == [0] * 13
    assert (one.first, set(one.alone)) == (other.first, set(other.alone)) == ((1,), {6})
    assert far_apart(one.views[0], other.views[0], WIDE, VGA) < 0.1


@pytest.mark.slow
def test_the_order_does_not_matter_for_many(cameras):
    other = find_cameras(shuffled(frames()), search="quick")
    assert_as_planted(other)
    assert other.searched == cameras.searched


@pytest.mark.slow
def test_the_answer_is_always_the_same(cameras):
    again = find_cameras(frames(), search="quick")
    assert again.labels.tolist() == cameras.labels.tolist()
    assert (again.views, again.alone, again.searched) == (
        cameras.views,
        cameras.alone,
        cameras.searched,
    )


@pytest.mark.slow
def test_two_bits_a_pixel_are_enough():
    assert_as_planted(find_cameras(frames(bits=True), search="quick"))


@pytest.mark.slow
def test_exif_only_orders_the_search():
    assert_as_planted(find_cameras(frames(zoom=()), search="normal"))


def test_a_zoom_that_exif_makes_up_joins_nothing():
    given = [(0, photos(0)), (1, photos(1))]
    told = grouped(VGA, given, zoom=((0, 1.0), (1, 1.5)))
    assert find_cameras([told], search="quick").first == (0, 1)


def test_squares_are_left_as_they_are():
    """Rows of height 1 have no known shape."""
    values = np.stack([photo.ravel()[:70000] for photo in photos(0)])
    groups = np.array([0, 0, 1, 1, 1, -1], dtype=np.intp)
    given = GroupedRows(
        Frame(70000, 1), byte_rows(values), np.arange(6), groups, np.full(6, np.nan)
    )
    made = find_cameras([given])
    assert made.labels.tolist() == [1, 1, 0, 0, 0, -1]
    assert made.first == (1, 0)
    assert made.views == (View(), View())
    assert made.searched["pairs"] == 0


def test_small_frames_are_left_as_they_are():
    tiny = Frame(200, 400)
    made = find_cameras([grouped(tiny, [(0, photos_of(sensor(1, tiny), View(), tiny, 3, 1))])])
    assert made.labels.tolist() == [0, 0, 0]
    assert made.searched["pairs"] == 0


def test_no_photos_are_no_cameras():
    made = find_cameras([])
    assert (len(made.labels), made.first, made.views) == (0, (), ())


def two_groups(first, second, noise=NOISE):
    """Photos of two sensors, a group each."""
    given = [
        (k, photos_of(some, View(), VGA, 6, noise, k)) for k, some in enumerate((first, second))
    ]
    return grouped(VGA, given)


def with_stamp(pattern, strength, seed, top, left):
    """The pattern under a date stamp, in pixels of 4 × 4."""
    drawn = np.random.default_rng(seed).integers(0, 2, (12, 40)) - 0.5
    stamped = pattern.copy()
    stamped[top : top + 48, left : left + 160] += 2 * strength * np.kron(drawn, np.ones((4, 4)))
    return stamped


@pytest.mark.parametrize(("strength", "seed"), [(3, 3), (6, 3), (12, 3), (3, 5)])
def test_sensors_that_share_an_overlay_stay_apart(strength, seed):
    """A date stamp is the same in 3 % of all their photos."""
    kin = [with_stamp(sensor(10 * seed + k, VGA), strength, seed, 400, 440) for k in range(2)]
    assert find_cameras([two_groups(*kin)], search="quick").first == (0, 1)


def test_a_common_overlay_in_a_small_frame_joins_nothing():
    frame = Frame(400, 300)
    kin = [with_stamp(sensor(30 + k, frame), 4, 3, 180, 200) for k in range(2)]
    given = [(k, photos_of(some, View(), frame, 6, NOISE, k)) for k, some in enumerate(kin)]
    assert find_cameras([grouped(frame, given)], search="quick").first == (0, 1)


def test_sensors_of_one_model_stay_apart():
    """They share a tenth of what is sure in their patterns."""
    share, common = 0.1, sensor(9, VGA)
    kin = [np.sqrt(share) * common + np.sqrt(1 - share) * some for some in (FIRST, SECOND)]
    assert find_cameras([two_groups(*kin)], search="quick").first == (0, 1)
    same = two_groups(FIRST, shown(FIRST, View(shift=(1, 0)), VGA))
    assert find_cameras([same], search="quick").first == (0,)
