"""The answer in a case: who stands in which group, and the evidence for it."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from samecam.arrays import Labels
from samecam.case.folder import (
    ANSWER,
    CHANGED,
    CLUSTERS,
    EVIDENCE,
    GROUPS,
    REPORT,
    Case,
    Group,
    Place,
    clusters_json,
    csv_text,
    frame_name,
    read_groups,
    read_places,
    written_hashes,
)
from samecam.case.grouping import _evidence
from samecam.case.grouping._evidence import Weighed, figures, number
from samecam.case.grouping._groups import about_evidence, describe_groups
from samecam.documents import parse
from samecam.errors import SamecamError
from samecam.files import file_hash, read_own, write_atomically
from samecam.provenance import versions
from samecam.store import Record

COLUMNS = ("path", "sha256", "cluster", "frame", "correlation", "margin", "p_value")


class Answer:
    """The groups of the used photos for some settings, as they stand in a case.

    `case.json` names for which fingerprints and settings (`mark`) the groups hold, and a hash
    of who stands in which (`labels`); last of all the hashes of the files. Groups are saved
    before they are weighed: a run that ends in between goes on with the evidence. While files
    are written, the state is "clustering" and the old `clusters.json` and the report of the
    old answer are gone, so that no reader ever takes one for the other's companion.

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
        """What the method said when the groups were formed."""
        return dict(self._known.get("details", {}))

    @property
    def seconds(self) -> float:
        """What forming the groups took, as far as it is known."""
        return float(self._case.info.get("timings", {}).get("cluster", {}).get("seconds", 0.0))

    def labels(self) -> Labels | None:
        """Groups of the photos, if they stand in the case."""
        if not self._known:
            return None
        path = self._case.folder / CLUSTERS
        try:
            before = read_places(path)
        except SamecamError:
            return None
        keys = [(photo.key, photo.sha256) for photo in self._photos]
        if [(path, place.sha256) for path, place in before.items()] != keys:
            return None
        labels = np.fromiter((p.group for p in before.values()), np.intp, len(before))
        wanted = self._known.get("labels")
        if wanted is None:  # of a samecam that hashed the file alone
            return labels if file_hash(path) == self._hash(CLUSTERS) else None
        return labels if _labels_hash(before) == wanted else None

    def groups(self) -> list[Group] | None:
        """What was said of the groups, if it stands there as it was written."""
        folder = self._case.folder
        if not all(self._hash(name) == file_hash(folder / name) for name in ANSWER):
            return None
        try:
            return read_groups(parse(read_own(folder / GROUPS)))
        except (OSError, ValueError, TypeError, SamecamError):
            return None

    def save_labels(self, labels: Labels, details: dict[str, Any], seconds: float) -> None:
        """Keep the groups at once, before they are weighed; the old answer is gone."""
        case, folder = self._case, self._case.folder
        self._begin()
        rows = _table(self._photos, labels, None)
        write_atomically(folder / CLUSTERS, csv_text(COLUMNS, rows))
        places = {
            photo.key: Place(photo.sha256, group)
            for photo, group in zip(self._photos, labels.tolist(), strict=True)
        }
        entry = {
            **self._wanted,
            "details": details,
            "mark": self._mark,
            "labels": _labels_hash(places),
        }
        timings = {
            **case.info.get("timings", {}),
            "cluster": {"seconds": round(seconds, 3)},
        }
        self._known = entry
        case.save(seed=self._wanted["seed"], clustering=entry, versions=versions(), timings=timings)

    def write(self, labels: Labels, weighed: Weighed | None, seconds: float) -> list[Group]:
        """Write the files with their evidence, then that they hold; the groups are saved."""
        case, folder, photos = self._case, self._case.folder, self._photos
        groups = describe_groups(photos, labels, weighed)
        if case.info["state"] != "clustering":
            self._begin()
        write_atomically(folder / CLUSTERS, csv_text(COLUMNS, _table(photos, labels, weighed)))
        facts = _evidence.rows_of(photos, labels, weighed)
        write_atomically(folder / EVIDENCE, csv_text(_evidence.COLUMNS, facts))
        alone = [p for p, label in zip(photos, labels.tolist(), strict=True) if label < 0]
        written = {name: file_hash(folder / name) for name in (CLUSTERS, EVIDENCE)}
        about = None if weighed is None else about_evidence(weighed.null, len(groups))
        members = [(p.key, p.sha256) for p in alone]
        write_atomically(folder / GROUPS, clusters_json(groups, members, about, written))
        counts = {"groups": len(groups), "unclustered": len(alone)}
        entry = {
            **self._known,
            **counts,
            "sha256": {name: file_hash(folder / name) for name in ANSWER},
        }
        timings = {**case.info.get("timings", {}), "evidence": {"seconds": round(seconds, 3)}}
        case.save(state="clustered", clustering=entry, timings=timings)
        case.log.add("clustered", settings=self._wanted, **counts)
        return groups

    def keep(self) -> None:
        """Say that the case is clustered: the answer stands."""
        if self._case.info["state"] != "clustered":
            self._case.save(state="clustered")

    def set_aside_changed(self) -> list[str]:
        """Files of the answer that somebody changed; a changed table of groups is kept aside."""
        folder, expected = self._case.folder, written_hashes(self._case.info)
        changed = [
            name
            for name in ANSWER
            if name in expected
            and (folder / name).exists()
            and file_hash(folder / name) != expected[name]
        ]
        if CLUSTERS in changed:
            (folder / CLUSTERS).replace(folder / CHANGED)
            self._case.log.add("changed outside", files=changed, kept=CHANGED)
        return changed

    def _begin(self) -> None:
        """The answer before does not hold any more, nor what `case.json` says of its files."""
        before = self._case.info.get("clustering")
        changes: dict[str, Any] = {"state": "clustering"}
        if before:
            changes["clustering"] = {k: v for k, v in before.items() if k != "sha256"}
        self._case.save(**changes)
        for name in (GROUPS, REPORT):
            (self._case.folder / name).unlink(missing_ok=True)

    def _hash(self, name: str) -> str | None:
        hashes = self._known.get("sha256")
        return hashes.get(name) if isinstance(hashes, dict) else None


def _labels_hash(places: dict[str, Place]) -> str:
    """Of who stands in which group, whatever else the table says."""
    about = [[path, place.sha256, place.group] for path, place in places.items()]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()


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
        rows.append([photo.key, photo.sha256, int(labels[i]), frame_name(photo), *facts])
    return rows
