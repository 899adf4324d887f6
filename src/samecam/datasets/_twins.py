"""Simulated twins of the known collections: the same cameras and images, drawn from a seed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats
from samecam.datasets._configurations import Configuration, configuration, read_data
from samecam.errors import SamecamError
from samecam.simulate import SimulatedFingerprints, SimulatedGram, fingerprints, gram

_MODEL_STRENGTHS, _MODEL_PATTERNS = 1, 2
_BLOCK = 64


@dataclass(frozen=True, slots=True)
class Twin:
    """A collection that does not exist, of the size and the difficulty of one that does.

    For i ≠ j, a correlation is

        N(0, null_scale²) + a_i·a_j·[same camera] + b_i·b_j·[same model],

    a_i as in `samecam.simulate.gram` (`mean`, `camera_spread`, `photo_cv`, `seed`) and
    b_i = √model_mean · gamma(mean 1, c.v. photo_cv): what all photos of a model share.

    Attributes
    ----------
    name : of the configuration it is the twin of
    sizes : images of each camera; strangers, one image each, come last
    models : model of each camera, numbered; empty: no two share anything
    n_pixels : length of the fingerprints it stands for
    mean, camera_spread, photo_cv, null_scale, seed : see `samecam.simulate.gram`
    model_mean : expected correlation of two photos by different cameras of one model
    ls_ssc : what LS-SSC with the published constants reached when the twin was fixed: "f",
        "precision", "recall", "clusters", "unclustered", means over "runs" seeds
    """

    name: str
    sizes: tuple[int, ...]
    mean: float
    camera_spread: float
    photo_cv: float
    null_scale: float
    n_pixels: int
    seed: int = 0
    model_mean: float = 0.0
    models: tuple[int, ...] = ()
    ls_ssc: Mapping[str, float] = field(default_factory=dict)

    kind = "twin"

    @property
    def configuration(self) -> Configuration:
        """What it is the twin of."""
        return configuration(self.name)

    @property
    def n_images(self) -> int:
        """All images, strangers too."""
        return sum(self.sizes)

    def gram(self, dtype: npt.DTypeLike = np.float32) -> SimulatedGram:
        """Correlations (n, n), and the camera of each row; float64 ones are another draw."""
        drawn = gram(
            self.sizes,
            self.mean,
            n_pixels=self.n_pixels,
            null_scale=self.null_scale,
            camera_spread=self.camera_spread,
            photo_cv=self.photo_cv,
            seed=self.seed,
            dtype=dtype,
        )
        for members, b in self._shared(drawn.labels):
            drawn.gram[np.ix_(members, members)] += np.outer(b, b).astype(dtype)
        np.fill_diagonal(drawn.gram, 1)
        return drawn

    def fingerprints(self, n_pixels: int | None = None) -> SimulatedFingerprints:
        """Unit-norm vectors (n, n_pixels) with such correlations, and their cameras.

        Cameras, labels and strengths are those of `gram`. Rows are coloured,
        x_t ← x_t + φ·x_{t−1}, so that strangers spread by more than 1/√d:
        (1 + φ²)/(1 − φ²) = null_scale²·d with d = `self.n_pixels`.

        Parameters
        ----------
        n_pixels : length; default that of the collection, which takes n·d·4 bytes. With
            fewer the spread of strangers grows by √(d/n_pixels), and all becomes harder.
        """
        length = self.n_pixels if n_pixels is None else n_pixels
        drawn = fingerprints(
            self.sizes,
            self.mean,
            length,
            camera_spread=self.camera_spread,
            photo_cv=self.photo_cv,
            seed=self.seed,
        )
        for model, (members, b) in enumerate(self._shared(drawn.labels)):
            rng = np.random.default_rng((self.seed, _MODEL_PATTERNS, model))
            pattern = rng.standard_normal(length, dtype=np.float32) / np.float32(length**0.5)
            for i, strength in zip(members, b, strict=True):
                drawn.X[i] += np.float32(strength) * pattern
        _colour(drawn.X, self._memory_of_noise())
        return drawn

    def _shared(
        self, labels: npt.NDArray[np.intp]
    ) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]]:
        """Photos of each model, and how strongly each shows what its model shares."""
        if not self.models or not self.model_mean:
            return []
        model = np.full(len(self.sizes), -1)
        model[: len(self.models)] = self.models
        photo = np.ones(labels.size)
        if self.photo_cv > 0:
            rng = np.random.default_rng((self.seed, _MODEL_STRENGTHS))
            photo = rng.gamma(self.photo_cv**-2, self.photo_cv**2, labels.size)
        of_photo = model[labels]
        groups = [np.flatnonzero(of_photo == k) for k in range(max(self.models) + 1)]
        return [(members, self.model_mean**0.5 * photo[members]) for members in groups]

    def _memory_of_noise(self) -> float:
        ratio = self.null_scale**2 * self.n_pixels
        return float(max((ratio - 1) / (ratio + 1), 0.0) ** 0.5)


def twin(name: str) -> Twin:
    """The twin of a configuration."""
    configuration(name)
    known = twins()
    if name not in known:
        raise SamecamError(f"{name!r} has no twin: choose from {', '.join(known)}.")
    return known[name]


@cache
def twins() -> Mapping[str, Twin]:
    """All twins by name."""
    data = read_data("twins.toml")
    every: dict[str, Any] = data["every"]
    rows = [every | row for row in data["twin"]]
    return MappingProxyType({row["name"]: _twin(row) for row in rows})


def _twin(row: dict[str, Any]) -> Twin:
    fields = dict(row)
    for name in ("sizes", "models"):
        fields[name] = tuple(row.get(name, ()))
    return Twin(**fields)


def _colour(X: Floats, phi: float) -> None:
    """Make x_t remember x_{t−1} by φ, in place, and bring rows back to unit norm."""
    from scipy.signal import lfilter

    for start in range(0, len(X), _BLOCK):
        rows = X[start : start + _BLOCK]
        if phi > 0:
            rows[:] = lfilter([1.0], [1.0, -phi], rows, axis=1)
        rows -= rows.mean(axis=1, keepdims=True)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
