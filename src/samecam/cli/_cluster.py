"""`samecam cluster`."""

from typing import TYPE_CHECKING, Any

import click

from samecam.cli._extract import (
    exit_code,
    extraction_dict,
    extraction_options,
    extraction_words,
    plan_words,
)
from samecam.cli._output import duration, output_options, print_json, progress, say

if TYPE_CHECKING:
    from samecam.case import Clustering

_SIZES = 12
_OPTIONS = ("found_rate", "join_rate", "merge_rate", "gamma", "solver", "n_clusters")


class Gamma(click.ParamType[float | str]):
    """A positive number, or the name of a way to choose one."""

    name = "auto|paper|cost|NUMBER"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | str:
        """A name is kept, a number is read."""
        if value in ("auto", "paper", "cost"):
            return str(value)
        try:
            number = float(value)
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf"):
            self.fail(f"{value!r} is neither a positive number nor auto, paper or cost", param, ctx)
        return number


class Rate(click.FloatRange):
    """A probability strictly between 0 and 1."""

    def __init__(self) -> None:
        super().__init__(0, 1, min_open=True, max_open=True)


@click.command()
@click.argument("photos", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    "case",
    required=True,
    metavar="CASE",
    help="Case folder: made, or gone on with.",
)
@click.option(
    "--method",
    type=click.Choice(["auto", "consolidated", "ssc-nc", "ssc"]),
    default="auto",
    show_default=True,
    help="'auto' is 'consolidated', ours; the others are the paper's and its forerunner.",
)
@click.option(
    "--found-rate",
    type=Rate(),
    help="consolidated: probability that noise alone makes any group.  [default: 0.001]",
)
@click.option(
    "--join-rate",
    type=Rate(),
    help="consolidated: probability that a stranger joins a group.  [default: 0.005]",
)
@click.option(
    "--merge-rate",
    type=Rate(),
    help="consolidated: probability that chance joins two groups.  [default: 0.001]",
)
@click.option(
    "--gamma",
    type=Gamma(),
    help="ssc, ssc-nc: weight of sparsity.  [default: auto; paper with --preset paper]",
)
@click.option(
    "--solver",
    type=click.Choice(["exact", "admm", "authors"]),
    help="ssc, ssc-nc: of the constrained LASSO.  [default: exact]",
)
@click.option(
    "--clusters",
    "n_clusters",
    type=click.IntRange(min=1),
    help="ssc, ssc-nc: number of cameras, if it is known.",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True)
@click.option(
    "--memory",
    default=None,
    metavar="SIZE",
    help="For correlations, like 8G.  [default: half of what is free]",
)
@extraction_options
@output_options
def cluster(
    photos: tuple[str, ...],
    case: str,
    method: str,
    seed: int,
    memory: str | None,
    workers: int | None,
    timeout: float,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> int:
    """Group photos by the camera that took them.

    PHOTOS are files, folders (with all below), patterns, or @list.txt. Files are only
    read. Writes clusters.csv into CASE: one row per used photo with its group, -1 for
    none. The same command again goes on where it was stopped; with other clustering
    options it uses the fingerprints again.
    """
    from samecam.case import (
        ClusteringSettings,
        ExtractionSettings,
        cluster_photos,
        plan_extraction,
        stop_on_signals,
    )
    from samecam.compute import parse_bytes

    options = {name: settings.pop(name) for name in _OPTIONS}
    chosen = ExtractionSettings(**settings)
    if options["gamma"] is None and chosen.preset == "paper" and method in ("ssc", "ssc-nc"):
        options["gamma"] = "paper"
    given = {name: value for name, value in options.items() if value is not None}
    grouping = ClusteringSettings(method, given, seed)
    with stop_on_signals() as stop:
        if not (quiet or as_json):
            click.echo(plan_words(plan_extraction(photos, case, chosen, workers=workers)), err=True)
        with progress("Extracting", "photos", quiet=quiet) as show:
            result = cluster_photos(
                photos,
                case,
                chosen,
                grouping,
                memory=None if memory is None else parse_bytes(memory),
                workers=workers,
                timeout=timeout,
                progress=show,
                stop=stop,
            )
    if as_json:
        print_json(_as_dict(result))
    else:
        say(_words(result), quiet=quiet)
    return exit_code(result.extraction)


def _as_dict(result: "Clustering") -> dict[str, Any]:
    return {
        "case": str(result.case),
        "groups": len(result.sizes),
        "sizes": result.sizes,
        "unclustered": result.n_unclustered,
        "seconds": result.seconds,
        "details": result.details,
        "extraction": extraction_dict(result.extraction),
    }


def _words(result: "Clustering") -> str:
    lines = [extraction_words(result.extraction)]
    if not result.extraction.interrupted:
        sizes = ", ".join(map(str, result.sizes[:_SIZES]))
        more = ", …" if len(result.sizes) > _SIZES else ""
        many = len(result.sizes)
        lines += [
            f"{many} group{'' if many == 1 else 's'}, each by one camera"
            + (f", of {sizes}{more} photos" if many else "")
            + f"; {result.n_unclustered} photos in no group (weak ones never are in one yet).",
            f"Clustered in {duration(result.seconds)}; who is in which group: "
            f"{result.case / 'clusters.csv'}",
        ]
    return "\n".join(lines)
