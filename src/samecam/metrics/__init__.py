"""How good is a grouping, given the true cameras: pair counts, and what follows from them."""

from samecam.metrics._scores import Scores, scores
from samecam.metrics._tables import CameraRow, ClusterRow, per_camera, per_cluster
from samecam.metrics._truth import match_paths, read_clusters, read_columns, read_truth

__all__ = [
    "CameraRow",
    "ClusterRow",
    "Scores",
    "match_paths",
    "per_camera",
    "per_cluster",
    "read_clusters",
    "read_columns",
    "read_truth",
    "scores",
]
