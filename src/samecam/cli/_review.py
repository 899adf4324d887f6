"""`samecam review`."""

from typing import Any

import click

from samecam.cli._command import command, option, together
from samecam.cli._options import output_options, take_resources, workers_option
from samecam.cli._output import print_json, say
from samecam.cli._progress import Phases
from samecam.cli._types import Count


@command()
@click.argument("case", type=click.Path())
@option("--examiner", metavar="NAME", show_default="who is logged in", help="Who decides.")
@option("--port", type=Count(1, 65535), show_default="any that is free", help="Where to listen.")
@option("--no-browser", is_flag=True, help="Open no browser: print the address alone.")
@option("--blur", is_flag=True, help="Blur the photos until the reader asks otherwise.")
@option("--read-only", is_flag=True, help="Look at it, decide nothing.")
@together(workers_option("Processes that draw pictures."), output_options)
def review(
    case: str,
    examiner: str | None,
    port: int | None,
    no_browser: bool,
    blur: bool,
    read_only: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Look at a case and decide, on a page on this machine.

    CASE is a folder that `samecam cluster` has made. The page is for the browser that opens its
    address first, and for this machine alone; Ctrl-C ends it. Every decision is on disk before
    the next question comes, and can be taken back. Where another process holds the case, it is
    opened for reading.

    Example:  samecam review CASE --examiner "A. Examiner"
    """
    from samecam.case import usual_examiner
    from samecam.review import Review, stopped_by_signals

    with Phases(quiet=quiet) as phases:
        opened = Review(
            case,
            examiner or usual_examiner(),
            port=port or 0,
            blur=blur,
            read_only=read_only,
            resources=take_resources(options),
            progress=phases,
        )

    def ready() -> None:
        if as_json:
            print_json({"address": opened.address, "read_only": opened.looking})
        else:
            say(_lines(opened.address, opened.looking), quiet=quiet)
        if not no_browser:
            _open(opened.address)

    with opened, stopped_by_signals(opened):
        opened.serve(ready)


def _lines(address: str, looking: str) -> list[str]:
    lines = [f"Open {address} (it works once, in one browser of this machine)."]
    if looking:
        lines.append(f"Read only: {looking}")
    return [*lines, "Ctrl-C ends it."]


def _open(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
