"""Collections with a folder for each device: VISION, FloreView, FODB, PrnuModernDevices."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from samecam.datasets._collection import Collection, Photo, gather
from samecam.errors import SamecamError

Root = str | os.PathLike[str]

_NAMED = 5  # folders that a note names, at most
_FODB_KINDS = ("orig", "facebook", "instagram", "telegram", "twitter", "whatsapp")
# The devices of PrnuModernDevices, whose folders have numbers alone: C01, C02, …
_MODERN = (
    *("Huawei_P30lite", "Huawei_P20Pro", "Huawei_P20Pro", "Huawei_P20Pro", "Huawei_PSmart2019"),
    *("Huawei_PSmart2019", "Huawei_P20lite", "Huawei_P20lite", "Huawei_P10", "Xiaomi_MiNote10"),
    *("Xiaomi_RedmiNote8T", "Xiaomi_MiA3", "Samsung_GalaxyS6", "Samsung_GalaxyS9"),
    *("Samsung_GalaxyS9+", "Samsung_GalaxyA70", "OnePlus_6T", "OnePlus_6", "Apple_iPhoneX"),
    *("Apple_iPhone11", "Apple_iPhone11", "Apple_iPhone11ProMax"),
)


@dataclass(frozen=True, slots=True)
class _Tree:
    """How a collection lies on disk.

    Attributes
    ----------
    name : of the collection
    device : matches the folder of a device; its group "device" is the device
    shape : what such a folder looks like, for people
    inside : folders in it that the photos are in, from the first
    model : of the device whose folder matched
    any_case : whether `inside` is meant in small and large letters alike
    """

    name: str
    device: "re.Pattern[str]"
    shape: str
    inside: Sequence[str]
    model: Callable[["re.Match[str]"], str] = lambda match: match["model"]
    any_case: bool = False

    @property
    def where(self) -> str:
        """The folder of the photos, below that of their device."""
        return "/".join(self.inside)

    def holds(self, below: Sequence[str]) -> bool:
        """Whether a file is one of the photos, by the parts of its path below the device."""
        folders = below[: len(self.inside)]
        if len(below) <= len(self.inside):
            return False
        if self.any_case:
            return [f.lower() for f in folders] == [f.lower() for f in self.inside]
        return list(folders) == list(self.inside)


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
    device = re.compile(r"(?P<device>D\d+)_(?P<model>.+)")
    return _load(root, _Tree("VISION", device, "Dxx_Brand_Model", ("images", kind)))


def load_floreview(root: Root, kind: str = "Nat") -> Collection:
    """FloreView: one folder a device, at any depth, in it `Nat`, and what lies below.

        root/Dataset/D34_Google_Pixel5/Nat/jpeg-h264/L5/S4/D34_L5S4C1.jpg
        root/Dataset/D34_Google_Pixel5/Nat/jpeg-h264/L5/S4/D34_L5S4C4.mp4     no picture

    What is left out is named as for `load_vision`.

    Parameters
    ----------
    root : folder that holds the folders of the devices, or one above it
    kind : folder of a device that is read, in small or large letters
    """
    device = re.compile(r"(?P<device>D\d+)_(?P<model>.+)")
    return _load(root, _Tree("FloreView", device, "Dxx_Brand_Model", (kind,), any_case=True))


def load_fodb(root: Root, kind: str = "orig") -> Collection:
    """The Forchheim Image Database (FODB): one folder a device, at any depth, in it `orig`.

        root/D01_Motorola_E3_1/orig/D01_img_orig_0001.jpg
        root/D01_Motorola_E3_1/facebook/D01_img_facebook_0001.jpg

    The number at the end tells devices of one model apart. What is left out is named as for
    `load_vision`.

    Parameters
    ----------
    root : folder that holds the folders of the devices, or one above it
    kind : "orig" as the device saved them, or the network they went through: "facebook",
        "instagram", "telegram", "twitter", "whatsapp"
    """
    if kind not in _FODB_KINDS:
        raise SamecamError(f"{kind!r} is no part of FODB: choose from {', '.join(_FODB_KINDS)}.")
    device = re.compile(r"(?P<device>D\d+)_(?P<model>.+?)(_\d+)?")
    return _load(root, _Tree("FODB", device, "Dxx_Brand_Model_N", (kind,)))


def load_modern_devices(root: Root, kind: str = "nat") -> Collection:
    """PrnuModernDevices: folders C01 to C22, at any depth, in each `nat`, `bokeh` and `flat`.

        root/C14/nat/….jpg
        root/C21/bokeh/….jpg                   C20 and C21 are devices of one model

    The folders do not tell the models; those of C01 to C22 are known here. What is left out
    is named as for `load_vision`.

    Parameters
    ----------
    root : folder that holds the folders of the devices, or one above it
    kind : "nat" natural, "bokeh" in portrait mode, "flat"
    """
    device = re.compile(r"(?P<device>C\d\d)")
    tree = _Tree("PrnuModernDevices", device, "Cnn", (kind,), _modern_model, any_case=True)
    return _load(root, tree)


def _modern_model(match: "re.Match[str]") -> str:
    number = int(match["device"][1:])
    return _MODERN[number - 1] if 1 <= number <= len(_MODERN) else match["device"]


def _load(root: Root, tree: _Tree) -> Collection:
    """The photos of a collection, with notes on devices without any and on other pictures."""
    above: set[str] = set()  # folders that hold folders of devices
    strange: list[str] = []  # pictures in none of these

    def read(path: str) -> Photo | None:
        parts = path.split("/")
        at = next((k for k, part in enumerate(parts[:-1]) if tree.device.fullmatch(part)), None)
        if at is None:
            strange.append(path)
            return None
        above.add("/".join(parts[:at]))
        match = tree.device.fullmatch(parts[at])
        if match is None or not tree.holds(parts[at + 1 :]):
            return None
        return Photo(path, parts[at], tree.model(match), match["device"])

    whole = gather(tree.name, root, read, f"in {tree.shape}/{tree.where}")
    devices = {entry.name for folder in above for entry in os.scandir(Path(root, folder))
               if tree.device.fullmatch(entry.name) and entry.is_dir()}  # fmt: skip
    missing = sorted(devices.difference(whole.models))
    notes = [f"{name} has no photo in {tree.where}: left out." for name in missing]
    notes += _not_of_devices(strange, above, tree.shape)
    return Collection(tree.name, whole.root, whole.photos, tuple(notes))


def _not_of_devices(paths: Iterable[str], above: Iterable[str], shape: str) -> list[str]:
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
        f"{counts.total()} pictures are in no folder {shape}: left out "
        f"({', '.join(named[:_NAMED])}{more})."
    ]
