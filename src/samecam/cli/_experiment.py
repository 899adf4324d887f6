"""`samecam experiment`."""

from typing import Any

import click

from samecam.cli._command import command, option, together
from samecam.cli._options import (
    device_option,
    folder_option,
    memory_option,
    output_options,
    runs_option,
    workers_option,
)
from samecam.cli._output import print_json, say, show
from samecam.cli._progress import Phases


@command()
@click.argument("name", metavar="NAME|list|page")
@folder_option("--data", help="Root of a collection, as downloaded; without it, twins.")
@option("--quick", is_flag=True, help="Fewer configurations, 3 runs instead of 10.")
@runs_option(10, 3)
@option(
    "-o",
    "--output",
    "study",
    type=click.Path(),
    metavar="STUDY",
    show_default="studies/NAME",
    help="Folder of the runs, which are kept.",
)
@folder_option("--results", default="results", help="Folder of NAME.json and NAME.svg.")
@folder_option("--docs", default="docs", help="For 'page': folder for results.md.")
@together(device_option, memory_option("it all"), workers_option(), output_options)
def experiment(name: str, as_json: bool, quiet: bool, docs: str, **options: Any) -> int:
    """Make a table or figure of the paper again, ours beside theirs.

    'list' names the experiments; 'page' writes docs/results.md from the results there are.
    Killed at any moment, the same command goes on with the runs it has not made yet.

    Example:  samecam experiment medium-dresden --quick
    """
    if name == "list":
        return _list(as_json=as_json)
    if name == "page":
        from samecam.experiments import write_page

        path = write_page(options["results"], docs)
        if as_json:
            print_json({"page": str(path)})
        else:
            say(f"Written: {path}", quiet=quiet)
        return 0
    return _conduct(name, as_json=as_json, quiet=quiet, **options)


def _list(*, as_json: bool) -> int:
    from samecam.experiments import EXPERIMENTS

    if as_json:
        print_json({name: entry.summary for name, entry in EXPERIMENTS.items()})
    else:
        wide = max(map(len, EXPERIMENTS))
        show(f"{name:{wide}}  {entry.summary}" for name, entry in EXPERIMENTS.items())
    return 0


def _conduct(name: str, *, as_json: bool, quiet: bool, results: str, **options: Any) -> int:
    from samecam.experiments import conduct, experiment

    with Phases(quiet=quiet) as phases:
        document = conduct(name, results=results, progress=phases, **options)
    if as_json:
        print_json(document)
    else:
        stem = name if document["kind"] == "twin" else f"{name}-real"
        shown = experiment(name)
        said = f"{shown.about}\n\n{shown.text(document['result'])}"
        say(said.split("\n"), quiet=quiet)
        say(["", f"Written: {results}/{stem}.json, {results}/{stem}.svg"], quiet=quiet)
    return 0
