"""Views that frames alone suggest: turned pictures and reduced copies, compared as they are."""

import math

import numpy as np
import pytest

from samecam.frames import Frame
from samecam.register import View
from samecam.register._exact import exact_peaks, exact_views
from samecam.register._links import Judge, Searcher, judged_link
from samecam.register._pattern import as_pattern
from samecam.register._pieces import Piece
from samecam.register._searches import searches, within
from tests.register.sensors import noisy, sensor, shown

WIDE, TALL, SMALL = Frame(640, 480), Frame(480, 640), Frame(320, 240)


def piece(values, photos=1, **more):
    pattern = as_pattern(values)
    return Piece(Frame(values.shape[1], values.shape[0]), lambda: pattern, photos, **more)


def kinds(picture, camera):
    return {(v.turn, v.mirrored, v.scale, v.shift) for v in exact_views(picture, camera)}


def test_frames_suggest_views():
    none = (0.0, 0.0)
    assert kinds(WIDE, SMALL) == {(turn, False, 2.0, none) for turn in (0, 180)}
    assert kinds(WIDE, Frame(240, 320)) == {(turn, False, 2.0, none) for turn in (90, 270)}
    turned = {(turn, mirrored, 1.0, none) for turn in (0, 180) for mirrored in (False, True)}
    assert kinds(WIDE, WIDE) == turned - {(0, False, 1.0, none)}
    sideways = {(turn, mirrored, 1.0, none) for turn in (90, 270) for mirrored in (False, True)}
    assert kinds(WIDE, TALL) == sideways
    cut = {(turn, mirrored, 1.0, none) for turn in (0, 180) for mirrored in (False, True)}
    assert kinds(WIDE, Frame(640, 360)) == cut
    assert kinds(Frame(640, 360), WIDE) == kinds(SMALL, WIDE) == set()
    both = {(turn, False, scale, none) for turn in (0, 180) for scale in (1.5, 2.0)}
    assert (
        kinds(Frame(640, 360), SMALL) == both
    )  # a camera in 16:9 sees the middle of a copy in 4:3
    assert {shift for *_, shift in kinds(WIDE, Frame(640, 361))} == {(0.0, 0.5)}


@pytest.mark.parametrize(
    ("picture", "camera", "view"),
    [
        (WIDE, SMALL, View(scale=2.0)),
        (WIDE, Frame(240, 320), View(90, scale=2.0)),
        (WIDE, WIDE, View(180)),
        (WIDE, TALL, View(270, mirrored=True)),
        (WIDE, Frame(640, 361), View(shift=(0.0, 0.5))),
        (Frame(660, 480), Frame(330, 230), View(180, scale=2.0)),
    ],
)
def test_a_planted_view_stands_out_and_no_other(picture, camera, view):
    """The camera's pattern is the sensor; the picture sees it by the view."""
    pattern = sensor(3, camera)
    seen = noisy(shown(pattern, view, picture), 1, 2.0)
    given = [(0, piece(seen)), (1, piece(sensor(4, picture)))], [(7, piece(noisy(pattern, 2, 2.0)))]
    told = []
    made = list(exact_peaks(*given, lambda *_: True, 2**30, lambda: told.append(1)))
    assert [peak[:2] for peak in made if peak.view.turn == view.turn][:1] == [(0, 7)]
    assert any(peak.view == view for peak in made)
    assert len(told) == 2
    for memory in (1, 2**30):
        again = exact_peaks(given[0], given[1] * 3, lambda *_: True, memory, lambda: None)
        assert sum(peak.view == view and peak.picture == 0 for peak in again) == 3


def test_few_views_stand_out_where_many_would_not():
    """A copy whose score is too low among all that is searched is seen by its exact view."""
    pattern = sensor(5, Frame(1280, 960))
    copy = shown(pattern, View(scale=0.5), Frame(640, 480))
    photo, camera = piece(noisy(copy, 3, 20.0)), piece(noisy(pattern, 4, 0.5), photos=9)
    searcher = Searcher("quick", 0.005, 2**30)
    pair = [(1, camera)], [(0, photo)]
    fits = searcher.exact(*pair, lambda *_: searcher.judge, near=False)
    fits += searcher.fits(searcher.plan(*pair, near=False), lambda *_: searcher.judge)
    exact = [fit for fit in fits if fit.exact]
    assert [fit.fitted.view.scale for fit in exact] == [2.0]
    score = exact[0].fitted.view.score
    assert searcher.judge.probability(score, exact=True) < 0.005 < searcher.judge.probability(score)
    link = judged_link(exact[0], {1: camera}, {0: photo}, searcher.judge)
    assert link is not None
    assert link.view.rate == searcher.judge.probability(score, exact=True)


def test_both_kinds_share_the_rate():
    judge = Judge(0.01)
    judge.add_exact(10)
    alone = judge.probability(5.0, exact=True)
    assert alone == pytest.approx(10 * 2.8665e-7, rel=1e-3)
    judge.add_places(1000, 1)
    assert judge.probability(5.0, exact=True) == pytest.approx(2 * alone, rel=1e-3)
    assert judge.probability(5.0) == pytest.approx(-math.expm1(-2e5 * 2.8665e-7), rel=1e-3)


def sides(first, second, search="normal"):
    """Sides of the middles in which two groups are searched at all zooms."""
    frame = Frame(4000, 3000)
    made = [(k, Piece(frame, lambda: None, 9, reliable=r)) for k, r in enumerate((first, second))]
    zooms = [part for part in searches(made, made, search) if part.scales.values[-1] > 4]
    return {part.scales.side for part in zooms if part.pairs and (0, 1) in part.pairs}


def test_the_clearer_two_patterns_are_the_less_of_them_is_compared():
    """Half the side shows as much where cameras are made smaller by two."""
    assert sides(0.5, 0.5) == {256}
    assert sides(0.02, 0.02) == sides(math.nan, 0.9) == {512}


def test_what_takes_too_long_is_searched_in_smaller_middles_or_not_at_all():
    frame = Frame(1280, 960)
    rng = np.random.default_rng(0)
    camera, photo = (
        Piece(frame, lambda: rng.integers(-9, 9, frame.shape).astype(np.int8), photos)
        for photos in (9, 1)
    )
    pair = [(0, photo)], [(1, camera)]
    work = list(searches(*pair, "normal"))
    assert [part.seconds > 0 for part in work] == [True] * len(work)
    whole = sum(part.seconds for part in work)
    least = sum(part.smaller(0.5).seconds for part in work)
    sides = [[part and part.scales.side for part in within(work, s)] for s in (whole, least, 0.0)]
    assert sides[0] == [part.scales.side for part in work]
    assert all(side <= 0.6 * whole for side, whole in zip(sides[1], sides[0], strict=True))
    assert sides[2] == [None] * len(work)
    first = within(work, work[0].smaller(0.5).seconds)
    assert [part is None for part in first] == [False] + [True] * (len(work) - 1)
    counts = []
    for seconds in (0.0, least, whole):
        searcher = Searcher("normal", 0.01, 2**30)
        some = within(searcher.plan(*pair), seconds)
        searcher.fits(some, lambda *_, s=searcher: s.judge)
        counts.append(searcher.judge.places)
    assert counts[0] == 0 < counts[1] < counts[2]
    assert counts[2] == sum(part.scales.positions for part in work)
