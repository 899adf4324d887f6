"""Photos whose camera is known: the truth and the records of a case, brought together."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from samecam.arrays import Labels
from samecam.case.folder import USED
from samecam.errors import SamecamError
from samecam.metrics import match_paths, read_models, read_truth
from samecam.store import Record

FilePath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Truth:
    """What the file says: camera of each path, and model of each camera of which it has one."""

    file: str
    cameras: dict[str, str]
    models: dict[str, str]


@dataclass(frozen=True, slots=True)
class NotUsed:
    """A photo of the truth that was not compared, and why."""

    path: str
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class TrueCamera:
    """A camera of the truth.

    Attributes
    ----------
    name : as in the truth
    model : "" if it is not known
    model_from : "truth", "exif" or ""
    photos : those that are compared
    """

    name: str
    model: str
    model_from: str
    photos: int


@dataclass(frozen=True, slots=True)
class Labelled:
    """Photos that are compared, and what is left of the rest.

    Attributes
    ----------
    photos : sorted by path
    of : (n,) camera of each
    cameras : sorted by name
    not_used : photos of the truth that cannot be compared
    not_in_truth : photos of the case that the truth does not name
    not_found : paths of the truth of which there is no file
    """

    photos: list[Record]
    of: Labels
    cameras: list[TrueCamera]
    not_used: list[NotUsed]
    not_in_truth: list[str]
    not_found: list[str]


def load_truth(file: FilePath) -> Truth:
    """Read the file, and refuse one with which nothing can be validated."""
    cameras, models = read_truth(file), read_models(file)
    name = os.fspath(file)
    if max(Counter(cameras.values()).values()) < 2:
        raise SamecamError(
            f"{name!r} names no camera twice: photos are compared with others of their camera, so "
            "name two photos or more of each, five are better."
        )
    if len(set(cameras.values())) < 2:
        raise SamecamError(
            f"{name!r} names one camera alone: photos are compared with those of other cameras "
            "too, so name photos of two cameras or more."
        )
    of_camera: dict[str, str] = {}
    for path, model in models.items():
        camera = cameras[path]
        if of_camera.setdefault(camera, model) != model:
            raise SamecamError(
                f"{name!r} gives the camera {camera!r} two models, {of_camera[camera]!r} and "
                f"{model!r}: name one."
            )
    return Truth(name, cameras, of_camera)


def label(records: Sequence[Record], truth: Truth) -> Labelled:
    """Find the photos of the truth among the records of a case."""
    partners = match_paths([record.key for record in records], list(truth.cameras))
    if not partners:
        raise SamecamError(
            f"None of the {len(records)} files has the name of one in {truth.file!r}: name the "
            "truth of these photos."
        )
    named = [record for record in records if record.key in partners]
    photos = [record for record in named if record.meta["status"] in USED and record.has_row]
    names = [truth.cameras[partners[photo.key]] for photo in photos]
    known = sorted(set(names))
    of = np.array([known.index(name) for name in names], dtype=np.intp)
    used = {photo.key for photo in photos}
    return Labelled(
        photos,
        of,
        [_camera(name, truth, [p for p, n in zip(photos, names, strict=True) if n == name])
         for name in known],
        [_not_used(record) for record in named if record.key not in used],
        [record.key for record in records if record.key not in partners],
        sorted(set(truth.cameras) - set(partners.values())),
    )  # fmt: skip


def _not_used(record: Record) -> NotUsed:
    status = str(record.meta["status"])
    reason = str(record.meta.get("reason") or "")
    if status == "copy":
        reason = f"the same picture as {record.meta.get('copy_of')}"
    return NotUsed(record.key, status, reason)


def _camera(name: str, truth: Truth, photos: Sequence[Record]) -> TrueCamera:
    stated = truth.models.get(name, "")
    model = stated or _exif_model(photos)
    source = "truth" if stated else "exif" if model else ""
    return TrueCamera(name, model, source, len(photos))


def _exif_model(photos: Sequence[Record]) -> str:
    """Make and model that most of the photos state; "" if none states one."""
    counts = Counter(stated for photo in photos if (stated := _stated(photo.meta)))
    return min(counts, key=lambda each: (-counts[each], each), default="")


def _stated(meta: Mapping[str, object]) -> str:
    make, model = (" ".join(str(meta.get(name) or "").split()) for name in ("make", "model"))
    if not model:
        return ""
    return model if model.lower().startswith(make.lower()) else f"{make} {model}".strip()
