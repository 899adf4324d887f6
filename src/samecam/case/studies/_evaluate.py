"""How good a grouping is, given the true cameras."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from samecam.case.decisions import read_decided
from samecam.case.folder import CasePhoto, open_case
from samecam.errors import ParameterError, SamecamError
from samecam.inputs import PathLike
from samecam.metrics import (
    CameraRow,
    ClusterRow,
    Scores,
    match_paths,
    per_camera,
    per_cluster,
    read_clusters,
    read_truth,
    scores,
)
from samecam.notebook import data_frame, table

if TYPE_CHECKING:
    import pandas

# Why a photo of the truth is in no cluster, in the order it is said.
FATES = {
    "left_alone": "left alone by the method",
    "weak": "weak (over-exposed)",
    "unusable": "unusable",
    "skipped": "skipped",
    "duplicate": "duplicate of a photo without cluster",
    "copy": "copy of a photo without cluster",
    "pending": "in the case but not clustered yet",
    "not_found": "not found",
}


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation:
    """A grouping against the truth.

    Attributes
    ----------
    grouping, truth : what was compared, as names; "" for what was given as a mapping
    scores : of the grouping
    per_camera : one row a camera, largest first
    per_cluster : one row a cluster
    unclustered : photos of the truth in no cluster, by what became of them; see `FATES`
    duplicates, copies : photos that count with the cluster of the one they equal, or were made of
    not_in_truth : clustered photos that the truth does not name; left out
    other_folder : pairs of paths, of the grouping and of the truth, that match although their
        folders differ
    """

    grouping: str
    truth: str
    scores: Scores
    per_camera: list[CameraRow]
    per_cluster: list[ClusterRow]
    unclustered: dict[str, int]
    duplicates: int
    copies: int
    not_in_truth: int
    other_folder: list[tuple[str, str]]

    def __repr__(self) -> str:
        s = self.scores
        return (
            f"<Evaluation of {s.n_images} photos by {s.n_cameras} cameras: F {s.f:.4f}, precision "
            f"{s.precision:.4f}, recall {s.recall:.4f}, {s.n_unclustered} unclustered>"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: the scores, and one row a camera."""
        frame = self._columns()
        head = [name.replace("_", " ") for name in frame]
        return table(repr(self)[1:-1], head, zip(*frame.values(), strict=True))

    def to_frame(self) -> pandas.DataFrame:
        """One row a camera, for pandas: its photos, where most of them are, its recall.

        Examples
        --------
        >>> samecam.evaluate("CASE", "truth.csv").to_frame().sort_values("recall")
        """
        return data_frame(self._columns())

    def _columns(self) -> dict[str, list[Any]]:
        rows = [asdict(row) for row in self.per_camera]
        return {name: [row[name] for row in rows] for name in CameraRow.__dataclass_fields__}

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        photos = self.scores.n_images
        return {
            "grouping": self.grouping,
            "truth": self.truth,
            "scores": self.scores.as_dict(),
            "photos": {
                "truth": photos,
                "clustered": photos - sum(self.unclustered.values()),
                "clustered_as_duplicate": self.duplicates,
                "clustered_as_copy": self.copies,
                "unclustered": self.unclustered,
                "not_in_truth": self.not_in_truth,
                "matched_in_other_folder": len(self.other_folder),
            },
            "per_camera": [asdict(row) for row in self.per_camera],
            "per_cluster": [asdict(row) for row in self.per_cluster],
        }


def evaluate(
    case_or_labels: PathLike | Mapping[str, int],
    truth: PathLike | Mapping[str, str],
    *,
    decided: bool = False,
) -> Evaluation:
    """Score a grouping against the true cameras.

    Paths are matched with those of the truth by the longest common ending, in whole parts
    between slashes: at least the file name. Equal paths win; if two fit equally well, that is an
    error. Every photo of the truth counts. One that is in no cluster counts as unclustered,
    whether it was unusable, skipped or not found. A duplicate counts with the cluster of the photo
    it has the same bytes as, a copy with that of the photo it was made of. Photos that are not in
    the truth are left out.

    Parameters
    ----------
    case_or_labels : a case that has been clustered, or its result; a CSV with the columns path and
        cluster; or clusters by path. −1 is unclustered
    truth : CSV with the columns path and camera; or cameras by path
    decided : score what stands after the decisions of persons, not what the machine found

    Examples
    --------
    >>> found = samecam.evaluate("CASE", "photos/truth.csv")
    >>> print(found.scores.precision, found.scores.recall)
    >>> samecam.evaluate({"a.jpg": 0, "b.jpg": 0}, {"a.jpg": "X", "b.jpg": "Y"}).scores.precision
    0.0
    """
    cameras = dict(truth) if isinstance(truth, Mapping) else read_truth(truth)
    grouping = _read_grouping(case_or_labels, decided=decided)
    partners = match_paths(grouping.paths, cameras)
    if not partners:
        raise SamecamError(
            f"None of the {len(grouping.paths)} photos of {_name(case_or_labels, 'the grouping')} "
            f"has the file name of one in {_name(truth, 'the truth')}: name the truth of these "
            "photos."
        )
    return _scored(grouping, cameras, partners, (_text(case_or_labels), _text(truth)))


def _text(given: PathLike | Mapping[str, Any]) -> str:
    return "" if isinstance(given, Mapping) else os.fspath(given)


def _name(given: PathLike | Mapping[str, Any], words: str) -> str:
    return words if isinstance(given, Mapping) else repr(os.fspath(given))


@dataclass(frozen=True, slots=True)
class _Grouping:
    """Clusters by path and, from a case, for every file its status and whose duplicate it is."""

    clusters: dict[str, int]
    images: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def paths(self) -> list[str]:
        """Every path known."""
        return list({**self.clusters, **self.images})

    def fate(self, path: str | None) -> tuple[int, str]:
        """Cluster of a photo of the truth, and what became of it; None: it is not there."""
        if path is None:
            return -1, "not_found"
        status, original = self.images.get(path, ("", ""))
        if path in self.clusters:
            return self.clusters[path], "weak" if status == "weak" else "left_alone"
        if status in ("duplicate", "copy"):
            return self.clusters.get(original, -1), status
        return -1, status if status in ("unusable", "skipped") else "pending"


def _read_grouping(source: PathLike | Mapping[str, int], *, decided: bool) -> _Grouping:
    if decided and (isinstance(source, Mapping) or not os.path.isdir(source)):
        named = _name(source, "What was given")
        raise ParameterError(
            "decided", f"{named} is no case, and {{name}} is for one: leave it out."
        )
    if isinstance(source, Mapping):
        return _Grouping({path: int(cluster) for path, cluster in source.items()})
    if not os.path.isdir(source):
        return _Grouping(read_clusters(os.fspath(source)))
    case = open_case(source)
    if decided:
        stands = read_decided(case)
        cameras = zip(stands.photos, stands.camera_of.tolist(), strict=True)
        return _Grouping({photo.path: camera for photo, camera in cameras}, _images(case.photos))
    photos = case.photos_as_they_stand()
    return _Grouping(
        {photo.path: photo.cluster for photo in photos if photo.cluster is not None},
        _images(photos),
    )


def _images(photos: Iterable[CasePhoto]) -> dict[str, tuple[str, str]]:
    return {photo.path: (photo.status, photo.original) for photo in photos}


def _scored(
    grouping: _Grouping,
    cameras: Mapping[str, str],
    partners: Mapping[str, str],
    names: tuple[str, str],
) -> Evaluation:
    path_of = {truth: path for path, truth in partners.items()}
    fates = [grouping.fate(path_of.get(truth)) for truth in cameras]
    lost = Counter(fate for label, fate in fates if label < 0)
    taken, labels = list(cameras.values()), [label for label, _ in fates]
    return Evaluation(
        *names,
        scores(taken, labels),
        per_camera(taken, labels),
        per_cluster(taken, labels),
        unclustered={fate: lost[fate] for fate in FATES},
        duplicates=_count(fates, "duplicate"),
        copies=_count(fates, "copy"),
        not_in_truth=sum(path not in partners for path in grouping.clusters),
        other_folder=[pair for pair in partners.items() if not _one_ends_the_other(*pair)],
    )


def _count(fates: Iterable[tuple[int, str]], wanted: str) -> int:
    return sum(label >= 0 and fate == wanted for label, fate in fates)


def _one_ends_the_other(path: str, truth: str) -> bool:
    return f"/{path}".endswith(f"/{truth}") or f"/{truth}".endswith(f"/{path}")
