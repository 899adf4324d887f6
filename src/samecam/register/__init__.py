"""Registration: which groups of photos see one sensor in several ways, and how."""

from samecam.register._cameras import Cameras
from samecam.register._find import find_cameras, search_seconds
from samecam.register._photos import KnownCameras, Photo, Placed
from samecam.register._pieces import SMALLEST, GroupedRows
from samecam.register._register import register
from samecam.register._searches import Search
from samecam.register._view import View
from samecam.register._words import view_words

__all__ = [
    "SMALLEST",
    "Cameras",
    "GroupedRows",
    "KnownCameras",
    "Photo",
    "Placed",
    "Search",
    "View",
    "find_cameras",
    "register",
    "search_seconds",
    "view_words",
]
