"""The method at work: fingerprints of a store to groups."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from samecam import compute
from samecam.arrays import Floats, Labels, Mask
from samecam.case.folder import ClusteringSettings
from samecam.case.grouping._executor import executor_for, fit_parameters
from samecam.errors import as_samecam_error
from samecam.photos import Exposure
from samecam.store import FingerprintStore, Record, Subset


def grouping_memory(clustering: ClusteringSettings, resources: compute.Resources) -> int:
    """Bytes that grouping may take: as asked, or of the machine, or of the GPU.

    Only the default method keeps all it makes on a GPU; the correlations of others come back.
    """
    if resources.memory is not None:
        return resources.memory
    there = compute.default_memory(resources.device)
    if clustering.name == "consolidated":
        return there
    return min(there, compute.default_memory("cpu"))


def group_photos(
    store: FingerprintStore,
    photos: Sequence[Record],
    clustering: ClusteringSettings,
    resources: compute.Resources,
    progress: compute.Progress,
    *,
    start: Labels | None = None,
    correlations: Floats | None = None,
) -> tuple[Labels, dict[str, Any]]:
    """Group of every photo, and what the method has to say.

    Methods whose `fit` takes `weak` get all fingerprints and a mask of those that may found
    no group; others get the good ones alone.

    Parameters
    ----------
    store : fingerprints of `photos`, in that order
    resources : resolved; a method takes of them what it can use
    start : groups to begin with, for methods that can
    correlations : (n, n) of the photos, if they are known; methods that want fingerprints
        read these all the same
    """
    if list(store.keys) != [photo.key for photo in photos]:
        raise RuntimeError("the store does not hold the fingerprints of the used photos")
    memory = grouping_memory(clustering, resources)
    weak = np.array([photo.meta["status"] != "good" for photo in photos], dtype=bool)
    chosen = ~_dark(photos) if clustering.leaves_out_dark else np.ones(len(photos), dtype=bool)
    labels = np.full(len(photos), -1, dtype=np.intp)
    if not (chosen & ~weak).any():
        return labels, {}
    method = clustering.estimator(metric="correlation", memory=memory, device=resources.device)
    takes = fit_parameters(method)
    if "weak" not in takes:
        chosen &= ~weak
    rows = np.flatnonzero(chosen)
    known: dict[str, Any] = {"weak": weak[rows], "progress": progress}
    given = {name: value for name, value in known.items() if name in takes}
    if start is not None:
        given["start"] = start
    source = store if len(rows) == len(store) else Subset(store, rows)
    gram = None if clustering.reads_fingerprints else correlations
    if gram is not None and len(rows) < len(store):
        gram = gram[np.ix_(rows, rows)]
    if gram is None and not (takes or clustering.reads_fingerprints):
        there = resources.device if "device" in method.get_params() else "cpu"
        gram = _correlate(source, memory, progress, there)
    if gram is not None:
        given_gram = {"metric": "precomputed", "n_pixels": source.n_pixels}
        method.set_params(**{k: v for k, v in given_gram.items() if k in method.get_params()})
    _fit(method, source, given, resources, progress, gram)
    labels[rows] = method.labels_
    return labels, {**_details(method), "memory_bytes": getattr(method, "memory_", memory)}


def _dark(photos: Sequence[Record]) -> Mask:
    shares = [Exposure(photo.meta.get("dark") or 0.0, 0.0) for photo in photos]
    return np.array([share.is_dark for share in shares], dtype=bool)


def _correlate(
    source: FingerprintStore, memory: int, progress: compute.Progress, device: str
) -> Floats:
    from samecam import correlate

    progress("Correlating", 0, len(source))
    told = partial(progress, "Correlating")
    return correlate.gram(source, memory=memory, device=device, progress=told)


def _fit(
    method: Any,
    source: FingerprintStore,
    given: Mapping[str, Any],
    resources: compute.Resources,
    progress: compute.Progress,
    gram: Floats | None,
) -> None:
    """Run the method on the store, or on the correlations where they are given."""
    try:
        with (
            compute.device_errors(resources.device),
            executor_for(method, source, resources, gram is not None) as executor,
        ):
            more = {} if executor is None else {"executor": executor}
            if gram is None:
                method.fit(source, **given, **more)
                return
            progress("Grouping", 0, len(source))
            method.fit(gram, **given, **more)
            progress("Grouping", len(source), len(source))
    except ValueError as error:
        raise as_samecam_error(error) from None


def _details(method: Any) -> dict[str, Any]:
    """What the method chose and reports, for `case.json`."""
    ours = ("memory", "metric", "device")
    params = {k: v for k, v in method.get_params().items() if k not in ours}
    report = getattr(method, "report_", None)
    return {
        "parameters": params,
        "gamma": getattr(method, "gamma_", None),
        "null_scale": getattr(method, "null_scale_", None),
        "solver": None if report is None else report.as_dict(),
        "device": compute.describe_device(getattr(method, "device", "cpu")),
    }
