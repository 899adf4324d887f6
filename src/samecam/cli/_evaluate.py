"""`samecam evaluate`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from samecam.cli._command import command, option
from samecam.cli._options import output_options, truth_option
from samecam.cli._output import print_json, say
from samecam.cli._text import counted, printable

if TYPE_CHECKING:
    from samecam.case import Evaluation
    from samecam.metrics import CameraRow, Scores

_ROWS = 30
_NAME = 40


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
    from samecam.case import evaluate as score

    result = score(case_or_csv, truth, decided=decided)
    if as_json:
        print_json(result.as_dict())
    else:
        lines = [*_score_lines(result.scores), "", *_photo_lines(result), ""]
        say([*lines, *_table(result.per_camera)], quiet=quiet)
    return 0


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


def _photo_lines(joined: "Evaluation") -> list[str]:
    result = joined.scores
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
    from samecam.case import FATES

    parts = [f"{number} {FATES[fate]}" for fate, number in unclustered.items() if number]
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
