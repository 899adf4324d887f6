"""`clusters.csv`, `evidence.csv`, `clusters.json`: one answer, and for which question it holds."""

import csv
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from samecam.arrays import Labels
from samecam.case.folder._case import Case, csv_text
from samecam.case.grouping import _evidence
from samecam.case.grouping._evidence import Weighed, figures, number
from samecam.case.grouping._groups import Group, clusters_json, describe_groups, read_groups
from samecam.files import write_atomically
from samecam.provenance import versions
from samecam.store import Record

COLUMNS = ("path", "sha256", "cluster", "correlation", "margin", "p_value")
TABLE, EVIDENCE, OBJECTS = "clusters.csv", "evidence.csv", "clusters.json"
REPORT = "report.html"  # made of an answer by a later room, and gone with it


class Answer:
    """The groups of the used photos for some settings, as they stand in a case.

    `case.json` names last of all for which fingerprints and settings (`mark`) the files
    hold, and their hashes. While they are written, its state is "clustering" and the old
    `clusters.json` and the report of the old answer are gone, so that no reader ever takes one
    for the other's companion.

    Parameters
    ----------
    case : open for writing
    wanted : settings of clustering
    photos : the used photos
    """

    def __init__(self, case: Case, wanted: dict[str, Any], photos: Sequence[Record]) -> None:
        self._case, self._wanted, self._photos = case, wanted, photos
        about = [wanted, [p.key for p in photos], [p.sha256 for p in photos]]
        self._mark = hashlib.sha256(json.dumps(about).encode()).hexdigest()
        known = case.info.get("clustering", {})
        self._known = known if known.get("mark") == self._mark else {}

    @property
    def details(self) -> dict[str, Any]:
        """What the method said when the answer was found."""
        return dict(self._known.get("details", {}))

    def labels(self) -> Labels | None:
        """Groups of the photos, if they have been found before."""
        path = self._case.folder / TABLE
        if not self._known or self._hash(TABLE) != _sha256(path):
            return None
        before = _read_labels(path)
        if list(before) != [photo.key for photo in self._photos]:
            return None
        return np.fromiter(before.values(), dtype=np.intp)

    def groups(self) -> list[Group] | None:
        """What was said of the groups, if it stands there as it was written."""
        folder = self._case.folder
        if not all(self._hash(name) == _sha256(folder / name) for name in (OBJECTS, EVIDENCE)):
            return None
        path = folder / OBJECTS
        return read_groups(json.loads(path.read_text(encoding="utf-8")))

    def write(
        self, labels: Labels, weighed: Weighed | None, details: dict[str, Any], seconds: float
    ) -> list[Group]:
        """Write the files, then that they hold."""
        case, folder, photos = self._case, self._case.folder, self._photos
        groups = describe_groups(photos, labels, weighed)
        case.save(state="clustering")
        for name in (OBJECTS, REPORT):
            (folder / name).unlink(missing_ok=True)
        write_atomically(folder / TABLE, csv_text(COLUMNS, _table(photos, labels, weighed)))
        facts = _evidence.rows_of(photos, labels, weighed)
        write_atomically(folder / EVIDENCE, csv_text(_evidence.COLUMNS, facts))
        alone = [p for p, label in zip(photos, labels.tolist(), strict=True) if label < 0]
        written = {name: _sha256(folder / name) for name in (TABLE, EVIDENCE)}
        write_atomically(folder / OBJECTS, clusters_json(groups, alone, weighed, written))
        counts = {"groups": len(groups), "unclustered": len(alone)}
        entry = {
            **self._wanted,
            **counts,
            "details": details,
            "mark": self._mark,
            "sha256": {name: _sha256(folder / name) for name in (TABLE, EVIDENCE, OBJECTS)},
        }
        timings = case.info.get("timings", {})
        if seconds:
            timings = {**timings, "cluster": {"seconds": round(seconds, 3)}}
        case.save(
            state="clustered",
            seed=self._wanted["seed"],
            clustering=entry,
            versions=versions(),
            timings=timings,
        )
        case.log.add("clustered", settings=self._wanted, **counts)
        return groups

    def keep(self) -> None:
        """Say that the case is clustered: the answer stands."""
        if self._case.info["state"] != "clustered":
            self._case.save(state="clustered")

    def _hash(self, name: str) -> str | None:
        hashes = self._known.get("sha256")
        return hashes.get(name) if isinstance(hashes, dict) else None


def _table(photos: Sequence[Record], labels: Labels, weighed: Weighed | None) -> list[list[Any]]:
    """Rows of `clusters.csv`."""
    rows: list[list[Any]] = []
    for i, photo in enumerate(photos):
        facts: list[Any] = [None, None, None]
        if weighed is not None:
            given = weighed.photos
            facts = [
                number(given.correlation[i]),
                number(given.margin[i]),
                figures(given.adjusted[i]),
            ]
        rows.append([photo.key, photo.sha256, int(labels[i]), *facts])
    return rows


def _sha256(path: Path) -> str:
    """Hash of a file, or nothing if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _read_labels(path: Path) -> dict[str, int]:
    """Groups by path as they stand in `clusters.csv`."""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
        return {row["path"]: int(row["cluster"]) for row in csv.DictReader(stream)}
