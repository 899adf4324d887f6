"""More photos into a case: they join its groups or form new ones."""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from samecam import compute
from samecam.arrays import Labels
from samecam.case._means import Means
from samecam.case.extraction._estimate import Estimate
from samecam.case.extraction._extract import Extraction, _Run
from samecam.case.extraction._prepare import Job, Photos, Progress, _check_apart, arguments, source
from samecam.case.folder._case import Case, csv_text, read_case
from samecam.case.folder._reader import (
    START,
    TABLE,
    Place,
    clustering_settings,
    extraction_settings,
    file_hash,
    labels_of,
    read_places,
    used_photos,
    written_hash,
)
from samecam.case.folder._settings import ExtractionSettings
from samecam.case.grouping._answer import Answer
from samecam.case.grouping._cluster import Clustering, _no_longer_in_order
from samecam.case.grouping._evidence import weigh
from samecam.case.grouping._executor import executor_for
from samecam.case.grouping._method import ClusteringSettings, _details, default_memory
from samecam.errors import SamecamError
from samecam.files import write_atomically
from samecam.photos import Found, scan
from samecam.store import FingerprintStore, Record


@dataclass(frozen=True, slots=True)
class Move:
    """A photo whose group is another one than before; −1 is none.

    `was` is the number its group had then, `now` the number its group has now.
    """

    path: str
    was: int
    now: int


@dataclass(frozen=True, slots=True)
class Addition:
    """What adding did.

    Attributes
    ----------
    clustering : the groups of the case now
    folder : what stands before the paths of the added photos; "" for none
    new : used photos that were not in the answer before, with their groups
    moved : photos of the answer before whose group has become another one
    was : for every group the number it had before, None for a new one: an old group goes on
        in the group that has most of its photos
    """

    clustering: Clustering
    folder: str
    new: dict[str, int] = field(default_factory=dict)
    moved: list[Move] = field(default_factory=list)
    was: list[int | None] = field(default_factory=list)


def add_photos(
    case: str | os.PathLike[str],
    photos: Photos,
    *,
    memory: int | None = None,
    workers: int | None = None,
    timeout: float = 60.0,
    device: str = "cpu",
    scheduler: str | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    planned: Callable[[Estimate], None] | None = None,
) -> Addition:
    """Let photos join the groups of a case, or form new ones.

    Fingerprints are made of the new photos alone, with the case's own settings. Grouping
    begins with the groups as they stand and goes on as the method does, so a photo of before
    may change its group too; those are listed. The new photos are named "added 1/…",
    "added 2/…"; the same photos again are the same round, and nothing is done twice.

    Parameters
    ----------
    case : a case of photos, clustered by the method "consolidated"
    photos, memory, workers, timeout, device, scheduler, progress, stop, planned
        As for `cluster_photos`.
    """
    means, folder = Means.chosen(workers, timeout, device, scheduler), Path(case)
    at_a_time = means.at_a_time()
    progress, stop = progress or (lambda *_: None), stop or threading.Event()
    info = read_case(folder)
    settings, clustering = extraction_settings(folder, info), clustering_settings(folder, info)
    if clustering.name != "consolidated":
        raise SamecamError(
            f"{str(folder)!r} was grouped by {clustering.name!r}, which cannot let photos join "
            "later: group it by 'consolidated' first, or begin a new case with all photos."
        )
    found, prefix = _named(folder, info, arguments(photos))
    job = Job(folder, info["sources"], found, settings)
    if planned is not None:
        planned(job.plan(at_a_time))
    with Case(folder, settings, info["sources"]) as held:
        _remember(held, prefix, [source(p) for p in arguments(photos)])
        run = _Adding(held, job, settings, means)
        run.progress, run.stop = progress, stop
        extraction = run.execute()
        if extraction.interrupted:
            paths = [photo.key for photo in used_photos(held.store)]
            nothing = np.full(len(paths), -1)
            return Addition(Clustering(folder, paths, nothing, extraction), prefix)
    memory = memory or default_memory(clustering, means.device)
    # Opened anew: while it is written to, workers on other machines may not read the catalogue.
    with _no_longer_in_order(stop), Case(folder, settings, info["sources"]) as held:
        return _regroup(held, clustering, extraction, prefix, memory, means, progress)


class _Adding(_Run):
    """An extraction that leaves what the case has from elsewhere as it is."""

    def __init__(self, case: Case, job: Job, settings: ExtractionSettings, means: Means) -> None:
        super().__init__(case, job, settings, means)
        self._ledger.gone.clear()


def _named(folder: Path, info: dict[str, Any], photos: Sequence[str]) -> tuple[list[Found], str]:
    """The files, with their paths in the case, and what stands before these."""
    found, sources = scan(photos), [source(p) for p in photos]
    _check_apart(folder, photos, found)
    if not found:
        raise SamecamError(
            f"There is no photo in {', '.join(map(repr, photos[:3]))}: name a folder that has some."
        )
    if sources == info["sources"]:
        return found, ""
    rounds = info.get("added", [])
    known = [entry["folder"] for entry in rounds if entry["sources"] == sources]
    prefix = known[0] if known else _free_name(folder, rounds)
    return [Found(f"{prefix}/{item.path}", item.file) for item in found], prefix


def _free_name(folder: Path, rounds: Sequence[dict[str, Any]]) -> str:
    """The first of "added 1", "added 2", … that nothing in the case is named by."""
    from samecam.case.folder._case import open_store

    with open_store(folder) as store:
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
    memory: int,
    means: Means,
    progress: Progress,
) -> Addition:
    """Group all photos, beginning with the groups that stand, unless these are the answer."""
    used, began = used_photos(case.store), time.monotonic()
    paths, wanted = [photo.key for photo in used], clustering.as_dict()
    entry = case.info["clustering"]
    answer = Answer(case, {**wanted, **{k: entry[k] for k in ("start",) if k in entry}}, used)
    labels, groups = answer.labels(), answer.groups()
    if labels is not None and groups is not None:
        answer.keep()
        same = Clustering(case.folder, paths, labels, extraction, groups, answer.details)
        return Addition(same, prefix, was=list(range(len(groups))))
    before = _places_before(case)
    start = labels_of(used, before)
    wanted["start"] = _write_start(case, before)
    labels, details = group_from(
        case.store, used, clustering, start, memory=memory, progress=progress, means=means
    )
    room = min(memory, compute.default_memory("cpu"))
    scale = details.get("null_scale")
    weighed = weigh(case.store, used, labels, scale, room, progress, folder=case.folder)
    seconds = time.monotonic() - began
    groups = Answer(case, wanted, used).write(labels, weighed, details, seconds)
    new, moved, was = _changes(paths, start, labels, set(before))
    case.log.add(
        "added",
        folder=prefix,
        start=wanted["start"],
        new=[{"path": path, "cluster": group} for path, group in new.items()],
        moved=[{"path": m.path, "was": m.was, "cluster": m.now} for m in moved],
        was=was,
    )
    result = Clustering(case.folder, paths, labels, extraction, groups, details, seconds)
    return Addition(result, prefix, new, moved, was)


def _places_before(case: Case) -> dict[str, Place]:
    """The answer to begin with: what stands, or what an adding that was killed began with."""
    for name, wanted in (
        (TABLE, written_hash(case.info, TABLE)),
        (START, case.info.get("start")),
    ):
        path = case.folder / name
        if wanted is not None and file_hash(path) == wanted:
            return read_places(path)
    raise SamecamError(
        f"The groups in {str(case.folder / TABLE)!r} are not as they were written: restore the "
        "file from a copy, or run samecam cluster."
    )


def _write_start(case: Case, places: dict[str, Place]) -> str:
    """Keep what grouping begins with, so that it can be replayed; its SHA-256."""
    rows = ((path, places[path].sha256, places[path].group) for path in sorted(places))
    write_atomically(case.folder / START, csv_text(("path", "sha256", "cluster"), rows))
    digest = file_hash(case.folder / START)
    case.save(start=digest)
    return digest


def group_from(
    store: FingerprintStore,
    photos: Sequence[Record],
    clustering: ClusteringSettings,
    start: Labels,
    *,
    memory: int,
    progress: Progress,
    means: Means,
) -> tuple[Labels, dict[str, Any]]:
    """Groups of all photos by the consolidated method, beginning with those of `start`."""
    if list(store.keys) != [photo.key for photo in photos]:
        raise RuntimeError("the store does not hold the fingerprints of the used photos")
    weak = np.array([photo.meta["status"] != "good" for photo in photos], dtype=bool)
    if weak.all():
        return np.full(len(photos), -1, dtype=np.intp), {}
    method = clustering.estimator(metric="correlation", memory=memory, device=means.device)
    given: dict[str, Any] = {"weak": weak, "start": start, "progress": progress}
    try:
        with compute.device_sentences(means.device), executor_for(method, store, means) as executor:
            if executor is not None:
                given["executor"] = executor
            method.fit(store, **given)
    except ValueError as error:
        raise SamecamError(f"{error}.") from None
    return method.labels_, {**_details(method), "memory_bytes": method.memory_}


def _changes(
    paths: Sequence[str], start: Labels, labels: Labels, old: set[str]
) -> tuple[dict[str, int], list[Move], list[int | None]]:
    """New photos with their groups, photos that moved, and what each group was."""
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
