"""Gram matrices, fingerprints and residuals drawn directly, without any photograph."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from samecam.errors import ParameterError
from samecam.simulate._stream import stream

__all__ = [
    "SimulatedFingerprints",
    "SimulatedGram",
    "SimulatedResiduals",
    "fingerprints",
    "gram",
    "synthetic_residuals",
]

_ROWS = 512
"""Rows of a Gram matrix drawn at a time; part of the definition of the stream."""
_LARGEST = 0.99
"""Upper limit of a photo's strength, so that every expected correlation stays below 1."""


class SimulatedGram(NamedTuple):
    """`gram` (n, n) and the camera of each row, `labels` (n,)."""

    gram: NDArray[np.floating]
    labels: NDArray[np.intp]


class SimulatedFingerprints(NamedTuple):
    """`X` (n, n_pixels), rows of unit norm, and the camera of each row, `labels` (n,)."""

    X: NDArray[np.float32]
    labels: NDArray[np.intp]


class SimulatedResiduals(NamedTuple):
    """`residuals` (n, n_pixels), not normalised, and the camera of each row, `labels` (n,)."""

    residuals: NDArray[np.float32]
    labels: NDArray[np.intp]


def gram(
    sizes: Sequence[int],
    mean: float = 0.01,
    *,
    n_pixels: int = 262144,
    null_scale: float | None = None,
    camera_spread: float = 0.4,
    photo_cv: float = 0.7,
    seed: int = 0,
    dtype: DTypeLike = np.float32,
) -> SimulatedGram:
    """Draw the correlations of a collection directly.

    For i ≠ j, gram[i, j] = gram[j, i] = N(0, s²) + a_i·a_j·[same camera], and gram[i, i] = 1, with
    s = 1/√n_pixels or `null_scale` and the strength of photo i of camera c

        a_i = √mean · camera_c · photo_i,

    camera_c = exp(σz) log-normal with σ = `camera_spread` and median 1, photo_i gamma with mean 1
    and coefficient of variation `photo_cv`: two photos of the median camera are expected to
    correlate by `mean`, two photos of any camera by mean·exp(2σ²), 1.38 times that by default.
    a_i is cut at .99. Entries are independent, so the matrix need not be positive semi-definite.
    Besides the result only 512 rows are held.

    Parameters
    ----------
    sizes : sequence of int
        Photos by each camera, each at least 1; 1 is an outlier.
    mean : float
        Expected same-camera correlation of the median camera, in [0, 1).
    n_pixels : int
        Length d of the fingerprints, which sets the null's scale 1/√d.
    null_scale : float, optional
        Standard deviation of different-camera correlations instead of 1/√d.
    camera_spread, photo_cv : float
        Spread of the strengths over cameras and over the photos of a camera.
    seed : int
        Non-negative. Rows are in random order, drawn from it.
    dtype : float32 or float64
        Of the result.
    """
    kind: np.dtype[Any] = np.dtype(dtype)
    if kind not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ParameterError("dtype", f"{{name}} is {kind}: give float32 or float64.")
    labels, strengths = _strengths(sizes, mean, camera_spread, photo_cv, seed)
    _at_least("n_pixels", n_pixels, 1)
    scale = n_pixels**-0.5 if null_scale is None else null_scale
    _at_least("null_scale", scale, 0)
    matrix = _symmetric_noise(stream(seed, 1), labels.size, scale, kind)
    strengths = strengths.astype(kind)
    order = np.argsort(labels, kind="stable")
    for members in np.split(order, np.cumsum(sizes)[:-1]):
        matrix[np.ix_(members, members)] += np.outer(strengths[members], strengths[members])
    np.fill_diagonal(matrix, 1)
    return SimulatedGram(matrix, labels)


def fingerprints(
    sizes: Sequence[int],
    mean: float = 0.01,
    n_pixels: int = 4096,
    *,
    camera_spread: float = 0.4,
    photo_cv: float = 0.7,
    seed: int = 0,
) -> SimulatedFingerprints:
    """Draw unit-norm fingerprints whose correlations follow the model of `gram`.

    X_i = a_i·k_c + √(1 − a_i²)·noise_i, scaled to norm 1, with k_c and noise_i white normal. The
    strengths a_i and the labels are those that `gram` draws from the same seed.

    Parameters
    ----------
    sizes, mean, camera_spread, photo_cv, seed
        As for `gram`.
    n_pixels : int
        Length of a fingerprint; the result holds n · n_pixels float32.
    """
    labels, strengths = _strengths(sizes, mean, camera_spread, photo_cv, seed)
    _at_least("n_pixels", n_pixels, 1)
    X = np.empty((labels.size, n_pixels), dtype=np.float32)
    for camera in range(len(sizes)):
        rng = stream(seed, 2, camera)
        pattern = rng.standard_normal(n_pixels, dtype=np.float32)
        for i in np.flatnonzero(labels == camera):
            a = strengths[i]
            noise = rng.standard_normal(n_pixels, dtype=np.float32)
            row = np.float32(a) * pattern + np.float32((1 - a * a) ** 0.5) * noise
            X[i] = row / np.linalg.norm(row)
    return SimulatedFingerprints(X, labels)


def synthetic_residuals(
    n_cameras: int,
    n_images: int,
    n_pixels: int,
    *,
    intensity: float = 0.9,
    var_prnu: float = 0.001,
    var_noise: float = 0.1,
    seed: int = 0,
) -> SimulatedResiduals:
    """Residuals I₀·K + Θ of uniform pictures, the synthetic experiment of the paper.

    K (one per camera) and Θ (one per image) are white normal with variances `var_prnu` and
    `var_noise`; nothing is clipped. Two images of one camera correlate by
    I₀²·var_prnu / (I₀²·var_prnu + var_noise), .0080 by default. Rows are ordered by camera.

    Parameters
    ----------
    n_cameras, n_images, n_pixels : int
        Cameras, images by each, and pixels of each image; the paper takes 5 and 100.
    intensity : float
        The uniform picture I₀, in [0, 1].
    var_prnu, var_noise : float
        Variances of K and Θ.
    seed : int
        Non-negative.
    """
    for name, value in (("n_cameras", n_cameras), ("n_images", n_images), ("n_pixels", n_pixels)):
        _at_least(name, value, 1)
    for name, number in (("var_prnu", var_prnu), ("var_noise", var_noise), ("seed", seed)):
        _at_least(name, number, 0)
    residuals = np.empty((n_cameras * n_images, n_pixels), dtype=np.float32)
    for camera in range(n_cameras):
        rng = stream(seed, 3, camera)
        rows = residuals[camera * n_images : (camera + 1) * n_images]
        pattern = rng.standard_normal(n_pixels, dtype=np.float32)
        rng.standard_normal(dtype=np.float32, out=rows)
        rows *= np.float32(var_noise**0.5)
        rows += np.float32(intensity * var_prnu**0.5) * pattern
    return SimulatedResiduals(residuals, np.repeat(np.arange(n_cameras), n_images))


def _at_least(name: str, value: float, least: float) -> None:
    if not value >= least:
        raise ParameterError(name, f"{{name}} is {value}: give at least {least}.")


def _strengths(
    sizes: Sequence[int], mean: float, camera_spread: float, photo_cv: float, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Labels in random order and the strength a_i of each photo (see `gram`)."""
    if len(sizes) == 0 or min(sizes) < 1:
        raise ParameterError(
            "sizes", "{name} is empty or holds a number below 1: give the photos per camera."
        )
    if not 0 <= mean < 1:
        raise ParameterError("mean", f"{{name}} is {mean}: give a correlation from 0 to below 1.")
    _at_least("seed", seed, 0)
    _at_least("camera_spread", camera_spread, 0)
    _at_least("photo_cv", photo_cv, 0)
    rng = stream(seed, 0)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    camera = np.exp(camera_spread * rng.standard_normal(len(sizes)))
    photo = np.ones(labels.size)
    if photo_cv > 0:
        photo = rng.gamma(photo_cv**-2, photo_cv**2, labels.size)
    return labels, np.minimum(mean**0.5 * camera[labels] * photo, _LARGEST)


def _symmetric_noise(
    rng: np.random.Generator, n: int, scale: float, dtype: np.dtype[Any]
) -> NDArray[np.floating]:
    """Symmetric (n, n) normal noise, filled by blocks of rows and mirrored."""
    matrix = np.empty((n, n), dtype=dtype)
    for start in range(0, n, _ROWS):
        stop = min(start + _ROWS, n)
        block = rng.standard_normal((stop - start, n - start), dtype=dtype.type)
        block *= dtype.type(scale)
        square = np.tril(block[:, : stop - start], -1)
        block[:, : stop - start] = square + square.T
        matrix[start:stop, start:] = block
        matrix[stop:, start:stop] = block[:, stop - start :].T
    return matrix
