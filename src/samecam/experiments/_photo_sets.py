"""Photographs for experiments: simulated or real."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from samecam.datasets import Collection, configuration, load_truth, open_collection
from samecam.errors import SamecamError
from samecam.experiments._experiment import Context
from samecam.inputs import open_regular

if TYPE_CHECKING:
    pass

# Simulated cameras and photos by each: the full set, and with --quick.
CAMERAS, QUICK_CAMERAS = (20, 20), (8, 12)
SIZE = 1280, 1024
# Photos that --quick takes of each real camera, at most.
QUICK_EACH = 12
# The paper's photographs of both experiments.
CONFIGURATION = "Va20"
# A square is used where this share of the photos holds it.
SHARE = 0.95
# The crop that tells which photos are dark or saturated, for all settings alike.
JUDGED = 512


class Setting(NamedTuple):
    """What is correlated: the quality of the second compression, or None; side of the square."""

    quality: int | None
    side: int

    @property
    def key(self) -> str:
        """Its part of the name of a run."""
        return f"{self.copy}-{self.side}"

    @property
    def copy(self) -> str:
        """Name of the photographs that it is made of."""
        return "once" if self.quality is None else f"q{self.quality}"


@dataclass(frozen=True, slots=True)
class PhotoSet:
    """Photographs of known cameras.

    Attributes
    ----------
    name : its part of the names of runs
    kind : where they come from
    files, cameras : file and camera of each
    notes : what is not as in print
    """

    name: str
    kind: Literal["simulated", "real"]
    files: tuple[Path, ...]
    cameras: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, name: str, kind: Literal["simulated", "real"], collection: Collection
    ) -> "PhotoSet":
        """The photographs of a collection."""
        paths, cameras = tuple(collection.paths), tuple(collection.cameras)
        return cls(name, kind, paths, cameras, collection.notes)

    @property
    def title(self) -> str:
        """A description: kind, cameras, files."""
        return f"{self.kind} photographs, {len(set(self.cameras))} cameras, {len(self.files)} files"

    def as_parameters(self) -> dict[str, Any]:
        """What tells them from others; no path of this machine."""
        lines = [f"{f.name},{c}\n" for f, c in zip(self.files, self.cameras, strict=True)]
        text = "".join(lines).encode("utf-8", "surrogateescape")
        return {"photos": self.title, "sha256": hashlib.sha256(text).hexdigest()}

    def truth(self) -> npt.NDArray[np.int32]:
        """Camera of each photo as a number."""
        number = {camera: k for k, camera in enumerate(sorted(set(self.cameras)))}
        return np.array([number[camera] for camera in self.cameras], dtype=np.int32)


def photo_set(context: Context) -> PhotoSet:
    """The real photographs if any are named, else simulated ones, made if they are not there."""
    if context.data is None:
        return simulated(context)
    return real(context)


def set_name(context: Context, simulated: str | None = None) -> str:
    """What a set is called, without looking for it: simulated ones as given or by `photo_set`."""
    if context.data is not None:
        return "real-quick" if context.quick else "real"
    if simulated is not None:
        return simulated
    cameras, images = QUICK_CAMERAS if context.quick else CAMERAS
    return f"simulated-{cameras}x{images}"


def simulated(context: Context) -> PhotoSet:
    """Photographs by sensors that do not exist, in the folder of the study."""
    cameras, images = QUICK_CAMERAS if context.quick else CAMERAS
    return simulate_set(context, set_name(context), cameras, images, SIZE)


def simulate_set(
    context: Context,
    name: str,
    cameras: int,
    images: int,
    size: tuple[int, int] | Sequence[tuple[int, int]],
    **more: Any,
) -> PhotoSet:
    """Simulated photographs of that name in the folder of the study, made if they are not there.

    `more` is what else `simulate_photos` is asked for.
    """
    from samecam.simulate import simulate_photos

    folder = context.study.folder / "photos" / name
    if not (folder / "truth.csv").exists():
        context.study.hold()
        simulate_photos(
            folder,
            cameras=cameras,
            images=images,
            size=size,
            **more,
            workers=context.workers,
            progress=lambda done, total: context.progress("Photographing", done, total),
        )
    return PhotoSet.of(name, "simulated", load_truth(folder / "truth.csv"))


def real_or_simulated(
    context: Context,
    name: str,
    cameras: int,
    images: int,
    size: tuple[int, int] | Sequence[tuple[int, int]],
    **more: Any,
) -> PhotoSet:
    """The real photographs if any are named, else those of `simulate_set`."""
    if context.data is not None:
        return real(context)
    return simulate_set(context, name, cameras, images, size, **more)


def real(context: Context) -> PhotoSet:
    """The photographs below a folder; of VISION, 20 cameras as in the paper if it has them.

    With --quick, at most 12 of each camera.
    """
    assert context.data is not None
    collection = open_collection(context.data)
    if collection.name == "VISION":
        with suppress(SamecamError):  # a part of it alone: then all there is
            collection = collection.configured(configuration(CONFIGURATION))
    if context.quick:
        collection = collection.take({c: min(n, QUICK_EACH) for c, n in collection.sizes().items()})
    return PhotoSet.of(set_name(context), "real", collection)


def largest_cameras(root: Path, cameras: int, fewest: int) -> tuple[Collection, dict[str, int]]:
    """A collection, and the photos of its cameras that have most, at least two cameras.

    Parameters
    ----------
    root : of the collection
    cameras : how many at most
    fewest : photos that the second largest has at least
    """
    collection = open_collection(root)
    most = sorted(collection.sizes().items(), key=lambda item: (-item[1], item[0]))[:cameras]
    if len(most) < 2 or most[1][1] < fewest:
        raise SamecamError(
            f"{str(root)!r} has {len(collection.sizes())} cameras: give two or more with "
            f"{fewest} photos each."
        )
    return collection, dict(most)


def allowed_sides(photos: PhotoSet, sides: Sequence[int]) -> list[int]:
    """Those squares that at least 95 % of the photos hold, as their headers say.

    One whose header cannot be read is taken to hold 512 pixels. That square must be among them, for
    it tells which photos are taken.
    """
    shortest = np.array([min(photo_size(file)) or JUDGED for file in photos.files])
    share = {side: float(np.mean(shortest >= side)) for side in (JUDGED, *sides)}
    if share[JUDGED] < SHARE:
        raise SamecamError(
            f"Only {share[JUDGED]:.0%} of the {len(shortest)} photos hold a square of {JUDGED} "
            "pixels: take the small ones away."
        )
    return [side for side in sides if share[side] >= SHARE]


def photo_size(file: Path) -> tuple[int, int]:
    """Width and height of a stored picture; of one that Pillow does not know, nothing."""
    from PIL import Image

    try:
        with open_regular(file) as stream, Image.open(stream) as picture:
            return picture.size
    except (OSError, ValueError, Image.DecompressionBombError):
        return 0, 0
