"""Fingerprints to groups, with their evidence."""

from samecam.case.grouping._add import Addition, Move, add_photos, former_groups
from samecam.case.grouping._budget import check_budget, frame_counts
from samecam.case.grouping._cameras import camera_places
from samecam.case.grouping._cluster import (
    Clustering,
    cluster_fingerprints,
    cluster_photos,
    find_groups,
)
from samecam.case.grouping._honoured import Machine, honoured
from samecam.case.grouping._method import group_photos, grouping_memory
from samecam.case.grouping._settled import Settled

__all__ = [
    "Addition",
    "Clustering",
    "Machine",
    "Move",
    "Settled",
    "add_photos",
    "camera_places",
    "check_budget",
    "cluster_fingerprints",
    "cluster_photos",
    "find_groups",
    "former_groups",
    "frame_counts",
    "group_photos",
    "grouping_memory",
    "honoured",
]
