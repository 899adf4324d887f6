"""What is exported: every file of a case with its group, read from the tables of the case."""

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from samecam.case.folder._case import read_case
from samecam.errors import SamecamError

USED = ("good", "weak")
PICTURES = (*USED, "unusable")
_IMAGES, _TABLE, _OBJECTS = "images.csv", "clusters.csv", "clusters.json"


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """One file of the case.

    Attributes
    ----------
    row : its row of `images.csv`
    group : its group; −1 used but in none; None not used. A duplicate has its twin's.
    answer : its row of `clusters.csv`, empty where it has none
    hashes : by name (md5, sha1, sha256), those that are known
    """

    row: Mapping[str, str]
    group: int | None = None
    answer: Mapping[str, str] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """Its path in the case."""
        return self.row["path"]

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]

    @property
    def size(self) -> int | None:
        """Length in bytes, if it could be read."""
        return int(self.row["bytes"]) if self.row["bytes"] else None

    @property
    def sha256(self) -> str:
        """Of its bytes, or "" if they could not be read."""
        return self.row["sha256"]

    def number(self, name: str) -> float | None:
        """A number of its row of `clusters.csv`, if there is one."""
        text = self.answer.get(name) or ""
        return float(text) if text else None


@dataclass(frozen=True, slots=True)
class Content:
    """Everything that may be exported of a case.

    Attributes
    ----------
    folder : the case
    info : its `case.json`
    files : one per row of `images.csv`, in its order
    groups : objects of `clusters.json`, in the order of their numbers
    mark : SHA-256 over the three tables: the same case gives the same exports
    """

    folder: Path
    info: Mapping[str, Any]
    files: list[ExportedFile]
    groups: list[dict[str, Any]]
    mark: str

    def pictures(self) -> list[ExportedFile]:
        """Files that are pictures, and their duplicates."""
        known = {f.sha256 for f in self.files if f.row["status"] in PICTURES}
        return [f for f in self.files if f.sha256 in known]


def read_content(folder: Path) -> Content:
    """Read a clustered case, or say in a sentence why that cannot be."""
    info = read_case(folder)
    texts = {name: _bytes(folder, name) for name in (_IMAGES, _TABLE, _OBJECTS)}
    written = info.get("clustering", {}).get("sha256", {})
    for name in (_TABLE, _OBJECTS):
        if written.get(name) != hashlib.sha256(texts[name]).hexdigest():
            raise SamecamError(
                f"{str(folder / name)!r} is not as it was written: run samecam cluster again."
            )
    try:
        answers = {row["path"]: row for row in _rows(texts[_TABLE])}
        files = _files(list(_rows(texts[_IMAGES])), answers)
        groups = json.loads(texts[_OBJECTS])["clusters"]
    except (KeyError, TypeError, ValueError) as error:
        raise SamecamError(
            f"A table of {str(folder)!r} cannot be read ({error}): see samecam verify."
        ) from None
    used = {f.path for f in files if f.row["status"] in USED}
    if used != set(answers):
        raise SamecamError(
            f"The groups of {str(folder)!r} are not those of its photos: run samecam cluster again."
        )
    mark = hashlib.sha256(b"".join(hashlib.sha256(text).digest() for text in texts.values()))
    return Content(folder, info, files, groups, mark.hexdigest())


def with_hashes(content: Content, hashes: Mapping[str, Mapping[str, str]]) -> Content:
    """The same with further hashes, given by SHA-256."""
    files = [replace(f, hashes={**f.hashes, **hashes.get(f.sha256, {})}) for f in content.files]
    return replace(content, files=files)


def _bytes(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except FileNotFoundError:
        raise SamecamError(
            f"{str(folder)!r} has not been clustered yet: run samecam cluster."
        ) from None
    except OSError as error:
        raise SamecamError(f"{str(folder / name)!r} cannot be read: {error.strerror}.") from None


def _rows(data: bytes) -> Iterator[dict[str, str]]:
    text = data.decode("utf-8", "surrogateescape")
    return csv.DictReader(io.StringIO(text, newline=""), strict=True)


def _files(
    rows: list[dict[str, str]], answers: Mapping[str, Mapping[str, str]]
) -> list[ExportedFile]:
    groups = {answer["sha256"]: int(answer["cluster"]) for answer in answers.values()}
    files = []
    for row in rows:
        known = {"sha256": row["sha256"]} if row["sha256"] else {}
        grouped = row["status"] in (*USED, "duplicate")
        group = groups.get(row["sha256"]) if grouped else None
        files.append(ExportedFile(row, group, answers.get(row["path"], {}), known))
    return files
