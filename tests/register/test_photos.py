"""Single photos at cameras that are known: where each is placed, and how sure that is."""

from functools import cache

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, map_coordinates
from scipy.special import ndtr

from samecam.frames import Frame
from samecam.register import Cameras, GroupedRows, KnownCameras, Photo, View, find_cameras
from samecam.store import ByteRows

VGA, SMALL, CUT = Frame(640, 480), Frame(512, 384), Frame(480, 400)
FIRST, SECOND, STRANGER = (
    np.random.default_rng((1, k)).standard_normal(VGA.shape).astype(np.float32) for k in range(3)
)
ZOOMED = View(scale=2.0, score=30.0, rate=1e-9)
NOISE = 3


def shown(pattern, view, frame):
    """What a picture without noise shows of a sensor."""
    y, x = np.mgrid[: frame.height, : frame.width]
    at = view.points(np.column_stack([x.ravel(), y.ravel()]), frame, VGA)
    sharp = gaussian_filter(pattern, 0.5 / view.scale) if view.scale < 0.9 else pattern
    values = map_coordinates(sharp, at.T[::-1], order=3, mode="constant")
    return values.reshape(frame.shape).astype(np.float32)


def photo(pattern, view, frame, seed, noise=NOISE, zoom=float("nan")):
    own = np.random.default_rng((2, seed)).standard_normal(frame.shape).astype(np.float32)
    values = shown(pattern, view, frame) + np.float32(noise) * own
    return Photo(frame, lambda: values, zoom)


def group(number, pattern, view):
    """Six photos of a group, as rows."""
    photos = [photo(pattern, view, VGA, 10 * number + k).values().ravel() for k in range(6)]
    return [np.rint(each * (24 / each.std())).clip(-127, 127).astype(np.int8) for each in photos]


@cache
def all_rows():
    """Three groups, made when a test first asks for them."""
    return [*group(0, FIRST, View()), *group(1, SECOND, View()), *group(2, FIRST, ZOOMED)]


def rows(count=3):
    """The first so many of three groups."""
    groups = np.repeat(np.arange(count), 6)
    values = np.stack(all_rows()[: len(groups)])
    store = ByteRows(values, 1 / np.linalg.norm(values.astype(np.float32), axis=1))
    return GroupedRows(VGA, store, np.arange(len(groups)), groups, np.full(len(groups), np.nan))


def known(cameras=2, progress=None):
    """Two cameras, of which the first has a group at 2× zoom as well; or its first group alone."""
    given = rows(3 if cameras == 2 else 1)
    labels = given.groups % 2
    views = (View(), View(), ZOOMED)[: len(given.groups) // 6]
    seen = Cameras(labels, given.groups, views, (0, 1)[:cameras])
    return KnownCameras([given], seen, progress=progress)


@pytest.fixture(scope="module")
def cameras():
    return known()


def assert_sees(place, group, view):
    assert place is not None
    assert place.group == group
    seen = place.view
    assert (seen.turn, seen.mirrored) == (view.turn, view.mirrored)
    assert seen.scale == pytest.approx(view.scale, rel=2e-3)
    assert np.abs(np.subtract(seen.shift, view.shift)).max() < 1


@pytest.mark.slow
def test_each_photo_is_placed_as_if_it_were_alone(cameras):
    given = [
        photo(SECOND, View(scale=0.8), SMALL, 101, noise=3),
        photo(STRANGER, View(), VGA, 102),
        photo(FIRST, View(), Frame(200, 400), 103),
    ]
    own, stranger, tiny = cameras.place(given)
    assert_sees(own, 1, View(scale=0.8))
    assert (stranger, tiny) == (None, None)
    assert own.view.rate > 1e-200
    assert cameras.place(given[:1]) == [own]


def test_a_reduced_copy_of_a_zoomed_photo_fits_the_zoomed_group(cameras):
    """No width suggests its scale at the camera's first group."""
    (place,) = cameras.place([photo(FIRST, View(scale=1.6), SMALL, 104, noise=1.5)])
    assert_sees(place, 2, View(scale=0.8))


def places(view):
    """Places that a rate is the chance of, a hundred fits at each."""
    return view.rate / ndtr(-view.score) / 100


def test_the_rate_is_over_all_that_was_searched_and_no_higher_than_asked_for(cameras):
    """Two cameras and a zoomed group are three patterns."""
    how = View(turn=180, mirrored=True, scale=1.01)
    given = photo(FIRST, how, VGA, 105, noise=12)
    single = known(1)
    (one,), (both,) = single.place([given]), cameras.place([given])
    assert (single.count, cameras.count) == (1, 2)
    assert_sees(both, 0, how)
    assert both.view.rate > 1e-200
    assert places(both.view) == pytest.approx(3 * places(one.view), rel=1e-3)
    assert single.place([given], rate=one.view.rate / 2) == [None]


def test_searches_tell_how_far_they_are():
    told = []
    searched = known(1, progress=lambda *counts: told.append(counts))
    searched.place([photo(STRANGER, View(), Frame(256, 256), 108)])
    assert told
    assert all(0 < done <= total for done, total in told)
    told.clear()
    find_cameras([rows(2)], search="quick", progress=lambda *counts: told.append(counts))
    assert told
    assert all(0 < done <= total for done, total in told)


@pytest.mark.slow
def test_deep_places_crops_and_normal_all_zooms():
    cameras = known(1)
    cut = photo(FIRST, View(shift=(-70.0, 35.0)), CUT, 106)
    assert cameras.place([cut]) == [None]
    (place,) = cameras.place([cut], search="deep")
    assert_sees(place, 0, View(shift=(-70.0, 35.0)))
    zoom = photo(FIRST, View(scale=1.37), VGA, 107)
    assert cameras.place([zoom]) == [None]
    (place,) = cameras.place([zoom], search="normal")
    assert_sees(place, 0, View(scale=1.37))
