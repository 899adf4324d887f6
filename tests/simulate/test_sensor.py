"""Sensor, patterns and demosaicing."""

import numpy as np
import pytest
from scipy.ndimage import correlate

from samecam.simulate import _camera, _scene, _sensor

GREEN = np.array(
    [
        [0, 0, -1, 0, 0],
        [0, 0, 2, 0, 0],
        [-1, 2, 4, 2, -1],
        [0, 0, 2, 0, 0],
        [0, 0, -1, 0, 0],
    ]
)
BESIDE = np.array(
    [
        [0, 0, 0.5, 0, 0],
        [0, -1, 0, -1, 0],
        [-1, 4, 5, 4, -1],
        [0, -1, 0, -1, 0],
        [0, 0, 0.5, 0, 0],
    ]
)
OPPOSITE = np.array(
    [
        [0, 0, -1.5, 0, 0],
        [0, 2, 0, 2, 0],
        [-1.5, 0, 6, 0, -1.5],
        [0, 2, 0, 2, 0],
        [0, 0, -1.5, 0, 0],
    ]
)


def _malvar(mosaic):
    """The 5 × 5 filters of Malvar, He and Cutler, slow and obvious."""

    def apply(kernel):
        return correlate(mosaic, kernel / 8, mode="mirror")

    red, green, blue = (np.empty_like(mosaic) for _ in range(3))
    red[0::2, 0::2] = mosaic[0::2, 0::2]
    red[0::2, 1::2] = apply(BESIDE)[0::2, 1::2]
    red[1::2, 0::2] = apply(BESIDE.T)[1::2, 0::2]
    red[1::2, 1::2] = apply(OPPOSITE)[1::2, 1::2]
    green[:] = mosaic
    green[0::2, 0::2] = apply(GREEN)[0::2, 0::2]
    green[1::2, 1::2] = apply(GREEN)[1::2, 1::2]
    blue[1::2, 1::2] = mosaic[1::2, 1::2]
    blue[1::2, 0::2] = apply(BESIDE)[1::2, 0::2]
    blue[0::2, 1::2] = apply(BESIDE.T)[0::2, 1::2]
    blue[0::2, 0::2] = apply(OPPOSITE)[0::2, 0::2]
    return np.stack([red, green, blue])


def test_demosaic_is_malvar_at_full_correction():
    mosaic = np.random.default_rng(0).random((18, 26))
    ours = _sensor.demosaic(mosaic.astype(np.float32), 1.0)
    np.testing.assert_allclose(ours, _malvar(mosaic), atol=1e-6)


def test_bilinear_demosaic_reproduces_planes_and_keeps_measured_values():
    y, x = np.mgrid[:20, :24].astype(np.float32)
    light = np.stack([0.1 + 0.01 * x, 0.5 - 0.01 * y, 0.2 + 0.005 * (x + y)])
    mosaic = _sensor.sample_bayer(light, (1.0, 1.0, 1.0))
    before = mosaic.copy()
    colour = _sensor.demosaic(mosaic, 0.0)
    assert np.array_equal(mosaic, before)
    np.testing.assert_allclose(colour[:, 2:-2, 2:-2], light[:, 2:-2, 2:-2], atol=1e-6)
    assert np.array_equal(colour[0, ::2, ::2], light[0, ::2, ::2])


def test_sample_bayer_divides_by_the_white_balance_gain():
    mosaic = _sensor.sample_bayer(np.ones((3, 4, 4), np.float32), (2.0, 1.0, 1.6))
    assert mosaic[:2, :2].tolist() == [[0.5, 1.0], [1.0, np.float32(1 / 1.6)]]


def test_raw_is_light_times_one_plus_pattern_clipped_at_full_well():
    rng = np.random.default_rng(0)
    light = np.linspace(0, 1.2, 64 * 64, dtype=np.float32).reshape(64, 64)
    pattern = rng.normal(0, 0.01, (64, 64)).astype(np.float32)
    copies = light.copy(), pattern.copy()
    raw = _sensor.expose_mosaic(light, pattern, full_well=np.inf, read_noise=0.0, rng=rng)
    np.testing.assert_allclose(raw, np.minimum(light * (1 + pattern), 1), rtol=1e-6)
    assert raw.max() == 1
    assert np.array_equal(light, copies[0])
    assert np.array_equal(pattern, copies[1])


def test_noise_variance_is_shot_plus_read():
    light = np.full((400, 400), 0.5, np.float32)
    raw = _sensor.expose_mosaic(
        light,
        np.zeros_like(light),
        full_well=10_000,
        read_noise=0.005,
        rng=np.random.default_rng(1),
    )
    assert raw.var() == pytest.approx(0.5 / 10_000 + 0.005**2, rel=0.02)


def test_develop_gives_neutral_gray_and_full_white():
    table = _sensor.tone_table(2.2, 0.1)
    gains = (2.0, 1.0, 1.5)
    for level, low, high in ((0.2, 100, 140), (1.0, 255, 255)):
        raw = _sensor.sample_bayer(np.full((3, 32, 32), level, np.float32), gains)
        pixels = _sensor.develop(
            raw, gains, correction=0.9, saturation=0.2, sharpening=0.5, table=table
        )
        assert pixels.shape == (32, 32, 3)
        assert np.ptp(pixels) <= 1
        assert low <= pixels.mean() <= high


def test_tone_table_rises_from_black_to_white():
    table = _sensor.tone_table(2.2, 0.25).astype(int)
    assert (table[0], table[-1], table.size) == (0, 255, 65536)
    assert (np.diff(table) >= 0).all()


def test_vignette_falls_from_centre_to_corner():
    shade = _sensor.vignette(101, 201, 0.3)
    assert shade[50, 100] == pytest.approx(1)
    assert shade[0, 0] == pytest.approx(0.7)
    assert shade[100, 200] == pytest.approx(0.7)


def test_patterns_share_a_weak_part_within_a_model_only():
    cameras = _camera.draw_cameras(4, 4, 2, 0)
    fields = [_camera.pattern(4, camera, 700, 700).ravel() for camera in cameras]
    for field, camera in zip(fields, cameras, strict=True):
        assert field.std() == pytest.approx(camera.strength, rel=0.01)
    correlation = np.corrcoef(fields)
    error = 4 / 700
    for i, j in ((0, 2), (1, 3)):
        assert cameras[i].model == cameras[j].model
        assert correlation[i, j] == pytest.approx(_camera.SHARED, abs=error)
    for i, j in ((0, 1), (0, 3), (1, 2), (2, 3)):
        assert abs(correlation[i, j]) < error


@pytest.mark.parametrize("seed", range(5))
def test_strengths_span_weak_to_strong_for_any_seed(seed):
    strengths = [camera.strength for camera in _camera.draw_cameras(seed, 6, 3, 0)]
    # correlations go with the square
    assert (max(strengths) / min(strengths)) ** 2 > 1.8


@pytest.mark.parametrize("seed", range(10))
def test_scenes_are_positive_and_differ(seed):
    scene = _scene.render_scene(np.random.default_rng(seed), seed / 10, 90, 120)
    other = _scene.render_scene(np.random.default_rng(seed + 1), seed / 10, 90, 120)
    assert scene.shape == (3, 90, 120)
    assert scene.dtype == np.float32
    assert (scene > 0).all()
    assert abs(np.corrcoef(scene.ravel(), other.ravel())[0, 1]) < 0.9


def test_fractal_octaves_reach_from_coarse_to_fine():
    rng = np.random.default_rng(0)
    rough = _scene.fractal(rng, 256, 256, persistence=0.95, coarsest=32)
    smooth = _scene.fractal(rng, 256, 256, persistence=0.4, coarsest=128)
    assert rough.std() == pytest.approx(1, abs=1e-3)
    assert np.diff(rough, axis=1).std() > 5 * np.diff(smooth, axis=1).std()
