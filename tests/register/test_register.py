"""Two fingerprints registered: planted views are recovered, strangers are not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samecam.errors import ParameterValueError
from samecam.frames import Frame
from samecam.register import View, register
from samecam.register._pattern import as_pattern
from samecam.register._peaks import Scales, peaks
from samecam.register._pieces import Piece
from samecam.register._resample import middle, reduced, unturned
from samecam.register._rows import Turning, places
from tests.register.sensors import far_apart, frame_of, noisy, sensor, shown

SQUARE, WIDE, TALL, VGA = Frame(320, 320), Frame(400, 320), Frame(320, 400), Frame(640, 480)
LARGE = Frame(1024, 768)

# view, frames of camera and picture, noise, what register is told
PLANTED = {
    "same": (View(), SQUARE, SQUARE, 3, {}),
    "shifted": (View(shift=(2, -1)), WIDE, WIDE, 3, {}),
    "between pixels": (View(shift=(0.5, -1.5)), WIDE, WIDE, 2.5, {}),
    "turned by 90°": (View(turn=90), WIDE, TALL, 3, {}),
    "turned by 180°": (View(turn=180, shift=(1, 2)), WIDE, WIDE, 3, {}),
    "turned by 270°": (View(turn=270, shift=(0, 3)), WIDE, TALL, 3, {}),
    "turned square": (View(turn=90, shift=(2, 1)), SQUARE, SQUARE, 3, {}),
    "mirrored": (View(mirrored=True), WIDE, WIDE, 3, {"mirrored": True}),
    "all": (
        View(90, True, 1.02, shift=(-1, 2)),
        WIDE,
        TALL,
        2,
        {"turns": (90, 270), "mirrored": True},
    ),
    "1.3× zoom": (View(scale=1.3), VGA, VGA, 3, {"scales": (1.06, 1.6)}),
    "2.0× zoom": (View(scale=2.0, shift=(1, 0)), VGA, VGA, 2.5, {"scales": (1.6, 2.4)}),
    "3.7× zoom": (View(scale=3.7), VGA, Frame(960, 720), 2.5, {"scales": (3.3, 4.1)}),
    "16:9": (View(), VGA, Frame(640, 360), 4, {}),
    "16:9 of an odd height": (View(shift=(0, -0.5)), VGA, Frame(640, 361), 3, {}),
    "16:9, zoomed": (View(scale=1.5), VGA, Frame(640, 360), 3, {"scales": (1.4, 1.6)}),
    "lens corrected": (View(scale=0.997, radial=0.08), LARGE, LARGE, 5, {}),
    "lens corrected less": (View(scale=0.991, radial=-0.02), LARGE, LARGE, 5, {}),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_view_is_recovered(name):
    planted, camera, picture, noise, told = PLANTED[name]
    pattern = sensor(1, camera)
    seen = noisy(shown(pattern, planted, picture), 7, noise)
    view = register(seen, noisy(pattern, 8, noise), **told)
    assert view is not None
    assert (view.turn, view.mirrored) == (planted.turn, planted.mirrored)
    assert far_apart(planted, view, picture, camera) < 0.6
    assert 10 < view.score < 40
    assert view.rate < 1e-9
    assert 128**2 <= view.area <= camera.n_pixels
    if not planted.radial:
        assert view.radial == 0


def test_a_copy_is_registered_the_other_way_round():
    """A picture in which the camera's detail is smaller is the finer one's camera."""
    camera, picture = Frame(768, 576), VGA
    pattern = sensor(1, camera)
    planted = View(scale=0.75, shift=(1.5, -1))
    copy = shown(pattern, planted, picture)
    assert register(noisy(copy, 7, 2), noisy(pattern, 8, 2)) is None
    view = register(noisy(pattern, 8, 2), noisy(copy, 7, 2), scales=(1.2, 1.5))
    back = view.inverse(camera, picture)
    assert far_apart(planted, back, picture, camera) < 0.7
    assert view.score > 10


def strangers_alike(n, **told):
    """Pairs of strangers whose rate is below .01."""
    rates = [
        view.rate
        for k in range(n)
        if (view := register(sensor(100 + k, SQUARE), sensor(500 + k, SQUARE), **told))
    ]
    return sum(rate < 0.01 for rate in rates)


def test_strangers_seldom_look_alike():
    assert strangers_alike(60, turns=(0,)) <= 3


@pytest.mark.slow
@pytest.mark.parametrize("told", [{"mirrored": True}, {"scales": (1.06, 1.6)}], ids=str)
def test_strangers_seldom_look_alike_anywhere(told):
    assert strangers_alike(100, **told) <= 4


def test_strangers_of_smooth_pictures_seldom_look_alike():
    """What changes slowly over a picture, as vignetting and scenes do, is no evidence."""
    y, x = np.mgrid[:320, :320] / 320
    slow = 20 * np.sin(5 * x + 3 * y)
    for k in range(8):
        view = register(sensor(700 + k, SQUARE) + slow, sensor(800 + k, SQUARE) + slow, turns=(0,))
        assert view is None or view.rate > 0.01


def plainly_best(picture, camera, scales, ways, reach):
    """Turning, scale and shift at which the middles of two patterns correlate most."""
    shape, best = camera.shape, (-1.0,)
    for way in ways:
        flat = np.ascontiguousarray(unturned(picture, *way))
        for scale in scales:
            small = reduced(flat, scale, shape).ravel()
            for y in range(-reach, reach + 1):
                for x in range(-reach, reach + 1):
                    other = middle(camera, shape, x, y).astype(np.float32).ravel()
                    norm = np.linalg.norm(small) * np.linalg.norm(other)
                    best = max(best, (float(small @ other) / norm, way, scale, (x, y)))
    return best


@settings(max_examples=6)
@given(
    st.sampled_from([(turn, way) for turn in (0, 90, 180, 270) for way in (False, True)]),
    st.floats(0.98, 1.035),
    st.tuples(st.integers(-2, 2), st.integers(-2, 2)),
    st.integers(0, 99),
)
def test_the_best_place_is_that_of_trying_all(way, scale, shift, seed):
    ways, frame = [Turning(*way), Turning(180 - way[0] % 180, not way[1])], Frame(256, 256)
    scales = np.geomspace(0.97, 1.04, 15)
    pattern, planted = sensor(seed, frame), View(*way, scale, shift=shift)
    picture = as_pattern(noisy(shown(pattern, planted, frame), seed + 7, 1.5))
    camera = as_pattern(noisy(pattern, seed + 8, 1.5))
    _, turning, at, moved = plainly_best(picture, camera, scales, ways, 2)
    pieces = [(0, Piece(frame, lambda: picture))], [(1, Piece(frame, lambda: camera))]
    searched = Scales(scales, 256, places(ways, 2))
    first = max(peaks(*pieces, searched, lambda *_: True, 2**28), key=lambda peak: peak.view.score)
    assert (first.picture, first.camera) == (0, 1)
    assert (first.view.turn, first.view.mirrored) == turning
    assert abs(np.log(first.view.scale / at)) <= 1.01 * np.log(scales[1] / scales[0])
    assert np.abs(np.subtract(first.view.shift, moved)).max() <= 1
    view = register(picture, camera, scales=(0.97, 1.04), turns=[way[0]], mirrored=True)
    assert far_apart(planted, view, frame, frame) < 0.75


def test_the_answer_is_always_the_same():
    pattern = sensor(1, SQUARE)
    picture, camera = noisy(pattern, 2, 4), noisy(pattern, 3, 4)
    views = [register(picture, camera, mirrored=True) for _ in range(3)]
    assert views[0] == views[1] == views[2]


@pytest.mark.parametrize(
    ("picture", "camera", "told", "words"),
    [
        (np.zeros((200, 400)), np.zeros((400, 400)), {}, r"picture has shape \(200, 400\)"),
        (np.zeros((300, 400)), np.zeros(90000), {}, r"camera has shape \(90000,\)"),
        (np.full((300, 400), np.nan), np.zeros((300, 400)), {}, "finite numbers"),
        (np.zeros((300, 400)), np.zeros((300, 400)), {"scales": (0.5, 1)}, "from .94 up"),
        (np.zeros((300, 400)), np.zeros((300, 400)), {"scales": (1.1, 1)}, "from .94 up"),
        (np.zeros((300, 400)), np.zeros((300, 400)), {"turns": (45,)}, "some of 0, 90, 180, 270"),
    ],
)
def test_what_cannot_be_registered_is_refused(picture, camera, told, words):
    with pytest.raises(ParameterValueError, match=words):
        register(picture, camera, **told)


def test_nothing_sees_nothing():
    empty = np.zeros(SQUARE.shape, dtype=np.float32)
    view = register(empty, empty)
    assert view is None or view.rate > 0.01
    view = register(sensor(1, SQUARE), empty)
    assert view is None or view.rate > 0.01
    assert frame_of(empty) == SQUARE
