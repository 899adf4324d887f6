"""`samecam report`."""

import os
from typing import Any

import click

from samecam.cli._command import choice, command, option, together
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
@option(
    "--pdf",
    is_flag=False,
    flag_value="",
    metavar="[FILE]",
    show_default="beside the page",
    help="Print it to a PDF, by a browser.",
)
@choice("--paper", "a4", "letter", help="What it is printed on.")
@option("--examiner", metavar="TEXT", help="Who examined it.")
@option("--organisation", metavar="TEXT", help="For whom.")
@option("--case-number", metavar="TEXT", help="Number of the case there.")
@option("--exhibit", "exhibits", multiple=True, metavar="NUMBER[=FOLDER]", help="An exhibit.")
@option("--question", metavar="TEXT", help="What was asked.")
@option("--remarks", metavar="TEXT", help="What else is to be known of the files.")
@option("--conclusion", metavar="TEXT", help="The examiner's own, beside what was computed.")
@option("--signed", nargs=2, metavar="NAME DATE", help="Sign it; else it is a draft.")
@option("--about-template", is_flag=True, help="Only write CASE/about.toml to fill in.")
@together(memory_option("correlations"), workers_option(), output_options)
def report(
    case: str,
    output: str | None,
    no_thumbnails: bool,
    blur: bool,
    pdf: str | None,
    paper: Any,
    about_template: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Write CASE/report.html: all of a case, on one page.

    CASE is a folder that `samecam cluster` has made. The page needs no network and nothing
    beside it. Photos that are no longer where they were are shown without a picture. What is said
    of the examination stands in CASE/about.toml; options are taken in place of it, and not kept.

    Example:  samecam report CASE --pdf --paper a4
    """
    from samecam.case import REPORT, open_case
    from samecam.report import write_about_template, write_report

    about = _take_about(options)
    if pdf == "":
        pdf = os.path.splitext(output or os.path.join(case, REPORT))[0] + ".pdf"
    if about_template:
        written = write_about_template(open_case(case).folder)
        if as_json:
            print_json({"about": str(written)})
        else:
            say(str(written), quiet=quiet)
        return
    with Phases(quiet=quiet) as phases:
        path = write_report(
            case,
            thumbnails=not no_thumbnails,
            blur=blur,
            output=output,
            pdf=pdf,
            paper=paper,
            about=about,
            resources=take_resources(options),
            progress=phases,
        )
    if as_json:
        print_json({"report": str(path), "bytes": path.stat().st_size, "pdf": pdf})
    else:
        say([str(path), *([] if pdf is None else [pdf])], quiet=quiet)


def _take_about(options: dict[str, Any]) -> dict[str, Any]:
    """Take out of all options what is said of the examination, as `about.toml` would say it."""
    texts = ("examiner", "organisation", "case_number", "question", "remarks", "conclusion")
    given = {name: options.pop(name) for name in (*texts, "exhibits", "signed")}
    about = {name: given[name] for name in texts if given[name] is not None}
    if given["exhibits"]:
        pairs = [each.partition("=") for each in given["exhibits"]]
        about["exhibits"] = {number: what for number, _, what in pairs}
    if given["signed"]:
        about["signed"] = dict(zip(("name", "date"), given["signed"], strict=True))
    return about
