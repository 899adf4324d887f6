"""Loaders of the known collections, each for the tree that people have on disk."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Literal

from samecam.datasets._collection import SUFFIXES, Collection, Photo, gather, pictures
from samecam.errors import SamecamError
from samecam.inputs import read_input
from samecam.metrics import read_columns, read_truth

Root = str | os.PathLike[str]

_DRESDEN = re.compile(r"(?P<model>.+)_(?P<device>\d+)_(?P<number>\d+)\.jpe?g", re.IGNORECASE)
_NOT_NATURAL = re.compile(r"flat|dark", re.IGNORECASE)
_VISION = re.compile(r"(?P<device>D\d+)_(?P<model>.+)")
_NUMBERED = re.compile(r"(?P<model>.+?)[ _-]+(?P<device>\d+)")
_NAMED = 5  # folders that a note names, at most


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


def load_vision(root: Root, kind: str = "nat") -> Collection:
    """VISION: one folder a device, at any depth, in it `images/KIND`.

        root/D01_Samsung_GalaxyS3Mini/images/nat/D01_I_nat_0001.jpg
        root/D01_Samsung_GalaxyS3Mini/images/flat/…
        root/dataset/D02_Apple_iPhone4s/images/nat/…

    Devices without such photos and pictures in no folder of a device are left out, and named
    in the notes.

    Parameters
    ----------
    root : folder that holds the folders of the devices, or the folder they are in
    kind : "nat" natural, "flat", or through social media "natFBH", "natFBL", "natWA"
    """
    above: set[str] = set()  # folders that hold folders of devices
    strange: list[str] = []  # pictures in none of these

    def read(path: str) -> Photo | None:
        parts = path.split("/")
        at = next((k for k, part in enumerate(parts[:-1]) if _VISION.fullmatch(part)), None)
        if at is None:
            strange.append(path)
            return None
        above.add("/".join(parts[:at]))
        match = _VISION.fullmatch(parts[at])
        if match is None or len(parts) < at + 4 or parts[at + 1 : at + 3] != ["images", kind]:
            return None
        return Photo(path, parts[at], match["model"], match["device"])

    whole = gather("VISION", root, read, f"in Dxx_Brand_Model/images/{kind}")
    devices = {entry.name for folder in above for entry in os.scandir(Path(root, folder))
               if _VISION.fullmatch(entry.name) and entry.is_dir()}  # fmt: skip
    missing = sorted(devices.difference(whole.models))
    notes = [f"{name} has no photo in images/{kind}: left out." for name in missing]
    notes += _not_of_devices(strange, above)
    return Collection("VISION", whole.root, whole.photos, tuple(notes))


def _not_of_devices(paths: Iterable[str], above: Iterable[str]) -> list[str]:
    """A remark on pictures in no folder of a device, by the folder that could be one.

    `above` are the folders that hold devices; theirs and those above them could not.
    """
    entered = {
        "",
        *above,
        *(str(parent) for name in above for parent in PurePosixPath(name).parents),
    }
    counts: Counter[str] = Counter()
    for path in paths:
        parts = path.split("/")
        below = ("/".join(parts[:k]) for k in range(1, len(parts)))
        counts[next((name for name in below if name not in entered), "no folder")] += 1
    if not counts:
        return []
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{count} in {name}" for name, count in ordered]
    more = f" and {len(named) - _NAMED} more folders" if len(named) > _NAMED else ""
    return [
        f"{counts.total()} pictures are in no folder Dxx_Brand_Model: left out "
        f"({', '.join(named[:_NAMED])}{more})."
    ]


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
    "folders": load_folders,
    "truth": load_truth,
}
Name = Literal["dresden", "vision", "raise", "folders", "truth"]


def load(name: Name, root: Root) -> Collection:
    """The collection of that name; see the loader of each for the tree that it reads."""
    if name not in LOADERS:
        raise SamecamError(f"{name!r} is no collection: choose from {', '.join(LOADERS)}.")
    return LOADERS[name](root)


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
