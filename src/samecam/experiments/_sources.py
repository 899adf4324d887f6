"""Where correlations come from: a twin, or photos of a real collection, by configuration."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from samecam.compute import Resources
from samecam.datasets import (
    SCALED,
    Collection,
    Configuration,
    Photo,
    Twin,
    configuration,
    open_collection,
    scale,
    twin,
)
from samecam.errors import SamecamError
from samecam.experiments._experiment import Context
from samecam.pages import listed

_MEMORY = 8 << 30
_FOREIGN = "The photos are of {}, so that nothing here is the paper's own collection."


class Correlations(NamedTuple):
    """`gram` (n, n) and the camera of each row, `truth` (n,), numbered."""

    gram: npt.NDArray[np.floating]
    truth: npt.NDArray[np.integer]


class Fingerprints(NamedTuple):
    """Rows of the store of a case, ascending, and the camera of each, `truth`, numbered."""

    case: Path
    rows: npt.NDArray[np.intp]
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
    notes : what is not as in print
    extract : of real photos, makes the fingerprints alone; None for a twin
    """

    name: str
    wanted: Configuration | None
    n_pixels: int
    parameters: Mapping[str, Any]
    load: Callable[[], Correlations]
    notes: tuple[str, ...] = ()
    extract: Callable[[], Fingerprints] | None = None


class Plan(NamedTuple):
    """Sources to run, and which configurations cannot be drawn, and why."""

    sources: Sequence[Source]
    skipped: tuple[str, ...]


def plan(
    context: Context,
    collection: str,
    names: Sequence[str],
    sizes: Mapping[str, Sequence[int]] | None = None,
) -> Plan:
    """Twins of the named configurations or, with `context.data`, draws of a real collection.

    Of one that has less than a configuration asks for, or of another one, what is there is
    drawn in the same spirit, and the notes say so.

    Parameters
    ----------
    context : `data` tells which
    collection : "dresden", "vision" or "raise", which a real one is taken to be if it can
    names : of the configurations
    sizes : photos of each camera, for real ones of which not all photos there are are wanted
    """
    if context.data is None:
        return Plan([twin_source(twin(name)) for name in names], ())
    return _real(context, collection, names, sizes or {})


def twin_source(model: Twin) -> Source:
    """A twin as a source."""

    def load() -> Correlations:
        return Correlations(*model.gram())

    return Source(model.name, model.configuration, model.n_pixels, twin_parameters(model), load)


def twin_parameters(model: Twin, *, whole: bool = False) -> dict[str, Any]:
    """What the correlations of a twin depend on, ready for JSON.

    Parameters
    ----------
    whole : also the photos and the model of each camera, as a digest
    """
    numbers = ("mean", "camera_spread", "photo_cv", "null_scale", "n_pixels", "seed", "model_mean")
    parameters = {
        "twin": model.name,
        "images": model.n_images,
        **{name: getattr(model, name) for name in numbers},
    }
    if whole:
        cameras = repr((model.sizes, model.models)).encode("ascii")
        parameters["cameras_sha256"] = hashlib.sha256(cameras).hexdigest()
    return parameters


def whole_source(context: Context) -> Source:
    """All photos of the real collection in `context.data`, squares of 512 pixels."""
    assert context.data is not None
    whole = open_collection(context.data)
    return replace(_real_source(context, whole, None), name=whole.name)


def _real(
    context: Context, collection: str, names: Sequence[str], sizes: Mapping[str, Sequence[int]]
) -> Plan:
    """Draws of a real collection, scaled to what it has where it has less than they ask for."""
    assert context.data is not None
    whole = open_collection(context.data, collection)
    foreign = whole.name.lower() != collection
    drawn: dict[str, Collection] = {}
    skipped = [_FOREIGN.format(whole.name)] if foreign else []
    for name in names:
        try:
            drawn[name] = _fitted(whole, configuration(name), sizes.get(name, ()), foreign=foreign)
        except SamecamError as error:
            skipped.append(f"{name} was left out: {error}")
    again = _again(drawn)
    skipped += [
        f"{listed(others)} would take the photos of {drawn[name].name} again: left out."
        for name, others in again.items()
        if others
    ]
    sources = [_real_source(context, drawn[name], configuration(name)) for name in again]
    if not sources:
        sources.append(_real_source(context, whole, None))
        skipped.append(f"No configuration fits, so all {len(whole.photos)} photos are grouped.")
    return Plan(sources, tuple(skipped))


def _again(drawn: Mapping[str, Collection]) -> dict[str, list[str]]:
    """Configurations that are kept, with those that would take the same photos again.

    Of such the one that is not scaled is kept, or else the first.
    """
    kept: dict[tuple[Photo, ...], str] = {}
    for name in sorted(drawn, key=lambda name: drawn[name].name.endswith(SCALED)):
        kept.setdefault(drawn[name].photos, name)
    of = {name: kept[photos.photos] for name, photos in drawn.items()}
    return {
        name: [other for other in drawn if of[other] == name and other != name]
        for name in drawn
        if of[name] == name
    }


def _fitted(
    whole: Collection, wanted: Configuration, sizes: Sequence[int], *, foreign: bool
) -> Collection:
    """A configuration as it is in print or, where there is less, scaled; not of the same name.

    The name of one that is as in print, but of another collection, ends in "-like".
    """
    try:
        drawn = draw(whole, wanted, sizes)
    except SamecamError:
        if wanted.strangers:
            return _half(whole, wanted)
        return scale(whole, wanted, sizes)
    return replace(drawn, name=f"{wanted.name}-like") if foreign else drawn


def _half(whole: Collection, wanted: Configuration) -> Collection:
    """Half of the cameras, and one photo of each of the others: strangers where there are few."""
    there = len(whole.models)
    half = (there + 1) // 2
    if there < 2:
        raise SamecamError(f"{wanted.name} needs two cameras and there is {there}: give more.")
    known = whole.draw(half)
    name = wanted.name + SCALED
    drawn = add_strangers(whole, replace(known, name=name), there - half)
    note = (
        f"{wanted.name} is scaled to {half} of {there} cameras, {len(known.photos)} photos, with "
        f"one photo of each of the others; in print it has {wanted.cameras} cameras, "
        f"{wanted.images} photos, and {wanted.strangers} strangers."
    )
    return replace(drawn, notes=(*drawn.notes, note))


def draw(whole: Collection, wanted: Configuration, sizes: Sequence[int] = ()) -> Collection:
    """Photos of a configuration, strangers too.

    Parameters
    ----------
    whole : what there is
    wanted : its `each` does not count where sizes are given
    sizes : photos of each camera; its cameras have as many as the largest, or more
    """
    if not sizes:
        drawn = whole.configured(wanted)
        return add_strangers(whole, drawn, wanted.strangers) if wanted.strangers else drawn
    cameras = whole.draw(len(sizes), max(sizes)).sizes()
    drawn = whole.take(dict(zip(cameras, sizes, strict=True)))
    return replace(drawn, name=wanted.name)


def add_strangers(whole: Collection, drawn: Collection, count: int) -> Collection:
    """A draw with one photo of each of `count` cameras that are not in it.

    Two photos of one camera are no strangers to each other: with fewer other cameras than
    `count` there are fewer strangers, and a note says so.
    """
    inside = set(drawn.cameras)
    others = sorted(set(whole.cameras) - inside)
    order = np.random.default_rng(0).permutation(len(others))
    chosen = whole.take({others[k]: 1 for k in order[:count]})
    notes = drawn.notes
    if len(others) < count:
        notes += (
            f"{drawn.name} has {count} strangers in print, {len(others)} here: one photo of each "
            f"camera that is not among the {len(inside)}.",
        )
    photos = tuple(sorted(drawn.photos + chosen.photos))
    return replace(drawn, photos=photos, notes=notes)


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

    def extract() -> Fingerprints:
        return _fingerprints(context, drawn, side)

    known = "all" if wanted is None else drawn.name
    return Source(known, wanted, side * side, parameters, load, drawn.notes, extract)


def _extracted(context: Context, drawn: Collection, side: int) -> Correlations:
    """Correlations of the usable photos of a draw."""
    from samecam import correlate
    from samecam.case import open_store

    photos = _fingerprints(context, drawn, side)
    with open_store(photos.case) as store:
        gram = correlate.gram(store.rows(), rows=photos.rows, memory=context.memory or _MEMORY)
    return Correlations(gram, photos.truth)


def _fingerprints(context: Context, drawn: Collection, side: int) -> Fingerprints:
    """The usable photos of a draw, extracted.

    All draws of a study share one case. Its photos lie in a folder of links, to which a draw
    adds its own: extraction does what is new, and each photo keeps its path as its name.
    """
    from samecam.case import ExtractionSettings, extract_photos, open_store

    links, case = context.study.folder / f"photos-{side}", context.study.folder / f"case-{side}"
    _link(links, drawn)
    extract_photos(
        [links],
        case,
        ExtractionSettings(size=side),
        resources=Resources(workers=context.workers),
        progress=context.progress,
    )
    camera = {photo.path: photo.camera for photo in drawn.photos}
    number = {name: k for k, name in enumerate(sorted(set(camera.values())))}
    with open_store(case) as store:
        good = {r.key for r in store.records() if r.has_row and r.meta["status"] == "good"}
        keys = store.rows().keys
        rows = [k for k, key in enumerate(keys) if key in good and key in camera]
        if len(rows) < 2:
            raise SamecamError(
                f"{len(rows)} of the {len(drawn.photos)} photos of {drawn.name} in "
                f"{str(drawn.root)!r} can be used, and two are needed: see "
                f"{str(case / 'images.csv')!r} for the reasons."
            )
        truth = np.array([number[camera[keys[k]]] for k in rows], dtype=np.int32)
    return Fingerprints(case, np.array(rows, dtype=np.intp), truth)


def _link(folder: Path, drawn: Collection) -> None:
    """A link to each photo of a draw, under its path."""
    try:
        for photo, file in zip(drawn.photos, drawn.paths, strict=True):
            link = folder / photo.path
            target = os.path.realpath(file)
            if os.path.lexists(link) and os.readlink(link) != target:
                link.unlink()  # the collection has moved
            if not os.path.lexists(link):
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(target)
    except OSError as error:
        raise SamecamError(f"{str(folder)!r} cannot be written: {error.strerror}.") from None
