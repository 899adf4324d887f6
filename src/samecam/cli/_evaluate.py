"""`samecam evaluate`."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import click

from samecam.cli._command import command, option
from samecam.cli._options import output_options, truth_option
from samecam.cli._output import print_json, say
from samecam.cli._text import counted, printable
from samecam.errors import SamecamError

if TYPE_CHECKING:
    from samecam.metrics import CameraRow, Scores

_ROWS = 30
_NAME = 40
# Why a photo of the truth is in no cluster, in the order it is said.
_FATES = {
    "left_alone": "left alone by the method",
    "weak": "weak (over-exposed)",
    "unusable": "unusable",
    "skipped": "skipped",
    "duplicate": "duplicate of a photo without cluster",
    "copy": "copy of a photo without cluster",
    "pending": "in the case but not clustered yet",
    "not_found": "not found",
}


@command()
@click.argument("case_or_csv", type=click.Path())
@truth_option
@option("--decided", is_flag=True, help="Score what stands after decisions, not the machine's.")
@output_options
def evaluate(case_or_csv: str, truth: str, decided: bool, as_json: bool, quiet: bool) -> int:
    """Score a grouping against the true cameras.

    CASE_OR_CSV is a case that has been clustered, or a CSV with the columns path and
    cluster (-1: unclustered).

    Paths are matched with those of the truth by the longest common ending, in whole parts
    between slashes: at least the file name. Equal paths win; if two fit equally well, that
    is an error.

    Every photo of the truth counts. One that is in no cluster counts as unclustered,
    whether it was unusable, skipped or not found. A duplicate counts with the cluster of
    the photo it has the same bytes as. A copy counts with that of the photo it was made
    of. Photos that are not in the truth are left out.

    Example:  samecam evaluate CASE --truth truth.csv
    """
    from samecam.metrics import per_camera, per_cluster, read_truth, scores

    cameras = read_truth(truth)
    grouping = _read_grouping(case_or_csv, decided=decided)
    joined = _join(grouping, cameras)
    if not joined.partners:
        raise SamecamError(
            f"None of the {len(grouping.paths)} photos of {case_or_csv!r} has the file name of one "
            f"in {truth!r}: name the truth of these photos."
        )
    names, labels = list(cameras.values()), joined.labels
    result, rows = scores(names, labels), per_camera(names, labels)
    if as_json:
        print_json(
            {
                "grouping": case_or_csv,
                "truth": truth,
                "scores": result.as_dict(),
                "photos": joined.as_dict(),
                "per_camera": [asdict(row) for row in rows],
                "per_cluster": [asdict(row) for row in per_cluster(names, labels)],
            }
        )
    else:
        photos = _photo_lines(result, joined)
        say([*_score_lines(result), "", *photos, "", *_table(rows)], quiet=quiet)
    return 0


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


@dataclass(frozen=True, slots=True)
class _Joined:
    """Labels in the order of the truth, and where they come from."""

    labels: list[int]
    partners: dict[str, str]
    unclustered: dict[str, int]
    duplicates: int
    copies: int
    not_in_truth: int
    other_folder: list[tuple[str, str]]

    def as_dict(self) -> dict[str, Any]:
        """The counts, ready for JSON."""
        return {
            "truth": len(self.labels),
            "clustered": len(self.labels) - sum(self.unclustered.values()),
            "clustered_as_duplicate": self.duplicates,
            "clustered_as_copy": self.copies,
            "unclustered": self.unclustered,
            "not_in_truth": self.not_in_truth,
            "matched_in_other_folder": len(self.other_folder),
        }


def _read_grouping(source: str, *, decided: bool) -> _Grouping:
    from samecam.case import open_case, read_decided
    from samecam.metrics import read_clusters

    if not os.path.isdir(source):
        if decided:
            raise SamecamError(f"{source!r} is no case, and --decided is for one: leave it out.")
        return _Grouping(read_clusters(source))
    if decided:
        case = open_case(source)
        stands = read_decided(case)
        pairs = zip(stands.photos, stands.camera_of.tolist(), strict=True)
        return _Grouping(
            {photo.path: camera for photo, camera in pairs},
            {photo.path: (photo.status, photo.original) for photo in case.photos},
        )
    photos = open_case(source).photos_as_they_stand()
    return _Grouping(
        {photo.path: photo.cluster for photo in photos if photo.cluster is not None},
        {photo.path: (photo.status, photo.original) for photo in photos},
    )


def _join(grouping: _Grouping, cameras: Iterable[str]) -> _Joined:
    from samecam.metrics import match_paths

    cameras = list(cameras)
    partners = match_paths(grouping.paths, cameras)
    path_of = {truth: path for path, truth in partners.items()}
    fates = [grouping.fate(path_of.get(truth)) for truth in cameras]
    lost = Counter(fate for label, fate in fates if label < 0)
    return _Joined(
        labels=[label for label, _ in fates],
        partners=partners,
        unclustered={fate: lost[fate] for fate in _FATES},
        duplicates=sum(label >= 0 and fate == "duplicate" for label, fate in fates),
        copies=sum(label >= 0 and fate == "copy" for label, fate in fates),
        not_in_truth=sum(path not in partners for path in grouping.clusters),
        other_folder=[pair for pair in partners.items() if not _one_ends_the_other(*pair)],
    )


def _one_ends_the_other(path: str, truth: str) -> bool:
    return f"/{path}".endswith(f"/{truth}") or f"/{truth}".endswith(f"/{path}")


def _score_lines(result: "Scores") -> list[str]:
    clusters, cameras = counted(result.n_clusters, "cluster"), counted(result.n_cameras, "camera")
    discovered = counted(result.n_discovered, "camera")
    return [
        f"precision    {result.precision:.4f}",
        f"recall       {result.recall:.4f}",
        f"F            {result.f:.4f}",
        f"ARI          {result.ari:.4f}",
        f"RI           {result.rand_index:.4f}",
        f"purity       {result.purity:.4f}",
        f"Lp/Lg        {result.lp_over_lg:.4f}  ({clusters}, {cameras})",
        f"Ld/Lg        {result.ld_over_lg:.4f}  ({discovered} discovered)",
        f"unclustered  {result.n_unclustered} of {counted(result.n_images, 'photo')}",
    ]


def _photo_lines(result: "Scores", joined: _Joined) -> list[str]:
    clustered = result.n_images - result.n_unclustered
    lines = [
        f"Photos in the truth: {result.n_images}, of them {clustered} in clusters and "
        f"{result.n_unclustered} unclustered{_why(joined.unclustered)}."
    ]
    if joined.copies:
        lines.append(f"Copies, counted with the photo they were made of: {joined.copies}.")
    if joined.duplicates:
        lines.append(f"Duplicates, counted with the photo they equal: {joined.duplicates}.")
    if joined.not_in_truth:
        lines.append(f"Clustered but not in the truth, left out: {joined.not_in_truth}.")
    if joined.other_folder:
        path, truth = joined.other_folder[0]
        lines.append(
            f"Matched although the folders differ: {len(joined.other_folder)}, "
            f"for instance '{path}' with '{truth}' of the truth."
        )
    return lines


def _why(unclustered: Mapping[str, int]) -> str:
    parts = [f"{number} {_FATES[fate]}" for fate, number in unclustered.items() if number]
    return f" ({', '.join(parts)})" if parts else ""


def _table(rows: "list[CameraRow]") -> list[str]:
    """One line a camera, largest first."""
    names = [_short(str(row.camera)) for row in rows[:_ROWS]]
    width = max(map(len, ["camera", *names]))
    columns = "photos  unclustered  clusters  main cluster  in it  recall  discovered"
    lines = [f"{'camera':{width}}  {columns}"]
    for name, row in zip(names, rows, strict=False):
        main = row.main_cluster if row.n_in_main else "-"
        lines.append(
            f"{name:{width}}  {row.n_images:6}  {row.n_unclustered:11}  {row.n_clusters:8}  "
            f"{main:>12}  {row.n_in_main:5}  {row.recall:.4f}  {'yes' if row.discovered else 'no'}"
        )
    if len(rows) > _ROWS:
        lines.append(f"… ({len(rows) - _ROWS} more cameras; --json has all)")
    return lines


def _short(name: str) -> str:
    name = printable(name)
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"
