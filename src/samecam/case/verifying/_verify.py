"""Whether a case is still what it says: inputs, fingerprints, log, and the groups replayed."""

import csv
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from samecam import compute
from samecam.case.folder import (
    CLUSTERS,
    GROUPS,
    IMAGES,
    LOG,
    REPORT,
    START,
    Place,
    SavedCase,
    check_log,
    images_csv,
    labels_of,
    open_case,
    read_places,
    report_is_current,
    used_photos,
    written_hashes,
)
from samecam.case.grouping import group_photos, grouping_memory
from samecam.case.verifying._inputs import InputCheck, check_inputs
from samecam.errors import SamecamError
from samecam.files import file_hash
from samecam.store import DiskStore, Record


@dataclass(frozen=True, slots=True)
class Relabelled:
    """A photo that the replay puts elsewhere."""

    path: str
    stands: int | None
    replayed: int | None


@dataclass(frozen=True, slots=True)
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
    """

    case: Path
    inputs: InputCheck
    rows: int = 0
    damaged: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    replayed: bool = False
    other_device: str = ""
    relabelled: list[Relabelled] = field(default_factory=list)

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
    case: str | os.PathLike[str],
    *,
    resources: compute.Resources | None = None,
    progress: compute.Progress | None = None,
) -> Verification:
    """Check a case against its inputs and itself; nothing is written.

    Inputs are hashed again, rows of the store and the chain of the log are checked, tables are
    compared with the catalogue and with the hashes in `case.json`, and the grouping is replayed
    from the stored fingerprints, on the device that made it if it is here.

    Parameters
    ----------
    case : the case folder
    resources : `workers` are threads that hash, and processes of methods that use some;
        `memory`: what the replay may take, by default what grouping was told, on which the
        answer depends where photos are grouped in batches
    progress : called as progress(phase, done, total) from time to time
    """
    saved, resources = open_case(case), resources or compute.Resources()
    say = progress or compute.no_progress
    try:
        store = saved.open_store()
    except SamecamError as error:
        return Verification(saved.folder, InputCheck(), troubles=[str(error)])
    with store:
        records = store.records()
        inputs = check_inputs(saved.info, records, resources.n_workers, say)
        damaged, troubles = _check_store(store)
        whole = not (damaged or troubles) and _can_replay(saved)
        troubles += [*_log_troubles(saved.folder / LOG, records), *_table_troubles(saved, records)]
        named = _device_of(saved.info)
        device = _same_device(named)
        other = "" if not whole or compute.describe_device(device) == named else named
        relabelled = []
        if whole:
            there = _replay_resources(saved, resources, device, same=not other)
            relabelled = _replay(saved, store, there, say)
        return Verification(
            saved.folder, inputs, len(store), damaged, troubles, whole, other, relabelled
        )


def _check_store(store: DiskStore) -> tuple[list[str], list[str]]:
    """Rows whose bytes changed, and why they could not be checked."""
    try:
        return store.verify(), []
    except SamecamError as error:
        return [], [str(error)]


def _log_troubles(path: Path, records: Sequence[Record]) -> Iterator[str]:
    """The chain, and for every file the last line about it against the catalogue."""
    try:
        broken = check_log(path)
    except OSError as error:
        yield f"{str(path)!r} cannot be read: {error.strerror}."
        return
    if broken is not None:
        yield f"Line {broken} of {str(path)!r} does not follow from the one before it."
        return
    said: dict[str, str] = {}
    for line in path.read_bytes().split(b"\n")[:-1]:
        event = json.loads(line)
        if event.get("event") == "file":
            said[event["path"]] = event["sha256"]
    for record in records:
        if said.get(record.key) != record.sha256:
            yield (
                f"The catalogue has other bytes for {record.key!r} than the log, or the log does "
                "not know it."
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
    if (folder / REPORT).exists() and not report_is_current(folder, saved.info):
        yield (
            f"{str(folder / REPORT)!r} was made from other tables than those of the case: make it "
            "again with samecam report."
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
        start = labels_of(used, read_places(saved.folder / START))
    labels, _ = group_photos(
        store, used, saved.clustering_settings, resources, progress, start=start
    )
    try:
        stands = read_places(saved.folder / CLUSTERS)
    except (OSError, ValueError, KeyError, TypeError, csv.Error):
        stands = {}
    replayed = {p.key: Place(p.sha256, int(k)) for p, k in zip(used, labels, strict=True)}
    return [
        Relabelled(path, _group(stands.get(path)), _group(replayed.get(path)))
        for path in sorted({*stands, *replayed})
        if stands.get(path) != replayed.get(path)
    ]


def _device_of(info: Mapping[str, Any]) -> str:
    """The device that grouped, as it was described."""
    return str(info.get("clustering", {}).get("details", {}).get("device", "cpu"))


def _same_device(description: str) -> str:
    """The device that grouped, if it is here too, else the processor."""
    try:
        return compute.choose_device(description.partition(" ")[0])
    except SamecamError:
        return "cpu"


def _group(place: Place | None) -> int | None:
    return None if place is None else place.group
