"""`samecam report`."""

from typing import Any

import click

from samecam.cli._extract import taken_resources
from samecam.cli._output import Phases, output_options, print_json, say


@click.command()
@click.argument("case", type=click.Path())
@click.option("--no-thumbnails", is_flag=True, help="Show no photos, only their names.")
@click.option("--blur", is_flag=True, help="Blur the photos until the reader asks otherwise.")
@click.option(
    "--memory",
    default=None,
    metavar="SIZE",
    help="That correlations may take, like 8G.  [default: half of what is free]",
)
@click.option("--workers", type=click.IntRange(min=1), help="Processes.  [default: one a core]")
@output_options
def report(
    case: str,
    no_thumbnails: bool,
    blur: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Write CASE/report.html: what was found, on one page.

    CASE is a folder that `samecam cluster` has made. The page needs no network and nothing
    beside it. Photos that are no longer where they were are shown without a picture.
    """
    from samecam.report import write_report

    with Phases(quiet=quiet) as phases:
        path = write_report(
            case,
            thumbnails=not no_thumbnails,
            blur=blur,
            resources=taken_resources(options),
            progress=phases,
        )
    if as_json:
        print_json({"report": str(path), "bytes": path.stat().st_size})
    else:
        say(str(path), quiet=quiet)
