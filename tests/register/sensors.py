"""Sensors that do not exist, and pictures that see them in known ways."""

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates

from samecam.frames import Frame
from samecam.register import View


def frame_of(pattern):
    return Frame(pattern.shape[1], pattern.shape[0])


def sensor(seed, frame):
    """The noise pattern of a sensor."""
    return np.random.default_rng((1, seed)).standard_normal(frame.shape).astype(np.float32)


def shown(pattern, view, frame):
    """What a picture without noise shows of a sensor; 0 beyond it."""
    y, x = np.mgrid[: frame.height, : frame.width]
    grid = np.column_stack([x.ravel(), y.ravel()])
    at = view.points(grid, frame, frame_of(pattern))
    sharp = gaussian_filter(pattern, 0.5 / view.scale) if view.scale < 0.9 else pattern
    values = map_coordinates(sharp, at.T[::-1], order=3, mode="constant")
    return values.reshape(frame.shape).astype(np.float32)


def noisy(values, seed, noise):
    """A picture with noise of its own, in units of the sensor's pattern."""
    own = np.random.default_rng((2, seed)).standard_normal(values.shape).astype(np.float32)
    return values + np.float32(noise) * own


def far_apart(view, other, picture, camera):
    """Pixels of the camera by which two views differ at most, over what the picture sees."""
    x = np.linspace(0, picture.width - 1, 7)
    y = np.linspace(0, picture.height - 1, 7)
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    places = [some.points(grid, picture, camera) for some in (view, other)]
    inside = ((places[0] >= 0) & (places[0] <= np.array(camera) - 1)).all(axis=1)
    return float(np.abs(places[0] - places[1])[inside].max())


def plain(view):
    """A view without what speaks for it."""
    return View(view.turn, view.mirrored, view.scale, view.radial, view.shift)
