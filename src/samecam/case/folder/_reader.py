"""The answer that stands in a case, for those who only read it."""

import csv
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from samecam.arrays import Labels
from samecam.case.folder._settings import ExtractionSettings
from samecam.case.grouping._method import ClusteringSettings
from samecam.errors import SamecamError
from samecam.store import FingerprintStore, Record

TABLE, OBJECTS, START = "clusters.csv", "clusters.json", "start.csv"
_STATUSES = ("good", "weak")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a photo stands in a table of groups: its hash and its group."""

    sha256: str
    group: int


def used_photos(store: FingerprintStore) -> list[Record]:
    """The photos that are grouped, sorted by path."""
    return [r for r in store.records() if r.meta["status"] in _STATUSES and r.has_row]


def file_hash(path: Path) -> str:
    """SHA-256 of a file of the case, or nothing if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def written_hash(info: Mapping[str, Any], name: str) -> str | None:
    """What `case.json` says the hash of an answer's file is."""
    hashes = info.get("clustering", {}).get("sha256")
    return hashes.get(name) if isinstance(hashes, dict) else None


def read_places(path: Path) -> dict[str, Place]:
    """Rows of `clusters.csv`, or of a table like it, by path."""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
        rows = csv.DictReader(stream)
        return {row["path"]: Place(row["sha256"], int(row["cluster"])) for row in rows}


def labels_of(photos: Sequence[Record], places: Mapping[str, Place]) -> Labels:
    """Groups of photos; −1 for one that is not there, or was another file."""
    none = Place("", -1)
    found = ((p, places.get(p.key, none)) for p in photos)
    labels = [place.group if place.sha256 == p.sha256 else -1 for p, place in found]
    return np.array(labels, dtype=np.intp)


def standing_labels(folder: Path, info: Mapping[str, Any], photos: Sequence[Record]) -> Labels:
    """Groups of the used photos as they stand in the case, or a sentence why not."""
    path, wanted = folder / TABLE, written_hash(info, TABLE)
    if wanted is None:
        raise SamecamError(f"{str(folder)!r} has not been clustered yet: run samecam cluster.")
    if file_hash(path) != wanted:
        raise SamecamError(
            f"{str(path)!r} is not as it was written: see samecam verify, or run samecam cluster "
            "again."
        )
    places = read_places(path)
    if list(places) != [photo.key for photo in photos]:
        raise SamecamError(
            f"{str(folder)!r} is not finished ({info.get('state')}): give its last command again."
        )
    return labels_of(photos, places)


def extraction_settings(folder: Path, info: Mapping[str, Any]) -> ExtractionSettings:
    """How the case makes fingerprints of photos, or a sentence that it does not."""
    had = dict(info["extraction"])
    if "fingerprints" in had:
        raise SamecamError(
            f"The case {str(folder)!r} was made from a file of fingerprints, not from photos: how "
            "others are to be made is not known."
        )
    try:
        return ExtractionSettings(**{**had, "offset": tuple(had["offset"])})
    except (TypeError, KeyError, ValueError) as error:
        raise SamecamError(
            f"The entry 'extraction' of {str(folder / 'case.json')!r} cannot be read ({error}): "
            "restore the file from a copy."
        ) from None


def clustering_settings(folder: Path, info: Mapping[str, Any]) -> ClusteringSettings:
    """How the case was grouped, or a sentence that it was not."""
    entry = info.get("clustering")
    if not entry:
        raise SamecamError(f"{str(folder)!r} has not been clustered yet: run samecam cluster.")
    try:
        settings = ClusteringSettings(
            entry["method"], entry["options"], entry["seed"], entry["preset"]
        )
    except (TypeError, KeyError) as error:
        raise SamecamError(
            f"The entry 'clustering' of {str(folder / 'case.json')!r} cannot be read ({error}): "
            "restore the file from a copy."
        ) from None
    settings.estimator()
    return settings
