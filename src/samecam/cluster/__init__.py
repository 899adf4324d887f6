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
from samecam.cluster._spectral import Spectrum, eigengap, spectral_groups, spectrum
from samecam.cluster._ssc import SSC, SSCNC
from samecam.cluster.consolidate import ConsolidatedSSC, Constraints
from samecam.cluster.large_scale import LargeScaleSSC
from samecam.cluster.rivals import RIVALS, Rival
from samecam.cluster.tuning import (
    PUBLISHED_REGRESSOR,
    GammaSelection,
    GroupPairs,
    MergeRegressor,
    RecyclingSelection,
    RegressorFit,
    choose_k_and_recycling,
    draw_pairs,
    fit_merge_regressor,
    fit_pairs,
    recycled_labels,
    select_gamma,
    select_k_and_recycling,
)

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
    "PUBLISHED_REGRESSOR",
    "RIVALS",
    "SSC",
    "SSCNC",
    "ConsolidatedSSC",
    "Constraints",
    "GammaChoice",
    "GammaSelection",
    "GroupPairs",
    "LargeScaleSSC",
    "MergeRegressor",
    "RecyclingSelection",
    "RegressorFit",
    "Spectrum",
    "affinity",
    "choose_k_and_recycling",
    "cost_gamma",
    "draw_pairs",
    "eigengap",
    "fit_merge_regressor",
    "fit_pairs",
    "normalised_cut",
    "null_gamma",
    "numbered",
    "paper_gamma",
    "recycled_labels",
    "select_gamma",
    "select_k_and_recycling",
    "spectral_groups",
    "spectrum",
]
