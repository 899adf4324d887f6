"""The answer in a case: who stands in which group, and the evidence for it."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from samecam.arrays import Labels
from samecam.case.folder import (
    ANSWER,
    CHANGED,
    CLUSTERS,
    EVIDENCE,
    GROUPS,
    REPORT,
    VIEW_COLUMNS,
    Camera,
    Case,
    Place,
    all_groups,
    cameras_of,
    clusters_json,
    csv_text,
    frame_name,
    has_views,
    read_cameras,
    read_places,
    view_cells,
    written_hashes,
)
from samecam.case.grouping import _evidence
from samecam.case.grouping._cameras import Seen, camera_places, photo_view
from samecam.case.grouping._evidence import Weighed, figures, number
from samecam.case.grouping._groups import about_evidence, describe_cameras
from samecam.documents import parse
from samecam.errors import SamecamError
from samecam.files import file_hash, read_own, write_atomically
from samecam.provenance import versions
from samecam.register import Cameras
from samecam.store import Record

# Groups of photos, and what the method said of them.
Grouped = tuple[Labels, dict[str, Any]]
COLUMNS = ("path", "sha256", "cluster", "frame", "correlation", "margin", "p_value", "doubtful")
# Of whole frames: a camera may be seen in several ways.
SEEN_COLUMNS = (*COLUMNS[:3], "group", "frame", *VIEW_COLUMNS, *COLUMNS[4:])


class Answer:
    """The cameras of the used photos for some settings, as they stand in a case.

    `case.json` names for which fingerprints and settings (`mark`) they hold, for which the groups
    hold, whatever the search (`grouped`), and a hash of who stands where (`labels`); last of all
    the hashes of the files. Cameras and groups are saved before they are weighed: a run that ends
    in between goes on with the evidence. While files are written, the state is "clustering" and
    the old `clusters.json` and the report of the old answer are gone, so that no reader ever takes
    one for the other's companion.

    Parameters
    ----------
    case : open for writing
    wanted : settings of clustering
    photos : the used photos
    """

    def __init__(self, case: Case, wanted: dict[str, Any], photos: Sequence[Record]) -> None:
        self._case, self._wanted, self._photos = case, wanted, photos
        self._views = has_views(case.info)
        self._mark = self._marked(wanted)
        self._grouped = self._marked({k: v for k, v in wanted.items() if k != "search"})
        known = case.info.get("clustering", {})
        self._known = known if known.get("mark") == self._mark else {}

    @property
    def details(self) -> dict[str, Any]:
        """What was said when groups and cameras were formed."""
        return dict(self._known.get("details", {}))

    @property
    def seconds(self) -> float:
        """What forming the groups took, as far as it is known."""
        return float(self._case.info.get("timings", {}).get("cluster", {}).get("seconds", 0.0))

    def cameras(self) -> Cameras | None:
        """Cameras of the photos, if they stand in the case."""
        return self._standing() if self._known else None

    def groups(self) -> Grouped | None:
        """Groups, if they stand in the case for the same settings but for the search."""
        known = self._case.info.get("clustering", {})
        cameras = self._standing() if known.get("grouped") == self._grouped else None
        if cameras is None:
            return None
        details = known.get("details", {})
        return cameras.groups, {name: details[name] for name in details if name != "searched"}

    def _standing(self) -> Cameras | None:
        """Cameras as `clusters.csv` has them, if that is what `case.json` says was saved."""
        try:
            before = read_places(self._case.folder / CLUSTERS)
        except SamecamError:
            return None
        keys = [(photo.key, photo.sha256) for photo in self._photos]
        if [(path, place.sha256) for path, place in before.items()] != keys:
            return None
        if _places_hash(before) != self._case.info.get("clustering", {}).get("labels"):
            return None
        try:
            return cameras_of(list(before.values()))
        except ValueError:
            return None

    def _marked(self, wanted: dict[str, Any]) -> str:
        """A hash of settings and of the photos they are for."""
        about = [wanted, [p.key for p in self._photos], [p.sha256 for p in self._photos]]
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()

    def described(self) -> list[Camera] | None:
        """What was said of the cameras, if it stands there as it was written."""
        folder = self._case.folder
        if not all(self._hash(name) == file_hash(folder / name) for name in ANSWER):
            return None
        try:
            return read_cameras(parse(read_own(folder / GROUPS)))
        except (OSError, ValueError, TypeError, SamecamError):
            return None

    def save_cameras(self, cameras: Cameras, details: dict[str, Any], seconds: float) -> None:
        """Keep cameras and groups at once, before they are weighed; the old answer is gone."""
        case, folder = self._case, self._case.folder
        self._begin()
        write_atomically(folder / CLUSTERS, self._table(cameras, None))
        hashes = [photo.sha256 for photo in self._photos]
        places = camera_places(hashes, cameras, views=self._views)
        entry = {
            **self._wanted,
            "details": details,
            "mark": self._mark,
            "grouped": self._grouped,
            "labels": _places_hash(
                {photo.key: place for photo, place in zip(self._photos, places, strict=True)}
            ),
        }
        timings = {
            **case.info.get("timings", {}),
            "cluster": {"seconds": round(seconds, 3)},
        }
        self._known = entry
        case.save(seed=self._wanted["seed"], clustering=entry, versions=versions(), timings=timings)

    def write(self, cameras: Cameras, weighed: Weighed | None, seconds: float) -> list[Camera]:
        """Write the files with their evidence, then that they hold; the cameras are saved."""
        case, folder, photos = self._case, self._case.folder, self._photos
        described = describe_cameras(photos, cameras, weighed, views=self._views)
        if case.info["state"] != "clustering":
            self._begin()
        write_atomically(folder / CLUSTERS, self._table(cameras, weighed))
        write_atomically(folder / EVIDENCE, self._evidence(cameras, weighed))
        alone = [p for p, label in zip(photos, cameras.labels.tolist(), strict=True) if label < 0]
        written = {name: file_hash(folder / name) for name in (CLUSTERS, EVIDENCE)}
        groups = len(all_groups(described))
        about = None if weighed is None else about_evidence(weighed, groups)
        members = [(p.key, p.sha256) for p in alone]
        write_atomically(folder / GROUPS, clusters_json(described, members, about, written))
        counts = {"cameras": len(described), "groups": groups, "unclustered": len(alone)}
        entry = {
            **self._known,
            **counts,
            "sha256": {name: file_hash(folder / name) for name in ANSWER},
        }
        timings = {**case.info.get("timings", {}), "evidence": {"seconds": round(seconds, 3)}}
        case.save(state="clustered", clustering=entry, timings=timings)
        case.log.add("clustered", settings=self._wanted, **counts)
        return described

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

    def _table(self, cameras: Cameras, weighed: Weighed | None) -> str:
        """Text of `clusters.csv`."""
        rows: list[list[Any]] = []
        for i, photo in enumerate(self._photos):
            facts: list[Any] = [None] * 4
            if weighed is not None:
                given = weighed.photos
                facts = [
                    number(given.correlation[i]),
                    number(given.margin[i]),
                    figures(given.adjusted[i]),
                    ("yes" if given.doubtful[i] else "no") if given.group[i] >= 0 else None,
                ]
            place: list[Any] = [int(cameras.labels[i]), frame_name(photo)]
            if self._views:
                view = photo_view(cameras, i)
                place[1:] = [int(cameras.groups[i]), frame_name(photo), *view_cells(view)]
                if i in cameras.alone and view is not None:
                    facts = [None, None, view.rate, None]
            rows.append([photo.key, photo.sha256, *place, *facts])
        return csv_text(SEEN_COLUMNS if self._views else COLUMNS, rows)

    def _evidence(self, cameras: Cameras, weighed: Weighed | None) -> str:
        """Text of `evidence.csv`; what holds of a photo that a view placed is of that view."""
        rows = _evidence.rows_of(self._photos, cameras.groups, weighed)
        columns = _evidence.COLUMNS
        if not self._views:
            return csv_text(columns, rows)
        seen = Seen(self._photos, cameras)
        for i, view in cameras.alone.items():
            words, why = seen.photo_words(i)
            said = f"In no group, but it sees camera {cameras.labels[i]}: {words}. {why}"
            told = (("score", view.score), ("adjusted_p", view.rate), ("words", said))
            for name, value in told:
                rows[i][columns.index(name)] = value
        for row, camera in zip(rows, cameras.labels.tolist(), strict=True):
            row.insert(1, camera)
        return csv_text(("path", "cluster", "group", *columns[2:]), rows)

    def _hash(self, name: str) -> str | None:
        hashes = self._known.get("sha256")
        return hashes.get(name) if isinstance(hashes, dict) else None


def _places_hash(places: dict[str, Place]) -> str:
    """Of who stands where, whatever else the table says."""
    about = [
        [path, place.sha256, place.camera, place.group, view_cells(place.view)]
        for path, place in places.items()
    ]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()
