"""The run itself, resumable, and the case folder on disk."""

from samecam.case._cluster import Clustering, ClusteringSettings, cluster_photos
from samecam.case._estimate import Estimate
from samecam.case._extract import Extraction, extract_photos, plan_extraction, stop_on_signals
from samecam.case._folder import COLUMNS, STATUSES, Case, open_store, read_case
from samecam.case._log import AuditLog, check_log
from samecam.case._settings import ExtractionSettings
from samecam.case._versions import versions

__all__ = [
    "COLUMNS",
    "STATUSES",
    "AuditLog",
    "Case",
    "Clustering",
    "ClusteringSettings",
    "Estimate",
    "Extraction",
    "ExtractionSettings",
    "check_log",
    "cluster_photos",
    "extract_photos",
    "open_store",
    "plan_extraction",
    "read_case",
    "stop_on_signals",
    "versions",
]
