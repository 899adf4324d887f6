"""Simulated photographs behave like real ones after extraction.

Measured on real cameras: same-camera medians .002 – .037, typically .004 – .02; different-camera
s.d. .0027 (512 × 512, σ = 3, JPEG grid removed); σ = 5 clearly worse than σ = 3.
"""

import csv
from typing import NamedTuple

import numpy as np
import pytest
from PIL import ExifTags, Image

from samecam.fingerprint import fingerprint
from samecam.simulate import simulate_photos


class Collection(NamedTuple):
    grams: dict[float, np.ndarray]
    cameras: np.ndarray
    models: np.ndarray

    def of_camera(self, name, sigma=3.0):
        rows = self.cameras == name
        return self.grams[sigma][np.ix_(rows, rows)][np.triu_indices(rows.sum(), 1)]

    def pairs(self, *, camera, model, sigma=3.0):
        """Correlations of pairs above the diagonal with equal or different camera and model."""
        chosen = (self.cameras[:, None] == self.cameras) == camera
        chosen &= (self.models[:, None] == self.models) == model
        return self.grams[sigma][np.triu(chosen, 1)]

    def medians(self, sigma=3.0):
        return np.array([np.median(self.of_camera(c, sigma)) for c in np.unique(self.cameras)])


@pytest.fixture(scope="module", params=[0, pytest.param(1, marks=pytest.mark.slow)])
def collection(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("calibration") / "photos"
    simulate_photos(
        folder, cameras=6, images=8, models=3, size=(768, 576), seed=request.param, workers=1
    )
    vectors, cameras, models = {3.0: [], 5.0: []}, [], []
    with open(folder / "truth.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        with Image.open(folder / row["path"]) as picture:
            model = picture.getexif()[ExifTags.Base.Model]
            pixels = np.asarray(picture.crop((0, 0, 512, 512)))
        if np.mean(pixels.mean(axis=2) >= 250) > 0.3:
            continue
        cameras.append(row["camera"])
        models.append(model)
        for sigma, result in vectors.items():
            result.append(fingerprint(pixels, sigma=sigma))
    grams = {sigma: np.array(result) @ np.array(result).T for sigma, result in vectors.items()}
    return Collection(grams, np.array(cameras), np.array(models))


def test_collection_is_nearly_whole(collection):
    assert 42 <= len(collection.cameras) < 48
    assert len(np.unique(collection.cameras)) == 6
    assert len(np.unique(collection.models)) == 3


def test_same_camera_medians_lie_where_real_ones_do(collection):
    medians = collection.medians()
    assert (medians > 0.004).all(), medians
    assert (medians < 0.03).all(), medians


def test_cameras_differ_in_strength(collection):
    medians = collection.medians()
    assert medians.max() / medians.min() >= 1.8, medians


def test_different_cameras_scatter_like_real_ones(collection):
    null = collection.pairs(camera=False, model=False)
    assert 0.0019 < null.std() < 0.0032
    assert abs(null.mean()) < 0.0005


def test_cameras_of_one_model_share_little(collection):
    shared = collection.pairs(camera=False, model=True)
    error = shared.std() / np.sqrt(shared.size)
    assert -3 * error < shared.mean() < 0.001


def _separation(collection, sigma):
    """Median same-camera correlation in units of the different-camera scatter."""
    null = collection.pairs(camera=False, model=False, sigma=sigma)
    return np.median(collection.pairs(camera=True, model=True, sigma=sigma)) / null.std()


def _area_under_curve(collection, sigma):
    same = collection.pairs(camera=True, model=True, sigma=sigma)
    null = np.sort(collection.pairs(camera=False, model=False, sigma=sigma))
    return np.searchsorted(null, same).mean() / null.size


def test_a_denoiser_set_too_high_is_worse(collection):
    assert _separation(collection, 5.0) < 0.9 * _separation(collection, 3.0)
    assert _area_under_curve(collection, 5.0) < _area_under_curve(collection, 3.0)
