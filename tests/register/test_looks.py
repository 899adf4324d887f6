"""Photos alone at all zooms, in coarse pixels; what is made of places that stand out."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter

from samecam.frames import Frame
from samecam.register._fit import Fitted
from samecam.register._links import Fit, Judge, Searcher, judged_link
from samecam.register._pattern import as_pattern
from samecam.register._peaks import Peak, Scales, peaks
from samecam.register._photos import Placing, photo_links
from samecam.register._pieces import Piece
from samecam.register._rows import Turning, _tops, places
from samecam.register._searches import looks
from samecam.register._view import View
from tests.register.sensors import noisy, sensor, shown

LARGE, COPY = Frame(1280, 960), Frame(640, 480)
MEMORY = 2**30


def piece(values, photos=1, **known):
    pattern = as_pattern(values)
    return Piece(Frame(values.shape[1], values.shape[0]), lambda: pattern, photos, **known)


def camera(seed, noise=0.5):
    return piece(noisy(sensor(seed, LARGE), 90 + seed, noise), 9)


def copy(seed, view, noise=0.7):
    return piece(noisy(shown(sensor(seed, LARGE), view, COPY), 70 + seed, noise))


@given(
    st.integers(600, 5000), st.integers(600, 5000), st.integers(300, 4000), st.integers(300, 4000)
)
def test_all_zooms_are_looked_at_once(width, height, wide, high):
    photo, there = (
        Frame(max(width, height), min(width, height)),
        Frame(max(wide, high), min(wide, high)),
    )
    made = [
        part
        for part in looks([(0, Piece(photo, lambda: None))], [(1, Piece(there, lambda: None, 9))])
        if Turning(0, mirrored=False) in {spot.turning for spot in part.scales.spots}
    ]
    ends = sorted((part.scales.level / part.scales.values[[-1, 0]]).tolist() for part in made)
    for (_, end), (begin, _) in pairwise(ends):
        assert begin == pytest.approx(end)
    ratio = min(1, max(photo) / max(there))
    assert ends[0][0] == pytest.approx(1.06 * ratio if 1.06 * ratio < 1 else 1 / 1.06)
    assert ends[-1][1] == pytest.approx(6.5 * ratio)


@pytest.mark.parametrize("scale", [0.72, 0.98, 1.31])
def test_a_zoomed_copy_is_found_whichever_of_both_is_finer(scale):
    view = View(scale=scale)
    photos, cameras = [(20, copy(1, view)), (21, copy(3, view))], [(0, camera(1)), (1, camera(2))]
    searcher = Searcher("normal", 0.01, MEMORY)
    links = photo_links(searcher, photos, cameras, dict.fromkeys((20, 21), searcher.judge))
    assert [link[:2] for link in links] == [(20, 0)]
    assert links[0].view.scale == pytest.approx(scale, rel=2e-3)
    assert np.abs(links[0].view.shift).max() < 1


@pytest.mark.parametrize("level", [1.0, 1.5, 2.0])
def test_places_in_coarse_pixels_are_told_in_those_of_the_camera(level):
    view = View(scale=1.3, shift=(2.0, -2.0))
    picture = piece(noisy(shown(sensor(5, LARGE), view, LARGE), 1, 0.5))
    scales = Scales(
        level * np.geomspace(1.2, 1.4, 60), 384, places([Turning(0, mirrored=False)], 2), level
    )
    found = peaks([(0, picture)], [(1, camera(5))], scales, lambda *_: True, MEMORY)
    best = max(found, key=lambda peak: peak.view.score)
    assert best.view.scale == pytest.approx(1.3, rel=4e-3)
    assert np.abs(np.subtract(best.view.shift, view.shift)).max() <= level


def test_products_of_smooth_patterns_stand_out_as_seldom_as_chance_says():
    """Of nine places at 120 scales, the highest is above 4.38 in .6 % of pairs by chance."""
    rng = np.random.default_rng(4)
    high = 0
    for _ in range(200):
        field = gaussian_filter(rng.standard_normal((120, 12, 12)), (0, 0.8, 0.8))
        spots = field[:, 5:8, 5:8].reshape(120, 9).astype(np.float32)
        high += _tops(spots)[0].score > 4.38
    assert high <= 5


def fit(correlation, scale=1.0, score=6.0):
    fitted = Fitted(View(scale=scale), correlation, 1.0, np.full(100, score / 10))
    fitted = fitted._replace(view=View(scale=scale, score=score))
    return Fit(Peak(20, 0, View(scale=scale)), fitted)


def test_a_photo_must_show_a_share_of_what_photos_of_the_camera_show():
    judge, there = Judge(0.01), Piece(LARGE, lambda: None, 5, reliable=0.06)
    judge.add_exact(10)
    expected = math.sqrt(there.of_one * 0.06)
    alone = Piece(LARGE, lambda: None)
    links = [
        judged_link(fit(share * expected)._replace(exact=True), {20: alone}, {0: there}, judge)
        for share in (0.1, 0.19, 0.21, 1.0)
    ]
    assert [link is not None for link in links] == [False, False, True, True]
    assert links[-1].view.share == pytest.approx(1)
    back = fit(0.19 * expected)._replace(exact=True)
    assert judged_link(back, {20: there}, {0: alone}, judge) is None


def test_of_a_copy_nothing_is_expected():
    judge, there = Judge(0.01), Piece(LARGE, lambda: None, 5, reliable=0.06)
    judge.add_exact(10)
    link = judged_link(
        fit(1e-4, 2.0)._replace(exact=True), {20: there}, {0: Piece(COPY, lambda: None)}, judge
    )
    assert link is not None
    assert link.view.share is None


@given(st.floats(0.001, 0.9), st.integers(2, 64), st.integers(1, 200))
def test_more_photos_are_more_reliable(reliable, photos, others):
    one = Piece(LARGE, lambda: None, photos, reliable)
    assert one.reliable_with(photos) == pytest.approx(reliable)
    assert one.reliable_with(1) == pytest.approx(one.of_one)
    more = one._replace(photos=others, reliable=one.reliable_with(others))
    assert more.of_one == pytest.approx(one.of_one)


def test_what_was_not_clear_is_looked_at_again_with_a_camera_that_has_grown():
    view = View(scale=2.0)
    photo = piece(noisy(shown(sensor(1, LARGE), View(scale=0.5), COPY), 71, 5.0))
    searcher = Searcher("normal", 1e-6, MEMORY)
    placing = Placing(searcher, [(20, photo)], [(0, camera(1, 5.0))], {20: searcher.judge})
    placing.compare()
    assert placing.links() == []
    tried = searcher.judge.exact
    placing.grown({0: camera(1, 0.1)})
    (link,) = placing.links()
    assert searcher.judge.exact == tried + 1
    assert link[:2] == (20, 0)
    assert link.view.scale == pytest.approx(1 / view.scale)
