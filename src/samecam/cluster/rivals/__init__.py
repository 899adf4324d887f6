"""Published rivals of our methods, one file and one class each, to compare with."""

from samecam.cluster.rivals._average_linkage import AverageLinkage
from samecam.cluster.rivals._base import NullRival, Rival
from samecam.cluster.rivals._bloy import Bloy
from samecam.cluster.rivals._ccc import CCC
from samecam.cluster.rivals._hdbscan import HDBSCANBaseline
from samecam.cluster.rivals._hierarchical import Hierarchical
from samecam.cluster.rivals._lin_ls import LinLS
from samecam.cluster.rivals._mrf import MRF
from samecam.cluster.rivals._msc import MSC
from samecam.cluster.rivals._ncuts import NCuts

# What the command line calls each.
RIVALS: dict[str, type[Rival]] = {
    "msc": MSC,
    "lin-ls": LinLS,
    "ccc": CCC,
    "hierarchical": Hierarchical,
    "mrf": MRF,
    "ncuts": NCuts,
    "bloy": Bloy,
    "hdbscan": HDBSCANBaseline,
    "average-linkage": AverageLinkage,
}

__all__ = [
    "CCC",
    "MRF",
    "MSC",
    "RIVALS",
    "AverageLinkage",
    "Bloy",
    "HDBSCANBaseline",
    "Hierarchical",
    "LinLS",
    "NCuts",
    "NullRival",
    "Rival",
]
