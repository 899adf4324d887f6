"""The coarse search in PyTorch: as on the processor."""

import numpy as np
import pytest

from samecam.frames import Frame
from samecam.register import View
from samecam.register._pattern import as_pattern
from samecam.register._peaks import Scales, peaks
from samecam.register._pieces import Piece
from samecam.register._resample import reduced
from samecam.register._rows import Middles, Turning, placed_rows, places, scaled_rows
from tests.register.sensors import noisy, sensor, shown
from tests.register.test_resample import unpacked

pytestmark = pytest.mark.torch

FRAME, SIDE = Frame(300, 260), 96
WAYS = tuple(Turning(turn, mirrored) for mirrored in (False, True) for turn in (0, 90, 180, 270))
VIEWS = [View(scale=1.3, shift=(1, -2)), View(90, True, 1.7), View(270, False, 1.1)]
SCALES = np.geomspace(1.06, 1.9, 70)


@pytest.fixture(scope="module")
def gpu():
    from samecam.register import _gpu

    return _gpu


@pytest.fixture(scope="module")
def device():
    from tests.devices import DEVICE

    return DEVICE


def patterns():
    """Three cameras, and pictures of two of them."""
    cameras = [sensor(k, FRAME) for k in range(3)]
    pictures = [noisy(shown(cameras[k], VIEWS[k], FRAME), 7 + k, 1.5) for k in range(2)]
    return [as_pattern(some) for some in pictures], [as_pattern(some) for some in cameras]


@pytest.mark.parametrize("scale", [0.95, 1.0, 1.37, 2.6])
@pytest.mark.parametrize("shape", [(40, 56), (400, 300)])
def test_two_products_make_a_pattern_smaller(gpu, scale, shape):
    from tests.devices import WHERE, host, there

    pattern = patterns()[0][0]
    made = host(gpu._reduced(there(pattern).to(gpu._kind(WHERE)), scale, shape))
    close = 2e-3 if WHERE == "cpu" else 0.2  # rounded to 11 bits, of numbers up to 127
    assert made == pytest.approx(reduced(pattern, scale, shape), abs=close)


def test_rows_are_those_of_the_processor(gpu, device):
    """But where a number is at a border, in a few of ten thousand."""
    from tests.devices import WHERE, host

    pattern, scales = patterns()[0][0], np.array([0.97, 1.0, 1.5, 2.59, 2.7, 4.0])
    words = scaled_rows(pattern, scales, SIDE).values
    expected = np.stack([unpacked(row) for row in words])
    source = gpu._Source(pattern, WHERE)
    made = host(gpu._numbers(source.scaled(scales, SIDE), gpu.PICTURE))
    assert set(np.unique(made)) == {-3, -1, 1, 3}
    assert (made != expected).mean() < (1e-4 if WHERE == "cpu" else 3e-3)
    assert (made[1] == expected[1]).all()  # of scale 1 nothing is rounded
    spots = places(WAYS, 1)
    there = gpu.DeviceMiddles([lambda: pattern], spots, SIDE, device)
    words = placed_rows(pattern, spots, SIDE)
    expected = np.stack([unpacked(row) for row in words])
    assert (host(there._values)[: len(spots)] == expected).all()


def test_a_pattern_smaller_than_the_middle_is_filled_with_the_same_chance(gpu, device):
    from tests.devices import WHERE, host

    pattern = patterns()[0][0][:60, :70]
    words = scaled_rows(pattern, np.array([1.0, 1.2]), SIDE).values
    expected = np.stack([unpacked(row) for row in words])
    scaled = gpu._Source(pattern, WHERE).scaled(np.array([1.0, 1.2]), SIDE)
    assert (host(gpu._numbers(scaled, gpu.PICTURE)) != expected).mean() < 3e-3
    spots = places(WAYS[:2], 2)
    there = gpu.DeviceMiddles([lambda: pattern], spots, SIDE, device)
    expected = np.stack([unpacked(row) for row in placed_rows(pattern, spots, SIDE)])
    assert (host(there._values)[: len(spots)] == expected).all()


@pytest.mark.parametrize("chosen", [[0, 1, 2], [1], [0, 2], [2]])
def test_the_highest_peaks_are_those_of_the_processor(gpu, device, chosen):
    pictures, cameras = patterns()
    spots, makers = places(WAYS, 2), [lambda some=some: some for some in cameras]
    here = Middles(makers, spots, SIDE).highest(pictures[1], SCALES, chosen)
    there = gpu.DeviceMiddles(makers, spots, SIDE, device).highest(pictures[1], SCALES, chosen)
    assert len(here) == len(there) == len(chosen)
    for one, other in zip(here, there, strict=True):
        assert [top.score for top in other] == pytest.approx(
            [top.score for top in one], rel=0.01, abs=0.1
        )
    if 1 in chosen:
        one, other = here[chosen.index(1)][0], there[chosen.index(1)][0]
        assert (one.scale, one.place) == (other.scale, other.place)
        assert one.score > 8


def test_medians_are_those_of_numpy(gpu):
    from tests.devices import host, there

    for n in (1, 2, 7, 8):
        values = np.random.default_rng(n).standard_normal((3, 5, n)).astype(np.float32)
        expected = np.median(values, axis=2, keepdims=True)
        assert host(gpu._median(there(values))) == pytest.approx(expected, abs=1e-6)


def test_peaks_take_any_memory(device):
    """Also a camera at a time; pairs that are not wanted are left out."""
    pictures, cameras = (
        [(k, Piece(FRAME, lambda p=p: p)) for k, p in enumerate(some)] for some in patterns()
    )
    scales = Scales(SCALES, SIDE, places(WAYS, 2))

    def best(where, memory):
        made = peaks(pictures, cameras, scales, lambda a, b: a <= b, memory, device=where)
        made = [peak for peak in made if peak.view.score > 6]
        return sorted((peak.picture, peak.camera, peak.view.scale, peak.view.turn) for peak in made)

    expected = best("cpu", 2**28)
    assert [(k, k, VIEWS[k].turn) for k in range(2)] == [
        (picture, camera, turn) for picture, camera, _, turn in expected
    ]
    for where, memory in (("cpu", 1), (device, 2**28), (device, 1)):
        assert best(where, memory) == expected
