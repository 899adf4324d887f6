"""What lies on disk: settings, log, tables, and the one reader of a finished case."""

from samecam.case.folder._answer import CasePhoto
from samecam.case.folder._case import Case, check_usable, lock_folder
from samecam.case.folder._clustering import ClusteringSettings
from samecam.case.folder._groups import Camera, Group, Scenes, clusters_json, read_groups
from samecam.case.folder._info import (
    check_same,
    clustering_settings,
    extraction_settings,
    is_of_photos,
    read_info,
    written_hashes,
)
from samecam.case.folder._log import AuditLog, LogCheck, check_log, read_log
from samecam.case.folder._names import (
    ANSWER,
    CASE,
    CHANGED,
    CLUSTERS,
    COLUMNS,
    EVIDENCE,
    GROUPS,
    IMAGES,
    LOG,
    OWN,
    REPORT,
    START,
    STATUSES,
    STORE,
    USED,
)
from samecam.case.folder._reader import SavedCase, open_case, open_store
from samecam.case.folder._report import report_is_current, report_marks, seal_report
from samecam.case.folder._settings import ExtractionSettings, StoreSettings
from samecam.case.folder._sources import Sources, find_sources
from samecam.case.folder._tables import (
    Place,
    by_frame,
    csv_rows,
    csv_text,
    frame_name,
    images_csv,
    labels_of,
    read_places,
    used_photos,
)
from samecam.case.folder._tuned import TUNE_FORMAT, TUNE_VERSION, Tuned, read_tuned

__all__ = [
    "ANSWER",
    "CASE",
    "CHANGED",
    "CLUSTERS",
    "COLUMNS",
    "EVIDENCE",
    "GROUPS",
    "IMAGES",
    "LOG",
    "OWN",
    "REPORT",
    "START",
    "STATUSES",
    "STORE",
    "TUNE_FORMAT",
    "TUNE_VERSION",
    "USED",
    "AuditLog",
    "Camera",
    "Case",
    "CasePhoto",
    "ClusteringSettings",
    "ExtractionSettings",
    "Group",
    "LogCheck",
    "Place",
    "SavedCase",
    "Scenes",
    "Sources",
    "StoreSettings",
    "Tuned",
    "by_frame",
    "check_log",
    "check_same",
    "check_usable",
    "clustering_settings",
    "clusters_json",
    "csv_rows",
    "csv_text",
    "extraction_settings",
    "find_sources",
    "frame_name",
    "images_csv",
    "is_of_photos",
    "labels_of",
    "lock_folder",
    "open_case",
    "open_store",
    "read_groups",
    "read_info",
    "read_log",
    "read_places",
    "read_tuned",
    "report_is_current",
    "report_marks",
    "seal_report",
    "used_photos",
    "written_hashes",
]
