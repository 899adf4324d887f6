"""More photos into a case: they join its groups or form new ones."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from samecam import compute
from samecam.arrays import Labels
from samecam.case.decisions import read_decisions
from samecam.case.extraction import (
    Estimate,
    Extraction,
    ExtractionRun,
    Photos,
    added_job,
    arguments,
    check_apart,
    interrupted_before,
    nothing_begun_yet,
    nothing_left_to_finish,
    source,
)
from samecam.case.folder import (
    CLUSTERS,
    START,
    Case,
    ClusteringSettings,
    Place,
    SavedCase,
    SearchChoice,
    cameras_html,
    cameras_phrase,
    csv_text,
    has_views,
    labels_of,
    open_case,
    read_places,
    used_photos,
    written_hashes,
)
from samecam.case.grouping._answer import Answer
from samecam.case.grouping._budget import check_budget, frame_counts, surely_used
from samecam.case.grouping._cluster import (
    Clustering,
    clustering_of,
    find_groups,
    settle_answer,
    weigh_answer,
)
from samecam.case.grouping._estimate import with_grouping
from samecam.case.grouping._method import grouping_memory
from samecam.correlate import KeptGrams
from samecam.errors import SamecamError
from samecam.files import file_hash, write_atomically
from samecam.inputs import PathLike
from samecam.notebook import counted
from samecam.photos import PhotoFile, scan


@dataclass(frozen=True, slots=True)
class Move:
    """A photo whose camera is another one than before; −1 is none.

    `was` is the number its camera had then, `now` the number its camera has now.
    """

    path: str
    was: int
    now: int


@dataclass(frozen=True, slots=True, repr=False)
class Addition:
    """What adding did.

    Attributes
    ----------
    clustering : the cameras and groups of the case now
    folder : what stands before the paths of the added photos; "" for none
    new : used photos that were not in the answer before, with their cameras
    moved : photos of the answer before whose camera has become another one
    was : for every camera the number it had before, None for a new one: an old camera goes on
        in the camera that has most of its photos
    """

    clustering: Clustering
    folder: str
    new: dict[str, int] = field(default_factory=dict)
    moved: list[Move] = field(default_factory=list)
    was: list[int | None] = field(default_factory=list)

    def __repr__(self) -> str:
        case = str(self.clustering.case)
        return (
            f"<Addition of {counted(len(self.new), 'photo')} to {case!r}: "
            f"{cameras_phrase(self.clustering.cameras)}, {len(self.moved)} moved>"
        )

    def __fspath__(self) -> str:
        return str(self.clustering.case)

    def _repr_html_(self) -> str:
        """What a notebook shows: where the new photos went, and which others moved."""
        now = self.clustering
        words = f"{counted(len(self.new), 'new photo')} in the case {str(now.case)!r}"
        moved = [f"{move.path}: camera {move.was} → {move.now}" for move in self.moved]
        notes = [f"Moved: {'; '.join(moved[:5])}{', …' * (len(moved) > 5)}"] if moved else []
        return cameras_html(words, now.cameras, now.n_unclustered, notes)


def add_photos(
    case: PathLike,
    photos: Photos,
    *,
    search: SearchChoice | None = None,
    resources: compute.Resources | None = None,
    progress: compute.Progress | None = None,
    stop: threading.Event | None = None,
    planned: Callable[[Estimate], None] | None = None,
) -> Addition:
    """Let photos join the groups of a case, or form new ones.

    Fingerprints are made of the new photos alone, with the case's own settings. Grouping
    begins with the groups as they stand and goes on as the method does; then views of one camera
    are looked for among all groups. So a photo of before may change its camera too; those are
    listed. The new photos are named "added 1/…",
    "added 2/…"; the same photos again are the same round, and nothing is done twice.

    Parameters
    ----------
    case : a case of photos, clustered by the method "consolidated"
    search : how far to look for views; default as far as before
    photos, resources, progress, stop, planned
        As for `cluster_photos`.

    Examples
    --------
    >>> added = samecam.add_photos("CASE", ["more photos/"])
    >>> for path, camera in added.new.items():
    ...     print(path, camera)
    """
    resources = (resources or compute.Resources()).resolve()
    at_a_time = resources.at_a_time()
    progress, stop = compute.shown_progress(progress), stop or threading.Event()
    saved = open_case(case)
    folder, settings, clustering = saved.folder, saved.extraction_settings, _joining(saved)
    if search is not None:
        clustering = replace(clustering, search=search)
    with nothing_begun_yet(stop):
        files, prefix = _named(saved, arguments(photos))
    job = added_job(saved, files, settings, resources, progress, stop)
    if job.interrupted:
        nobody = Clustering(folder, [], np.zeros(0, dtype=np.intp), interrupted_before(job))
        return Addition(nobody, prefix)
    check_budget(surely_used(job), settings.rows, clustering, resources)
    if planned is not None:
        planned(with_grouping(job.plan(at_a_time), settings, clustering, resources))
    with Case(folder, settings, job.sources) as held:
        _remember(held, prefix, [source(p) for p in arguments(photos)])
        settled = _places_before(held)
        run = ExtractionRun(held, job, resources, progress, stop, keep_all=True, settled=settled)
        extraction = run.execute()
        if extraction.interrupted:
            paths = [photo.key for photo in used_photos(held.store)]
            nothing = np.full(len(paths), -1)
            return Addition(Clustering(folder, paths, nothing, extraction), prefix)
        nothing_left_to_finish(stop)
        return _regroup(held, clustering, extraction, prefix, resources, progress)


def _joining(saved: SavedCase) -> ClusteringSettings:
    """How the case was grouped, if that method lets photos join later."""
    clustering = saved.clustering_settings
    if clustering.name != "consolidated":
        raise SamecamError(
            f"{str(saved.folder)!r} was grouped by {clustering.name!r}, which cannot let photos "
            "join later: group it by 'consolidated' first, or begin a new case with all photos."
        )
    return clustering


def _named(saved: SavedCase, photos: Sequence[str]) -> tuple[list[PhotoFile], str]:
    """The files, with their paths in the case, and what stands before these."""
    files, sources = scan(photos), [source(p) for p in photos]
    check_apart(saved.folder, photos, files)
    if not files:
        raise SamecamError(
            f"There is no photo in {', '.join(map(repr, photos[:3]))}: name a folder that has some."
        )
    if sources == saved.info["sources"]:
        return files, ""
    rounds = saved.info.get("added", [])
    known = [entry["folder"] for entry in rounds if entry["sources"] == sources]
    prefix = known[0] if known else _free_name(saved, rounds)
    return [PhotoFile(f"{prefix}/{item.path}", item.file) for item in files], prefix


def _free_name(saved: SavedCase, rounds: Sequence[dict[str, Any]]) -> str:
    """The first of "added 1", "added 2", … that nothing in the case is named by."""
    with saved.open_store() as store:
        taken = {record.key.split("/")[0] for record in store.records()}
    taken |= {entry["folder"] for entry in rounds}
    number = 1
    while f"added {number}" in taken:
        number += 1
    return f"added {number}"


def _remember(case: Case, prefix: str, sources: list[str]) -> None:
    """Say in `case.json` where the photos of this round come from."""
    rounds = case.info.get("added", [])
    if prefix and not any(entry["folder"] == prefix for entry in rounds):
        case.save(added=[*rounds, {"folder": prefix, "sources": sources}])


def _regroup(
    case: Case,
    clustering: ClusteringSettings,
    extraction: Extraction,
    prefix: str,
    resources: compute.Resources,
    progress: compute.Progress,
) -> Addition:
    """Group all photos, beginning with the groups that stand, unless these are the answer."""
    read_decisions(case.folder)
    used, began = used_photos(case.store), time.monotonic()
    wanted = clustering.as_dict()
    entry = case.info["clustering"]
    answer = Answer(case, {**wanted, **{k: entry[k] for k in ("start",) if k in entry}}, used)
    cameras = answer.cameras()
    described = None if cameras is None else answer.described()
    if cameras is not None and described is not None:
        answer.keep()
        settled = settle_answer(case, cameras, answer, clustering, resources, progress)
        same = clustering_of(case, cameras, extraction, described, answer.details)
        same = replace(same, settled=settled)
        return Addition(same, prefix, was=list(range(len(described))))
    before = _places_before(case)
    stood, start = labels_of(used, before)
    with KeptGrams(case.folder) as kept:
        if cameras is None:
            check_budget(frame_counts(used), case.store.dtype, clustering, resources)
            wanted["start"] = _write_start(case, before)
            answer = Answer(case, wanted, used)
            cameras, details = find_groups(
                case.store, used, clustering, resources, progress, start=start, kept=kept
            )
            answer.save_cameras(cameras, details, time.monotonic() - began)
        room = min(grouping_memory(clustering, resources), compute.default_memory("cpu"))
        described = weigh_answer(case, answer, used, cameras, room, progress, kept)
    result = clustering_of(case, cameras, extraction, described, answer.details)
    new, moved, was = _changes(result.paths, stood, result.labels, set(before))
    case.log.add(
        "added",
        folder=prefix,
        start=case.info["clustering"]["start"],
        new=[{"path": path, "cluster": group} for path, group in new.items()],
        moved=[{"path": m.path, "was": m.was, "cluster": m.now} for m in moved],
        was=was,
    )
    settled = settle_answer(case, cameras, answer, clustering, resources, progress)
    result = replace(result, seconds=time.monotonic() - began, settled=settled)
    return Addition(result, prefix, new, moved, was)


def _places_before(case: Case) -> dict[str, Place]:
    """The answer to begin with: what stands, or what an adding that was killed began with."""
    for name, wanted in (
        (CLUSTERS, written_hashes(case.info).get(CLUSTERS)),
        (START, case.info.get("start")),
    ):
        path = case.folder / name
        if wanted is not None and file_hash(path) == wanted:
            return read_places(path)
    raise SamecamError(
        f"The groups in {str(case.folder / CLUSTERS)!r} are not as they were written: restore the "
        "file from a copy, or run samecam cluster."
    )


def _write_start(case: Case, places: dict[str, Place]) -> str:
    """Keep what grouping begins with, so that it can be replayed; its SHA-256."""
    ordered = [(path, places[path]) for path in sorted(places)]
    columns, rows = ["path", "sha256", "cluster"], [[p, at.sha256, at.camera] for p, at in ordered]
    if has_views(case.info):
        columns.append("group")
        rows = [[*row, at.group] for row, (_, at) in zip(rows, ordered, strict=True)]
    write_atomically(case.folder / START, csv_text(columns, rows))
    digest = file_hash(case.folder / START)
    case.save(start=digest)
    return digest


def _changes(
    paths: Sequence[str], start: Labels, labels: Labels, old: set[str]
) -> tuple[dict[str, int], list[Move], list[int | None]]:
    """New photos with their cameras, photos that moved, and what each camera was."""
    was = former_groups(start, labels)
    new: dict[str, int] = {}
    moved = []
    for path, before, now in zip(paths, start.tolist(), labels.tolist(), strict=True):
        if path not in old:
            new[path] = now
        elif before != (was[now] if now >= 0 else -1):
            moved.append(Move(path, before, now))
    return new, moved, was


def former_groups(before: Labels, after: Labels) -> list[int | None]:
    """For each group of `after` the one of `before` that goes on in it, or None.

    The pair with most photos in common first; each group is taken once.
    """
    pairs = zip(before.tolist(), after.tolist(), strict=True)
    shared = Counter((b, a) for b, a in pairs if b >= 0 and a >= 0)
    result: list[int | None] = [None] * (int(after.max(initial=-1)) + 1)
    taken: set[int] = set()
    for (b, a), _ in sorted(shared.items(), key=lambda item: (-item[1], item[0])):
        if b not in taken and result[a] is None:
            result[a] = b
            taken.add(b)
    return result
