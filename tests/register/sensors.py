"""Sensors that do not exist, and pictures that see them in known ways."""

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates

from samecam.frames import Frame
from samecam.register import GroupedRows, View
from samecam.store import BitRows, ByteRows, pack


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
    own = (
        np.random.default_rng((2, *np.atleast_1d(seed)))
        .standard_normal(values.shape)
        .astype(np.float32)
    )
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


def photos_of(pattern, view, frame, count, noise, seed=0):
    """Fingerprints of photos that see a sensor in one way, each with noise of its own."""
    seen = shown(pattern, view, frame) if view != View() or frame != frame_of(pattern) else pattern
    return [noisy(seen, (*np.atleast_1d(seed), k), noise) for k in range(count)]


def grouped(frame, given, first=0, bits=False, zoom=()):
    """Rows of one frame: `given` are pairs of a group (−1: none) and fingerprints.

    Photos are numbered from `first` on; `zoom` are EXIF's, by group.
    """
    groups = np.array([group for group, made in given for _ in made], dtype=np.intp)
    values = np.stack([photo.ravel() for _, made in given for photo in made])
    zooms = dict(zoom)
    return GroupedRows(
        frame,
        bit_rows(values) if bits else byte_rows(values),
        np.arange(first, first + len(groups), dtype=np.intp),
        groups,
        np.array([zooms.get(int(group), np.nan) for group in groups]),
    )


def byte_rows(values):
    whole = np.rint(values * (24 / values.std())).clip(-127, 127).astype(np.int8)
    return ByteRows(whole, 1 / np.linalg.norm(whole.astype(np.float32), axis=1))


def bit_rows(values):
    words = pack(values > 0, np.abs(values) < values.std())
    return BitRows(words, values.shape[1])
