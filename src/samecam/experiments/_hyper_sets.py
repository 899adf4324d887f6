"""Correlations on which hyperparameters are chosen: twins of the paper's sets, or photographs."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.datasets import Twin, open_collection, twin
from samecam.errors import SamecamError
from samecam.experiments._experiment import Context
from samecam.experiments._photo_correlations import good_correlations
from samecam.experiments._photo_sets import PhotoSet, allowed_sides
from samecam.experiments._sources import twin_parameters

SIDE = 512
SIDES = (256, 512, 768, 1024)
# Twenty cameras of 10 to 50 photos, mean correlation .01: weak where the paper's sets are easy.
WEAK = "weak"
_WEAK_CAMERAS, _WEAK_MEAN, _WEAK_SEED = 20, 0.01, 0
# Most real photos: choosing γ takes time as the cube of their number.
_MOST = 800
_FEWEST = 8


@dataclass(frozen=True, slots=True)
class Correlated:
    """Correlations of photos of known cameras, and the side of the square they come from."""

    gram: npt.NDArray[np.floating]
    truth: npt.NDArray[np.intp]
    side: int

    @property
    def n_pixels(self) -> int:
        """Length of a fingerprint."""
        return self.side**2


def simulated_set(name: str, side: int = SIDE) -> Correlated:
    """The twin of that name, or the weak set, as squares of another side would correlate.

    The correlation that a camera makes does not depend on the side; that of strangers spreads
    by 512/side as much as at 512.
    """
    drawn = _model(name, side).gram()
    return Correlated(drawn.gram, drawn.labels, side)


def simulated_parameters(name: str, side: int = SIDE) -> dict[str, Any]:
    """What the correlations of `simulated_set` depend on, ready for JSON."""
    return twin_parameters(_model(name, side), whole=True)


def _model(name: str, side: int) -> Twin:
    model = twin("dev" if name == WEAK else name)
    model = replace(model, n_pixels=side**2, null_scale=model.null_scale * SIDE / side)
    if name != WEAK:
        return model
    sizes = np.random.default_rng(_WEAK_SEED).integers(10, 50, _WEAK_CAMERAS, endpoint=True)
    return replace(
        model,
        name=WEAK,
        sizes=tuple(sizes.tolist()),
        mean=_WEAK_MEAN,
        seed=_WEAK_SEED,
        model_mean=0.0,
        models=(),
    )


def real_photos(context: Context) -> PhotoSet:
    """Photographs of the collection that is named, as many of each camera, 800 at most."""
    assert context.data is not None
    collection = open_collection(context.data)
    sizes = {camera: count for camera, count in collection.sizes().items() if count >= _FEWEST}
    if len(sizes) < 2:
        raise SamecamError(
            f"{str(context.data)!r} has {len(sizes)} cameras with {_FEWEST} photos or more: give "
            "two or more."
        )
    each = max(_FEWEST, _MOST // len(sizes))
    collection = collection.take({camera: min(count, each) for camera, count in sizes.items()})
    return PhotoSet.of("real", "real", collection)


def real_sides(photos: PhotoSet) -> list[int]:
    """Sides that the photographs allow."""
    return allowed_sides(photos, SIDES)


def real_set(context: Context, photos: PhotoSet, side: int) -> Correlated:
    """Correlations of the good photographs, extracted if they are not yet."""
    gram, truth = good_correlations(context, photos, side)
    if len(gram) < 2:
        raise SamecamError(
            f"{len(gram)} of {len(photos.files)} squares of {side} pixels in "
            f"{str(context.data)!r} are not over-exposed: give other photos."
        )
    return Correlated(gram, truth, side)
