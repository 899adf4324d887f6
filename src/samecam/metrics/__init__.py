"""How good is a grouping, given the true cameras: pair counts, and what follows from them."""

from samecam.metrics._scores import Scores, scores
from samecam.metrics._tables import CameraRow, ClusterRow, per_camera, per_cluster

__all__ = ["CameraRow", "ClusterRow", "Scores", "per_camera", "per_cluster", "scores"]
