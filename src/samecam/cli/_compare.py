"""`samecam compare`."""

from typing import TYPE_CHECKING, Any

import click

from samecam.cli._command import choice, command, option, together
from samecam.cli._methods import METHODS
from samecam.cli._options import (
    file_option,
    memory_option,
    output_options,
    seed_option,
    take_resources,
)
from samecam.cli._output import print_json, say
from samecam.cli._progress import Phases
from samecam.cli._text import counted, table_line
from samecam.cli._types import Names, Seconds

if TYPE_CHECKING:
    from samecam.case import ComparedMethod, Comparison

_COLUMNS = ("F", "P", "R", "ARI", "Lp/Lg", "groups", "unclustered", "seconds", "memory")
_NAME = 16


class Methods(Names):
    """Names of methods between commas, or 'all'."""

    def __init__(self) -> None:
        super().__init__("method", "all|NAME,…")

    def convert(self, value: Any, param: Any, ctx: Any) -> list[str]:
        """Every name must be known."""
        names = super().convert(value, param, ctx)
        for name in names:
            if name not in ("all", *METHODS):
                self.refuse(name, f"is no method; choose all, {', '.join(METHODS)}", param, ctx)
        return names


@command()
@click.argument("case", type=click.Path())
@option(
    "--methods",
    type=Methods(),
    default="all",
    show_default=True,
    help="Which to run, as for samecam cluster --method.",
)
@option(
    "--truth",
    type=click.Path(),
    metavar="TRUTH.csv",
    help="CSV with the columns path and camera; without it there are no scores.",
)
@file_option("--out", "CASE/compare.json", "The table; its picture is put beside it.")
@choice("--preset", "default", "paper", help="paper: published constants for its methods.")
@seed_option
@option("--timeout", type=Seconds(), show_default="any time", help="That one method may take.")
@together(memory_option("a method"), output_options)
def compare(case: str, timeout: float | None, as_json: bool, quiet: bool, **options: Any) -> int:
    """Run several methods on the fingerprints of a case, and compare them.

    Each runs in a process of its own, one after another. The answer in CASE stays as it
    is; the table is written beside it as compare.json, or to -o, with a picture beside it.
    The best is first: by F, then precision, then time. Photos count as in samecam evaluate,
    but those of the truth that are not in the case are left out. Seconds are those of the
    method, without reading the photos and without the correlations that methods share;
    memory is the most that its process held.

    Example:  samecam compare CASE --truth truth.csv
    """
    from samecam.case import compare_methods

    memory = take_resources(options).memory
    with Phases(quiet=quiet) as phases:
        result = compare_methods(case, timeout=timeout, memory=memory, progress=phases, **options)
    if as_json:
        print_json(result.as_dict())
    else:
        say(_table(result), quiet=quiet)
    return 0


def _table(result: "Comparison") -> list[str]:
    lines = [table_line("method", _COLUMNS, _NAME)]
    lines += [_line(row) for row in result.rows if not row.failure]
    lines += [f"{row.method:{_NAME}}  failed: {row.failure}" for row in result.rows if row.failure]
    lines.append("")
    lines += [said for said in (result.scaled, result.remark) if said]
    if result.correlating is not None:
        lines.append(
            f"Correlating the {counted(result.photos, 'photo')} took {result.correlating:.1f} s, "
            "once for all."
        )
    lines.append(f"Written: {result.file}, {result.picture}")
    return lines


def _line(row: "ComparedMethod") -> str:
    from samecam.compute import format_bytes

    cells = ["–"] * 5
    unclustered = row.unclustered
    if row.scores is not None:
        s = row.scores
        cells = [f"{x:.4f}" for x in (s.f, s.precision, s.recall, s.ari, s.lp_over_lg)]
        unclustered = s.n_unclustered
    cells += [str(row.groups), str(unclustered)]
    cells += [f"{row.seconds or 0:.2f}", format_bytes(row.peak_memory or 0)]
    return table_line(row.method, cells, _NAME)
