"""Piles of photographs in several views: laid out, grouped as a case, and who was placed where."""

import hashlib
import os
import shutil
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from samecam import compute
from samecam.errors import SamecamError
from samecam.experiments._experiment import Context
from samecam.experiments._study import Run
from samecam.files import read_own, write_atomically
from samecam.inputs import read_input
from samecam.metrics import read_columns, scores
from samecam.simulate import Look, Messenger, messenger_copy, view_photo

if TYPE_CHECKING:
    from samecam.case import ExtractionSettings

Places = npt.NDArray[np.int64]
# How far groups are searched for other views of one camera.
SEARCH = "normal"
# Pixels over which the simulated sensors' pattern is smooth: white ones are lost in copies, those
# of real cameras are not (docs/twins.md).
CROSSTALK = 0.6
# What is scored: groups of one frame, and cameras, which are groups joined by views.
STEPS = {"groups": "off", "cameras": "on"}


@dataclass(frozen=True, slots=True)
class Order:
    """A file of a pile that is to be made.

    Attributes
    ----------
    source, target : files
    messenger : that sends it, or how it is reduced, or none
    part : share of its bytes that is written; 1 is another file of the same bytes
    look, zoom : how it is to show its original, or as it is
    """

    source: str
    target: str
    messenger: str | Messenger | None = None
    part: float | None = None
    look: Look | None = None
    zoom: float = 1.0


class Answer(NamedTuple):
    """How a pile was grouped, by the names of its files without ending.

    Attributes
    ----------
    groups, cameras : number of each photo; both the same where nothing was searched
    searched : whether groups were joined to cameras
    seconds : of it all
    listed : of every file its status, and the name of what it is a copy or a duplicate of, or ""
    """

    groups: Mapping[str, int]
    cameras: Mapping[str, int]
    searched: bool
    seconds: float
    listed: Mapping[str, tuple[str, str]]


def lay_out(
    context: Context, phase: str, work: Path, orders: Sequence[Order]
) -> npt.NDArray[np.bool_]:
    """Make the files of a pile, several at a time; whether each is there now.

    What an interrupted run left in `work` is gone on with only if it was made by the very same
    orders, of the very same files.
    """
    known, digest = work / "orders.sha256", _digest(orders)
    try:
        if not known.is_file() or read_own(known) != digest:
            shutil.rmtree(work, ignore_errors=True)
        for folder in {work, *(Path(order.target).parent for order in orders)}:
            folder.mkdir(parents=True, exist_ok=True)
        write_atomically(known, digest)
    except OSError as error:
        why = error.strerror or error
        raise SamecamError(f"{str(work)!r} cannot be written: {why}.") from None
    workers = min(compute.worker_count(context.workers), max(len(orders), 1))
    there = np.zeros(len(orders), dtype=bool)
    pool = compute.LocalPool(workers, preload=__name__)
    try:
        waiting = {pool.submit(make_file, order): k for k, order in enumerate(orders)}
        for done, future in enumerate(as_completed(waiting), start=1):
            there[waiting[future]] = future.result()
            context.progress(phase, done, len(orders))
    except BaseException:
        pool.stop()
        raise
    pool.close()
    return there


def link_originals(context: Context, work: Path, files: Sequence[Path]) -> list[str]:
    """A pile in `work/photos` of files as they are; their names there, without ending."""
    names = [f"{k:06d}" for k in range(len(files))]
    orders = [
        Order(str(file), str(work / "photos" / f"{name}{file.suffix.lower()}"))
        for name, file in zip(names, files, strict=True)
    ]
    lay_out(context, "Linking", work, orders)
    return names


def _digest(orders: Sequence[Order]) -> bytes:
    """Of orders, and of lengths and times of change of what they are made of."""
    digest = hashlib.sha256()
    for order in orders:
        digest.update(repr(order).encode("utf-8", "surrogateescape"))
        if os.path.exists(order.source):
            status = os.stat(order.source)
            digest.update(f"{status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest().encode()


def make_file(order: Order) -> bool:
    """Make a file of a pile unless it is there; whether it is there now.

    What is not changed is linked, not copied. A photo that cannot be read has no file.
    """
    if os.path.exists(order.target):
        return True
    if order.messenger is None and order.look is None and order.part is None:
        os.symlink(os.path.realpath(order.source), order.target)
        return True
    try:
        data = read_input(Path(order.source))
        if order.look is not None:
            data = view_photo(data, order.look, zoom=order.zoom)
        if order.messenger is not None:
            data = messenger_copy(data, order.messenger)
        if order.part is not None:
            data = data[: round(order.part * len(data))]
    except (OSError, ValueError):
        return False
    write_atomically(Path(order.target), data)
    return True


def photos_of(cameras: Sequence[str]) -> dict[str, list[int]]:
    """Numbers of the photos of each camera, in their order."""
    of: dict[str, list[int]] = {}
    for k, camera in enumerate(cameras):
        of.setdefault(camera, []).append(k)
    return of


def strangers_among(of: Mapping[str, Sequence[int]], fewest: int, every: int) -> set[str]:
    """Cameras that are to be strangers: those with few photos or, where none has, every so-many-th.

    Parameters
    ----------
    of : photos of each camera
    fewest : photos of one that is no stranger
    every : counted through the cameras by name, which one is, where all have so many
    """
    few = {camera for camera, own in of.items() if len(own) < fewest}
    return few or set(sorted(of)[every - 1 :: every])


def asked_search() -> dict[str, Any]:
    """How far groups are searched for other views, as an argument."""
    return {"search": SEARCH}


def group_pile(
    context: Context, photos: Path, work: Path, settings: "ExtractionSettings | None" = None
) -> Answer:
    """Group the photos of a folder as a case in `work`, which is then removed; default method.

    Where settings are given nothing is searched for other views.
    """
    from samecam.case import cluster_photos

    began, case = time.monotonic(), work / "case"
    resources = compute.Resources(
        workers=context.workers, device=context.device, memory=context.memory
    )
    search = asked_search() if settings is None else {"search": "off"}
    if settings is not None and settings.size is not None:
        search = {}  # squares have no other views
    cluster_photos([photos], case, settings, resources=resources, progress=context.progress,
                   **search)  # fmt: skip
    groups, cameras, searched = _read_answer(case)
    listed = _read_list(case)
    shutil.rmtree(work, ignore_errors=True)
    return Answer(groups, cameras, searched, time.monotonic() - began, listed)


def _read_list(case: Path) -> dict[str, tuple[str, str]]:
    """Status of every file of a case, and what it is a copy or a duplicate of."""
    from samecam.case import IMAGES

    columns = ("path", "sha256", "status", "copy_of")
    rows = [row for _, row in read_columns(case / IMAGES, columns)]
    first = {sha: path for path, sha, status, _ in rows if status not in ("duplicate", "skipped")}
    return {
        Path(path).stem: (
            status,
            Path(first.get(sha, "") if status == "duplicate" else copy_of).stem,
        )
        for path, sha, status, copy_of in rows
    }


def _read_answer(case: Path) -> tuple[dict[str, int], dict[str, int], bool]:
    """Groups and cameras of a finished case, and whether it tells them apart."""
    from samecam.case import CLUSTERS

    path = case / CLUSTERS
    try:
        rows = [row for _, row in read_columns(path, ("path", "cluster", "group"))]
    except SamecamError:
        rows = [[*row, row[1]] for _, row in read_columns(path, ("path", "cluster"))]
        searched = False
    else:
        searched = True
    cameras = {Path(photo).stem: int(camera) for photo, camera, _ in rows}
    groups = {Path(photo).stem: int(group or -1) for photo, _, group in rows}
    return groups, cameras, searched


def as_run(
    answer: Answer, names: Sequence[str], truth: Sequence[str], **more: npt.NDArray[Any]
) -> Run:
    """A run of a pile whose photos have these names and cameras; `more` is kept beside.

    A photo that has no fingerprint is in no group.
    """
    number = {camera: k for k, camera in enumerate(sorted(set(truth)))}
    arrays = {
        "truth": np.array([number[camera] for camera in truth], dtype=np.int64),
        "groups": np.array([answer.groups.get(name, -1) for name in names], dtype=np.int64),
        "cameras": np.array([answer.cameras.get(name, -1) for name in names], dtype=np.int64),
        **more,
    }
    return Run(arrays, {"seconds": round(answer.seconds, 1), "searched": answer.searched})


def steps_of(run: Run) -> list[str]:
    """What of a run is scored: groups, and cameras if they were searched for."""
    return ["groups", "cameras"] if run.facts["searched"] else ["groups"]


def pair_scores(truth: Places, labels: Places) -> dict[str, Any]:
    """Scores of pairs, and how many groups, cameras and photos in no group there are."""
    every = scores(truth.tolist(), labels).as_dict()
    names = ("f", "precision", "recall", "n_images", "n_clusters", "n_cameras", "n_unclustered")
    return {
        name: round(value, 6) if isinstance(value := every[name], float) else value
        for name in names
    }


def owners(truth: Places, labels: Places) -> dict[int, int]:
    """Camera that has most photos of each group; of equals the first."""
    counts = Counter(zip(labels.tolist(), truth.tolist(), strict=True))
    result: dict[int, int] = {}
    for (label, camera), _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if label >= 0:
            result.setdefault(label, camera)
    return result


def main_groups(truth: Places, labels: Places) -> dict[int, int]:
    """Largest group of each camera, among those in which it has most photos."""
    owner = owners(truth, labels)
    counts = Counter(
        (label, camera)
        for label, camera in zip(labels.tolist(), truth.tolist(), strict=True)
        if owner.get(label) == camera
    )
    result: dict[int, int] = {}
    for (label, camera), _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        result.setdefault(camera, label)
    return result


def outcome(
    truth: Places, labels: Places, main: Mapping[int, int], owner: Mapping[int, int]
) -> dict[str, int]:
    """How many photos are placed, wrong, or neither: apart in another group, or in none.

    Parameters
    ----------
    truth, labels : camera and group of the photos that are counted
    main : the group of each camera at which its photos are to be placed
    owner : camera of each group; a photo in a group of another camera is wrong
    """
    pairs = list(zip(truth.tolist(), labels.tolist(), strict=True))
    placed = sum(label >= 0 and main.get(camera) == label for camera, label in pairs)
    wrong = sum(label in owner and owner[label] != camera for camera, label in pairs)
    return {"photos": len(pairs), "placed": placed, "wrong": wrong}
