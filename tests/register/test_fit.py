"""A view fitted from the middle outwards."""

import numpy as np
import pytest

from samecam.frames import Frame
from samecam.register import View
from samecam.register._fit import _compared, _tiles, fit_view
from samecam.register._pattern import as_pattern
from tests.register.sensors import far_apart, noisy, sensor, shown

FRAME = Frame(896, 640)


def patterns(view, noise, picture=FRAME, camera=FRAME):
    sees = sensor(1, camera)
    seen = noisy(shown(sees, view, picture), 7, noise)
    return as_pattern(seen), as_pattern(noisy(sees, 8, noise))


@pytest.mark.parametrize("radial", [0.08, 0.015, -0.05])
def test_the_radial_term_is_recovered_from_the_middle_outwards(radial):
    """The start holds within 200 pixels; at the corners it is off by tens of them."""
    planted = View(scale=0.997, radial=radial, shift=(1, 0))
    picture, camera = patterns(planted, 3)
    fitted = fit_view(picture, camera, View(scale=0.998), radius=200)
    assert far_apart(planted, fitted.view, FRAME, FRAME) < 1.25
    assert fitted.view.radial == pytest.approx(radial, abs=0.006)
    assert fitted.view.area > 0.6 * FRAME.n_pixels


def test_more_is_seen_with_the_radial_term_than_without():
    planted = View(radial=0.05)
    picture, camera = patterns(planted, 3)
    whole = fit_view(picture, camera, View(), radius=200)
    near = fit_view(picture[160:-160, 224:-224], camera[160:-160, 224:-224], View(), radius=200)
    assert whole.view.score > 1.5 * near.view.score
    assert whole.correlation == pytest.approx(1 / 10, rel=0.35)  # 1 / (1 + noise²)


@pytest.mark.parametrize("shift", [(0, 0), (2, -1)])
def test_no_scale_is_made_up_where_there_is_none(shift):
    picture, camera = patterns(View(shift=shift), 5)
    fitted = fit_view(picture, camera, View(scale=1.001), radius=300)
    assert (fitted.view.scale, fitted.view.radial) == (1, 0)
    assert fitted.view.shift == shift


def test_a_small_scale_is_not_taken_for_none():
    planted = View(scale=1.004)
    picture, camera = patterns(planted, 3)
    fitted = fit_view(picture, camera, View(), radius=200)
    assert far_apart(planted, fitted.view, FRAME, FRAME) < 0.5


def test_strangers_fit_nowhere():
    camera = as_pattern(sensor(2, FRAME))
    views = [View(), View(scale=1.02), View(turn=180), View(scale=1.5)]
    scores = []
    for k, view in enumerate(views):
        fitted = fit_view(as_pattern(sensor(20 + k, FRAME)), camera, view, radius=400)
        scores.append(0 if fitted is None else fitted.view.score)
    assert max(scores) < 5.5


def test_what_does_not_overlap_has_no_view():
    camera, small = as_pattern(sensor(1, FRAME)), as_pattern(sensor(1, Frame(256, 256)))
    assert fit_view(small, camera, View(scale=4)) is None  # 64 pixels of the camera
    assert fit_view(small, camera, View(shift=(900, 0))) is None


def test_the_score_is_in_units_of_chance():
    """Of strangers at one place, without any search, scores are normal with a spread of 1."""
    frame = Frame(400, 400)
    tiles = _tiles(frame, frame.shape, View(), 1.0, 999.0)
    made = [as_pattern(sensor(900 + k, frame)) for k in range(12)]
    scores = [
        _compared(first, second, tiles, View(), 1.0)[0].view.score
        for k, first in enumerate(made)
        for second in made[:k]
    ]
    assert abs(np.mean(scores)) < 4 / np.sqrt(len(scores))
    assert np.std(scores) == pytest.approx(1, abs=4 / np.sqrt(2 * len(scores)))
