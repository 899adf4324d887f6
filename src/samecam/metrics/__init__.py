"""How good a grouping is, or likelihood ratios are, given the true cameras."""

from samecam.metrics._ratios import (
    Counted,
    cllr,
    cllr_min,
    counted,
    elub,
    equal_error_rate,
    pav,
    tippett,
)
from samecam.metrics._scores import Scores, scores
from samecam.metrics._tables import CameraRow, ClusterRow, per_camera, per_cluster
from samecam.metrics._truth import match_paths, read_clusters, read_columns, read_models, read_truth

__all__ = [
    "CameraRow",
    "ClusterRow",
    "Counted",
    "Scores",
    "cllr",
    "cllr_min",
    "counted",
    "elub",
    "equal_error_rate",
    "match_paths",
    "pav",
    "per_camera",
    "per_cluster",
    "read_clusters",
    "read_columns",
    "read_models",
    "read_truth",
    "scores",
    "tippett",
]
