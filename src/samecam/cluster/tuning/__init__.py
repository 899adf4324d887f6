"""Choosing the hyperparameters of the paper's methods on photos whose cameras are known."""

from samecam.cluster.tuning._gamma import GammaSelection, select_gamma
from samecam.cluster.tuning._pairs import GroupPairs, draw_pairs
from samecam.cluster.tuning._recycling import (
    RecyclingSelection,
    choose_k_and_recycling,
    recycled_labels,
    select_k_and_recycling,
)
from samecam.cluster.tuning._regressor import (
    PUBLISHED_REGRESSOR,
    MergeRegressor,
    RegressorFit,
    fit_merge_regressor,
    fit_pairs,
)

__all__ = [
    "PUBLISHED_REGRESSOR",
    "GammaSelection",
    "GroupPairs",
    "MergeRegressor",
    "RecyclingSelection",
    "RegressorFit",
    "choose_k_and_recycling",
    "draw_pairs",
    "fit_merge_regressor",
    "fit_pairs",
    "recycled_labels",
    "select_gamma",
    "select_k_and_recycling",
]
