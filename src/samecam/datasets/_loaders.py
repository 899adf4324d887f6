"""Loaders of the known collections, each for the tree that people have on disk."""

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Literal

from samecam.datasets._collection import SUFFIXES, Collection, Photo, gather, pictures
from samecam.datasets._devices import (
    Root,
    load_floreview,
    load_fodb,
    load_modern_devices,
    load_vision,
)
from samecam.errors import SamecamError
from samecam.inputs import read_input
from samecam.metrics import read_columns, read_truth

_DRESDEN = re.compile(r"(?P<model>.+)_(?P<device>\d+)_(?P<number>\d+)\.jpe?g", re.IGNORECASE)
_NOT_NATURAL = re.compile(r"flat|dark", re.IGNORECASE)
_NUMBERED = re.compile(r"(?P<model>.+?)[ _-]+(?P<device>\d+)")
_BENCH_CAMERA = re.compile(r"camera_\d+")
_BENCH_VIEW = re.compile(r"view_\d+")
# Loaders in the order in which a tree is tried with them: those that ask for most come first.
_BY_LOOKS = (
    *("vision", "floreview", "fodb", "prnu-modern-devices", "prnu-bench", "dresden", "folders"),
)


def load_dresden(root: Root) -> Collection:
    """The Dresden Image Database.

    A tree of any depth whose JPEG files are named `Model_Camera_NNNNN.JPG`, as they come:

        root/Canon_Ixus70_0_1234.JPG
        root/natural/Nikon_D70s_1_23456.JPG

    The camera is `Model_Camera`. Folders named flat… or dark… (flat fields, dark frames) are
    left out, and so are files of other names.
    """

    def read(path: str) -> Photo | None:
        *folders, name = path.split("/")
        match = _DRESDEN.fullmatch(name)
        if match is None or any(_NOT_NATURAL.match(folder) for folder in folders):
            return None
        camera = f"{match['model']}_{match['device']}"
        return Photo(path, camera, match["model"], match["device"])

    return gather("Dresden", root, read, "named like Model_Camera_NNNNN.JPG")


def load_raise(root: Root) -> Collection:
    """RAISE: its table `RAISE_*.csv`, and the files it names, anywhere below.

        root/RAISE_all.csv                 columns File and Device, and others
        root/r000da54ft.NEF                or .TIF, or .jpg made of it

    The device ("Nikon D90") is the camera: RAISE has one of each model.
    """
    paths = pictures(root)
    tables = sorted(Path(root).glob("RAISE*.csv"))
    if len(tables) != 1:
        raise SamecamError(
            f"{os.fspath(root)!r} holds {len(tables)} tables named RAISE*.csv: put the one that "
            "lists its files there."
        )
    rows = read_columns(tables[0], ("File", "Device"))
    device = {file: name for _, (file, name) in rows}
    present = {_stem(path) for path in paths}

    def read(path: str) -> Photo | None:
        camera = device.get(_stem(path))
        return None if camera is None else Photo(path, camera, camera, camera)

    lacking = sum(file not in present for file in device)
    note = f"{lacking} of {len(device)} files of {tables[0].name} are not there."
    return gather("RAISE", root, read, f"named in {tables[0].name}", [note] if lacking else [])


def load_prnu_bench(root: Root) -> Collection:
    """PRNU-Bench: one folder a camera, at any depth, in it a folder for each scene.

        root/PRNU/camera_3/view_1/….png        reference photos
        root/PRNU/camera_3/view_2/….png        photos of another scene, to be identified

    The models are not told: every camera is its own.
    """

    def read(path: str) -> Photo | None:
        for camera, view in pairwise(path.split("/")[:-1]):
            if _BENCH_CAMERA.fullmatch(camera) and _BENCH_VIEW.fullmatch(view):
                return Photo(path, camera, camera, camera)
        return None

    return gather("PRNU-Bench", root, read, "in camera_N/view_N")


def load_folders(root: Root) -> Collection:
    """A folder for each camera, with its photos in it or below.

        root/Canon 600D/IMG_0001.jpg
        root/Pixel_1/holiday/a.jpg         Pixel_0, Pixel_1: one model, two devices

    A folder's name is the camera; without a number at its end, it is the model.
    """

    def read(path: str) -> Photo | None:
        if "/" not in path:
            return None
        camera = path.split("/")[0]
        match = _NUMBERED.fullmatch(camera)
        if match is None:
            return Photo(path, camera, camera, "")
        return Photo(path, camera, match["model"], match["device"])

    return gather("folders", root, read, "in a folder of its camera")


def load_truth(file: Root) -> Collection:
    """Photos named by a `truth.csv` with the columns path and camera, relative to its folder.

    A column `model` is used if there is one; otherwise every camera is its own model. Files
    that are not there are left out, and counted in the notes.
    """
    cameras = read_truth(file)
    root = Path(file).parent
    models = _models(file)
    here = {path: camera for path, camera in cameras.items() if (root / path).is_file()}
    if not here:
        raise SamecamError(
            f"None of the {len(cameras)} photos that {os.fspath(file)!r} names is there: put it "
            f"where its paths begin, now {str(root)!r}."
        )
    lacking = len(cameras) - len(here)
    notes = (f"{lacking} of {len(cameras)} photos are not there: left out.",) if lacking else ()
    photos = [Photo(p, camera, models.get(camera, camera), "") for p, camera in here.items()]
    return Collection("truth", root, tuple(sorted(photos)), notes)


LOADERS: Mapping[str, Callable[[Root], Collection]] = {
    "dresden": load_dresden,
    "vision": load_vision,
    "raise": load_raise,
    "floreview": load_floreview,
    "fodb": load_fodb,
    "prnu-modern-devices": load_modern_devices,
    "prnu-bench": load_prnu_bench,
    "folders": load_folders,
    "truth": load_truth,
}
Name = Literal[
    "dresden",
    "vision",
    "raise",
    "floreview",
    "fodb",
    "prnu-modern-devices",
    "prnu-bench",
    "folders",
    "truth",
]


def load(name: Name, root: Root) -> Collection:
    """The collection of that name; see the loader of each for the tree that it reads."""
    if name not in LOADERS:
        raise SamecamError(f"{name!r} is no collection: choose from {', '.join(LOADERS)}.")
    return LOADERS[name](root)


def open_collection(root: Root, expected: str | None = None) -> Collection:
    """A collection by the look of its folder.

    A `truth.csv` or the table of a collection tells; else the first loader that finds photos
    reads it, and at last a folder is taken for a camera.

    Parameters
    ----------
    root : its folder
    expected : name of the loader that is tried before all others
    """
    folder = Path(root)
    if not folder.is_dir():
        raise SamecamError(f"{str(folder)!r} is no folder: name the root of the collection.")
    if expected is not None:
        with suppress(SamecamError):
            return LOADERS[expected](root)
    if (folder / "truth.csv").is_file():
        return load_truth(folder / "truth.csv")
    if any(folder.glob("RAISE*.csv")):
        return load_raise(root)
    for name in _BY_LOOKS:
        with suppress(SamecamError):
            return LOADERS[name](root)
    raise SamecamError(
        f"{str(folder)!r} holds no photos in an order that tells their cameras: put a truth.csv "
        "with the columns path and camera into it."
    )


def _stem(path: str) -> str:
    """Name of a picture without its ending; other dots stay."""
    stem, ending = os.path.splitext(path.rsplit("/", 1)[-1])
    return stem if ending.lower() in SUFFIXES else stem + ending


def _models(file: Root) -> dict[str, str]:
    """Model of each camera, where the table has that column."""
    text = read_input(file).decode("utf-8-sig", "surrogateescape")
    header = text.split("\n", 1)[0].strip().split(",")
    if header.count("model") != 1:
        return {}
    return {camera: model for _, (camera, model) in read_columns(file, ("camera", "model"))}
