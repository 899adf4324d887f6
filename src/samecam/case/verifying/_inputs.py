"""The files a case was made from, hashed again."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from samecam import compute
from samecam.case.extraction import open_vectors
from samecam.case.folder import find_sources, is_of_photos
from samecam.errors import SamecamError
from samecam.inputs import hash_input, in_time
from samecam.store import Record

PHASE = "Hashing"
# Seconds until a file is taken not to answer: these, and its length over the slowest of disks.
_PATIENCE, _SLOWEST = 60.0, 1e6


@dataclass(frozen=True, slots=True, repr=False)
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

    def __repr__(self) -> str:
        lost = f"{len(self.missing)} missing, {len(self.changed)} changed"
        return f"<InputCheck of {self.checked} files: {lost}, {self.new} new>"


def check_inputs(
    info: Mapping[str, Any], records: Sequence[Record], workers: int, progress: compute.Progress
) -> InputCheck:
    """Hash every file whose hash the case has, with `workers` threads."""
    wanted = {record.key: record.sha256 for record in records if record.sha256}
    if not is_of_photos(info):
        return _check_vectors(info["sources"], wanted)
    paths = [record.key for record in records]
    sources = find_sources(info, paths)
    known = sorted(wanted)
    missing, changed = [], []
    with ThreadPoolExecutor(workers) as pool:
        hashes = pool.map(lambda path: _hash(sources.files.get(path)), known)
        for done, (path, sha256) in enumerate(zip(known, hashes, strict=True), start=1):
            if sha256 is None:
                missing.append(path)
            elif sha256 != wanted[path]:
                changed.append(path)
            progress(PHASE, done, len(known))
    new = len(set(sources.files) - set(paths))
    return InputCheck(len(known), missing, changed, sources.lost, new)


def _hash(file: str | None) -> str | None:
    """SHA-256 of a file, opened for reading alone; None if it cannot be read, or not in time."""
    if file is None:
        return None
    try:
        length = in_time(os.stat, file, _PATIENCE).st_size
        return in_time(hash_input, file, _PATIENCE + length / _SLOWEST)["sha256"]
    except OSError:
        return None


def _check_vectors(sources: Sequence[str], wanted: Mapping[str, str]) -> InputCheck:
    """Rows of a file of fingerprints, hashed again."""
    try:
        vectors = open_vectors(sources[0], sources[1] if len(sources) > 1 else None)
    except SamecamError:
        return InputCheck(len(wanted), sorted(wanted), lost_sources=list(sources))
    now = {
        name: hashlib.sha256(np.array(row).tobytes()).hexdigest()
        for name, row in zip(vectors.names, vectors.rows, strict=True)
    }
    missing = sorted(set(wanted) - set(now))
    changed = sorted(name for name in set(wanted) & set(now) if now[name] != wanted[name])
    return InputCheck(len(wanted), missing, changed, new=len(set(now) - set(wanted)))
