"""After a run: decisions are honoured, cameras keep their names, and both are written down."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from samecam import compute
from samecam.case.decisions import (
    Base,
    Contradiction,
    Decision,
    Standing,
    carry_names,
    counted,
    labels_of_names,
    last_base,
    name_changes,
    names_entry,
    names_text,
    next_number,
    read_base,
    read_decisions,
    write_decided,
)
from samecam.case.folder import (
    CAMERAS,
    CLUSTERS,
    DECISIONS,
    Case,
    ClusteringSettings,
    log_head,
    open_case,
)
from samecam.case.grouping._honoured import Machine, honoured, rows_of_hashes
from samecam.files import file_hash, write_atomically


@dataclass(frozen=True, slots=True)
class Settled:
    """Cameras as they stand after a run and the decisions it honoured.

    Attributes
    ----------
    names : of the cameras, that with most photos first
    decisions : how many count
    moved : photos that decisions, and what follows from them, put elsewhere than the machine did
    ended : names that no camera has any more, with that of the camera that has most of their photos
    parted : names whose photos are in several cameras now, with the names of these
    contradictions : decisions that could not be honoured
    """

    names: list[str] = field(default_factory=list)
    decisions: int = 0
    moved: int = 0
    ended: dict[str, str] = field(default_factory=dict)
    parted: dict[str, list[str]] = field(default_factory=dict)
    contradictions: list[Contradiction] = field(default_factory=list)


def settle(
    case: Case,
    machine: Machine,
    clustering: ClusteringSettings,
    resources: compute.Resources,
    progress: compute.Progress,
) -> Settled:
    """Honour the decisions of a clustered case and name its cameras, unless that is done.

    `case.json` says before and after `cameras.csv` is written what its hash is, so that a run that
    is killed in between finds the names there were.
    """
    folder = case.folder
    decisions = read_decisions(folder)
    clusters, head = file_hash(folder / CLUSTERS), log_head(folder / DECISIONS)
    entry, before = names_entry(folder, case.info), last_base(folder, case.info)
    counting = counted(decisions)
    had = _names_before(machine, before, counting)
    if not entry or (entry["clusters"], entry["decisions"]) != (clusters, head):
        following = max(next_number([d.camera for d in decisions]), before.next if before else 0)
        own = ["" if before is None else before.machine.get(p.sha256, "") for p in machine.photos]
        first = carry_names(own, machine.cameras.labels, following, had)
        following = max(following, next_number(first))
        standing = honoured(machine, first, following, counting, clustering, resources, progress)
        names = [standing.cameras[k].own if k >= 0 else "" for k in standing.camera.tolist()]
        alone = [first[k] if k >= 0 else "" for k in machine.cameras.labels.tolist()]
        keys = [(photo.key, photo.sha256) for photo in machine.photos]
        text = names_text(keys, names, alone)
        entry = {
            "clusters": clusters,
            "decisions": head,
            "honoured": [decision.number for decision in counting],
            "next": max(following, next_number(names)),
            "sha256": hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest(),
        }
        _write(case, text, entry)
    elif "coming" in case.info["names"]:
        case.save(names=entry)
    return _settled(folder, had)


def _names_before(
    machine: Machine, before: Base | None, decisions: Sequence[Decision]
) -> list[str]:
    """Names of photos' cameras as they stood before this run, decisions since the last counted."""
    if before is None:
        return [""] * len(machine.photos)
    names = [before.names.get(photo.sha256, "") for photo in machine.photos]
    standing = Standing(*labels_of_names(names), rows_of_hashes(machine))
    for decision in decisions:
        standing.apply(decision)
    return [standing.cameras[k].own if k >= 0 else "" for k in standing.camera.tolist()]


def _write(case: Case, text: str, entry: dict[str, Any]) -> None:
    """Write `cameras.csv`; `case.json` names the one before until the new one is there."""
    known = {k: v for k, v in case.info.get("names", entry).items() if k != "coming"}
    case.save(names={**known, "coming": entry})
    write_atomically(case.folder / CAMERAS, text)
    case.save(names=entry)
    case.log.add("named", sha256=entry["sha256"], honoured=entry["honoured"])


def _settled(folder: Path, had: Sequence[str]) -> Settled:
    """What stands now, and what became of the names there were."""
    saved = open_case(folder)
    decided = write_decided(saved)
    now = [decided.name_of(k) for k in range(len(decided.photos))]
    base = read_base(folder, saved.info)
    if base is not None:  # names that persons gave are no change
        now = [base.names.get(photo.sha256, "") for photo in decided.photos]
    changes = name_changes(had, now)
    return Settled(
        [camera.name for camera in decided.cameras],
        sum(d.kind != "undo" and d.number in decided.in_force for d in decided.decisions),
        len(decided.differs),
        changes.ended,
        changes.parted,
        decided.contradictions,
    )
