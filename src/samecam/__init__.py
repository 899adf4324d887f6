"""samecam: which of these photographs were taken by the same camera?

`samecam.cluster_photos(photos, case)` does the main job. The rooms, in the order in
which data runs through them: `samecam.photos`, `samecam.fingerprint`, `samecam.store`,
`samecam.correlate`, `samecam.represent`, `samecam.cluster`, `samecam.register`,
`samecam.evidence`, `samecam.case`, `samecam.report`, `samecam.review`; and `samecam.compute`,
`samecam.simulate`, `samecam.datasets`, `samecam.metrics`, `samecam.experiments` and
`samecam.frames` beside them.
Each is loaded when it is first asked for.
"""

import importlib as _importlib
import typing as _typing

from samecam._version import __version__

if _typing.TYPE_CHECKING:
    from samecam import (
        case,
        cluster,
        compute,
        correlate,
        datasets,
        errors,
        evidence,
        experiments,
        frames,
        metrics,
        photos,
        register,
        report,
        represent,
        review,
        simulate,
        store,
    )
    from samecam.case import (
        ClusteringSettings,
        ExtractionSettings,
        add_photos,
        cluster_fingerprints,
        cluster_photos,
        extract_photos,
        match_photos,
        match_reference,
        open_case,
        verify_case,
    )
    from samecam.compute import Resources
    from samecam.errors import SamecamError
    from samecam.fingerprint import FingerprintModule as _FingerprintModule

    fingerprint: _FingerprintModule  # the room, which can be called

__all__ = [
    "ClusteringSettings",
    "ExtractionSettings",
    "Resources",
    "SamecamError",
    "__version__",
    "add_photos",
    "case",
    "cluster",
    "cluster_fingerprints",
    "cluster_photos",
    "compute",
    "correlate",
    "datasets",
    "errors",
    "evidence",
    "experiments",
    "extract_photos",
    "fingerprint",
    "frames",
    "match_photos",
    "match_reference",
    "metrics",
    "open_case",
    "photos",
    "register",
    "report",
    "represent",
    "review",
    "simulate",
    "store",
    "verify_case",
]

# Names that are not those of rooms, and the room each is from.
_HOMES = {
    "Resources": "compute",
    "SamecamError": "errors",
    **dict.fromkeys(
        (
            "ClusteringSettings",
            "ExtractionSettings",
            "add_photos",
            "cluster_fingerprints",
            "cluster_photos",
            "extract_photos",
            "match_photos",
            "match_reference",
            "open_case",
            "verify_case",
        ),
        "case",
    ),
}


if not _typing.TYPE_CHECKING:  # so that a type checker knows which names there are

    def __getattr__(name):
        """Load a room, or what does the work, when it is first asked for."""
        if name not in __all__:
            raise AttributeError(f"module 'samecam' has no attribute {name!r}")
        room = _importlib.import_module(f"samecam.{_HOMES.get(name, name)}")
        return getattr(room, name) if name in _HOMES else room


def __dir__() -> list[str]:
    """Public names alone."""
    return sorted(__all__)
