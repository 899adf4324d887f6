"""`samecam experiment`."""

from typing import Any

import click

from samecam.cli._output import Phases, output_options, print_json, say


@click.command()
@click.argument("name", metavar="NAME|list|page")
@click.option(
    "--data",
    type=click.Path(),
    metavar="DIR",
    help="Root of the real collection (Dresden, VISION or RAISE as downloaded; not for "
    "few-images); without it, twins.",
)
@click.option("--quick", is_flag=True, help="Fewer configurations, 3 runs instead of 10.")
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Runs of a method with chance in it.  [default: 10, or 3 if quick]",
)
@click.option(
    "-o",
    "--output",
    "study",
    type=click.Path(),
    metavar="STUDY",
    help="Folder of the runs; what is in it is not run again.  [default: studies/NAME]",
)
@click.option(
    "--results",
    type=click.Path(),
    default="results",
    show_default=True,
    metavar="DIR",
    help="Folder for NAME.json and NAME.svg; for 'page', where they are.",
)
@click.option(
    "--docs",
    type=click.Path(),
    default="docs",
    show_default=True,
    metavar="DIR",
    help="For 'page': folder for results.md.",
)
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Processes.")
@click.option(
    "--memory", metavar="SIZE", help="To keep to, like 8G.  [default: half of what is free]"
)
@click.option("--device", default="auto", show_default=True, metavar="auto|cpu|cuda|cuda:K")
@output_options
def experiment(name: str, as_json: bool, quiet: bool, docs: str, **options: Any) -> int:
    """Make a table or figure of the paper again, ours beside theirs.

    'list' names the experiments; 'page' writes docs/results.md from the results there are.
    Killed at any moment, the same command goes on with the runs it has not made yet.
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
        click.echo("\n".join(f"{n:{wide}}  {e.summary}" for n, e in EXPERIMENTS.items()))
    return 0


def _conduct(
    name: str, *, as_json: bool, quiet: bool, results: str, memory: str | None, **options: Any
) -> int:
    from samecam.compute import parse_bytes
    from samecam.experiments import conduct, experiment

    budget = None if memory is None else parse_bytes(memory)
    with Phases(quiet=quiet) as phases:
        document = conduct(name, results=results, memory=budget, progress=phases, **options)
    if as_json:
        print_json(document)
    else:
        stem = name if document["kind"] == "twin" else f"{name}-real"
        say(experiment(name).text(document["result"]), quiet=quiet)
        say(f"\nWritten: {results}/{stem}.json, {results}/{stem}.svg", quiet=quiet)
    return 0
