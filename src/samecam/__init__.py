"""samecam: which of these photographs were taken by the same camera?

`samecam.cluster_photos(photos, case)` does the main job. The rooms, in the order in
which data runs through them: `samecam.photos`, `samecam.fingerprint`, `samecam.store`,
`samecam.correlate`, `samecam.represent`, `samecam.cluster`, `samecam.case`; and
`samecam.simulate` and `samecam.metrics` beside them.
"""

from typing import TYPE_CHECKING, Any

from samecam._version import __version__

if TYPE_CHECKING:
    from samecam.case import (
        ClusteringSettings,
        ExtractionSettings,
        cluster_fingerprints,
        cluster_photos,
        extract_photos,
    )

__all__ = [
    "ClusteringSettings",
    "ExtractionSettings",
    "__version__",
    "cluster_fingerprints",
    "cluster_photos",
    "extract_photos",
]


def __getattr__(name: str) -> Any:
    """Load what does the work when it is first asked for."""
    if name in __all__:
        from samecam import case

        return getattr(case, name)
    raise AttributeError(f"module 'samecam' has no attribute {name!r}")
