"""Whether a case is still what it says: inputs, fingerprints, log, and the cameras replayed."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from samecam import compute
from samecam.case.folder import (
    CASE,
    CLUSTERS,
    GROUPS,
    IMAGES,
    LOG,
    REPORT,
    START,
    STORE,
    LogCheck,
    Place,
    SavedCase,
    has_views,
    images_csv,
    labels_of,
    open_case,
    read_log,
    read_places,
    report_is_current,
    used_photos,
    written_hashes,
)
from samecam.case.grouping import (
    camera_places,
    check_budget,
    find_groups,
    frame_counts,
    grouping_memory,
)
from samecam.case.verifying._decisions import decision_troubles, replay_decisions
from samecam.case.verifying._inputs import InputCheck, check_inputs
from samecam.errors import SamecamError
from samecam.files import file_hash
from samecam.inputs import PathLike
from samecam.notebook import counted, table
from samecam.store import DiskStore, Record

# How far a replayed view may be from that which stands, as a share of the scale and in pixels.
_SCALE, _SHIFT = 1e-3, 1.0


@dataclass(frozen=True, slots=True)
class Relabelled:
    """A photo that the replay puts elsewhere.

    Attributes
    ----------
    path : of the photo
    stands, replayed : numbers of its camera; −1: none; None: it is not there
    stands_group, replayed_group : numbers of its group, likewise
    view : whether it is the view that differs
    """

    path: str
    stands: int | None
    replayed: int | None
    stands_group: int | None
    replayed_group: int | None
    view: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Verification:
    """What was checked, and everything that is not as it was written.

    Attributes
    ----------
    case : the case folder
    inputs : the files it was made from
    rows : fingerprints checked
    damaged : fingerprints whose bytes changed, by path
    troubles : sentences on the store, the log and the files of the case; none if all is well
    replayed : whether the grouping was replayed
    other_device : the device that grouped, if the replay had to do without it: what rounding
        decides may then differ
    relabelled : photos that the replay puts elsewhere
    lines : lines of the log that follow from one another
    head : SHA-256 of the last of them, to be noted elsewhere: whoever can write to the case can
        write all of it anew, log and hashes too, and nothing inside it would tell
    noted_line : line of the log with the head that was noted elsewhere; None if none was given,
        or if the log does not hold it
    """

    case: Path
    inputs: InputCheck
    rows: int = 0
    damaged: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    replayed: bool = False
    other_device: str = ""
    relabelled: list[Relabelled] = field(default_factory=list)
    lines: int = 0
    head: str = ""
    noted_line: int | None = None

    def __repr__(self) -> str:
        what = "agrees" if self.agrees else "DIFFERS"
        checked = f"{counted(self.inputs.checked, 'file')}, {counted(self.rows, 'fingerprint')}"
        replayed = ", grouping replayed" if self.replayed else ""
        return f"<Verification of {str(self.case)!r}: {what}; {checked}{replayed}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: whether it agrees, and all that does not."""
        rows = [
            *(("input missing", path) for path in self.inputs.missing),
            *(("input changed", path) for path in self.inputs.changed),
            *(("fingerprint damaged", path) for path in self.damaged),
            *(("placed elsewhere", photo.path) for photo in self.relabelled),
            *(("trouble", text) for text in self.troubles),
        ]
        notes = [f"Head of the log: {self.head}"] if self.head else []
        return table(repr(self)[1:-1], ("what", "where"), rows, notes=notes)

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        inputs = self.inputs
        return not (
            inputs.missing or inputs.changed or self.damaged or self.troubles or self.relabelled
        )

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {**asdict(self), "case": str(self.case), "agrees": self.agrees}


def verify_case(
    case: PathLike,
    *,
    head: str | None = None,
    resources: compute.Resources | None = None,
    progress: compute.Progress | None = None,
) -> Verification:
    """Check a case against its inputs and itself; nothing is written.

    Inputs are hashed again, rows of the store and the chain of the log are checked, settings,
    catalogue and tables are compared with the log, with each other and with the hashes in
    `case.json`, and the grouping is replayed from the stored fingerprints, on the device that
    made it if it is here; so are decisions that it honours. Whatever keeps a file of the case from
    being read is a trouble that is named, not an error.

    Parameters
    ----------
    case : the case folder
    head : SHA-256 of a line of the log that was noted elsewhere; the log must hold it
    resources : `workers` are threads that hash, and processes of methods that use some;
        `memory`: what the replay may take, by default what grouping was told, on which the
        answer depends where photos are grouped in batches
    progress : called as progress(phase, done, total) from time to time

    Examples
    --------
    >>> checked = samecam.verify_case("CASE")
    >>> assert checked.agrees, checked.troubles
    """
    folder, resources = Path(case), resources or compute.Resources()
    say = compute.shown_progress(progress)
    log, troubles = _read_log(folder / LOG, head)
    try:
        saved = open_case(case)
        store = saved.open_store()
    except SamecamError as error:
        if not any(os.path.lexists(folder / name) for name in (CASE, LOG, STORE)):
            raise
        broken = Verification(folder, InputCheck(), troubles=[str(error), *troubles])
        return _with_log(broken, log)
    with store:
        _check_memory(saved, store, resources)
        records = store.records()
        inputs = check_inputs(saved.info, records, resources.n_workers, say)
        damaged, unreadable = _check_store(store)
        whole = not (damaged or unreadable) and _can_replay(saved)
        troubles = [
            *unreadable,
            *troubles,
            *_log_troubles(store, log),
            *_table_troubles(saved, records),
            *decision_troubles(saved),
        ]
        named = _device_of(saved.info)
        device = _same_device(named)
        other = "" if not whole or compute.describe_device(device) == named else named
        relabelled = []
        if whole:
            try:
                there = _replay_resources(saved, resources, device, same=not other)
                relabelled = _replay(saved, store, there, say)
                if not relabelled:
                    troubles += replay_decisions(saved, store, there, say)
            except SamecamError as error:
                troubles.append(f"The grouping cannot be replayed: {error}")
                whole = False
        result = Verification(
            folder,
            inputs,
            sum(r.has_row for r in records),
            damaged,
            troubles,
            whole,
            other,
            relabelled,
        )
        return _with_log(result, log)


def _with_log(result: Verification, log: LogCheck) -> Verification:
    return replace(result, lines=log.lines, head=log.head, noted_line=log.noted)


def _check_memory(saved: SavedCase, store: DiskStore, resources: compute.Resources) -> None:
    """Refuse, before the work, a budget that cannot do for the replay: that is no difference."""
    if resources.memory is None or not _can_replay(saved):
        return
    try:
        settings = saved.clustering_settings
    except SamecamError:
        return  # told later, by the replay
    alone = compute.Resources(workers=1, device="cpu", memory=resources.memory)
    counts = frame_counts(used_photos(store))
    check_budget(counts, store.dtype, settings, alone, weighing=False)


def _read_log(path: Path, head: str | None) -> tuple[LogCheck, list[str]]:
    """The log, and what is wrong with its chain."""
    try:
        log = read_log(path, head or "")
    except OSError as error:
        return LogCheck(), [f"{str(path)!r} cannot be read: {error.strerror}."]
    except SamecamError as error:
        return LogCheck(), [str(error)]
    troubles = []
    if log.broken is not None:
        troubles.append(f"Line {log.broken} of {str(path)!r} does not follow from the one before.")
    if head is not None and log.noted is None:
        troubles.append(
            f"{str(path)!r} does not hold the head {head}: lines up to it were changed or cut off, "
            "or it was noted of another case."
        )
    return log, [*troubles, *_settings_troubles(path.parent, log)]


def _check_store(store: DiskStore) -> tuple[list[str], list[str]]:
    """Rows whose bytes changed, and why they could not be checked."""
    try:
        return store.verify(), []
    except SamecamError as error:
        return [], [str(error)]


def _settings_troubles(folder: Path, log: LogCheck) -> Iterator[str]:
    """Settings against the hashes that the log has of them."""
    path = str(folder / LOG)
    if not log.saved and log.broken is None:
        yield f"{path!r} does not say under which settings the case was made."
    for name, wanted in sorted(log.saved.items()):
        if log.broken is None and file_hash(folder / name) != wanted:
            yield (
                f"{str(folder / name)!r} is not what {path!r} says was written: it was changed, "
                "or a run was killed there, which the same command mends."
            )
    if log.changed is not None:
        yield f"Line {log.changed} of {path!r} says that {CASE} had been changed by somebody."


def _log_troubles(store: DiskStore, log: LogCheck) -> Iterator[str]:
    """The catalogue and the hash of every file against what the log says of them."""
    if log.broken is not None or not log.lines:
        return
    said = log.files
    differing = [r.key for r in store.records() if said.get(r.key) != r.sha256]
    for key in differing:
        yield (
            f"The catalogue has other bytes for {key!r} than the log, or the log does not know it."
        )
    if not differing and log.records != store.digest():
        yield (
            f"The catalogue of {str(store.folder)!r} is not what the log says: what it says of a "
            "photo or of a fingerprint was changed."
        )


def _table_troubles(saved: SavedCase, records: Sequence[Record]) -> Iterator[str]:
    """Tables against the catalogue, and against the hashes in `case.json`."""
    folder, entry = saved.folder, saved.info.get("clustering")
    if saved.state != ("clustered" if entry else "extracted"):
        yield f"{str(folder)!r} is not finished ({saved.state}): give its last command again."
        return
    text = images_csv(records).encode("utf-8", "surrogateescape")
    if file_hash(folder / IMAGES) != hashlib.sha256(text).hexdigest():
        yield f"{str(folder / IMAGES)!r} is not what the catalogue says."
    if not entry:
        return
    hashes = written_hashes(saved.info)
    if "start" in entry:
        hashes[START] = entry["start"]
    for name in sorted({CLUSTERS, GROUPS, *hashes}):
        if file_hash(folder / name) != hashes.get(name):
            yield f"{str(folder / name)!r} is not as it was written."
    if os.path.lexists(folder / REPORT) and not report_is_current(folder, saved.info):
        yield (
            f"{str(folder / REPORT)!r} was made from other tables than those of the case, or was "
            "changed: make it again with samecam report."
        )


def _can_replay(saved: SavedCase) -> bool:
    """Whether there is an answer, and what it began with is as it was."""
    entry = saved.info.get("clustering")
    if saved.state != "clustered" or not entry:
        return False
    return "start" not in entry or file_hash(saved.folder / START) == entry["start"]


def _replay_resources(
    saved: SavedCase, resources: compute.Resources, device: str, *, same: bool
) -> compute.Resources:
    """The device that grouped, and as much memory as it was told, if that can be had."""
    there = compute.Resources(workers=resources.n_workers, device=device, memory=resources.memory)
    if resources.memory is not None:
        return there
    sizes = [saved.detail("memory_bytes")]
    if not isinstance(sizes[0], int) or not same:
        sizes.append(grouping_memory(saved.clustering_settings, there))
    memory = min(size for size in sizes if isinstance(size, int))
    return compute.Resources(workers=resources.n_workers, device=device, memory=memory)


def _replay(
    saved: SavedCase, store: DiskStore, resources: compute.Resources, progress: compute.Progress
) -> list[Relabelled]:
    """Group the stored fingerprints again, and compare."""
    used, start = used_photos(store), None
    if "start" in saved.info["clustering"]:
        _, start = labels_of(used, read_places(saved.folder / START))
    cameras, _ = find_groups(
        store, used, saved.clustering_settings, resources, progress, start=start
    )
    try:
        stands = read_places(saved.folder / CLUSTERS)
    except SamecamError:
        stands = {}
    hashes = [photo.sha256 for photo in used]
    places = camera_places(hashes, cameras, views=has_views(saved.info))
    replayed = {photo.key: place for photo, place in zip(used, places, strict=True)}
    both = ((path, stands.get(path), replayed.get(path)) for path in sorted({*stands, *replayed}))
    return [_relabelled(*one) for one in both if not _agree(*one[1:])]


def _agree(stands: Place | None, replayed: Place | None) -> bool:
    """Whether two places are the same, views up to what rounding does on other machines."""
    if stands is None or replayed is None:
        return stands is replayed
    if replace(stands, view=None) != replace(replayed, view=None):
        return False
    one, other = stands.view, replayed.view
    if one is None or other is None:
        return one is other
    near = math.isclose(one.scale, other.scale, rel_tol=_SCALE) and all(
        abs(a - b) <= _SHIFT for a, b in zip(one.shift, other.shift, strict=True)
    )
    return near and (one.turn, one.mirrored) == (other.turn, other.mirrored)


def _relabelled(path: str, stands: Place | None, replayed: Place | None) -> Relabelled:
    both = (stands, replayed)
    was, now = (None if place is None else place.camera for place in both)
    group, other = (None if place is None else place.group for place in both)
    return Relabelled(path, was, now, group, other, view=was == now and group == other)


def _device_of(info: Mapping[str, Any]) -> str:
    """The device that grouped, as it was described."""
    return str(info.get("clustering", {}).get("details", {}).get("device", "cpu"))


def _same_device(description: str) -> str:
    """The device that grouped, if it is here too, else the processor."""
    try:
        return compute.choose_device(description.partition(" ")[0])
    except SamecamError:
        return "cpu"
