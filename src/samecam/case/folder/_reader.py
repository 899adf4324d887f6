"""The one reader of a case that is not being written: for reports, exports, matching, checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from samecam.arrays import Labels
from samecam.case.folder._answer import (
    CasePhoto,
    StoredAnswer,
    photos_as_they_stand,
    read_answer,
    unfinished,
)
from samecam.case.folder._clustering import ClusteringSettings
from samecam.case.folder._groups import Camera, Group, all_groups
from samecam.case.folder._info import (
    clustering_settings,
    extraction_settings,
    is_of_photos,
    read_info,
)
from samecam.case.folder._log import LogCheck, log_entries, log_head, read_log
from samecam.case.folder._names import LOG, check_files
from samecam.case.folder._places import Place, labels_of
from samecam.case.folder._records import open_records
from samecam.case.folder._report import report_digest
from samecam.case.folder._settings import ExtractionSettings
from samecam.case.folder._shown import cameras_html, photos_frame
from samecam.case.folder._sources import Sources, find_sources
from samecam.errors import SamecamError
from samecam.inputs import PathLike
from samecam.notebook import draw, table
from samecam.store import DiskStore, Record

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class FrameSummary:
    """Photos of one width and height, which are compared with one another.

    Attributes
    ----------
    name : like 4000x3000; "" if it is not known
    photos : used ones
    groups : numbers of their groups
    alone : photos in none
    """

    name: str
    photos: int
    groups: list[int]
    alone: int


class SavedCase:
    """A case folder for reading, made by `open_case`. Tables are read when they are asked for.

    Attributes
    ----------
    folder : where it is
    info : content of `case.json`
    """

    def __init__(self, folder: PathLike) -> None:
        check_files(Path(folder))
        self.folder, self.info = Path(folder), read_info(folder)

    def __repr__(self) -> str:
        return f"<SavedCase {str(self.folder)!r}: {self.state}>"

    def __fspath__(self) -> str:
        return str(self.folder)

    def _repr_html_(self) -> str:
        """What a notebook shows: its cameras, if there are any yet."""
        words = f"Case {str(self.folder)!r}"
        if self.state != "clustered":
            return table(f"{words}: {self.state}.", (), ())
        return cameras_html(words, self.cameras, len(self.alone), self.statements[:1])

    def to_frame(self) -> pandas.DataFrame:
        """One row a file, for pandas: path, status, camera, group, view, scores, EXIF, hash.

        Examples
        --------
        >>> frame = samecam.open_case("CASE").to_frame()
        >>> frame.groupby("camera").size()
        """
        return photos_frame(self.photos, self.cameras)

    def plot(self, kind: str = "groups", *, ax: Axes | None = None, **options: Any) -> Figure:
        """Draw it by one of `samecam.plots`: groups, correlations, evidence or views.

        Examples
        --------
        >>> samecam.open_case("CASE").plot("correlations")
        """
        return cast("Figure", draw(self, kind, ax=ax, **options))

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
    def cameras(self) -> list[Camera]:
        """In the order of their numbers, with their groups."""
        return self._answer.cameras

    @cached_property
    def groups(self) -> list[Group]:
        """Those of all cameras, in the order of their numbers."""
        return all_groups(self.cameras)

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
        """One hash of the answer's tables and of what persons say: a report belongs to these."""
        return report_digest(self.folder, self.hashes)

    @property
    def used(self) -> list[CasePhoto]:
        """Photos with a fingerprint, in the order of the store."""
        return [photo for photo in self.photos if photo.cluster is not None]

    @property
    def alone(self) -> list[CasePhoto]:
        """Used photos of no camera."""
        return [photo for photo in self.photos if photo.cluster == -1]

    @property
    def frames(self) -> list[FrameSummary]:
        """What there is of each width and height, that of most photos first."""
        places: dict[str, list[int]] = {}
        for photo in self.used:
            places.setdefault(photo.frame, []).append(-1 if photo.group is None else photo.group)
        result = [
            FrameSummary(name, len(some), sorted(set(some) - {-1}), some.count(-1))
            for name, some in places.items()
        ]
        return sorted(result, key=lambda frame: (-frame.photos, frame.name))

    @cached_property
    def _answer(self) -> StoredAnswer:
        return read_answer(self.folder, self.info)

    def members(self, group: Group) -> list[CasePhoto]:
        """Photos of a group, in the order of their paths."""
        return self._members[group.id]

    @cached_property
    def _members(self) -> list[list[CasePhoto]]:
        members: list[list[CasePhoto]] = [[] for _ in self.groups]
        for photo in self.used:
            if photo.group is not None and photo.group >= 0:
                members[photo.group].append(photo)
        return members

    def placed(self, camera: Camera) -> list[CasePhoto]:
        """Photos of a camera that are in no group, in the order of their paths."""
        return self._placed.get(camera.id, [])

    @cached_property
    def _placed(self) -> dict[int, list[CasePhoto]]:
        placed: dict[int, list[CasePhoto]] = {}
        for photo in self.used:
            if photo.group == -1 and photo.cluster is not None and photo.cluster >= 0:
                placed.setdefault(photo.cluster, []).append(photo)
        return placed

    def detail(self, *names: str) -> Any:
        """What the method said: an entry of `clustering.details` of `case.json`, or None."""
        value: Any = self.info.get("clustering", {}).get("details", {})
        for name in names:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def photos_as_they_stand(self) -> list[CasePhoto]:
        """Every file with its group as the tables say now, finished or not, changed or not."""
        return photos_as_they_stand(self.folder)

    def open_store(self) -> DiskStore:
        """The fingerprints, for reading."""
        return open_records(self.folder, self.info)

    def labels(self, photos: Sequence[Record]) -> tuple[Labels, Labels]:
        """Cameras and groups of the used records of the store, which must be the answer's."""
        places = {
            p.path: Place(p.sha256, p.cluster, p.group)
            for p in self.photos
            if p.cluster is not None and p.group is not None
        }
        if list(places) != [photo.key for photo in photos]:
            raise unfinished(self.folder, self.state)
        return labels_of(photos, places)

    def sources(self) -> Sources:
        """Where its photos are now."""
        return find_sources(self.info, [photo.path for photo in self.photos])

    def check_log(self) -> LogCheck:
        """The audit log, from its first line to its last, or an error: it cannot be read."""
        try:
            return read_log(self.folder / LOG)
        except OSError as error:
            path = str(self.folder / LOG)
            raise SamecamError(f"{path!r} cannot be read: {error.strerror}.") from None

    @property
    def log_head(self) -> str:
        """SHA-256 of the last line of the log; "" if it has none."""
        return log_head(self.folder / LOG)

    def log_entries(self, event: str) -> Iterator[dict[str, Any]]:
        """Lines of the log about one kind of event; what cannot be read is passed over."""
        return log_entries(self.folder / LOG, event)


def open_case(folder: PathLike) -> SavedCase:
    """Open a case for reading; nothing in it is changed.

    ``open_case("CASE").cameras`` are its cameras, ``.groups`` the groups of these, ``.photos`` all
    its files.

    Examples
    --------
    >>> case = samecam.open_case("CASE")
    >>> for group in case.groups:
    ...     print(group.id, group.size, group.frame, group.paths[:3])
    >>> frame = case.to_frame()
    >>> case.plot("evidence")
    """
    return SavedCase(folder)


def open_store(folder: PathLike) -> DiskStore:
    """The fingerprints of a case, for reading."""
    return SavedCase(folder).open_store()
