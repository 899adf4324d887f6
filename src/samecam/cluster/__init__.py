"""Correlations to groups: labels from 0, largest group first, −1 for unclustered."""

from samecam.cluster._gamma import (
    GammaChoice,
    cost_gamma,
    normalised_cut,
    null_gamma,
    paper_gamma,
)
from samecam.cluster._graph import affinity
from samecam.cluster._labels import numbered
from samecam.cluster._plot import plot_sparse_vs_dense
from samecam.cluster._spectral import Spectrum, eigengap, spectral_groups, spectrum
from samecam.cluster._ssc import SSC, SSCNC
from samecam.cluster.consolidate import ConsolidatedSSC
from samecam.cluster.large_scale import LargeScaleSSC
from samecam.cluster.rivals import RIVALS, Rival

# What the command line calls each method; the first is the default, the rivals come last.
METHODS: dict[str, type[ConsolidatedSSC] | type[SSC] | type[LargeScaleSSC] | type[Rival]] = {
    "consolidated": ConsolidatedSSC,
    "ssc-nc": SSCNC,
    "ssc": SSC,
    "ls-ssc": LargeScaleSSC,
    **RIVALS,
}

__all__ = [
    "METHODS",
    "RIVALS",
    "SSC",
    "SSCNC",
    "ConsolidatedSSC",
    "GammaChoice",
    "LargeScaleSSC",
    "Spectrum",
    "affinity",
    "cost_gamma",
    "eigengap",
    "normalised_cut",
    "null_gamma",
    "numbered",
    "paper_gamma",
    "plot_sparse_vs_dense",
    "spectral_groups",
    "spectrum",
]
