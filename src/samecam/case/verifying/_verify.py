"""Whether a case is still what it says: inputs, fingerprints, log, and the groups replayed."""

import csv
import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from samecam import compute
from samecam.arrays import Labels
from samecam.case._means import Means
from samecam.case.extraction import _worker
from samecam.case.extraction._prepare import Progress
from samecam.case.extraction._vectors import open_vectors
from samecam.case.folder._case import images_csv, open_store, read_case
from samecam.case.folder._log import check_log
from samecam.case.folder._reader import (
    OBJECTS,
    START,
    TABLE,
    Place,
    clustering_settings,
    file_hash,
    labels_of,
    read_places,
    used_photos,
)
from samecam.case.grouping._add import group_from
from samecam.case.grouping._method import default_memory, group_photos
from samecam.errors import SamecamError
from samecam.photos import PhotoFile, scan
from samecam.store import DiskStore, FingerprintStore, Record

PHASE = "Hashing"
_CHUNK = 2**20


@dataclass(frozen=True, slots=True)
class InputCheck:
    """The files the case was made from, hashed again.

    Attributes
    ----------
    checked : files whose hash the case has
    missing : of these, not found or not readable
    changed : of these, with other bytes than were decoded
    lost_sources : photo arguments under which nothing can be found (a drive that is not there)
    new : files found that the case has not; no difference
    """

    checked: int = 0
    missing: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    lost_sources: list[str] = field(default_factory=list)
    new: int = 0


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
    memory: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Check a case against its inputs and itself; nothing is written.

    Inputs are hashed again, rows of the store and the chain of the log are checked, tables are
    compared with the catalogue and with the hashes in `case.json`, and the grouping is replayed
    from the stored fingerprints.

    Parameters
    ----------
    case : the case folder
    memory : bytes that the replay may take; default what grouping was told, on which the
        answer depends where photos are grouped in batches
    workers : threads that hash, and processes of methods that use some; default one a core
    progress : called as progress(phase, done, total) from time to time
    """
    folder, info = Path(case), read_case(case)
    n_workers, say = compute.worker_count(workers), progress or (lambda *_: None)
    try:
        store = open_store(folder)
    except SamecamError as error:
        return Verification(folder, InputCheck(), troubles=[str(error)])
    with store:
        records = store.records()
        inputs = _check_inputs(info, records, n_workers, say)
        damaged, troubles = _check_store(store)
        whole = not (damaged or troubles) and _can_replay(folder, info)
        troubles += _check_files(folder, info, records)
        named = _device_of(info)
        device = _same_device(named)
        other = "" if not whole or compute.device_words(device) == named else named
        relabelled = _replay(folder, info, store, memory, n_workers, say, device) if whole else []
        return Verification(folder, inputs, len(store), damaged, troubles, whole, other, relabelled)


def _check_inputs(
    info: Mapping[str, Any], records: Sequence[Record], workers: int, progress: Progress
) -> InputCheck:
    wanted = {record.key: record.sha256 for record in records if record.sha256}
    if "fingerprints" in info["extraction"]:
        return _check_vectors(info["sources"], wanted)
    files, lost = _files(info, {record.key for record in records})
    known = sorted(wanted)
    missing, changed = [], []
    with ThreadPoolExecutor(workers) as pool:
        hashes = pool.map(lambda path: _hash(files.get(path)), known)
        for done, (path, found) in enumerate(zip(known, hashes, strict=True), start=1):
            if found is None:
                missing.append(path)
            elif found != wanted[path]:
                changed.append(path)
            progress(PHASE, done, len(known))
    new = len(set(files) - {record.key for record in records})
    return InputCheck(len(known), missing, changed, lost, new)


def _files(info: Mapping[str, Any], keys: set[str]) -> tuple[dict[str, str], list[str]]:
    """Files by path in the case, as far as their sources are there, and sources that are not.

    A path of the case is only ever looked up among what is found, never opened itself.
    """
    files: dict[str, str] = {}
    lost: list[str] = []
    rounds = [{"folder": "", "sources": info["sources"]}, *info.get("added", [])]
    for entry in rounds:
        front, found = entry["folder"], []
        for argument in entry["sources"]:
            try:
                found.append(scan([argument]))
            except SamecamError:
                lost.append(argument)
        if len(found) == len(entry["sources"]):
            named = scan(entry["sources"])
            files.update((_under(front, item.path), item.file) for item in named)
        else:
            for items in found:
                files.update(_guessed(items, front, keys))
    return files, lost


def _under(*parts: str) -> str:
    return "/".join(part for part in parts if part)


def _guessed(items: Sequence[PhotoFile], front: str, keys: set[str]) -> dict[str, str]:
    """Files of one argument by path in the case, where other arguments are not there.

    With several, parts of the argument's own folder stand before the paths: as many as fit
    most files of the case.
    """
    best: dict[str, str] = {}
    fitting = -1
    deepest = max((item.file.count("/") for item in items), default=0)
    for depth in range(deepest + 1):
        named = {}
        for item in items:
            root = item.file.removesuffix(item.path).strip("/").split("/")
            above = root[len(root) - depth :] if depth <= len(root) else root
            named[_under(front, *above, item.path)] = item.file
        hits = len(keys.intersection(named))
        if hits > fitting:
            best, fitting = named, hits
    return best


def _hash(file: str | None) -> str | None:
    """SHA-256 of a file, opened for reading alone; None if it cannot be read."""
    if file is None:
        return None
    try:
        with _worker._open(file) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                return None
            digest = hashlib.sha256()
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
            return digest.hexdigest()
    except OSError:
        return None


def _check_vectors(sources: Sequence[str], wanted: Mapping[str, str]) -> InputCheck:
    """Rows of a file of fingerprints, hashed again."""
    try:
        vectors = open_vectors(sources[0], sources[1] if len(sources) > 1 else None)
    except SamecamError:
        return InputCheck(len(wanted), sorted(wanted), lost_sources=list(sources))
    found = {
        name: hashlib.sha256(np.array(row).tobytes()).hexdigest()
        for name, row in zip(vectors.names, vectors.rows, strict=True)
    }
    missing = sorted(set(wanted) - set(found))
    changed = sorted(name for name in set(wanted) & set(found) if found[name] != wanted[name])
    return InputCheck(len(wanted), missing, changed, new=len(set(found) - set(wanted)))


def _check_store(store: FingerprintStore) -> tuple[list[str], list[str]]:
    """Rows whose bytes changed, and why they could not be checked."""
    if not isinstance(store, DiskStore):
        return [], []
    try:
        return store.verify(), []
    except SamecamError as error:
        return [], [str(error)]


def _check_files(folder: Path, info: Mapping[str, Any], records: Sequence[Record]) -> list[str]:
    """What is wrong with the log and the tables, in sentences."""
    return [
        *_log_troubles(folder / "log.jsonl", records),
        *_table_troubles(folder, info, records),
    ]


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


def _table_troubles(
    folder: Path, info: Mapping[str, Any], records: Sequence[Record]
) -> Iterator[str]:
    """Tables against the catalogue, and against the hashes in `case.json`."""
    state, entry = info.get("state"), info.get("clustering")
    if state != ("clustered" if entry else "extracted"):
        yield f"{str(folder)!r} is not finished ({state}): give its last command again."
        return
    text = images_csv(records).encode("utf-8", "surrogateescape")
    if file_hash(folder / "images.csv") != hashlib.sha256(text).hexdigest():
        yield f"{str(folder / 'images.csv')!r} is not what the catalogue says."
    if not entry:
        return
    hashes = {**entry.get("sha256", {})}
    if "start" in entry:
        hashes[START] = entry["start"]
    for name in sorted({TABLE, OBJECTS, *hashes}):
        if file_hash(folder / name) != hashes.get(name):
            yield f"{str(folder / name)!r} is not as it was written."


def _can_replay(folder: Path, info: Mapping[str, Any]) -> bool:
    """Whether there is an answer, and what it began with is as it was."""
    entry = info.get("clustering")
    if info.get("state") != "clustered" or not entry:
        return False
    return "start" not in entry or file_hash(folder / START) == entry["start"]


def _replay(
    folder: Path,
    info: Mapping[str, Any],
    store: FingerprintStore,
    memory: int | None,
    workers: int,
    progress: Progress,
    device: str,
) -> list[Relabelled]:
    """Group the stored fingerprints again, and compare."""
    used, clustering = used_photos(store), clustering_settings(folder, info)
    told, here = info["clustering"].get("details", {}).get("memory_bytes"), None
    if not isinstance(told, int) or compute.device_words(device) != _device_of(info):
        here = default_memory(clustering, device)
    memory = memory or min(size for size in (told, here) if isinstance(size, int))
    labels: Labels
    if "start" in info["clustering"]:
        start = labels_of(used, read_places(folder / START))
        means = Means(workers, device=device)
        labels, _ = group_from(
            store, used, clustering, start, memory=memory, progress=progress, means=means
        )
    else:
        labels, _ = group_photos(
            store,
            used,
            clustering,
            memory=memory,
            workers=workers,
            progress=progress,
            device=device,
        )
    try:
        stands = read_places(folder / TABLE)
    except (OSError, ValueError, KeyError, TypeError, csv.Error):
        stands = {}
    replayed = {p.key: Place(p.sha256, int(k)) for p, k in zip(used, labels, strict=True)}
    return [
        Relabelled(path, _group(stands.get(path)), _group(replayed.get(path)))
        for path in sorted({*stands, *replayed})
        if stands.get(path) != replayed.get(path)
    ]


def _device_of(info: Mapping[str, Any]) -> str:
    """The device that grouped, in words."""
    return str(info.get("clustering", {}).get("details", {}).get("device", "cpu"))


def _same_device(words: str) -> str:
    """The device that grouped, if it is here too, else the processor."""
    try:
        return compute.choose_device(words.partition(" ")[0])
    except SamecamError:
        return "cpu"


def _group(place: Place | None) -> int | None:
    return None if place is None else place.group
