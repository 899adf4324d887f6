"""What a case folder says: its tables and objects, checked to belong together."""

import csv
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from samecam.case import check_log, read_case
from samecam.errors import SamecamError

USED = ("good", "weak")
_TABLES = ("images.csv", "clusters.csv", "clusters.json")
_EVIDENCE = "evidence.csv"


@dataclass(frozen=True, slots=True)
class PhotoRow:
    """One row of `images.csv`, and of `clusters.csv` if the photo was used.

    Attributes
    ----------
    path, sha256, status, reason : as there
    image : all columns of `images.csv`, as text
    cluster : its group, −1 for none, None if it was not used
    correlation, margin, p_value : evidence, None where the table has none
    evidence : its row of `evidence.csv`, as text; empty if there is none
    """

    path: str
    sha256: str
    status: str
    reason: str
    image: Mapping[str, str]
    cluster: int | None = None
    correlation: float | None = None
    margin: float | None = None
    p_value: float | None = None
    evidence: Mapping[str, str] = field(default_factory=dict)

    def figure(self, name: str) -> float | None:
        """A number of its row of `evidence.csv`, if it is there."""
        return _number(self.evidence, name)


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One group: its number, its photos, and its object in `clusters.json`."""

    id: int
    photos: list[PhotoRow]
    entry: Mapping[str, Any]

    def number(self, name: str) -> float | None:
        """A figure of the group's object; None if it has none."""
        value = self.entry.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            return None
        return float(value)


@dataclass(frozen=True, slots=True)
class CaseContent:
    """A clustered case.

    Attributes
    ----------
    folder : where it is
    info : `case.json`
    photos : every file found, in the order of `images.csv`
    groups : in the order of their numbers
    words : what the error rates rest on, in sentences; empty if nothing is stated
    hashes : SHA-256 of the files of the case that the report rests on
    log : what the audit log's chain says, in words
    """

    folder: Path
    info: Mapping[str, Any]
    photos: list[PhotoRow]
    groups: list[GroupRow]
    words: list[str] = field(default_factory=list)
    hashes: Mapping[str, str] = field(default_factory=dict)
    log: str = ""

    @property
    def used(self) -> list[PhotoRow]:
        """Photos with a fingerprint, in the order of the store."""
        return [photo for photo in self.photos if photo.cluster is not None]

    @property
    def alone(self) -> list[PhotoRow]:
        """Used photos in no group."""
        return [photo for photo in self.photos if photo.cluster == -1]

    def detail(self, *names: str) -> Any:
        """What the method said: an entry of `clustering.details` of `case.json`, or None."""
        value: Any = self.info.get("clustering", {}).get("details", {})
        for name in names:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value


def read_content(folder: str | os.PathLike[str]) -> CaseContent:
    """Read a clustered case, or say in a sentence why there is nothing to report."""
    place, info = Path(folder), read_case(folder)
    if info.get("state") != "clustered":
        raise SamecamError(
            f"The case {str(folder)!r} has no groups yet (its state is {info.get('state')!r}): run "
            "'samecam cluster' on it first."
        )
    expected = info.get("clustering", {}).get("sha256", {})
    names = [*_TABLES, *([_EVIDENCE] if _EVIDENCE in expected else [])]
    data = {name: _bytes(place, name) for name in names}
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in data.items()}
    for name in names:
        if hashes[name] != expected.get(name, hashes[name]):
            raise _changed(place, name, "is not what was written")
    try:
        return _content(place, info, data, hashes)
    except (ValueError, KeyError, TypeError, AttributeError, csv.Error) as error:
        raise _changed(place, ", ".join(names), f"do not fit together ({error})") from None


def _content(
    folder: Path, info: Mapping[str, Any], data: Mapping[str, bytes], hashes: Mapping[str, str]
) -> CaseContent:
    objects = json.loads(data["clusters.json"])
    photos = _photos(
        _rows(data["images.csv"]),
        _by_path(_rows(data["clusters.csv"])),
        _by_path(_rows(data.get(_EVIDENCE, b""))),
    )
    rests = objects.get("evidence") or {}
    return CaseContent(
        folder,
        info,
        photos,
        _groups(objects["clusters"], photos),
        [str(sentence) for sentence in rests.get("words", [])],
        hashes,
        _log_words(folder / "log.jsonl"),
    )


def _changed(folder: Path, name: str, what: str) -> SamecamError:
    return SamecamError(
        f"{name} of the case {str(folder)!r} {what}: run 'samecam cluster' again, it makes it anew."
    )


def _bytes(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise _changed(folder, name, f"cannot be read ({error.strerror})") from None


def _rows(data: bytes) -> list[dict[str, str]]:
    text = data.decode("utf-8", "surrogateescape")
    return list(csv.DictReader(_lines(text), strict=True))


def _lines(text: str) -> list[str]:
    """Lines with their LF; a lone carriage return inside a cell is no end of a line."""
    return [line + "\n" for line in text.removesuffix("\n").split("\n")]


def _by_path(rows: list[dict[str, str]]) -> dict[str, dict[str, str]]:
    return {row["path"]: row for row in rows}


def _photos(
    images: list[dict[str, str]],
    places: dict[str, dict[str, str]],
    evidence: dict[str, dict[str, str]],
) -> list[PhotoRow]:
    photos = []
    for image in images:
        place = places.pop(image["path"], None)
        if (place is not None) != (image["status"] in USED):
            raise ValueError(f"{image['path']!r} is {image['status']}")
        photos.append(
            PhotoRow(
                path=image["path"],
                sha256=image["sha256"],
                status=image["status"],
                reason=image["reason"],
                image=image,
                cluster=None if place is None else int(place["cluster"]),
                correlation=_number(place, "correlation"),
                margin=_number(place, "margin"),
                p_value=_number(place, "p_value"),
                evidence=evidence.get(image["path"], {}),
            )
        )
    if places:
        raise ValueError(f"{min(places)!r} is not in images.csv")
    return photos


def _number(row: Mapping[str, str] | None, name: str) -> float | None:
    text = "" if row is None else row.get(name) or ""
    value = float(text) if text else None
    return None if value is None or value != value else value


def _groups(entries: list[dict[str, Any]], photos: list[PhotoRow]) -> list[GroupRow]:
    members: list[list[PhotoRow]] = [[] for _ in entries]
    for photo in photos:
        if photo.cluster is not None and photo.cluster >= 0:
            if photo.cluster >= len(members):
                raise ValueError(f"group {photo.cluster} is not in clusters.json")
            members[photo.cluster].append(photo)
    for k, entry in enumerate(entries):
        if entry["id"] != k or [m["path"] for m in entry["members"]] != [
            photo.path for photo in members[k]
        ]:
            raise ValueError(f"group {k} has other members in clusters.csv")
    return [GroupRow(k, members[k], entry) for k, entry in enumerate(entries)]


def _log_words(path: Path) -> str:
    try:
        broken = check_log(path)
    except OSError:
        return "log.jsonl cannot be read"
    if broken is None:
        return "log.jsonl is an unbroken chain"
    return f"log.jsonl is broken at line {broken}: it was changed"
