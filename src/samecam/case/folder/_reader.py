"""The one reader of a case that is not being written: for reports, exports, matching, checks."""

import csv
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from samecam.arrays import Labels
from samecam.case.folder._clustering import ClusteringSettings
from samecam.case.folder._groups import Group, read_groups
from samecam.case.folder._info import (
    clustering_settings,
    extraction_settings,
    is_of_photos,
    not_clustered,
    read_info,
    written_hashes,
)
from samecam.case.folder._log import check_log
from samecam.case.folder._names import (
    ANSWER,
    CLUSTERS,
    EVIDENCE,
    GROUPS,
    IMAGES,
    LOG,
    REPORT,
    STORE,
    USED,
)
from samecam.case.folder._settings import ExtractionSettings
from samecam.case.folder._sources import Sources, find_sources
from samecam.case.folder._tables import Place, csv_rows, labels_of
from samecam.errors import SamecamError
from samecam.files import file_hash
from samecam.store import DiskStore, Record

Row = Mapping[str, str]

# A report carries a hash of the tables it was made from, and holds for no others.
MARK = "samecam-tables"
_MARK = re.compile(rb'<meta name="samecam-tables" content="([0-9a-f]{64})">')
_HEAD = 4096


@dataclass(frozen=True, slots=True)
class CasePhoto:
    """One file of a case: its rows of `images.csv`, `clusters.csv` and `evidence.csv`.

    Attributes
    ----------
    path, sha256, status, reason : as in `images.csv`
    image : its row of `images.csv`, as text
    cluster : number of its group; −1 is none; None: not used
    duplicate_of : path of the file with the same bytes that stands for it; "" if none does
    correlation, margin, p_value : from `clusters.csv`; None where there is no evidence
    evidence : its row of `evidence.csv`, as text; empty if there is none
    """

    path: str
    sha256: str
    status: str
    reason: str
    image: Row
    cluster: int | None = None
    duplicate_of: str = ""
    correlation: float | None = None
    margin: float | None = None
    p_value: float | None = None
    evidence: Row = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]

    @property
    def size(self) -> int | None:
        """Length in bytes, if it could be read."""
        return int(self.image["bytes"]) if self.image["bytes"] else None

    def figure(self, name: str) -> float | None:
        """A number of its row of `evidence.csv`, if it is there."""
        return _number(self.evidence, name)


@dataclass(frozen=True, slots=True)
class _Answer:
    photos: list[CasePhoto]
    groups: list[Group]
    statements: list[str]
    hashes: dict[str, str]


class SavedCase:
    """A case folder for reading, made by `open_case`. Tables are read when they are asked for.

    Attributes
    ----------
    folder : where it is
    info : content of `case.json`
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder, self.info = Path(folder), read_info(folder)

    def __repr__(self) -> str:
        return f"<SavedCase {str(self.folder)!r}: {self.state}>"

    @property
    def state(self) -> str:
        """How far the case has come: new, extracting, extracted, clustering, clustered, …"""
        return str(self.info.get("state"))

    @property
    def is_of_photos(self) -> bool:
        """Whether it was made from photos, not from fingerprints that somebody brought."""
        return is_of_photos(self.info)

    @property
    def extraction_settings(self) -> ExtractionSettings:
        """How fingerprints of photos are made."""
        return extraction_settings(self.folder, self.info)

    @property
    def clustering_settings(self) -> ClusteringSettings:
        """How the photos were grouped."""
        return clustering_settings(self.folder, self.info)

    @property
    def photos(self) -> list[CasePhoto]:
        """Every file, in the order of `images.csv`."""
        return self._answer.photos

    @property
    def groups(self) -> list[Group]:
        """In the order of their numbers."""
        return self._answer.groups

    @property
    def statements(self) -> list[str]:
        """What the error rates rest on; empty if nothing is stated."""
        return self._answer.statements

    @property
    def hashes(self) -> Mapping[str, str]:
        """SHA-256 of the tables of the answer."""
        return self._answer.hashes

    @property
    def digest(self) -> str:
        """One hash of all tables of the answer: what is made from them belongs to these alone."""
        return tables_digest(self.hashes)

    @property
    def used(self) -> list[CasePhoto]:
        """Photos with a fingerprint, in the order of the store."""
        return [photo for photo in self.photos if photo.cluster is not None]

    @property
    def alone(self) -> list[CasePhoto]:
        """Used photos in no group."""
        return [photo for photo in self.photos if photo.cluster == -1]

    @cached_property
    def _answer(self) -> _Answer:
        return _read_answer(self.folder, self.info)

    def members(self, group: Group) -> list[CasePhoto]:
        """Photos of a group, in the order of their paths."""
        return self._members[group.id]

    @cached_property
    def _members(self) -> list[list[CasePhoto]]:
        members: list[list[CasePhoto]] = [[] for _ in self.groups]
        for photo in self.used:
            if photo.cluster is not None and photo.cluster >= 0:
                members[photo.cluster].append(photo)
        return members

    def detail(self, *names: str) -> Any:
        """What the method said: an entry of `clustering.details` of `case.json`, or None."""
        value: Any = self.info.get("clustering", {}).get("details", {})
        for name in names:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def photos_as_they_stand(self) -> list[CasePhoto]:
        """Every file with its group as the tables say now, finished or not, changed or not."""
        if not (self.folder / CLUSTERS).exists():
            raise not_clustered(self.folder)
        data = {name: _read(self.folder, name) for name in (IMAGES, CLUSTERS)}
        try:
            places = {row["path"]: row for row in csv_rows(data[CLUSTERS])}
            return _photos(csv_rows(data[IMAGES]), places, {})
        except (ValueError, KeyError, TypeError, AttributeError, csv.Error) as error:
            raise _misfit(self.folder, error) from None

    def open_store(self) -> DiskStore:
        """The fingerprints, for reading."""
        return DiskStore.open(self.folder / STORE)

    def labels(self, photos: Sequence[Record]) -> Labels:
        """Groups of the records of the store that are used, which must be those of the answer."""
        places = {p.path: Place(p.sha256, p.cluster) for p in self.photos if p.cluster is not None}
        if list(places) != [photo.key for photo in photos]:
            raise _unfinished(self.folder, self.state)
        return labels_of(photos, places)

    def sources(self) -> Sources:
        """Where its photos are now."""
        return find_sources(self.info, [photo.path for photo in self.photos])

    def broken_log_line(self) -> int | None:
        """First line of the log that does not follow from the one before; None: all do."""
        try:
            return check_log(self.folder / LOG)
        except OSError as error:
            path = str(self.folder / LOG)
            raise SamecamError(f"{path!r} cannot be read: {error.strerror}.") from None

    def log_entries(self, event: str) -> Iterator[dict[str, Any]]:
        """Lines of the log about one kind of event; what cannot be read is passed over."""
        wanted = f'"event": "{event}"'.encode()
        try:
            with open(self.folder / LOG, "rb") as stream:
                for line in stream:
                    if wanted in line:
                        yield json.loads(line)
        except (OSError, ValueError):
            return


def open_case(folder: str | os.PathLike[str]) -> SavedCase:
    """Open a case for reading; nothing in it is changed.

    ``open_case("CASE").groups`` are its groups, ``.photos`` all its files.
    """
    return SavedCase(folder)


def open_store(folder: str | os.PathLike[str]) -> DiskStore:
    """The fingerprints of a case, for reading."""
    return SavedCase(folder).open_store()


def tables_digest(hashes: Mapping[str, str]) -> str:
    """One hash for the hashes of several files."""
    text = "".join(f"{name} {hashes[name]}\n" for name in sorted(hashes))
    return hashlib.sha256(text.encode()).hexdigest()


def report_is_current(folder: Path, info: Mapping[str, Any]) -> bool:
    """Whether the report of a case was made from the tables that stand there now."""
    hashes = {IMAGES: file_hash(folder / IMAGES)}
    hashes |= {name: file_hash(folder / name) for name in written_hashes(info)}
    try:
        with open(folder / REPORT, "rb") as stream:
            mark = _MARK.search(stream.read(_HEAD))
    except OSError:
        return False
    return mark is not None and mark[1].decode() == tables_digest(hashes)


def _read_answer(folder: Path, info: Mapping[str, Any]) -> _Answer:
    """The tables of a clustered case, checked against `case.json` and each other."""
    expected = written_hashes(info)
    if CLUSTERS not in expected:
        raise not_clustered(folder)
    if info.get("state") != "clustered":
        raise _unfinished(folder, info.get("state"))
    names = [IMAGES, *(name for name in ANSWER if name in expected)]
    data = {name: _read(folder, name) for name in names}
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in data.items()}
    for name in names:
        if hashes[name] != expected.get(name, hashes[name]):
            raise _damaged(folder / name, "is not as it was written")
    try:
        return _joined(data, hashes)
    except (ValueError, KeyError, TypeError, AttributeError, csv.Error) as error:
        raise _misfit(folder, error) from None


def _read(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise _damaged(folder / name, f"cannot be read ({error.strerror})") from None


def _damaged(path: Path, what: str) -> SamecamError:
    return SamecamError(
        f"{str(path)!r} {what}: see samecam verify, or run samecam cluster again, which makes it "
        "anew."
    )


def _misfit(folder: Path, error: Exception) -> SamecamError:
    return _damaged(folder, f"has tables that do not fit together ({error})")


def _unfinished(folder: Path, state: object) -> SamecamError:
    return SamecamError(f"{str(folder)!r} is not finished ({state}): give its last command again.")


def _joined(data: Mapping[str, bytes], hashes: dict[str, str]) -> _Answer:
    objects = json.loads(data[GROUPS])
    places = {row["path"]: row for row in csv_rows(data[CLUSTERS])}
    facts = {row["path"]: row for row in csv_rows(data.get(EVIDENCE, b""))}
    photos = _photos(csv_rows(data[IMAGES]), places, facts)
    _check_used(photos, places)
    groups = read_groups(objects)
    if groups is None:
        raise ValueError(f"{GROUPS} has version {objects['version']!r}")
    _check_members(groups, photos)
    about = objects.get("evidence") or {}
    return _Answer(photos, groups, [str(text) for text in about.get("words", [])], hashes)


def _photos(
    images: list[dict[str, str]], places: dict[str, Any], facts: Mapping[str, Row]
) -> list[CasePhoto]:
    read = [row for row in images if row["sha256"] and row["status"] != "duplicate"]
    owners = {row["sha256"]: row["path"] for row in read}
    photos = []
    for image in images:
        place = places.get(image["path"])
        duplicate = image["status"] == "duplicate"
        photos.append(
            CasePhoto(
                path=image["path"],
                sha256=image["sha256"],
                status=image["status"],
                reason=image.get("reason") or "",
                image=image,
                cluster=None if place is None else int(place["cluster"]),
                duplicate_of=owners.get(image["sha256"], "") if duplicate else "",
                correlation=_number(place, "correlation"),
                margin=_number(place, "margin"),
                p_value=_number(place, "p_value"),
                evidence=facts.get(image["path"], {}),
            )
        )
    return photos


def _check_used(photos: Sequence[CasePhoto], places: Mapping[str, Row]) -> None:
    """Refuse a table of groups that has not just the used photos."""
    for photo in photos:
        if (photo.cluster is not None) != (photo.status in USED):
            raise ValueError(f"{photo.path!r} is {photo.status}")
    if unknown := set(places) - {photo.path for photo in photos}:
        raise ValueError(f"{min(unknown)!r} is not in {IMAGES}")


def _number(row: Row | None, name: str) -> float | None:
    text = "" if row is None else row.get(name) or ""
    value = float(text) if text else None
    return None if value is None or value != value else value


def _check_members(groups: Sequence[Group], photos: Sequence[CasePhoto]) -> None:
    """Refuse groups that have other members in `clusters.csv`."""
    members: list[list[str]] = [[] for _ in groups]
    for photo in photos:
        if photo.cluster is not None and photo.cluster >= 0:
            if photo.cluster >= len(members):
                raise ValueError(f"group {photo.cluster} is not in {GROUPS}")
            members[photo.cluster].append(photo.path)
    for k, group in enumerate(groups):
        if group.id != k or group.paths != members[k]:
            raise ValueError(f"group {k} has other members in {CLUSTERS}")
