"""The main job: photos to fingerprints to groups, in one case folder."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam import compute
from samecam.case._means import Means
from samecam.case.extraction._estimate import Estimate
from samecam.case.extraction._extract import Extraction, extract_photos
from samecam.case.extraction._prepare import Photos, Progress, arguments, source
from samecam.case.extraction._vectors import VectorSettings, ingest, open_vectors
from samecam.case.folder._case import Case
from samecam.case.folder._settings import ExtractionSettings
from samecam.case.grouping._answer import Answer
from samecam.case.grouping._evidence import weigh
from samecam.case.grouping._groups import Group
from samecam.case.grouping._method import ClusteringSettings, default_memory, group_photos

_STATUSES = ("good", "weak")


@dataclass(frozen=True, slots=True, repr=False)
class Clustering:
    """The groups of a case.

    Attributes
    ----------
    case : the case folder
    paths : of the used photos, sorted
    labels : their groups, from 0, largest first; −1 is unclustered
    groups : one object per group, in the order of their numbers, as in `clusters.json`
    extraction : what extraction did
    details : what the method chose and reports (γ, scale of chance, certificate)
    seconds : time of clustering, 0 if the answer stood in the case already
    """

    case: Path
    paths: list[str]
    labels: npt.NDArray[np.intp]
    extraction: Extraction
    groups: list[Group] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def sizes(self) -> list[int]:
        """Photos in each group, largest first."""
        return [group.size for group in self.groups]

    @property
    def unclustered(self) -> list[str]:
        """Paths of the used photos that are in no group."""
        return [p for p, label in zip(self.paths, self.labels, strict=True) if label < 0]

    @property
    def n_unclustered(self) -> int:
        """Used photos that are in no group."""
        return int(np.count_nonzero(self.labels < 0))

    def __repr__(self) -> str:
        sizes = self.sizes
        few = f" of {sizes[0]} to {sizes[-1]} photos" if sizes else ""
        return (
            f"<Clustering of {len(self.paths)} photos: {len(sizes)} groups{few}, "
            f"{self.n_unclustered} photos in none; case {str(self.case)!r}>"
        )


def cluster_photos(
    photos: Photos,
    case: str | os.PathLike[str],
    settings: ExtractionSettings | None = None,
    clustering: ClusteringSettings | None = None,
    *,
    memory: int | None = None,
    workers: int | None = None,
    timeout: float = 60.0,
    device: str = "cpu",
    scheduler: str | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    planned: Callable[[Estimate], None] | None = None,
) -> Clustering:
    """Group photos by the camera that took them.

    Extracts fingerprints (see `extract_photos`), groups them, and writes `clusters.csv` and
    `clusters.json`. `weak` photos found no group but may join one at the end, if the method
    can let them. An answer that stands in the case for the same fingerprints and settings
    is given again.

    Parameters
    ----------
    photos, case, settings, workers, timeout, device, scheduler, progress, stop, planned
        As for `extract_photos`; `stop` ends extraction, clustering is not begun then.
    clustering : how photos are grouped
    memory : bytes that clustering may take, on the GPU if that computes; default half of what
        is available (nine tenths of a GPU)
    """
    settings, clustering = settings or ExtractionSettings(), clustering or ClusteringSettings()
    clustering.estimator()
    means = Means.chosen(workers, timeout, device, scheduler)
    extraction = extract_photos(
        photos,
        case,
        settings,
        workers=workers,
        timeout=timeout,
        device=means.device,
        scheduler=scheduler,
        progress=progress,
        stop=stop,
        planned=_checked(clustering, planned),
    )
    if extraction.size is None:
        return Clustering(extraction.case, [], np.zeros(0, dtype=np.intp), extraction)
    settings = replace(settings, size=extraction.size)
    sources = [source(p) for p in arguments(photos)]
    with _no_longer_in_order(stop), Case(case, settings, sources) as folder:
        return _cluster(folder, clustering, memory, means, progress, extraction)


def cluster_fingerprints(
    file: str | os.PathLike[str],
    case: str | os.PathLike[str],
    clustering: ClusteringSettings | None = None,
    *,
    names: str | os.PathLike[str] | None = None,
    memory: int | None = None,
    workers: int | None = None,
    device: str = "cpu",
    scheduler: str | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Clustering:
    """Group fingerprints that somebody brings.

    Rows are centred, brought to unit norm and kept in the case, which then is like one made
    from photos. Rows with NaN or infinite numbers and constant ones are `unusable`, rows
    with the same bytes `duplicate`.

    Parameters
    ----------
    file : `.npy` with an (n, d) array of floating point numbers, one row per photo
    case : folder for the result
    names : text file with one name a line, in the order of the rows; default
        "row 000000", "row 000001", …
    clustering, memory, workers, device, scheduler, progress, stop
        As for `cluster_photos`.
    """
    clustering = clustering or ClusteringSettings()
    clustering.estimator()
    means = Means.chosen(workers, device=device, scheduler=scheduler)
    vectors = open_vectors(file, names)
    settings = VectorSettings.of(vectors)
    clustering.check_length(settings.n_pixels)
    with Case(case, settings, vectors.sources) as folder:
        extraction = ingest(
            folder, vectors, progress or (lambda *_: None), stop or threading.Event()
        )
    with _no_longer_in_order(stop), Case(case, settings, vectors.sources) as folder:
        return _cluster(folder, clustering, memory, means, progress, extraction)


def _checked(
    clustering: ClusteringSettings, planned: Callable[[Estimate], None] | None
) -> Callable[[Estimate], None] | None:
    """Once the size is known and before anything is written: whether the parameters hold for it."""
    if clustering.tuned is None:
        return planned

    def check(plan: Estimate) -> None:
        clustering.check_length(plan.size**2)
        if planned is not None:
            planned(plan)

    return check


@contextmanager
def _no_longer_in_order(stop: threading.Event | None) -> Iterator[None]:
    """Let the next signal end it at once: nothing is left to be finished in order."""
    if stop is None or stop.is_set():
        yield
        return
    stop.set()
    try:
        yield
    finally:
        stop.clear()


def _cluster(
    case: Case,
    clustering: ClusteringSettings,
    memory: int | None,
    means: Means,
    progress: Progress | None,
    extraction: Extraction,
) -> Clustering:
    used = [r for r in case.store.records() if r.meta["status"] in _STATUSES and r.has_row]
    paths = [record.key for record in used]
    if extraction.interrupted:
        return Clustering(case.folder, paths, np.full(len(used), -1), extraction)
    budget = memory or default_memory(clustering, means.device)
    progress = progress or (lambda *_: None)
    answer = Answer(case, clustering.as_dict(), used)
    labels, details, began = answer.labels(), answer.details, time.monotonic()
    groups = None if labels is None else answer.groups()
    if labels is not None and groups is not None:
        answer.keep()
        return Clustering(case.folder, paths, labels, extraction, groups, details)
    if labels is None:
        labels, details = group_photos(
            case.store,
            used,
            clustering,
            memory=budget,
            workers=means.workers,
            progress=progress,
            device=means.device,
            scheduler=means.scheduler,
        )
    scale = details.get("null_scale")
    room = min(budget, compute.default_memory("cpu"))
    weighed = weigh(case.store, used, labels, scale, room, progress, folder=case.folder)
    seconds = time.monotonic() - began
    groups = answer.write(labels, weighed, details, seconds)
    return Clustering(case.folder, paths, labels, extraction, groups, details, seconds)
