"""After a run: decisions are honoured, cameras keep their names, and both are written down."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from samecam import compute
from samecam.case.decisions import (
    MEMBERSHIP,
    Base,
    Contradiction,
    Decision,
    Standing,
    carry_names,
    counted,
    is_stale,
    labels_of_names,
    last_base,
    name_changes,
    names_entry,
    names_text,
    next_number,
    read_base,
    read_decisions,
    resumed,
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
    stood = _stood(machine, before, decisions)
    had = _own_names(stood)
    if not entry or (entry["clusters"], entry["decisions"]) != (clusters, head):
        own = ["" if before is None else before.machine.get(p.sha256, "") for p in machine.photos]
        following = max(next_number([d.camera for d in decisions]), before.next if before else 0)
        labels = machine.cameras.labels
        first = carry_names(own, labels, following, had)
        following = max(following, next_number(first))
        alone = [first[k] if k >= 0 else "" for k in labels.tolist()]
        counting = counted(decisions)
        if before is None:  # decisions about an answer that had no names yet
            stood = Standing(labels, first, rows_of_hashes(machine))
            for decision in counting:
                stood.apply(decision)
            had = _own_names(stood)
        if any(decision.kind in MEMBERSHIP for decision in counting):
            labels = honoured(machine, had, counting, clustering, resources, progress)
        names = carry_names(had, labels, following, alone)
        shown = [names[k] if k >= 0 else "" for k in labels.tolist()]
        moved = _moved_by(stood, had, shown)
        rows = zip(machine.photos, shown, alone, had, moved, strict=True)
        text = names_text([p.key, p.sha256, *cells] for p, *cells in rows)
        entry = {
            "clusters": clusters,
            "decisions": head,
            "honoured": [decision.number for decision in counting],
            "described": _described(stood, set(names)),
            "next": max(following, next_number(names)),
            "sha256": hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest(),
        }
        _write(case, text, entry)
    elif "coming" in case.info["names"]:
        case.save(names=entry)
    return _settled(folder, had)


def _stood(machine: Machine, before: Base | None, decisions: Sequence[Decision]) -> Standing:
    """Where photos stood before this run, decisions since the last one counted."""
    rows, hashes = rows_of_hashes(machine), [photo.sha256 for photo in machine.photos]
    if before is None:
        return Standing(np.full(len(hashes), -1, dtype=np.intp), (), rows)
    if is_stale(before, decisions):
        had = [before.machine.get(each, "") for each in hashes]
        standing, done = Standing(*labels_of_names(had), rows), frozenset[int]()
    else:
        standing, done = resumed(before, hashes, rows, decisions), before.honoured
    for decision in counted(decisions):
        if decision.number not in done:
            standing.apply(decision)
    return standing


def _own_names(standing: Standing) -> list[str]:
    return [standing.cameras[k].own if k >= 0 else "" for k in standing.camera.tolist()]


def _moved_by(stood: Standing, had: Sequence[str], names: Sequence[str]) -> list[int | None]:
    """Numbers of the decisions that put photos where they stand, as far as they stand there."""
    each = zip(stood.decision.tolist(), had, names, strict=True)
    return [(number or None) if before == now else None for number, before, now in each]


def _described(stood: Standing, names: set[str]) -> dict[str, dict[str, Any]]:
    """Numbers of the decisions that say something of the cameras that go on."""
    result: dict[str, dict[str, Any]] = {}
    for camera in stood.cameras.values():
        said: dict[str, Any] = {
            "name": camera.naming and camera.naming.number,
            "status": camera.marking and camera.marking.number,
            "notes": [note.number for note in camera.notes],
            "decisions": sorted(camera.decisions),
        }
        if camera.own in names and any(said.values()):
            result[camera.own] = {name: value for name, value in said.items() if value}
    return result


def _write(case: Case, text: str, entry: dict[str, Any]) -> None:
    """Write `cameras.csv`; `case.json` names the one before until the new one is there."""
    known = names_entry(case.folder, case.info) or entry
    known = {k: v for k, v in known.items() if k != "coming"}
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
