"""The main job: photos to fingerprints to groups, in one case folder."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from samecam import compute
from samecam.arrays import Labels
from samecam.case.decisions import read_decisions
from samecam.case.extraction import (
    Estimate,
    Extraction,
    ExtractionRun,
    Photos,
    VectorSettings,
    ingest,
    interrupted_before,
    nothing_left_to_finish,
    open_vectors,
    prepare,
)
from samecam.case.folder import (
    Camera,
    Case,
    ClusteringSettings,
    ExtractionSettings,
    Group,
    SearchChoice,
    all_groups,
    cameras_html,
    cameras_phrase,
    open_case,
    used_photos,
)
from samecam.case.grouping._answer import Answer, Grouped
from samecam.case.grouping._budget import check_budget, frame_counts, surely_used
from samecam.case.grouping._cameras import group_cameras
from samecam.case.grouping._estimate import with_grouping
from samecam.case.grouping._evidence import weigh
from samecam.case.grouping._honoured import Machine
from samecam.case.grouping._method import group_photos, grouping_memory
from samecam.case.grouping._settled import Settled, settle
from samecam.correlate import KeptGrams
from samecam.errors import ParameterError
from samecam.inputs import PathLike
from samecam.notebook import counted
from samecam.register import Cameras
from samecam.store import DiskStore, Record

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, repr=False)
class Clustering:
    """The cameras of a case, and their groups.

    Attributes
    ----------
    case : the case folder
    paths : of the used photos, sorted
    labels : their cameras, from 0, largest first; −1 is unclustered
    extraction : what extraction did
    cameras : one object per camera, in the order of their numbers, as in `clusters.json`
    photo_groups : groups of the photos, numbered likewise; −1: in none
    details : what the method chose and reports (γ, scale of chance, certificate)
    seconds : time of clustering, 0 if the answer stood in the case already
    settled : what became of decisions, and of the names of cameras
    changed_outside : files of the answer before that somebody had changed; they were made anew
    """

    case: Path
    paths: list[str]
    labels: Labels
    extraction: Extraction
    cameras: list[Camera] = field(default_factory=list)
    photo_groups: Labels = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    details: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    settled: Settled = field(default_factory=Settled)
    changed_outside: list[str] = field(default_factory=list)

    @property
    def sizes(self) -> list[int]:
        """Photos of each camera, largest first."""
        return [camera.size for camera in self.cameras]

    @property
    def groups(self) -> list[Group]:
        """The groups of all cameras, in the order of their numbers."""
        return all_groups(self.cameras)

    @property
    def unclustered(self) -> list[str]:
        """Paths of the used photos of no camera."""
        return [p for p, label in zip(self.paths, self.labels, strict=True) if label < 0]

    @property
    def n_unclustered(self) -> int:
        """Used photos of no camera."""
        return int(np.count_nonzero(self.labels < 0))

    def __repr__(self) -> str:
        return (
            f"<Clustering of {counted(len(self.paths), 'photo')}: {cameras_phrase(self.cameras)}, "
            f"{counted(self.n_unclustered, 'photo')} of none; case {str(self.case)!r}>"
        )

    def __fspath__(self) -> str:
        return str(self.case)

    def _repr_html_(self) -> str:
        """What a notebook shows: one row a camera."""
        words = f"{counted(len(self.paths), 'photo')} in the case {str(self.case)!r}"
        return cameras_html(words, self.cameras, self.n_unclustered)

    def to_frame(self) -> pandas.DataFrame:
        """One row a file of the case as it stands now, for pandas; see `SavedCase.to_frame`."""
        return open_case(self.case).to_frame()

    def plot(self, kind: str = "groups", *, ax: Axes | None = None, **options: Any) -> Figure:
        """Draw the case by one of `samecam.plots`: groups, correlations, evidence or views."""
        return open_case(self.case).plot(kind, ax=ax, **options)


def cluster_photos(
    photos: Photos,
    case: PathLike,
    settings: ExtractionSettings | None = None,
    clustering: ClusteringSettings | None = None,
    *,
    search: SearchChoice | None = None,
    resources: compute.Resources | None = None,
    progress: compute.Progress | None = None,
    stop: threading.Event | None = None,
    planned: Callable[[Estimate], None] | None = None,
) -> Clustering:
    """Group photos by the camera that took them.

    Extracts fingerprints (see `extract_photos`), groups those of each width and height, looks
    for groups that see one camera in several ways, and writes `clusters.csv` and
    `clusters.json`. `weak` photos found no group but may join one at the end, if the method
    can let them. An answer that stands in the case for the same fingerprints and settings
    is given again.

    Parameters
    ----------
    photos, case, settings, resources, progress, planned
        As for `extract_photos`.
    clustering : how photos are grouped
    search : how far to look for views of one camera: "quick", "normal", "deep" or "off"; default
        as `clustering` has it
    stop : ends extraction after the files in hand; grouping is not begun then, and groups that
        are formed are not weighed

    Examples
    --------
    >>> result = samecam.cluster_photos(["photos/"], "CASE")
    >>> print(result)
    >>> for camera in result.cameras:
    ...     print(camera.id, camera.size, camera.views, camera.exif_names)
    >>> result.to_frame()[["path", "camera", "score"]]
    >>> result.plot("correlations").savefig("correlations.png")
    """
    clustering = clustering or ClusteringSettings()
    if search is not None:
        clustering = replace(clustering, search=search)
        _check_search(settings)
    clustering.estimator()
    resources = (resources or compute.Resources()).resolve()
    at_a_time = resources.at_a_time()  # a scheduler that is not there is told at once
    progress, stop = compute.shown_progress(progress), stop or threading.Event()
    job = prepare(photos, case, settings or ExtractionSettings(), resources, progress, stop)
    if job.interrupted:
        return Clustering(job.case, [], np.zeros(0, dtype=np.intp), interrupted_before(job))
    clustering.check_frame(job.settings.frame)
    check_budget(surely_used(job), job.settings.rows, clustering, resources)
    if planned is not None:
        plan = job.plan(at_a_time)
        planned(with_grouping(plan, job.settings, clustering, resources))
    with Case(job.case, job.settings, job.sources) as folder:
        extraction = ExtractionRun(folder, job, resources, progress, stop).execute()
        return cluster_case(folder, clustering, resources, progress, stop, extraction)


def _check_search(settings: ExtractionSettings | None) -> None:
    """Refuse to look for views of squares."""
    if settings is not None and settings.size is not None:
        raise ParameterError(
            "search", "{name} is for whole frames, and a size is given: leave one of them out."
        )


def cluster_fingerprints(
    file: PathLike,
    case: PathLike,
    clustering: ClusteringSettings | None = None,
    *,
    names: PathLike | None = None,
    resources: compute.Resources | None = None,
    progress: compute.Progress | None = None,
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
    clustering, resources, progress, stop
        As for `cluster_photos`.

    Examples
    --------
    >>> numpy.save("mine.npy", fingerprints)  # one row per photo
    >>> samecam.cluster_fingerprints("mine.npy", "CASE").labels
    """
    clustering = clustering or ClusteringSettings()
    clustering.estimator()
    resources = (resources or compute.Resources()).resolve()
    progress, stop = compute.shown_progress(progress), stop or threading.Event()
    vectors = open_vectors(file, names)
    settings = VectorSettings.of(vectors)
    clustering.check_frame(settings.frame)
    check_budget({settings.frame: len(vectors.rows) // 2}, settings.rows, clustering, resources)
    with Case(case, settings, vectors.sources) as folder:
        extraction = ingest(folder, vectors, progress, stop)
        return cluster_case(folder, clustering, resources, progress, stop, extraction)


def cluster_case(
    case: Case,
    clustering: ClusteringSettings,
    resources: compute.Resources,
    progress: compute.Progress,
    stop: threading.Event,
    extraction: Extraction,
) -> Clustering:
    """Group the photos of an open case, unless the answer stands there."""
    used = used_photos(case.store)
    paths = [record.key for record in used]
    if extraction.interrupted:
        return Clustering(case.folder, paths, np.full(len(used), -1), extraction)
    nothing_left_to_finish(stop)
    read_decisions(case.folder)  # what cannot be read is told before the work
    answer = Answer(case, clustering.as_dict(), used)
    changed = answer.set_aside_changed()
    cameras, began = answer.cameras(), time.monotonic()
    described = None if cameras is None else answer.described()
    if cameras is not None and described is not None:
        answer.keep()
        stood = clustering_of(case, cameras, extraction, described, answer.details)
        settled = settle_answer(case, cameras, answer, clustering, resources, progress)
        return replace(stood, settled=settled)
    with KeptGrams(case.folder) as kept:
        if cameras is None:
            counts = frame_counts(used)
            for frame in counts:
                clustering.check_frame(frame)
            check_budget(counts, case.store.dtype, clustering, resources)
            groups = answer.groups()
            if groups is None:
                groups = group_photos(case.store, used, clustering, resources, progress, kept=kept)
            cameras, details = with_cameras(
                case.store, used, groups, clustering, resources, progress
            )
            answer.save_cameras(cameras, details, time.monotonic() - began)
        if stop.is_set():
            stopped = replace(extraction, interrupted=True)
            return clustering_of(case, cameras, stopped, [], answer.details)
        room = min(grouping_memory(clustering, resources), compute.default_memory("cpu"))
        described = weigh_answer(case, answer, used, cameras, room, progress, kept)
    settled = settle_answer(case, cameras, answer, clustering, resources, progress)
    result = clustering_of(case, cameras, extraction, described, answer.details)
    took = time.monotonic() - began
    return replace(result, seconds=took, settled=settled, changed_outside=changed)


def settle_answer(
    case: Case,
    cameras: Cameras,
    answer: Answer,
    clustering: ClusteringSettings,
    resources: compute.Resources,
    progress: compute.Progress,
) -> Settled:
    """Honour decisions and name the cameras of an answer that is written."""
    machine = Machine(case.store, used_photos(case.store), cameras, answer.details)
    return settle(case, machine, clustering, resources, progress)


def clustering_of(
    case: Case,
    cameras: Cameras,
    extraction: Extraction,
    described: list[Camera],
    details: dict[str, Any],
) -> Clustering:
    """The answer of a case that is open."""
    paths = [record.key for record in used_photos(case.store)]
    return Clustering(
        case.folder, paths, cameras.labels, extraction, described, cameras.groups, details
    )


def find_groups(
    store: DiskStore,
    photos: Sequence[Record],
    clustering: ClusteringSettings,
    resources: compute.Resources,
    progress: compute.Progress,
    *,
    start: Labels | None = None,
    kept: KeptGrams | None = None,
) -> tuple[Cameras, dict[str, Any]]:
    """Cameras and groups of the photos, and what is to be said of how they were formed.

    Parameters
    ----------
    store, photos, clustering, resources, progress, start, kept
        As for `group_photos`.
    """
    groups = group_photos(store, photos, clustering, resources, progress, start=start, kept=kept)
    return with_cameras(store, photos, groups, clustering, resources, progress)


def with_cameras(
    store: DiskStore,
    photos: Sequence[Record],
    grouped: Grouped,
    clustering: ClusteringSettings,
    resources: compute.Resources,
    progress: compute.Progress,
) -> tuple[Cameras, dict[str, Any]]:
    """Cameras of photos whose groups are known, and what is to be said of all of it."""
    groups, details = grouped
    cameras = group_cameras(store, photos, groups, clustering, resources, progress, details)
    if cameras.searched:
        details = {**details, "searched": cameras.searched}
    return cameras, details


def weigh_answer(
    case: Case,
    answer: Answer,
    used: list[Record],
    cameras: Cameras,
    memory: int,
    progress: compute.Progress,
    kept: KeptGrams,
) -> list[Camera]:
    """Weigh groups that are saved, and write the answer with its evidence.

    `kept` has correlations that grouping computed, if it was done in this run.
    """
    began = time.monotonic()
    weighed = weigh(
        case.store,
        used,
        cameras.groups,
        answer.details.get("frames", {}),
        memory,
        progress,
        cameras=cameras.labels,
        folder=case.folder,
        kept=kept,
    )
    return answer.write(cameras, weighed, time.monotonic() - began)
