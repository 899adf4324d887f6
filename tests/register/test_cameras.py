"""Cameras out of links: the widest first, contradictions dropped, in whatever order."""

import itertools
import random
from dataclasses import replace

import pytest

from samecam.frames import Frame
from samecam.register import View
from samecam.register._cameras import cameras_of
from samecam.register._links import Link
from tests.register.sensors import far_apart, plain

SENSOR = Frame(4000, 3000)
# Groups by number: their frames, and how each sees the sensor.
FRAMES = {0: SENSOR, 1: SENSOR, 2: Frame(3000, 4000), 3: Frame(4000, 2250), 4: Frame(1600, 1200)}
SEEN = {
    0: View(scale=2.0, shift=(12.0, -7.0)),
    1: View(scale=1.002, shift=(0.0, 1.0)),
    2: View(90, False, 1.3, shift=(3.0, 2.0)),
    3: View(180, True, 1.0, shift=(-2.0, 0.0)),
    4: View(scale=0.4),
}
PHOTOS = {0: 90, 1: 10, 2: 8, 3: 30, 4: 50}


def link(picture, camera, score, off=(0.0, 0.0)):
    """A link between two groups as it is, or off by some pixels of the camera."""
    back = SEEN[camera].inverse(FRAMES[camera], SENSOR)
    view = back.then(SEEN[picture], SENSOR, FRAMES[camera])
    shift = (view.shift[0] + off[0], view.shift[1] + off[1])
    view = replace(view, shift=shift, score=score, rate=1e-9, share=0.5, area=9)
    return Link(picture, camera, view)


def made(links, groups=FRAMES):
    frames = {group: FRAMES[group] for group in groups}
    return cameras_of(frames, {group: PHOTOS[group] for group in groups}, links)


def assert_as_planted(camera):
    """All groups are seen from the first as the sensor shows them."""
    back = SEEN[camera.first].inverse(FRAMES[camera.first], SENSOR)
    for group, view in camera.views.items():
        planted = back.then(SEEN[group], SENSOR, FRAMES[camera.first])
        assert (view.turn, view.mirrored) == (planted.turn, planted.mirrored)
        frames = FRAMES[group], FRAMES[camera.first]
        assert far_apart(planted, view, *frames) < 1e-6


CHAIN = [link(0, 2, 20), link(2, 1, 30), link(3, 1, 12), link(4, 3, 25)]


def test_groups_without_links_are_cameras():
    cameras, dropped = made([])
    assert [camera.first for camera in cameras] == [0, 1, 2, 3, 4]
    assert all(camera.views == {camera.first: View()} for camera in cameras)
    assert dropped == 0


def test_a_chain_is_seen_from_the_group_that_sees_most():
    cameras, dropped = made(CHAIN)
    assert (len(cameras), dropped) == (1, 0)
    assert cameras[0].first == 1  # 4 sees as much in fewer pixels, 3 and 2 see less
    assert cameras[0].views[1] == View()
    assert_as_planted(cameras[0])


def test_more_pixels_come_before_more_photos():
    cameras, _ = made([link(0, 1, 20)], groups=(0, 1))
    assert cameras[0].first == 1
    cameras, _ = made([link(4, 1, 20)], groups=(1, 4))
    assert cameras[0].first == 1


def test_every_group_but_the_first_keeps_what_speaks_for_it():
    cameras, _ = made(CHAIN)
    scores = {group: view.score for group, view in cameras[0].views.items()}
    assert scores[1] is None
    assert (scores[0], scores[2], scores[3]) == (20, 30, 12)
    assert all(view.rate == 1e-9 for group, view in cameras[0].views.items() if group != 1)


def test_links_in_the_other_direction_say_the_same():
    back = []
    for picture, camera, view in CHAIN:
        other = view.inverse(FRAMES[picture], FRAMES[camera])
        back.append(Link(camera, picture, replace(other, score=view.score)))
    for links in (back, [CHAIN[0], back[1], CHAIN[2], back[3]]):
        cameras, dropped = made(links)
        assert (len(cameras), cameras[0].first, dropped) == (1, 1, 0)
        assert_as_planted(cameras[0])


def test_loops_that_agree_are_kept():
    cameras, dropped = made([*CHAIN, link(0, 1, 11), link(4, 1, 10), link(3, 2, 9, off=(2, 1))])
    assert (len(cameras), dropped) == (1, 0)
    assert_as_planted(cameras[0])


@pytest.mark.parametrize("off", [(60, 0), (0, -40)])
def test_a_weaker_link_that_contradicts_is_dropped_and_counted(off):
    cameras, dropped = made([*CHAIN, link(3, 2, 8, off=off), link(0, 1, 7, off=off)])
    assert (len(cameras), dropped) == (1, 2)
    assert_as_planted(cameras[0])
    assert cameras == made(CHAIN)[0]


def test_a_link_with_another_turn_contradicts():
    wrong = link(3, 1, 8)
    wrong = wrong._replace(view=replace(wrong.view, turn=0, mirrored=False))
    stronger = link(3, 1, 12)
    cameras, dropped = made([stronger, wrong], groups=(1, 3))
    assert dropped == 1
    assert_as_planted(cameras[0])


def test_of_two_contradicting_links_the_stronger_holds():
    cameras, dropped = made([link(0, 1, 9, off=(50, 0)), link(0, 1, 10)], groups=(0, 1))
    assert dropped == 1
    assert_as_planted(cameras[0])


def test_the_order_of_links_does_not_matter():
    links = [*CHAIN, link(0, 1, 11), link(3, 2, 8, off=(60, 0))]
    expected = made(links)
    for order in itertools.islice(itertools.permutations(links), 0, 720, 7):
        assert made(list(order)) == expected


def test_the_order_of_groups_does_not_matter():
    expected, _ = made(CHAIN[:2])
    groups = list(FRAMES)
    random.Random(1).shuffle(groups)
    cameras, _ = made(CHAIN[:2], groups=groups)

    def known(some):
        return sorted((each.first, sorted(each.views)) for each in some)

    assert known(cameras) == known(expected)
    assert [min(camera.views) for camera in expected] == [0, 3, 4]
    assert plain(expected[0].views[1]) == View()
