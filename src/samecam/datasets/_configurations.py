"""The collections of the paper and of its forerunner, as numbers: cameras, models, images."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal

from samecam.errors import SamecamError

Collection = Literal["dresden", "vision", "raise"]


@dataclass(frozen=True, slots=True)
class Configuration:
    """One collection of photos that a publication reports on.

    The paper explains the letters the wrong way round; here, as in its tables, `s` is
    symmetric (as many images of each camera) and `a` asymmetric (all images there are).

    Attributes
    ----------
    name : "Ds5", "Da10", "Dsm15", "Dam20", "Vs5", "Va20", "LDa74", "LVa33", "dev", …
    collection : where its photos come from
    table : where the numbers are printed
    cameras : number of cameras
    models : number of camera models; None: not printed
    images : number of images, strangers not counted
    each : images of each camera; None: as many as there are
    strangers : additional images, each of another camera
    quality : JPEG quality of a second compression; None: as they come
    side : side of the crop, in pixels
    batches : equal batches that LS-SSC splits it into; None: of 4,000
    printed : what the publication prints of LS-SSC on it ("f", "precision", "recall", "ari");
        "f_above" is a lower limit. Empty: nothing but a picture.
    parts : camera to number of images, where a publication names them
    note : what has to be said about it
    """

    name: str
    collection: Collection
    table: str
    cameras: int
    images: int
    models: int | None = None
    each: int | None = None
    strangers: int = 0
    quality: int | None = None
    side: int = 512
    batches: int | None = 2
    printed: Mapping[str, float] = field(default_factory=dict)
    parts: Mapping[str, int] = field(default_factory=dict)
    note: str = ""

    @property
    def per_model(self) -> int | None:
        """Cameras of each model; None: not printed."""
        return None if self.models is None else self.cameras // self.models


def configuration(name: str) -> Configuration:
    """The configuration of that name, or an error that lists those there are."""
    known = configurations()
    if name not in known:
        raise SamecamError(f"{name!r} is no configuration: choose from {', '.join(known)}.")
    return known[name]


@cache
def configurations() -> Mapping[str, Configuration]:
    """All configurations by name, in the order of the paper."""
    rows = read_data("configurations.toml")["configuration"]
    return MappingProxyType({row["name"]: _configuration(row) for row in rows})


def _configuration(row: Mapping[str, Any]) -> Configuration:
    fields = dict(row)
    if fields.pop("large", False):
        fields["batches"] = None
    return Configuration(**fields)


def read_data(name: str) -> dict[str, Any]:
    """A data file of this room."""
    return tomllib.loads(files("samecam.datasets").joinpath(name).read_text(encoding="utf-8"))
