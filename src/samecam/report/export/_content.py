"""What is exported: every file of a case with its camera and group, and the known hashes."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from samecam.case import Camera, CasePhoto, Decided, Group, SavedCase, open_case, read_decided

PICTURES = ("good", "weak", "unusable", "copy")


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """One file of the case.

    Attributes
    ----------
    photo : as the case has it
    camera, group : its camera and group; −1 used but of none; None not used. A duplicate has
        those of the file it equals, a copy those of the photo it was made of.
    view : how it sees its camera, in words; "" where there are no views
    decided : name of the camera it is of after what persons decided; "": of none; None: not used
    decision : number of the decision that put it there; None: the machine did
    hashes : by name (md5, sha1, sha256), those that are known
    """

    photo: CasePhoto
    camera: int | None = None
    group: int | None = None
    view: str = ""
    decided: str | None = None
    decision: int | None = None
    hashes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Content:
    """Everything that may be exported of a case.

    Attributes
    ----------
    case : the case
    decided : what stands after the decisions
    files : one per row of `images.csv`, in its order
    mark : SHA-256 over the three tables, and what stands after decisions if there are any: the
        same case gives the same exports
    """

    case: SavedCase
    decided: Decided
    files: list[ExportedFile]
    mark: str

    @property
    def info(self) -> Mapping[str, Any]:
        """Content of `case.json`."""
        return self.case.info

    @property
    def cameras(self) -> list[Camera]:
        """In the order of their numbers."""
        return self.case.cameras

    @property
    def groups(self) -> list[Group]:
        """In the order of their numbers."""
        return self.case.groups

    def pictures(self) -> list[ExportedFile]:
        """Files that are pictures, and their duplicates."""
        known = {f.photo.sha256 for f in self.files if f.photo.status in PICTURES}
        return [f for f in self.files if f.photo.sha256 in known]


def read_content(folder: Path) -> Content:
    """Read a clustered case for export."""
    case = open_case(folder)
    words, decided = _view_words(case), read_decided(case)
    used = {photo.path: k for k, photo in enumerate(decided.photos)}
    files = []
    for photo in case.photos:
        known = {"sha256": photo.sha256} if photo.sha256 else {}
        row = used.get(photo.original or photo.path)
        if row is None:
            files.append(ExportedFile(photo, hashes=known))
            continue
        own, last = decided.photos[row], int(decided.decision_of[row])
        seen, now = words.get(own.path, ""), decided.name_of(row)
        files.append(
            ExportedFile(photo, own.cluster, own.group, seen, now, last or None, hashes=known)
        )
    tables = ("images.csv", "clusters.csv", "clusters.json")
    mark = hashlib.sha256(b"".join(bytes.fromhex(case.hashes[name]) for name in tables))
    if decided.decisions:
        mark.update(decided.table().encode("utf-8", "surrogateescape"))
    return Content(case, decided, files, mark.hexdigest())


def _view_words(case: SavedCase) -> dict[str, str]:
    """How photos see their cameras, in words, by path."""
    words = {path: group.words for group in case.groups for path in group.paths}
    return words | {photo.path: photo.words for camera in case.cameras for photo in camera.placed}


def with_hashes(content: Content, hashes: Mapping[str, Mapping[str, str]]) -> Content:
    """The same with further hashes, given by SHA-256."""
    files = [
        replace(f, hashes={**f.hashes, **hashes.get(f.photo.sha256, {})}) for f in content.files
    ]
    return replace(content, files=files)
