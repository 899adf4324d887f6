"""The run itself, resumable, and the case folder on disk."""

from samecam.case._add import Addition, Move, add_photos
from samecam.case._cluster import Clustering, cluster_fingerprints, cluster_photos
from samecam.case._compare import ComparedMethod, Comparison, compare_methods
from samecam.case._estimate import Estimate
from samecam.case._evidence import Scenes
from samecam.case._extract import Extraction, extract_photos, stop_on_signals
from samecam.case._folder import COLUMNS, STATUSES, Case, lock_folder, open_store, read_case
from samecam.case._groups import Camera, Group
from samecam.case._log import AuditLog, check_log
from samecam.case._match import Candidate, Match, Matches, match_photos
from samecam.case._method import ClusteringSettings
from samecam.case._prepare import plan_extraction
from samecam.case._reference import Outlier, ReferenceMatches, match_reference
from samecam.case._settings import ExtractionSettings
from samecam.case._size import SIZES, SizeChoice, choose_size
from samecam.case._tune import Tuning, tune_case
from samecam.case._tuned import Tuned, read_tuned
from samecam.case._verify import InputCheck, Relabelled, Verification, verify_case

__all__ = [
    "COLUMNS",
    "SIZES",
    "STATUSES",
    "Addition",
    "AuditLog",
    "Camera",
    "Candidate",
    "Case",
    "Clustering",
    "ClusteringSettings",
    "ComparedMethod",
    "Comparison",
    "Estimate",
    "Extraction",
    "ExtractionSettings",
    "Group",
    "InputCheck",
    "Match",
    "Matches",
    "Move",
    "Outlier",
    "ReferenceMatches",
    "Relabelled",
    "Scenes",
    "SizeChoice",
    "Tuned",
    "Tuning",
    "Verification",
    "add_photos",
    "check_log",
    "choose_size",
    "cluster_fingerprints",
    "cluster_photos",
    "compare_methods",
    "extract_photos",
    "lock_folder",
    "match_photos",
    "match_reference",
    "open_store",
    "plan_extraction",
    "read_case",
    "read_tuned",
    "stop_on_signals",
    "tune_case",
    "verify_case",
]
