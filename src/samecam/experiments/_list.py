"""Which experiments there are; each is loaded when it is asked for."""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import NamedTuple

from samecam.errors import SamecamError
from samecam.experiments._experiment import Experiment


class Entry(NamedTuple):
    """Where an experiment is found, and what it makes in one line."""

    module: str
    attribute: str
    summary: str


# What the command line calls each; loaded when it is asked for.
EXPERIMENTS: Mapping[str, Entry] = MappingProxyType(
    {
        "sparse-vs-dense": Entry(
            "sparse_vs_dense", "EXPERIMENT", "representations against correlations, as pictures"
        ),
        "threshold": Entry("threshold", "EXPERIMENT", "the merging threshold as the groups grow"),
        "hyperparameters": Entry(
            "hyperparameters", "EXPERIMENT", "η, γ for each size, K and recycling steps"
        ),
        "medium-dresden": Entry("medium", "DRESDEN", "all methods, 5 to 20 cameras of Dresden"),
        "medium-vision": Entry("medium", "VISION", "all methods, 5 to 20 cameras of VISION"),
        "large-dresden": Entry("large", "DRESDEN", "30 to 74 cameras of Dresden"),
        "large-vision": Entry("large", "VISION", "21 to 33 cameras of VISION"),
        "outliers": Entry("outliers", "EXPERIMENT", "20 cameras and 50 photos of strangers"),
        "double-jpeg": Entry("double_jpeg", "EXPERIMENT", "a second compression, quality 50 to 95"),
        "sizes": Entry("sizes", "EXPERIMENT", "squares of 256 to 1024 pixels"),
        "few-images": Entry("few_images", "EXPERIMENT", "400 cameras of 10 to 50 images"),
        "running-time": Entry("running_time", "EXPERIMENT", "seconds, reading and computing apart"),
        "rivals-table": Entry("rivals_table", "EXPERIMENT", "the like-for-like table of Phan 2017"),
        "views": Entry("views", "EXPERIMENT", "one sensor zoomed, in 16:9 and turned"),
        "messengers": Entry("messengers", "EXPERIMENT", "copies that messengers send"),
        "phones": Entry("phones", "EXPERIMENT", "weak cameras, zoom, bodies of one model"),
        "mixed-disk": Entry("mixed_disk", "EXPERIMENT", "a disk with all that lies beside photos"),
        "frames": Entry("frames", "EXPERIMENT", "how much of the frame is compared"),
    }
)


def experiment(name: str) -> Experiment:
    """The experiment of that name, loaded."""
    if name not in EXPERIMENTS:
        raise SamecamError(f"{name!r} is no experiment: choose from {', '.join(EXPERIMENTS)}.")
    entry = EXPERIMENTS[name]
    module = f"samecam.experiments.{entry.module}"
    if find_spec(module) is None:
        raise SamecamError(f"The experiment {name!r} is not part of this version of samecam.")
    chosen: Experiment = getattr(import_module(module), entry.attribute)
    return chosen
