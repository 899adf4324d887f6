"""Cameras that do not exist: models, bodies, and the pattern each body leaves in its photos."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from samecam.simulate._stream import stream

__all__ = [
    "Camera",
    "CameraModel",
    "addition_stream",
    "crop_stream",
    "draw_cameras",
    "draw_model",
    "pattern",
    "photo_stream",
    "plan_stream",
    "view_stream",
]

# The first key of every random stream: what the stream is for.
_BODIES, _MODEL, _SERIAL, _PHOTO, _MODEL_PATTERN, _BODY_PATTERN, _PLAN, _ADDITION = range(8)
_VIEW, _CROP = 8, 9

STRENGTH = 0.0055
"""Median standard deviation of K over cameras."""
STRENGTH_SPREAD = 0.15
"""Standard deviation of log strength over cameras; correlations go with its square."""
SHARED = 0.02
"""Share of the variance of K that bodies of one model have in common."""

_MAKES = ("Aldine", "Borealis", "Corvane", "Dunmore", "Elvar", "Fennick", "Galder", "Hestrel")
_SERIES = ("A", "CX", "DS", "M", "PX", "R", "S", "V", "Z")


@dataclass(frozen=True)
class CameraModel:
    """What all bodies of one model share, except their common pattern part."""

    make: str
    name: str
    software: str
    gamma: float
    contrast: float
    saturation: float
    sharpening: float
    vignette: float
    gains: tuple[float, float, float]
    full_well: float
    read_noise: float
    correction: float
    quality: tuple[int, int]
    subsampling: int


@dataclass(frozen=True)
class Camera:
    """One body: its name in the truth, its number, its model's number, serial and strength."""

    name: str
    number: int
    model: int
    serial: str
    strength: float


def plan_stream(seed: int) -> np.random.Generator:
    """Return the stream of decisions about the whole collection: kinds and order of photos."""
    return stream(seed, _PLAN)


def photo_stream(seed: int, camera: int, photo: int) -> np.random.Generator:
    """Return the stream of the photo with this number taken by this camera."""
    return stream(seed, _PHOTO, camera, photo)


def addition_stream(seed: int, *key: int) -> np.random.Generator:
    """Return the stream of the plan of one kind of additions (its number alone), or of one."""
    return stream(seed, _ADDITION, *key)


def view_stream(seed: int, *key: int) -> np.random.Generator:
    """Return the stream of views: of the plan, of a model's lens, or of a camera and photo."""
    return stream(seed, _VIEW, *key)


def crop_stream(seed: int, camera: int, photo: int) -> np.random.Generator:
    """Return the stream of the crop of a photo."""
    return stream(seed, _CROP, camera, photo)


def draw_model(seed: int, number: int, quality: tuple[int, int]) -> CameraModel:
    """Draw the properties of model `number`; its JPEG habit is a part of the range `quality`."""
    rng = stream(seed, _MODEL, number)
    low, high = quality
    spread = (high - low) * 2 / 3
    start = float(rng.uniform(low, high - spread))
    make = _MAKES[number % len(_MAKES)]
    return CameraModel(
        make=make,
        name=f"{make} {_SERIES[int(rng.integers(len(_SERIES)))]}{100 + number}",
        software=f"{make} Firmware {rng.integers(1, 4)}.{rng.integers(0, 10)}",
        gamma=float(rng.uniform(2.0, 2.3)),
        contrast=float(rng.uniform(0.05, 0.25)),
        saturation=float(rng.uniform(0.0, 0.25)),
        sharpening=float(rng.uniform(0.3, 0.6)),
        vignette=float(rng.uniform(0.1, 0.4)),
        gains=(float(rng.uniform(1.6, 2.2)), 1.0, float(rng.uniform(1.3, 1.8))),
        full_well=float(rng.uniform(14000, 22000)),
        read_noise=float(rng.uniform(0.0004, 0.0012)),
        correction=float(rng.uniform(0.8, 1.0)),
        quality=(round(start), round(start + spread)),
        subsampling=int(rng.choice([2, 1, 0], p=[0.8, 0.1, 0.1])),
    )


def draw_cameras(seed: int, cameras: int, models: int, outliers: int) -> list[Camera]:
    """Draw the bodies: `cameras` ordinary ones, then `outliers` that take one photo each.

    Strength is log-normal around `STRENGTH`. For the ordinary cameras it is drawn by strata (one
    camera from each of `cameras` equally likely slices), so that a handful of cameras already
    spans weak to strong whatever the seed.
    """
    rng = stream(seed, _BODIES)
    slices = (rng.permutation(cameras) + rng.random(cameras)) / cameras
    shares = np.concatenate([slices, rng.random(outliers)])
    digits = max(3, len(str(max(cameras, outliers))))
    bodies = []
    for number, share in enumerate(shares):
        normal = NormalDist().inv_cdf(float(np.clip(share, 0.07, 0.93)))
        outlier = number - cameras
        name = (
            f"camera_{number + 1:0{digits}}" if outlier < 0 else f"outlier_{outlier + 1:0{digits}}"
        )
        serial = stream(seed, _SERIAL, number).integers(10**9)
        strength = STRENGTH * float(np.exp(STRENGTH_SPREAD * normal))
        bodies.append(Camera(name, number, number % models, f"{serial:09d}", strength))
    return bodies


def pattern(
    seed: int, camera: Camera, height: int, width: int, crosstalk: float = 0.0
) -> NDArray[np.float32]:
    """Photo-response non-uniformity K of a body, shape (height, width).

    K = strength · (√(1 − SHARED) · own + √SHARED · common), where `own` and `common` are white
    standard normal and `common` is the same for all bodies of the model. With crosstalk every
    pixel shares with its neighbours, by a bell of that standard deviation in pixels; the strength
    stays.
    """
    own = stream(seed, _BODY_PATTERN, camera.number).standard_normal(
        (height, width), dtype=np.float32
    )
    common = stream(seed, _MODEL_PATTERN, camera.model).standard_normal(
        (height, width), dtype=np.float32
    )
    own *= np.float32(camera.strength * (1 - SHARED) ** 0.5)
    common *= np.float32(camera.strength * SHARED**0.5)
    own += common
    return _shared_with_neighbours(own, crosstalk) if crosstalk else own


def _shared_with_neighbours(values: NDArray[np.float32], deviation: float) -> NDArray[np.float32]:
    """Values blurred by a bell, at the same variance."""
    from scipy.ndimage import correlate1d

    reach = int(np.ceil(4 * deviation))
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
    weights /= np.sqrt((weights**2).sum())
    for axis in (0, 1):
        values = correlate1d(values, weights, axis=axis, mode="wrap")
    return values
