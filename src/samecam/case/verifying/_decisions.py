"""Whether decisions are as they were taken, and what stands after them is what they say."""

from collections.abc import Iterator
from pathlib import Path

from samecam import compute
from samecam.case.decisions import (
    MEMBERSHIP,
    names_entry,
    read_base,
    read_decided,
    read_decisions,
)
from samecam.case.folder import (
    CAMERAS,
    CLUSTERS,
    DECIDED,
    DECISIONS,
    LOG,
    SavedCase,
    cameras_of,
    chained_lines,
    read_places,
    used_photos,
)
from samecam.case.grouping import Machine, honoured
from samecam.errors import SamecamError
from samecam.files import read_own
from samecam.store import DiskStore

_NAMED = 3


def decision_troubles(saved: SavedCase) -> Iterator[str]:
    """The chain of decisions, the names of cameras, and `decided.csv`."""
    folder = saved.folder
    try:
        decisions = read_decisions(folder)
    except SamecamError as error:
        yield str(error)
        return
    heads = _heads(folder / DECISIONS)
    noted = {entry.get("head") for entry in saved.log_entries("decided")}
    if strange := [k for k, head in enumerate(heads[:-1], 1) if head not in noted]:
        yield (
            f"Line {strange[0]} of {str(folder / DECISIONS)!r} is a decision that "
            f"{str(folder / LOG)!r} does not know."
        )
    if noted - set(heads):
        yield (
            f"{str(folder / DECISIONS)!r} lacks decisions that {str(folder / LOG)!r} knows: lines "
            "were changed or cut off."
        )
    if names_entry(folder, saved.info) == {}:
        yield f"{str(folder / CAMERAS)!r} is not as it was written."
        return
    if saved.state != "clustered":
        return
    try:
        wanted = read_decided(saved).table() if decisions else None
        there = _text(folder / DECIDED)
    except SamecamError:
        return  # told of the tables themselves
    if there != wanted:
        yield (
            f"{str(folder / DECIDED)!r} is not what the decisions say: it was changed, or a "
            "command was killed there; samecam cluster, or any decision, writes it again."
        )


def _heads(path: Path) -> list[str]:
    try:
        return [digest for _, digest in chained_lines(path)]
    except (OSError, ValueError):
        return []


def _text(path: Path) -> str | None:
    try:
        return read_own(path).decode("utf-8", "surrogateescape")
    except OSError:
        return None


def replay_decisions(
    saved: SavedCase, store: DiskStore, resources: compute.Resources, progress: compute.Progress
) -> Iterator[str]:
    """Honour the decisions of the last run again, and compare who stands with whom."""
    base = read_base(saved.folder, saved.info)
    if base is None:
        return
    used = used_photos(store)
    places = read_places(saved.folder / CLUSTERS)
    try:
        cameras = cameras_of([places[photo.key] for photo in used])
    except (KeyError, ValueError) as error:
        yield f"{str(saved.folder / CLUSTERS)!r} is not what was written ({error})."
        return
    decisions = [d for d in read_decisions(saved.folder) if d.number in base.honoured]
    labels = cameras.labels
    if any(decision.kind in MEMBERSHIP for decision in decisions):
        labels = honoured(
            Machine(store, used, cameras, saved.info["clustering"].get("details", {})),
            [base.before.get(photo.sha256, "") for photo in used],
            decisions,
            saved.clustering_settings,
            resources,
            progress,
        )
    differing = _differing(
        [photo.key for photo in used],
        [base.names.get(photo.sha256, "") for photo in used],
        labels.tolist(),
    )
    if differing:
        some = ", ".join(map(repr, differing[:_NAMED]))
        yield (
            f"Decisions honoured again put {len(differing)} of the photos in "
            f"{str(saved.folder / CAMERAS)!r} elsewhere: {some}."
        )


def _differing(paths: list[str], names: list[str], cameras: list[int]) -> list[str]:
    """Paths of photos that stand with others, whatever cameras are called."""
    camera_of: dict[str, int] = {"": -1}
    name_of: dict[int, str] = {-1: ""}
    result = []
    for path, name, camera in zip(paths, names, cameras, strict=True):
        known = camera_of.setdefault(name, camera), name_of.setdefault(camera, name)
        if known != (camera, name):
            result.append(path)
    return result
