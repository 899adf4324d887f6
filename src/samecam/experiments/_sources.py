"""Where correlations come from: a twin, or photos of a real collection, by configuration."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from samecam.datasets import LOADERS, Collection, Configuration, Twin, configuration, twin
from samecam.errors import SamecamError
from samecam.experiments._experiment import Context

_MEMORY = 8 << 30


class Correlations(NamedTuple):
    """`gram` (n, n) and the camera of each row, `truth` (n,), numbered."""

    gram: npt.NDArray[np.floating]
    truth: npt.NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Source:
    """One collection of photos to group.

    Attributes
    ----------
    name : of its configuration
    wanted : the configuration; None: all photos there are
    n_pixels : length of the fingerprints
    parameters : what its correlations depend on, ready for JSON
    load : makes the correlations; takes time and memory
    notes : sentences on what is not as in print
    """

    name: str
    wanted: Configuration | None
    n_pixels: int
    parameters: Mapping[str, Any]
    load: Callable[[], Correlations]
    notes: tuple[str, ...] = ()


class Plan(NamedTuple):
    """Sources to run, and sentences on configurations that cannot be drawn."""

    sources: Sequence[Source]
    skipped: tuple[str, ...]


def plan(context: Context, collection: str, names: Sequence[str]) -> Plan:
    """Twins of the named configurations or, with `context.data`, draws of the real collection.

    Parameters
    ----------
    context : `data` tells which
    collection : "dresden" or "vision", for real ones
    names : of the configurations
    """
    if context.data is None:
        return Plan([twin_source(twin(name)) for name in names], ())
    return _real(context, collection, names)


def twin_source(found: Twin) -> Source:
    """A twin as a source."""
    parameters = {
        "twin": found.name,
        "images": found.n_images,
        **{
            name: getattr(found, name)
            for name in ("mean", "camera_spread", "photo_cv", "null_scale", "n_pixels", "seed")
        },
        "model_mean": found.model_mean,
    }

    def load() -> Correlations:
        return Correlations(*found.gram())

    return Source(found.name, found.configuration, found.n_pixels, parameters, load)


def _real(context: Context, collection: str, names: Sequence[str]) -> Plan:
    assert context.data is not None
    whole = LOADERS[collection](context.data)
    sources: list[Source] = []
    skipped: list[str] = []
    for name in names:
        try:
            drawn = whole.configured(configuration(name))
        except SamecamError as error:
            skipped.append(f"{name} was left out: {error}")
            continue
        sources.append(_real_source(context, drawn, configuration(name)))
    if not sources:
        sources.append(_real_source(context, whole, None))
        skipped.append(f"No configuration fits, so all {len(whole.photos)} photos are grouped.")
    return Plan(sources, tuple(skipped))


def _real_source(context: Context, drawn: Collection, wanted: Configuration | None) -> Source:
    """Photos of a draw: extracted into the study's case where they are not yet, and correlated."""
    side = 512 if wanted is None else wanted.side
    listed = "\n".join(f"{photo.path}\t{photo.camera}" for photo in drawn.photos)
    digest = hashlib.sha256(listed.encode("utf-8", "surrogateescape")).hexdigest()
    parameters = {
        "collection": drawn.name,
        "images": len(drawn.photos),
        "sha256": digest,
        "side": side,
    }

    def load() -> Correlations:
        return _extracted(context, drawn, side)

    name = "all" if wanted is None else wanted.name
    return Source(name, wanted, side * side, parameters, load, drawn.notes)


def _extracted(context: Context, drawn: Collection, side: int) -> Correlations:
    """Correlations of the usable photos of a draw.

    All draws of a study share one case. Its photos lie in a folder of links, to which a draw
    adds its own: extraction does what is new, and each photo keeps its path as its name.
    """
    from samecam import correlate
    from samecam.case import ExtractionSettings, extract_photos, open_store

    links, case = context.study.folder / f"photos-{side}", context.study.folder / f"case-{side}"
    _link(links, drawn)
    extract_photos(
        [links],
        case,
        ExtractionSettings(size=side),
        workers=context.workers,
        progress=context.progress,
    )
    camera = {photo.path: photo.camera for photo in drawn.photos}
    number = {name: k for k, name in enumerate(sorted(set(camera.values())))}
    with open_store(case) as store:
        good = {r.key for r in store.records() if r.has_row and r.meta["status"] == "good"}
        rows = [k for k, key in enumerate(store.keys) if key in good and key in camera]
        if not rows:
            raise SamecamError(
                f"No photo of {drawn.name} in {str(drawn.root)!r} could be used: see "
                f"{str(case / 'images.csv')!r} for the reasons."
            )
        gram = correlate.gram(
            store, rows=np.array(rows, dtype=np.intp), memory=context.memory or _MEMORY
        )
        truth = np.array([number[camera[store.keys[k]]] for k in rows], dtype=np.int32)
    return Correlations(gram, truth)


def _link(folder: Path, drawn: Collection) -> None:
    """A link to each photo of a draw, under its path."""
    try:
        for photo, file in zip(drawn.photos, drawn.paths, strict=True):
            link = folder / photo.path
            target = file.resolve()
            if os.path.lexists(link) and os.readlink(link) != str(target):
                link.unlink()  # the collection has moved
            if not os.path.lexists(link):
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(target)
    except OSError as error:
        raise SamecamError(f"{str(folder)!r} cannot be written: {error.strerror}.") from None
