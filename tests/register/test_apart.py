"""Photos that are of different cameras by decision are not brought together by views."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.register import View, find_cameras
from samecam.register._apart import Apart
from tests.register.sensors import grouped, photos_of, shown
from tests.register.test_cameras import CHAIN, FRAMES, PHOTOS, cameras_of, link
from tests.register.test_find import FIRST, NOISE, SECOND, VGA


def rows(*numbers):
    return np.array(numbers, dtype=np.intp)


def most(labels, others):
    """The camera that holds most of the others: of several the largest, then the first."""
    held = Counter(labels[k] for k in set(others) if labels[k] >= 0)
    ranks = {c: (many, np.count_nonzero(labels == c)) for c, many in held.items()}
    first = {c: -int(np.flatnonzero(labels == c)[0]) for c in held}
    return max(ranks, key=lambda c: (*ranks[c], first[c]), default=None)


def brings(before, after, apart, moved):
    """Whether any of `photos` comes into the camera that holds most, among those who move."""
    for photos, others in apart:
        there, was = most(after, others), most(before, others)
        came = [k for k in photos if there is not None and after[k] == there]
        came = [k for k in came if was is None or before[k] != was]
        if came and meets(moved, photos, others):
            return True
    return False


def meets(moved, photos, others):
    """Whether any of `photos` and any of `others`, of two sides, are one camera by a link."""
    a, b = moved
    sides = [{k for k in some if k in a} for some in (photos, others)]
    other = [{k for k in some if k in b} for some in (photos, others)]
    return bool((sides[0] and other[1]) or (other[0] and sides[1]))


@st.composite
def cases(draw):
    n = draw(st.integers(2, 14))
    labels = np.array(draw(st.lists(st.integers(-1, 4), min_size=n, max_size=n)), dtype=np.intp)
    some = st.lists(st.integers(0, n - 1), max_size=5).map(lambda k: np.array(k, dtype=np.intp))
    apart = draw(st.lists(st.tuples(some, some), max_size=3))
    links = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=20))
    return labels, apart, links


@given(cases())
def test_links_are_refused_that_bring_photos_where_most_of_the_others_are(case):
    groups, apart, links = case
    asked, cameras = Apart(apart, groups), groups.copy()
    for one, other in links:
        if groups[other] < 0 or cameras[one] == cameras[other]:
            continue
        alone = groups[one] < 0
        if alone and cameras[one] >= 0:
            continue
        moved = [one] if alone else np.flatnonzero(cameras == cameras[one]).tolist()
        after = cameras.copy()
        after[moved] = cameras[other]
        stay = np.flatnonzero(cameras == cameras[other]).tolist()
        expected = not brings(cameras, after, apart, (moved, stay))
        ask = asked.place if alone else asked.join
        assert ask(one if alone else groups[one], groups[other]) == expected
        if expected:
            cameras = after


def test_who_is_asked_about_nothing_says_nothing():
    asked = Apart((), np.array([0, 1, -1]))
    assert asked.join(0, 1)
    assert asked.place(2, 1)
    assert asked.searched == {}


@pytest.mark.parametrize("photo", [-1, 3])
def test_photos_that_are_not_there_get_a_sentence(photo):
    with pytest.raises(ValueError, match=f"apart has photo {photo}; give photos from 0 to 2"):
        Apart([(rows(0), rows(photo))], np.array([0, 0, 1]))


def test_the_strongest_links_that_are_allowed_are_taken():
    labels = np.repeat(list(FRAMES), 2)  # two photos of each group
    asked = Apart([(rows(0), rows(6, 7))], labels)  # 0 is apart from 3
    links = [*CHAIN, link(0, 4, 5)]
    cameras, dropped = cameras_of(FRAMES, PHOTOS, links, asked)
    assert [sorted(camera.views) for camera in cameras] == [[0, 1, 2], [3, 4]]
    assert dropped == 0
    assert asked.searched == {"forbidden": 2}  # 3 and 1, which holds 0, and 0 and 4


def three_groups():
    """Two groups of one camera, 6 and 5 photos, one of another of 3, and a photo of the first."""
    shifted = shown(FIRST, View(shift=(1, 0)), VGA)
    given = [
        (0, photos_of(FIRST, View(), VGA, 6, NOISE, 0)),
        (1, photos_of(shifted, View(), VGA, 5, NOISE, 1)),
        (2, photos_of(SECOND, View(), VGA, 3, NOISE, 2)),
        (-1, photos_of(FIRST, View(shift=(1.0, 1.0)), VGA, 1, NOISE, seed=20)),
    ]
    return [grouped(VGA, given)]


FIRSTS, SECONDS, STRANGERS, ALONE = np.arange(6), np.arange(6, 11), np.arange(11, 14), rows(14)
JOINED, APART = [0] * 11 + [1] * 3, [0] * 6 + [1] * 5 + [2] * 3


@pytest.mark.parametrize(
    ("apart", "labels", "forbidden"),
    [
        ([(SECONDS, FIRSTS), (ALONE, FIRSTS)], [*APART, 1], 2),
        pytest.param([(SECONDS, FIRSTS)], [*APART, 0], 1, marks=pytest.mark.slow),
        pytest.param([(ALONE, FIRSTS)], [*JOINED, -1], 1, marks=pytest.mark.slow),
        pytest.param([(STRANGERS, FIRSTS)], [*JOINED, 0], 0, marks=pytest.mark.slow),
        pytest.param([], [*JOINED, 0], None, marks=pytest.mark.slow),
    ],
)
def test_views_join_nothing_that_is_apart(apart, labels, forbidden):
    made = find_cameras(three_groups(), search="quick", apart=apart)
    assert made.labels.tolist() == labels
    assert made.searched.get("forbidden") == forbidden
