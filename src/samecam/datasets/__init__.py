"""Known collections: loaders of real ones, the paper's configurations, twins, fixed sets."""

from samecam.datasets._collection import Collection, Photo
from samecam.datasets._configurations import Configuration, configuration, configurations
from samecam.datasets._devices import (
    load_floreview,
    load_fodb,
    load_modern_devices,
    load_vision,
)
from samecam.datasets._fixed import FixedSet, fixed_sets, fixed_version
from samecam.datasets._loaders import (
    LOADERS,
    load,
    load_dresden,
    load_folders,
    load_prnu_bench,
    load_raise,
    load_truth,
    open_collection,
)
from samecam.datasets._scaled import SCALED, scale
from samecam.datasets._twins import Twin, twin, twins
from samecam.datasets._write_twins import photograph_twin, write_twin

__all__ = [
    "LOADERS",
    "SCALED",
    "Collection",
    "Configuration",
    "FixedSet",
    "Photo",
    "Twin",
    "configuration",
    "configurations",
    "fixed_sets",
    "fixed_version",
    "load",
    "load_dresden",
    "load_floreview",
    "load_fodb",
    "load_folders",
    "load_modern_devices",
    "load_prnu_bench",
    "load_raise",
    "load_truth",
    "load_vision",
    "open_collection",
    "photograph_twin",
    "scale",
    "twin",
    "twins",
    "write_twin",
]
