"""samecam: which of these photographs were taken by the same camera?"""

from samecam._version import __version__

__all__ = ["__version__"]
