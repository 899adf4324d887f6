"""`samecam cluster`."""

import re
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from samecam.cli._extract import (
    announcer,
    exit_code,
    extraction_dict,
    extraction_options,
    files_words,
    taken_resources,
)
from samecam.cli._gamma import Gamma
from samecam.cli._notices import clustering_notices
from samecam.cli._output import Phases, duration, output_options, print_json, printable, say
from samecam.errors import SamecamError

if TYPE_CHECKING:
    from samecam.case import Clustering, ClusteringSettings
    from samecam.compute import Resources

_SIZES = 12
_OURS = ("consolidated", "ssc-nc", "ls-ssc", "ssc")
# Published by others, to compare with: `samecam.cluster.RIVALS`, which would be slow to import.
_RIVALS = (
    *("msc", "lin-ls", "ccc", "hierarchical", "mrf", "ncuts", "bloy"),
    *("hdbscan", "average-linkage"),
)
METHODS = (*_OURS, *_RIVALS)
# Parameters of the methods, and the options that give them.
_OPTIONS = {
    "found_rate": "--found-rate",
    "join_rate": "--join-rate",
    "merge_rate": "--merge-rate",
    "gamma": "--gamma",
    "solver": "--solver",
    "n_clusters": "--clusters",
    "batch_size": "--batch-size",
    "false_alarm": "--false-alarm",
    "n_neighbours": "--neighbours",
    "recycling": "--recycling",
}
_NAMES = {**_OPTIONS, "timeout": "--timeout", "sigma": "--sigma", "size": "--size"}


class Rate(click.FloatRange):
    """A probability strictly between 0 and 1."""

    def __init__(self) -> None:
        super().__init__(0, 1, min_open=True, max_open=True)


def method_options(command: Any) -> Any:
    """Options that say how photos are grouped."""
    options = [
        click.option(
            "--method",
            type=click.Choice(("auto", *METHODS)),
            default="auto",
            show_default=True,
            help="'auto' is 'consolidated', ours; 'ssc-nc', 'ls-ssc' and 'ssc' are the paper's and "
            "its forerunner; the others are rivals published elsewhere, to compare with. "
            "With --preset paper the paper's take the published constants and leave dark photos "
            "(more than 75 % of the crop in gray levels 0 to 80) without a group.",
        ),
        click.option(
            "--found-rate",
            type=Rate(),
            help="consolidated: probability that noise alone makes any group.  [default: 0.001]",
        ),
        click.option(
            "--join-rate",
            type=Rate(),
            help="consolidated: probability that a stranger joins a group.  [default: 0.01]",
        ),
        click.option(
            "--merge-rate",
            type=Rate(),
            help="consolidated: probability that chance joins two groups.  [default: 0.001]",
        ),
        click.option(
            "--gamma",
            type=Gamma(),
            help="ssc, ssc-nc, ls-ssc: weight of sparsity.  [default: auto; paper with --preset "
            "paper]",
        ),
        click.option(
            "--solver",
            type=click.Choice(["exact", "admm", "authors"]),
            help="ssc, ssc-nc: of the constrained LASSO.  [default: exact]",
        ),
        click.option(
            "--clusters",
            "n_clusters",
            type=click.IntRange(min=1),
            help="ssc, ssc-nc: number of cameras, if it is known.",
        ),
        click.option(
            "--batch-size",
            type=click.IntRange(min=2),
            help="consolidated, ls-ssc: photos represented at a time.  [default: what --memory "
            "allows]",
        ),
        click.option(
            "--false-alarm",
            type=Rate(),
            help="ls-ssc: probability that a stranger is attracted.  [default: 0.001]",
        ),
        click.option(
            "--neighbours",
            "n_neighbours",
            type=click.IntRange(min=2),
            help="ls-ssc: K, coefficients kept of each photo.  [default: 5]",
        ),
        click.option(
            "--recycling",
            type=click.IntRange(min=0),
            help="ls-ssc: R, rounds of recycling.  [default: until one finds nothing]",
        ),
        click.option(
            "--tuned",
            metavar="FILE.json",
            help="ls-ssc: γ, K, R and the threshold of merging, from a file of samecam tune; "
            "options given beside it win.",
        ),
        click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True),
        click.option(
            "--memory",
            default=None,
            metavar="SIZE",
            help="That clustering may take, like 8G.  [default: half of what is free]",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@click.argument("photos", nargs=-1)
@click.option(
    "-o",
    "--output",
    "case",
    required=True,
    metavar="CASE",
    help="Case folder: made, or gone on with.",
)
@method_options
@click.option(
    "--fingerprints",
    metavar="FILE.npy",
    help="Group the rows of an array (photos, numbers) instead of photos.",
)
@click.option(
    "--names",
    metavar="FILE.txt",
    help="With --fingerprints: their names, one a line.  [default: row 000000, …]",
)
@click.option("--no-report", is_flag=True, help="Do not write CASE/report.html.")
@extraction_options
@output_options
@click.pass_context
def cluster(
    ctx: click.Context,
    /,
    photos: tuple[str, ...],
    fingerprints: str | None,
    names: str | None,
    no_report: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Group photos by the camera that took them.

    PHOTOS are files, folders (with all below), patterns, or @list.txt. Files are only
    read. Writes into CASE: report.html, what was found on one page; clusters.csv, one row per
    used photo with its group (-1: none); clusters.json, one object per group. Weak (part
    over-exposed) photos found no group but may join one. The same command again goes on where
    it was stopped and does nothing twice; with other clustering options it uses the
    fingerprints again.
    """
    _check_usage(ctx, photos, fingerprints, names)
    began = time.monotonic()
    with _in_words_of_options(), Phases(quiet=quiet) as phases:
        resources = taken_resources(options)
        if fingerprints is None:
            tell = not (quiet or as_json)
            result = _cluster_photos(photos, resources, phases, tell=tell, **options)
        else:
            result = _cluster_fingerprints(fingerprints, names, resources, phases, **options)
        report = None if no_report else page(result, phases, resources)
    if as_json:
        print_json({**_as_dict(result), "report": None if report is None else str(report)})
    elif result.extraction.interrupted:
        say(files_words(result.extraction), quiet=quiet)
    else:
        say(_words(result, report, time.monotonic() - began), quiet=quiet)
    return exit_code(result.extraction)


def page(result: "Clustering", phases: Phases, resources: "Resources") -> Path | None:
    """The report, made again unless it belongs to the very tables of the case."""
    from samecam.case import REPORT, open_case, report_is_current
    from samecam.report import write_report

    if result.extraction.interrupted:
        return None
    if report_is_current(result.case, open_case(result.case).info):
        return result.case / REPORT
    return write_report(result.case, resources=resources, progress=phases)


def _check_usage(
    ctx: click.Context, photos: tuple[str, ...], fingerprints: str | None, names: str | None
) -> None:
    if fingerprints is None:
        if names is not None:
            raise click.UsageError("--names is for --fingerprints.", ctx)
        if not photos:
            raise click.UsageError(
                "Missing argument 'PHOTOS...' (or --fingerprints FILE.npy).", ctx
            )
        return
    if photos:
        raise click.UsageError("Give PHOTOS or --fingerprints, not both.", ctx)
    steps = ("size", "offset", "portrait", "sigma", "grid", "cfa", "wiener", "equalise", "dtype")
    for name in (*steps, "timeout"):
        if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(
                f"--{name} says how photos are read and is not for --fingerprints.", ctx
            )


def _cluster_photos(
    photos: tuple[str, ...],
    resources: "Resources",
    phases: Phases,
    *,
    tell: bool,
    case: str,
    **options: Any,
) -> "Clustering":
    from samecam.case import ExtractionSettings, cluster_photos, stop_on_signals

    grouping = _grouping(options, options["preset"])
    with stop_on_signals() as stop:
        return cluster_photos(
            photos,
            case,
            ExtractionSettings(**options),
            grouping,
            resources=resources,
            progress=phases,
            stop=stop,
            planned=announcer(phases) if tell else None,
        )


def _cluster_fingerprints(
    file: str,
    names: str | None,
    resources: "Resources",
    phases: Phases,
    *,
    case: str,
    **options: Any,
) -> "Clustering":
    from samecam.case import cluster_fingerprints, stop_on_signals

    grouping = _grouping(options, options["preset"])
    with stop_on_signals() as stop:
        return cluster_fingerprints(
            file, case, grouping, names=names, resources=resources, progress=phases, stop=stop
        )


def _grouping(options: dict[str, Any], preset: Any) -> "ClusteringSettings":
    """Take the options of grouping out of all options."""
    from samecam.case import ClusteringSettings, read_tuned

    tuned = options.pop("tuned")
    given = {name: options.pop(name) for name in _OPTIONS}
    given = {name: value for name, value in given.items() if value is not None}
    chosen = None if tuned is None else read_tuned(tuned)
    return ClusteringSettings(options.pop("method"), given, options.pop("seed"), preset, chosen)


@contextmanager
def _in_words_of_options() -> Iterator[None]:
    """Let errors name the option that was typed, not the parameter it becomes."""
    try:
        yield
    except SamecamError as error:
        raise SamecamError(option_words(str(error))) from None


def option_words(sentence: str) -> str:
    """A sentence about a parameter as one about its option."""
    names = "|".join(_NAMES)
    sentence = re.sub(rf"^({names}) is ", lambda m: f"{_NAMES[m[1]]} is ", sentence)
    sentence = re.sub(
        rf"has no option ({names})(?=:)", lambda m: f"has no option {_NAMES[m[1]]}", sentence
    )
    plain = "|".join(name for name in _OPTIONS if "_" in name)
    sentence = re.sub(rf"\b({plain})\b", lambda m: _OPTIONS[m[1]], sentence)
    sentence = sentence.replace("the memory budget is", "the memory budget (--memory) is")
    return re.sub(r", or None\.$", ", or leave it out.", sentence)


def _as_dict(result: "Clustering") -> dict[str, Any]:
    return {
        "case": str(result.case),
        "groups": len(result.sizes),
        "sizes": result.sizes,
        "unclustered": result.n_unclustered,
        "seconds": result.seconds,
        "details": result.details,
        "changed_outside": result.changed_outside,
        "extraction": extraction_dict(result.extraction),
    }


def _words(result: "Clustering", report: Path | None, seconds: float) -> str:
    """What became of the photos, and where to look further."""
    new = result.extraction.done or result.seconds
    case = shlex.quote(str(result.case))
    return "\n".join(
        [
            files_words(result.extraction),
            *map(printable, clustering_notices(result)),
            _camera_words(result),
            f"Took {duration(seconds)}, {duration(result.seconds)} of it for grouping."
            if new
            else "Nothing was to be done: this is the answer that stood in the case.",
            "Look further:",
            *([] if report is None else [f"  {report}: all of it on one page, for a browser"]),
            f"  {result.case / 'clusters.csv'}: the group of each photo",
            f"  {result.case / 'clusters.json'}: the groups, their EXIF cameras, their neighbours",
            f"  {result.case / 'images.csv'}: every file, and why it was not used",
            f"  samecam evaluate {case} --truth TRUTH.csv, if it is known who took which",
        ]
    )


def _camera_words(result: "Clustering") -> str:
    sizes, alone = result.sizes, result.n_unclustered
    rest = f"{alone} photo{'' if alone == 1 else 's'} in no group"
    if not sizes:
        return f"No camera was found; {rest}."
    listed = ", ".join(map(str, sizes[:_SIZES])) + (", …" if len(sizes) > _SIZES else "")
    if len(sizes) == 1:
        return f"1 camera with {listed} photos; {rest}."
    if sizes[0] == sizes[-1]:
        return f"{len(sizes)} cameras with {sizes[0]} photos each; {rest}."
    return f"{len(sizes)} cameras with {sizes[-1]} to {sizes[0]} photos ({listed}); {rest}."
