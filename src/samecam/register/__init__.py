"""Registration: which groups of photos see one sensor in several ways, and how."""

from samecam.register._cameras import Cameras
from samecam.register._view import View

__all__ = ["Cameras", "View"]
