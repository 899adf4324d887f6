"""samecam: which of these photographs were taken by the same camera?

`samecam.cluster_photos(photos, case)` does the main job. Every command has a call of its own here:
`extract_photos`, `plan_extraction`, `cluster_photos`, `cluster_fingerprints`, `add_photos`,
`match` (`match_photos`, `match_reference`, `match_pairs`, `write_matches`), `verify_case`,
`Deciding`, `decide_from`, `read_decided`, `write_report`, `export_case`, `compare_methods`,
`evaluate`, `tune_case`, `validate_photos`, `write_validation`, `benchmark`, `write_benchmark`,
`simulate_photos`, `doctor`.
`open_case` reads a finished case, and `samecam.plots` draws it.

The rooms, in the order in which data runs through them: `samecam.photos`, `samecam.fingerprint`,
`samecam.store`, `samecam.correlate`, `samecam.represent`, `samecam.cluster`, `samecam.register`,
`samecam.evidence`, `samecam.case`, `samecam.report`, `samecam.review`, `samecam.plots`; and
`samecam.compute`, `samecam.simulate`, `samecam.datasets`, `samecam.metrics`,
`samecam.experiments` and `samecam.frames` beside them. Each is loaded when it is first asked for.

Examples
--------
>>> import samecam
>>> if __name__ == "__main__":  # the work is done in other processes
...     result = samecam.cluster_photos(["photos/"], "CASE")
...     result.to_frame()  # one row a file, for pandas
...     result.plot("correlations")
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
        plots,
        register,
        report,
        represent,
        review,
        simulate,
        store,
    )
    from samecam.case import (
        ClusteringSettings,
        Deciding,
        ExtractionSettings,
        add_photos,
        cluster_fingerprints,
        cluster_photos,
        compare_methods,
        decide_from,
        doctor,
        evaluate,
        extract_photos,
        match,
        match_pairs,
        match_photos,
        match_reference,
        open_case,
        plan_extraction,
        read_decided,
        tune_case,
        validate_photos,
        verify_case,
    )
    from samecam.compute import Resources
    from samecam.errors import SamecamError
    from samecam.experiments import benchmark
    from samecam.fingerprint import FingerprintModule as _FingerprintModule
    from samecam.report import (
        export_case,
        write_benchmark,
        write_matches,
        write_report,
        write_validation,
    )
    from samecam.simulate import simulate_photos

    fingerprint: _FingerprintModule  # the room, which can be called

__all__ = [
    "ClusteringSettings",
    "Deciding",
    "ExtractionSettings",
    "Resources",
    "SamecamError",
    "__version__",
    "add_photos",
    "benchmark",
    "case",
    "cluster",
    "cluster_fingerprints",
    "cluster_photos",
    "compare_methods",
    "compute",
    "correlate",
    "datasets",
    "decide_from",
    "doctor",
    "errors",
    "evaluate",
    "evidence",
    "experiments",
    "export_case",
    "extract_photos",
    "fingerprint",
    "frames",
    "match",
    "match_pairs",
    "match_photos",
    "match_reference",
    "metrics",
    "open_case",
    "photos",
    "plan_extraction",
    "plots",
    "read_decided",
    "register",
    "report",
    "represent",
    "review",
    "simulate",
    "simulate_photos",
    "store",
    "tune_case",
    "validate_photos",
    "verify_case",
    "write_benchmark",
    "write_matches",
    "write_report",
    "write_validation",
]

# Names that are not those of rooms, and the room each is from.
_HOMES = {
    "Resources": "compute",
    "SamecamError": "errors",
    "benchmark": "experiments",
    "simulate_photos": "simulate",
    **dict.fromkeys(
        ("export_case", "write_benchmark", "write_matches", "write_report", "write_validation"),
        "report",
    ),
    **dict.fromkeys(
        (
            "ClusteringSettings",
            "Deciding",
            "ExtractionSettings",
            "add_photos",
            "cluster_fingerprints",
            "cluster_photos",
            "compare_methods",
            "decide_from",
            "doctor",
            "evaluate",
            "extract_photos",
            "match",
            "match_pairs",
            "match_photos",
            "match_reference",
            "open_case",
            "plan_extraction",
            "read_decided",
            "tune_case",
            "validate_photos",
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
