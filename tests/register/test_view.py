"""Views: where points lie, there and back, and one view after another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.frames import Frame
from samecam.register import View
from samecam.register._resample import turned, unturned

CAMERA, PICTURE, BETWEEN = Frame(401, 300), Frame(260, 333), Frame(360, 240)
TURNINGS = [(turn, mirrored) for mirrored in (False, True) for turn in (0, 90, 180, 270)]


def near(most):
    return st.floats(-most, most, allow_nan=False)


def views(radial=0.0, shift=5.0):
    return st.builds(
        View,
        st.sampled_from((0, 90, 180, 270)),
        st.booleans(),
        st.floats(0.3, 5),
        near(radial),
        st.tuples(near(shift), near(shift)),
    )


def points_of(frame):
    """Some points of a frame: its corners, its middle, and between."""
    x, y = np.linspace(0, frame.width - 1, 5), np.linspace(0, frame.height - 1, 5)
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


@given(views(radial=0.1))
def test_points_are_seen_where_they_come_from(view):
    there = points_of(CAMERA)
    seen = view.seen(there, PICTURE, CAMERA)
    assert view.points(seen, PICTURE, CAMERA) == pytest.approx(there, abs=1e-6)


@pytest.mark.parametrize(("turn", "mirrored"), TURNINGS)
def test_a_pixel_is_seen_where_it_is_after_turning(turn, mirrored):
    camera = np.arange(35).reshape(5, 7)
    picture = turned(camera, turn, mirrored)
    frames = [Frame(some.shape[1], some.shape[0]) for some in (picture, camera)]
    pixels = np.array([(x, y) for y in range(5) for x in range(7)])
    seen = View(turn, mirrored).seen(pixels, *frames)
    columns, rows = np.rint(seen).astype(int).T
    assert np.abs(seen - np.rint(seen)).max() < 1e-9
    assert picture[rows, columns].tolist() == camera.ravel().tolist()
    assert unturned(picture, turn, mirrored).tolist() == camera.tolist()


def test_a_mirrored_and_turned_pixel_lies_where_one_would_say():
    """Mirrored left to right, then turned clockwise: the first pixel goes right, then down."""
    camera = np.arange(6).reshape(2, 3)
    assert turned(camera, 0, True).tolist() == [[2, 1, 0], [5, 4, 3]]
    assert turned(camera, 90, False).tolist() == [[3, 0], [4, 1], [5, 2]]
    assert turned(camera, 90, True).tolist() == [[5, 2], [4, 1], [3, 0]]


@given(views())
def test_the_inverse_goes_back(view):
    there = points_of(PICTURE)
    expected = view.points(there, PICTURE, CAMERA)
    back = view.inverse(PICTURE, CAMERA)
    assert back.seen(there, CAMERA, PICTURE) == pytest.approx(expected, abs=1e-8)
    again = back.inverse(CAMERA, PICTURE)
    assert (again.turn, again.mirrored) == (view.turn, view.mirrored)
    assert (again.scale, *again.shift) == pytest.approx((view.scale, *view.shift), abs=1e-9)


@given(views(), views())
def test_one_view_after_another_is_a_view(first, second):
    there = points_of(CAMERA)
    expected = second.seen(first.seen(there, BETWEEN, CAMERA), PICTURE, BETWEEN)
    both = first.then(second, BETWEEN, CAMERA)
    assert both.seen(there, PICTURE, CAMERA) == pytest.approx(expected, abs=1e-7)


@given(views(radial=0.02, shift=0))
def test_the_inverse_of_a_lens_correction_holds_to_first_order(view):
    inside = view.seen(points_of(CAMERA), PICTURE, CAMERA)
    back = view.inverse(PICTURE, CAMERA).seen(inside, CAMERA, PICTURE)
    # the series of the inverse goes on with 3 · radial², at 250 pixels from the centre
    assert back == pytest.approx(points_of(CAMERA), abs=250 * 4 * view.radial**2 + 1e-6)


@given(views(radial=0.01), st.builds(View, scale=st.floats(0.8, 1.25), radial=near(0.01)))
def test_lens_corrections_add_up_to_first_order(first, second):
    there = points_of(CAMERA)
    expected = second.seen(first.seen(there, BETWEEN, CAMERA), PICTURE, BETWEEN)
    both = first.then(second, BETWEEN, CAMERA)
    share = first.scale**2 * (250 / 216) ** 2  # squared radii of the two frames
    a, b = abs(first.radial), abs(second.radial) * share
    # what is left out: 3ab + 3a²b + a³b, in a share of how far the corners are
    error = 260 * first.scale * second.scale * (3 * a * b * (1 + a) * 1.2 + a**3 * b)
    assert both.seen(there, PICTURE, CAMERA) == pytest.approx(expected, abs=error + 1e-6)


def test_a_view_and_its_inverse_make_none():
    view = View(270, True, 1.7, 0.0, (3.0, -2.0))
    none = view.then(view.inverse(PICTURE, CAMERA), PICTURE, CAMERA)
    assert (none.turn, none.mirrored) == (0, False)
    assert (none.scale, *none.shift) == pytest.approx((1, 0, 0))
