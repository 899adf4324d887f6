"""The run itself, resumable, and the case folder on disk."""

from samecam.case.extraction._estimate import Estimate
from samecam.case.extraction._extract import Extraction, extract_photos, stop_on_signals
from samecam.case.extraction._prepare import plan_extraction
from samecam.case.extraction._size import SIZES, SizeChoice, choose_size
from samecam.case.folder._case import COLUMNS, STATUSES, Case, lock_folder, open_store, read_case
from samecam.case.folder._log import AuditLog, check_log
from samecam.case.folder._settings import ExtractionSettings
from samecam.case.folder._tuned import Tuned, read_tuned
from samecam.case.grouping._add import Addition, Move, add_photos
from samecam.case.grouping._cluster import Clustering, cluster_fingerprints, cluster_photos
from samecam.case.grouping._evidence import Scenes
from samecam.case.grouping._groups import Camera, Group
from samecam.case.grouping._method import ClusteringSettings
from samecam.case.matching._match import Candidate, Match, Matches, match_photos
from samecam.case.matching._reference import Outlier, ReferenceMatches, match_reference
from samecam.case.studies._compare import ComparedMethod, Comparison, compare_methods
from samecam.case.studies._tune import Tuning, tune_case
from samecam.case.verifying._verify import InputCheck, Relabelled, Verification, verify_case

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
