"""The tables of an answer, read and checked: `images.csv`, `clusters.csv` and what goes with it."""

import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from samecam.case.folder._groups import Camera, all_groups, read_cameras
from samecam.case.folder._info import has_views, not_clustered, written_hashes
from samecam.case.folder._names import (
    ANSWER,
    CLUSTERS,
    EVIDENCE,
    FIRST_COLUMNS,
    GROUPS,
    IMAGES,
    STATUSES,
    USED,
)
from samecam.case.folder._places import Place, cameras_of, row_place
from samecam.case.folder._tables import csv_rows
from samecam.case.folder._views import VIEW_COLUMNS
from samecam.documents import HASH, parse
from samecam.errors import SamecamError
from samecam.files import read_own
from samecam.register import View

Row = Mapping[str, str]

_PLACES = ("path", "sha256", "cluster", "frame", "correlation", "margin", "p_value", "doubtful")
# Columns of `evidence.csv` that hold numbers.
_FIGURES = (
    *("correlation", "score", "log10_lr", "log10_lr_same_model"),
    *("p_value", "comparisons", "adjusted_p"),
    *("nearest", "nearest_correlation", "nearest_score", "nearest_log10_lr", "margin", "pce"),
)
# And one that a table of a samecam before 0.3 does not have.
_WITHOUT = "score_without"
_LARGEST = 2**63


@dataclass(frozen=True, slots=True, repr=False)
class CasePhoto:
    """One file of a case: its rows of `images.csv`, `clusters.csv` and `evidence.csv`.

    Attributes
    ----------
    path, sha256, status, reason : as in `images.csv`
    image : its row of `images.csv`, as text
    cluster : number of its camera; −1 is none; None: not used
    group : number of its group, likewise
    view : how it sees its camera; None for squares, and for a photo of no camera
    frame : width and height of what is compared of it, like 4000x3000; "" if not known
    duplicate_of : path of the file with the same bytes that stands for it; "" if none does
    copy_of : path of the photo of which it is a copy; "" if it is none
    original : path of the used photo whose group it has: of a copy, of a duplicate; "" else
    correlation, margin, p_value : from `clusters.csv`; None where there is no evidence
    evidence : its row of `evidence.csv`, as text; empty if there is none
    """

    path: str
    sha256: str
    status: str
    reason: str
    image: Row
    cluster: int | None = None
    group: int | None = None
    view: View | None = None
    frame: str = ""
    duplicate_of: str = ""
    copy_of: str = ""
    original: str = ""
    correlation: float | None = None
    margin: float | None = None
    p_value: float | None = None
    evidence: Row = field(default_factory=dict)

    def __repr__(self) -> str:
        camera = "" if self.cluster is None else ", of no camera"
        if self.cluster is not None and self.cluster >= 0:
            group = "" if self.group in (None, -1) else f", group {self.group}"
            camera = f", camera {self.cluster}{group}"
        return f"<CasePhoto {self.path!r}: {self.status}{camera}>"

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]

    @property
    def size(self) -> int | None:
        """Length in bytes, if it could be read."""
        return int(self.image["bytes"]) if self.image["bytes"] else None

    @property
    def doubtful(self) -> bool:
        """Whether its place in its group is weak."""
        return self.evidence.get("doubtful") == "yes"

    @property
    def telling_score(self) -> float | None:
        """Its score with its group, without what that shares with groups of other cameras."""
        without = self.figure("score_without")
        return self.figure("score") if without is None else without

    def figure(self, name: str) -> float | None:
        """A number of its row of `evidence.csv`, if it is there."""
        return _number(self.evidence, name)


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The tables of a clustered case, joined; `hashes` are SHA-256 of the files."""

    photos: list[CasePhoto]
    cameras: list[Camera]
    statements: list[str]
    hashes: dict[str, str]


def read_answer(folder: Path, info: Mapping[str, Any]) -> StoredAnswer:
    """The tables of a clustered case, checked against `case.json` and each other."""
    expected = written_hashes(info)
    if CLUSTERS not in expected:
        raise not_clustered(folder)
    if info.get("state") != "clustered":
        raise unfinished(folder, info.get("state"))
    names = [IMAGES, *(name for name in ANSWER if name in expected)]
    data = {name: _read(folder, name) for name in names}
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in data.items()}
    for name in names:
        if hashes[name] != expected.get(name, hashes[name]):
            raise _damaged(folder / name, "is not as it was written")
    try:
        return _joined(data, hashes, has_views(info))
    except (ValueError, TypeError) as error:
        raise _misfit(folder, error) from None


def photos_as_they_stand(folder: Path) -> list[CasePhoto]:
    """Every file with its group as the tables say now, finished or not, changed or not."""
    if not os.path.lexists(folder / CLUSTERS):
        raise not_clustered(folder)
    images, clusters = (_read(folder, name) for name in (IMAGES, CLUSTERS))
    try:
        places = _places(csv_rows(clusters, ("path", "sha256", "cluster")))
        return _photos(csv_rows(images, FIRST_COLUMNS), *places, {})
    except (ValueError, TypeError) as error:
        raise _misfit(folder, error) from None


def _read(folder: Path, name: str) -> bytes:
    try:
        return read_own(folder / name)
    except OSError as error:
        raise _damaged(folder / name, f"cannot be read ({error.strerror})") from None


def _damaged(path: Path, what: str) -> SamecamError:
    return SamecamError(
        f"{str(path)!r} {what}: see samecam verify, or run samecam cluster again, which makes it "
        "anew."
    )


def _misfit(folder: Path, error: Exception) -> SamecamError:
    return _damaged(folder, f"has tables that do not fit together ({error})")


def unfinished(folder: Path, state: object) -> SamecamError:
    return SamecamError(f"{str(folder)!r} is not finished ({state}): give its last command again.")


def _joined(data: Mapping[str, bytes], hashes: dict[str, str], views: bool) -> StoredAnswer:
    """All tables in one; `views`: whether photos have groups and views beside their cameras."""
    objects = parse(data[GROUPS])
    needed = (*_PLACES, "group", *VIEW_COLUMNS) if views else _PLACES
    rows, places = _places(csv_rows(data[CLUSTERS], needed))
    facts = _by_path(csv_rows(data[EVIDENCE], ("path", *_FIGURES))) if EVIDENCE in data else {}
    for row in facts.values():
        for name in (*_FIGURES, _WITHOUT):
            _number(row, name)
    photos = _photos(csv_rows(data[IMAGES], FIRST_COLUMNS), rows, places, facts)
    _check_used(photos, places)
    cameras = read_cameras(objects)
    if cameras is None:
        raise ValueError(f"{GROUPS} has version {objects['version']!r}")
    cameras_of(list(places.values()))
    _check_members(cameras, [photo for photo in photos if photo.cluster is not None])
    about = objects.get("evidence") or {}
    return StoredAnswer(photos, cameras, [str(text) for text in about.get("words", [])], hashes)


def _places(rows: list[dict[str, str]]) -> tuple[dict[str, dict[str, str]], dict[str, Place]]:
    """Rows of a table of cameras by path, and the places they give."""
    result = _by_path(rows)
    return result, {path: row_place(row, len(rows)) for path, row in result.items()}


def _by_path(rows: list[dict[str, str]]) -> dict[str, dict[str, str]]:
    """Rows by their path, which each has for itself."""
    result = {row["path"]: row for row in rows}
    if len(result) < len(rows):
        raise ValueError("a path stands there twice")
    return result


def _photos(
    images: list[dict[str, str]],
    rows: Mapping[str, Row],
    places: Mapping[str, Place],
    facts: Mapping[str, Row],
) -> list[CasePhoto]:
    _by_path(images)
    for image in images:
        _check_image(image)
    read = [row for row in images if row["sha256"] and row["status"] != "duplicate"]
    owners = {row["sha256"]: row["path"] for row in read}
    copied = {row["path"]: row["copy_of"] for row in images if row["copy_of"]}
    photos = []
    for image in images:
        place, row = places.get(image["path"]), rows.get(image["path"])
        path, duplicate = image["path"], image["status"] == "duplicate"
        owner = owners.get(image["sha256"], "") if duplicate else ""
        photos.append(
            CasePhoto(
                path=path,
                sha256=image["sha256"],
                status=image["status"],
                reason=image["reason"],
                image=image,
                cluster=None if place is None else place.camera,
                group=None if place is None else place.group,
                view=None if place is None else place.view,
                frame="" if row is None else row.get("frame") or "",
                duplicate_of=owner,
                copy_of=image["copy_of"],
                original=copied.get(owner or path, owner),
                correlation=_number(row, "correlation"),
                margin=_number(row, "margin"),
                p_value=_number(row, "p_value"),
                evidence=facts.get(image["path"], {}),
            )
        )
    return photos


def _check_image(image: Row) -> None:
    """Refuse a row of `images.csv` with values that none of ours has."""
    if image["status"] not in STATUSES:
        raise ValueError(f"{image['path']!r} has the status {image['status'][:20]!r}")
    if (image["status"] == "copy") != bool(image["copy_of"]):
        raise ValueError(f"{image['path']!r} is {image['status']} of {image['copy_of'][:80]!r}")
    if image["sha256"] and not HASH.fullmatch(image["sha256"]):
        raise ValueError(f"{image['path']!r} has a SHA-256 that is none")
    for name in ("bytes", "width", "height"):
        if image[name] and not 0 <= int(image[name]) < _LARGEST:
            raise ValueError(f"{image['path']!r} has a number that cannot be: {name}")
    for name in ("dark", "saturated", "flat", "even"):
        _number(image, name)


def _check_used(photos: Sequence[CasePhoto], places: Mapping[str, Place]) -> None:
    """Refuse a table of groups that has not just the used photos."""
    for photo in photos:
        if (photo.cluster is not None) != (photo.status in USED):
            raise ValueError(f"{photo.path!r} is {photo.status}")
        if photo.copy_of and photo.copy_of not in places:
            raise ValueError(f"{photo.path!r} is a copy of what has no group")
    if unknown := set(places) - {photo.path for photo in photos}:
        raise ValueError(f"{min(unknown)!r} is not in {IMAGES}")


def _number(row: Row | None, name: str) -> float | None:
    text = "" if row is None else row.get(name) or ""
    value = float(text) if text else None
    if value is not None and math.isinf(value):
        raise ValueError(f"{name} is not finite")
    return None if value is None or value != value else value


def _check_members(cameras: Sequence[Camera], photos: Sequence[CasePhoto]) -> None:
    """Refuse cameras and groups that have other members, or other views, in `clusters.csv`."""
    members: dict[tuple[int | None, int | None], list[CasePhoto]] = {}
    for photo in photos:
        members.setdefault((photo.cluster, photo.group), []).append(photo)
    groups = all_groups(cameras)
    if [camera.id for camera in cameras] != list(range(len(cameras))):
        raise ValueError(f"cameras are numbered otherwise in {CLUSTERS}")
    if [group.id for group in groups] != list(range(len(groups))):
        raise ValueError(f"groups are numbered otherwise in {CLUSTERS}")
    for camera in cameras:
        for group in camera.groups:
            there = members.pop((camera.id, group.id), [])
            same = all(p.view == group.view and p.frame == (group.frame or "") for p in there)
            known = group.camera == camera.id and group.size == len(there)
            if not (same and known) or group.paths != [photo.path for photo in there]:
                raise ValueError(f"group {group.id} has other members in {CLUSTERS}")
        alone = [(photo.path, photo.view) for photo in members.pop((camera.id, -1), [])]
        if alone != [(photo.path, photo.view) for photo in camera.placed]:
            raise ValueError(f"camera {camera.id} has other members in {CLUSTERS}")
        if camera.size != sum(group.size for group in camera.groups) + len(alone):
            raise ValueError(f"camera {camera.id} has another size in {CLUSTERS}")
    if set(members) - {(-1, -1)}:
        raise ValueError(f"a photo is of a camera that is not in {GROUPS}")
