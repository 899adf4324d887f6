"""samecam: which of these photographs were taken by the same camera?

The rooms, in the order in which data runs through them: `samecam.photos`,
`samecam.fingerprint`, `samecam.store`, `samecam.represent`, `samecam.case`; and
`samecam.simulate` and `samecam.metrics` beside them.
"""

from samecam._version import __version__

__all__ = ["__version__"]
