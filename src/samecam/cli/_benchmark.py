"""`samecam benchmark`."""

from typing import TYPE_CHECKING, Any

import click

from samecam.cli._command import command, option
from samecam.cli._options import folder_option, output_options, runs_option
from samecam.cli._output import print_json, say
from samecam.cli._progress import Phases
from samecam.cli._text import table_line
from samecam.cli._types import Names, Seconds

if TYPE_CHECKING:
    from samecam.experiments import Benchmark

_COLUMNS = ("F", "P", "R", "ARI", "groups", "unclustered", "seconds", "sets")
_NAME = 22


@command(
    epilog="Methods of the project: ours, ls-ssc, ssc-nc, ssc, and published by others lin-ls, "
    "lin-ls-measured, msc, ccc, mrf, hierarchical, ncuts, bloy, hdbscan, average-linkage."
)
@click.argument("methods", nargs=-1, metavar="[METHOD]...")
@folder_option(
    "-o",
    "--output",
    "out",
    default="benchmark",
    help="Folder for the result and the runs: made, or gone on with.",
)
@folder_option("--data", help="Also on this collection, as downloaded or with a truth.csv.")
@option(
    "--sets", type=Names("set"), show_default="all", help="Fixed sets to run on; none: with --data."
)
@option("--quick", is_flag=True, help="Four sets, 2 runs instead of 5.")
@runs_option(5, 2)
@option("--limit", type=Seconds(), default=600.0, show_default="600", help="That one run may take.")
@output_options
def benchmark(methods: tuple[str, ...], as_json: bool, quiet: bool, **options: Any) -> int:
    """Run any method on fixed simulated sets, and on real photos, and score it.

    METHOD is a name below, 'all' of them, or an estimator in scikit-learn's manner as
    module:Class or file.py:Class; without any, ours. It has fit_predict, or fit and labels_: a
    whole number for each photo, -1 for no group. With metric="precomputed" it is given the
    correlations of all photos, else their fingerprints. With random_state it runs several
    times. One that fails or takes too long is listed with the reason.

    The sets need no download: they are drawn here, and checked by their SHA-256. DIR gets
    benchmark.json and benchmark.html. Killed at any moment, the same command goes on.

    Example:  samecam benchmark ours mine.py:Mine --quick
    """
    from samecam.experiments import benchmark as run
    from samecam.report import write_benchmark

    with Phases(quiet=quiet) as phases:
        result = run(*methods, progress=phases, **options)
    page = write_benchmark(result)
    if as_json:
        print_json(result.as_dict())
    else:
        say([*_table(result), f"Written: {result.file}, {page}"], quiet=quiet)
    return 4 if result.different else 0


def _table(result: "Benchmark") -> list[str]:
    lines = [table_line("method", _COLUMNS, _NAME)]
    for one in result.ranking:
        cells = [f"{one[name]:.4f}" for name in ("f", "precision", "recall", "ari")]
        cells += [f"{one['groups']:.0f}/{one['cameras']}", f"{one['unclustered']:.0f}"]
        cells += [f"{one['seconds']:.2f}", str(one["sets"])]
        lines.append(table_line(one["label"], cells, _NAME))
    return [*lines, "", *result.different, *result.failures, *result.content["notes"]]
