"""The main job: photos to fingerprints to groups, in one case folder."""

import csv
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam import compute
from samecam.case._extract import (
    Extraction,
    Photos,
    Progress,
    arguments,
    extract_photos,
    source,
)
from samecam.case._folder import Case, csv_text
from samecam.case._settings import ExtractionSettings
from samecam.case._versions import versions
from samecam.errors import SamecamError
from samecam.store import write_atomically

COLUMNS = ("path", "sha256", "cluster", "correlation", "margin", "p_value")
_STATUSES = ("good", "weak")
# Parameters of the methods that the case itself sees to.
_OURS = ("metric", "memory", "n_pixels", "random_state")


@dataclass(frozen=True, slots=True)
class ClusteringSettings:
    """Parameters of clustering; with others the fingerprints of a case are used again.

    Attributes
    ----------
    method : name of the method, see `samecam.cluster.METHODS`; "auto" is "consolidated"
    options : parameters of the method by name (`gamma`, `n_clusters`, `join_rate`, …), see
        its class; what is not given has the method's default
    seed : of everything random
    """

    method: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def estimator(self, **more: Any) -> Any:
        """The estimator these settings mean, or a sentence which of them it does not know."""
        from samecam.cluster import METHODS

        name = "consolidated" if self.method == "auto" else self.method
        if name not in METHODS:
            raise SamecamError(f"{name!r} is no method: choose auto, {', '.join(METHODS)}.")
        method: Callable[..., Any] = METHODS[name]
        known = method().get_params()
        for option in self.options:
            if option not in known or option in _OURS:
                raise SamecamError(f"The method {name!r} has no option {option}: leave it out.")
        seed = {"random_state": self.seed} if "random_state" in known else {}
        made = method(**self.options, **seed, **more)
        try:
            made.check_parameters()
        except ValueError as error:
            raise SamecamError(f"{error}.") from None
        return made


@dataclass(frozen=True, slots=True)
class Clustering:
    """The groups of a case.

    Attributes
    ----------
    case : the case folder
    paths : of the used photos, sorted
    labels : their groups, from 0, largest first; −1 is unclustered
    extraction : what extraction did
    details : what the method chose and reports (γ, scale of chance, certificate)
    seconds : time of clustering, 0 if the answer stood in the case already
    """

    case: Path
    paths: list[str]
    labels: npt.NDArray[np.intp]
    extraction: Extraction
    details: dict[str, Any]
    seconds: float

    @property
    def sizes(self) -> list[int]:
        """Photos in each group, largest first."""
        return [int(n) for n in np.bincount(self.labels[self.labels >= 0])]

    @property
    def n_unclustered(self) -> int:
        """Used photos that are in no group."""
        return int(np.count_nonzero(self.labels < 0))


def cluster_photos(
    photos: Photos,
    case: str | os.PathLike[str],
    settings: ExtractionSettings | None = None,
    clustering: ClusteringSettings | None = None,
    *,
    memory: int | None = None,
    workers: int | None = None,
    timeout: float = 60.0,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Clustering:
    """Group photos by the camera that took them.

    Extracts fingerprints (see `extract_photos`), groups the `good` ones, and writes
    `clusters.csv`. `weak` photos are listed with −1. An answer that stands in the case
    for the same fingerprints and settings is given again.

    Parameters
    ----------
    photos, case, settings, workers, timeout, progress, stop
        As for `extract_photos`; `stop` ends extraction, clustering is not begun then.
    clustering : how photos are grouped
    memory : bytes the correlations may take; default half of what is available
    """
    settings, clustering = settings or ExtractionSettings(), clustering or ClusteringSettings()
    clustering.estimator()
    memory = memory or compute.machine().available // 2
    extraction = extract_photos(
        photos, case, settings, workers=workers, timeout=timeout, progress=progress, stop=stop
    )
    sources = [source(p) for p in arguments(photos)]
    if stop is not None and not stop.is_set():
        stop.set()  # nothing is left to be finished in order: the next signal ends it
        try:
            with Case(case, settings, sources) as folder:
                return _cluster(folder, clustering, memory, extraction)
        finally:
            stop.clear()
    with Case(case, settings, sources) as folder:
        return _cluster(folder, clustering, memory, extraction)


def _cluster(
    case: Case, clustering: ClusteringSettings, memory: int, extraction: Extraction
) -> Clustering:
    used = [r for r in case.store.records() if r.meta["status"] in _STATUSES and r.has_row]
    paths = [record.key for record in used]
    hashes = [record.sha256 for record in used]
    good = np.array([record.meta["status"] == "good" for record in used], dtype=bool)
    if extraction.interrupted:
        return Clustering(case.folder, paths, np.full(len(used), -1), extraction, {}, 0.0)
    wanted = {**asdict(clustering), "options": dict(clustering.options)}
    mark = hashlib.sha256(json.dumps([wanted, paths, hashes]).encode()).hexdigest()
    known = case.info.get("clustering", {})
    answer = case.folder / "clusters.csv"
    before = _read_labels(answer) if known.get("sha256") == _sha256(answer) else {}
    if known.get("mark") == mark and list(before) == paths:
        labels = np.fromiter(before.values(), dtype=np.intp)
        return Clustering(case.folder, paths, labels, extraction, known["details"], 0.0)
    labels = np.full(len(used), -1, dtype=np.intp)
    began = time.monotonic()
    details: dict[str, Any] = {}
    if good.any():
        labels[good], details = _fit(case, clustering, np.flatnonzero(good), memory)
    seconds = time.monotonic() - began
    rows = zip(paths, hashes, labels.tolist(), strict=True)
    write_atomically(answer, csv_text(COLUMNS, ((*row, None, None, None) for row in rows)))
    result = Clustering(case.folder, paths, labels, extraction, details, seconds)
    _record(case, wanted, mark, result)
    return result


def _sha256(path: Path) -> str:
    """Hash of a file, or nothing if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _read_labels(path: Path) -> dict[str, int]:
    """Groups by path as they stand in `clusters.csv`; nothing if they cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
            return {row["path"]: int(row["cluster"]) for row in csv.DictReader(stream)}
    except (OSError, ValueError, TypeError, KeyError, csv.Error):
        return {}


def _fit(
    case: Case, clustering: ClusteringSettings, rows: npt.NDArray[np.intp], memory: int
) -> tuple[npt.NDArray[np.intp], dict[str, Any]]:
    """Labels of some rows of the store, and what the method has to say."""
    from samecam import correlate

    method = clustering.estimator(metric="precomputed", n_pixels=case.store.n_pixels)
    gram = correlate.gram(case.store, rows=rows, memory=memory)
    try:
        method.fit(gram)
    except ValueError as error:
        raise SamecamError(f"{error}.") from None
    details = {
        "parameters": {k: v for k, v in method.get_params().items() if k != "memory"},
        "gamma": method.gamma_,
        "null_scale": method.null_scale_,
        "solver": method.report_.as_dict(),
    }
    return method.labels_, details


def _record(case: Case, wanted: dict[str, Any], mark: str, result: Clustering) -> None:
    timings = {**case.info.get("timings", {}), "cluster": {"seconds": round(result.seconds, 3)}}
    groups = {"groups": len(result.sizes), "unclustered": result.n_unclustered}
    case.save(
        state="clustered",
        seed=wanted["seed"],
        clustering={
            **wanted,
            **groups,
            "details": result.details,
            "mark": mark,
            "sha256": _sha256(case.folder / "clusters.csv"),
        },
        versions=versions(),
        timings=timings,
    )
    case.log.add("clustered", settings=wanted, **groups)
