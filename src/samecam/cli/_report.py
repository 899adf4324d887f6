"""`samecam report`."""

from typing import Any

import click

from samecam.cli._command import command, option, together
from samecam.cli._options import (
    file_option,
    memory_option,
    output_options,
    take_resources,
    workers_option,
)
from samecam.cli._output import print_json, say
from samecam.cli._progress import Phases


@command()
@click.argument("case", type=click.Path())
@file_option("--output", "CASE/report.html", "File to write.")
@option("--no-thumbnails", is_flag=True, help="Show no photos, only their names.")
@option("--blur", is_flag=True, help="Blur the photos until the reader asks otherwise.")
@together(memory_option("correlations"), workers_option(), output_options)
def report(
    case: str,
    output: str | None,
    no_thumbnails: bool,
    blur: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Write CASE/report.html: all of a case, on one page.

    CASE is a folder that `samecam cluster` has made. The page needs no network and nothing
    beside it. Photos that are no longer where they were are shown without a picture.
    """
    from samecam.report import write_report

    with Phases(quiet=quiet) as phases:
        path = write_report(
            case,
            thumbnails=not no_thumbnails,
            blur=blur,
            output=output,
            resources=take_resources(options),
            progress=phases,
        )
    if as_json:
        print_json({"report": str(path), "bytes": path.stat().st_size})
    else:
        say(str(path), quiet=quiet)
