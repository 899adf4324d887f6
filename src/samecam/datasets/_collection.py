"""Real photos on disk with the cameras that took them, and samples of them."""

import csv
import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from samecam.datasets._configurations import Configuration
from samecam.errors import SamecamError
from samecam.photos import scan

# Endings of the files that the loaders look at.
SUFFIXES = frozenset(
    f".{ending}"
    for ending in (
        *("jpg", "jpeg", "png", "tif", "tiff", "heic", "heif"),
        *("nef", "nrw", "dng", "cr2", "arw", "orf", "rw2", "pef", "raf"),
    )
)


class Photo(NamedTuple):
    """One photo: `path` below the root, its `camera`, and the `model` and `device` it names."""

    path: str
    camera: str
    model: str
    device: str


@dataclass(frozen=True, slots=True)
class Collection:
    """Photos of known cameras, sorted by path.

    Attributes
    ----------
    name : of the collection, or of the configuration that was drawn from it
    root : folder that the paths are relative to
    photos : what there is
    notes : remarks on what was left out, or is not as in print
    """

    name: str
    root: Path
    photos: tuple[Photo, ...]
    notes: tuple[str, ...] = ()

    kind = "real"

    @property
    def paths(self) -> list[Path]:
        """Files, in order."""
        return [self.root / photo.path for photo in self.photos]

    @property
    def cameras(self) -> list[str]:
        """Camera of each photo, in the same order."""
        return [photo.camera for photo in self.photos]

    @property
    def models(self) -> dict[str, str]:
        """Model of each camera, by its name."""
        return {p.camera: p.model for p in sorted(self.photos, key=lambda p: p.camera)}

    def sizes(self) -> dict[str, int]:
        """Number of photos of each camera, by its name."""
        counts = Counter(self.cameras)
        return {camera: counts[camera] for camera in sorted(counts)}

    def draw(
        self,
        n_cameras: int,
        n_images: int | None = None,
        *,
        per_model: int | None = None,
        seed: int = 0,
    ) -> "Collection":
        """Cameras, and images of each, at random.

        Draws of more cameras with the same seed hold those of fewer.

        Parameters
        ----------
        n_cameras : cameras to draw
        n_images : images of each; cameras with fewer are not drawn. None: all there are
        per_model : cameras of each model, 1 for none twice; None: any
        seed : non-negative
        """
        rng = np.random.default_rng((seed, 0))
        sizes, models = self.sizes(), self.models
        fit = [camera for camera in sizes if sizes[camera] >= (n_images or 1)]
        order = [fit[k] for k in rng.permutation(len(fit))]
        if per_model is not None:
            order = _by_model(order, models, per_model)
        if n_cameras < 1 or len(order) < n_cameras:
            wanted = "" if n_images is None else f" with {n_images} photos or more"
            wanted += "" if per_model is None else f", {per_model} of each model"
            raise SamecamError(
                f"{n_cameras} cameras{wanted} are wanted but {self.name} in {str(self.root)!r} "
                f"has {len(order)}: draw fewer, or complete the collection."
            )
        chosen = order[:n_cameras]
        return self.take({camera: n_images or sizes[camera] for camera in chosen}, seed=seed)

    def take(self, counts: Mapping[str, int], *, seed: int = 0) -> "Collection":
        """That many photos, at random, of the cameras named."""
        sizes = self.sizes()
        for camera, count in counts.items():
            if sizes.get(camera, 0) < count:
                raise SamecamError(
                    f"{count} photos of {camera!r} are wanted but {self.name} in "
                    f"{str(self.root)!r} has {sizes.get(camera, 0)}: name others, or complete it."
                )
        kept: list[Photo] = []
        for camera in sorted(counts):
            own = [photo for photo in self.photos if photo.camera == camera]
            rng = np.random.default_rng((seed, 1, *camera.encode("utf-8", "surrogateescape")))
            kept += [own[k] for k in rng.permutation(len(own))[: counts[camera]]]
        return replace(self, photos=tuple(sorted(kept)))

    def configured(self, wanted: Configuration, *, seed: int = 0) -> "Collection":
        """A configuration of the paper, drawn from what there is.

        Which cameras the paper took is not printed; they are drawn by `seed`. Asymmetric
        configurations take all photos there are, so their number may differ from print;
        `notes` says so.
        """
        if wanted.parts:
            drawn = self.take(wanted.parts, seed=seed)
        else:
            drawn = self.draw(wanted.cameras, wanted.each, per_model=wanted.per_model, seed=seed)
        notes = self.notes
        if len(drawn.photos) != wanted.images:
            notes += (f"{wanted.name} has {wanted.images} photos in print, "
                      f"{len(drawn.photos)} here.",)  # fmt: skip
        return replace(drawn, name=wanted.name, notes=notes)

    def truth_csv(self) -> str:
        """Text of a `truth.csv` for these photos: path,camera."""
        return truth_csv((photo.path, photo.camera) for photo in self.photos)


def truth_csv(rows: Iterable[tuple[str, str]]) -> str:
    """Text of a `truth.csv`, from the path and the camera of each photo."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("path", "camera"), *rows])
    return text.getvalue()


def gather(
    name: str,
    root: str | os.PathLike[str],
    read: Callable[[str], Photo | None],
    shape: str,
    notes: Sequence[str] = (),
) -> Collection:
    """Every photo below `root` that `read` makes sense of.

    Parameters
    ----------
    name : of the collection
    root : its folder
    read : path below the root to a photo, or None for a file that is no part of it
    shape : what paths look like, for the error if none does
    notes : remarks known already
    """
    paths = pictures(root)
    photos = [photo for photo in map(read, paths) if photo is not None]
    if not photos:
        raise SamecamError(
            f"{os.fspath(root)!r} holds no photo of {name} (of {len(paths)} pictures none is "
            f"{shape}): name the folder that they are in."
        )
    left = len(paths) - len(photos)
    said = (*notes, f"{left} pictures are no part of {name}: left out.") if left else (*notes,)
    return Collection(name, Path(root), tuple(sorted(photos)), said)


def pictures(root: str | os.PathLike[str]) -> list[str]:
    """Paths below `root`, '/' between parts, of all files that end like pictures."""
    if not os.path.isdir(root):
        raise SamecamError(f"{os.fspath(root)!r} is no folder: name the root of the collection.")
    return [f.path for f in scan([root]) if os.path.splitext(f.path)[1].lower() in SUFFIXES]


def _by_model(cameras: Iterable[str], models: Mapping[str, str], each: int) -> list[str]:
    """Models that have `each` cameras, in order of appearance, with their first `each`."""
    groups: dict[str, list[str]] = {}
    for camera in cameras:
        groups.setdefault(models[camera], []).append(camera)
    return [camera for group in groups.values() if len(group) >= each for camera in group[:each]]
