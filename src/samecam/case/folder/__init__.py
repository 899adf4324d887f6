"""What lies on disk: settings, log, tables, and the one reader of a finished case."""

from samecam.case.folder._answer import CasePhoto
from samecam.case.folder._case import Case, check_usable, lock_folder
from samecam.case.folder._clustering import SEARCHES, ClusteringSettings, SearchChoice
from samecam.case.folder._groups import (
    Camera,
    ExifCamera,
    Group,
    PlacedPhoto,
    Scenes,
    all_groups,
    clusters_json,
    read_cameras,
)
from samecam.case.folder._info import (
    check_same,
    clustering_settings,
    extraction_settings,
    has_views,
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
from samecam.case.folder._places import Place, cameras_of, labels_of, read_places
from samecam.case.folder._reader import SavedCase, open_case, open_store
from samecam.case.folder._records import colours
from samecam.case.folder._report import report_is_current, report_marks, seal_report
from samecam.case.folder._settings import ExtractionSettings, StoreSettings
from samecam.case.folder._sources import Sources, find_sources
from samecam.case.folder._tables import (
    by_frame,
    csv_rows,
    csv_text,
    frame_name,
    images_csv,
    used_photos,
)
from samecam.case.folder._tuned import TUNE_FORMAT, TUNE_VERSION, Tuned, read_tuned
from samecam.case.folder._views import VIEW_COLUMNS, view_cells

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
    "SEARCHES",
    "START",
    "STATUSES",
    "STORE",
    "TUNE_FORMAT",
    "TUNE_VERSION",
    "USED",
    "VIEW_COLUMNS",
    "AuditLog",
    "Camera",
    "Case",
    "CasePhoto",
    "ClusteringSettings",
    "ExifCamera",
    "ExtractionSettings",
    "Group",
    "LogCheck",
    "Place",
    "PlacedPhoto",
    "SavedCase",
    "Scenes",
    "SearchChoice",
    "Sources",
    "StoreSettings",
    "Tuned",
    "all_groups",
    "by_frame",
    "cameras_of",
    "check_log",
    "check_same",
    "check_usable",
    "clustering_settings",
    "clusters_json",
    "colours",
    "csv_rows",
    "csv_text",
    "extraction_settings",
    "find_sources",
    "frame_name",
    "has_views",
    "images_csv",
    "is_of_photos",
    "labels_of",
    "lock_folder",
    "open_case",
    "open_store",
    "read_cameras",
    "read_info",
    "read_log",
    "read_places",
    "read_tuned",
    "report_is_current",
    "report_marks",
    "seal_report",
    "used_photos",
    "view_cells",
    "written_hashes",
]
