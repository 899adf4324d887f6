"""`samecam add`."""

import shlex
import time
from typing import TYPE_CHECKING, Any

import click

from samecam.cli._cluster import _camera_words, page
from samecam.cli._extract import (
    announcer,
    exit_code,
    extraction_dict,
    files_words,
    means_options,
    taken_resources,
)
from samecam.cli._notices import clustering_notices
from samecam.cli._output import Phases, duration, output_options, print_json, printable, say

if TYPE_CHECKING:
    from samecam.case import Addition

_LISTED = 20


@click.command()
@click.argument("case")
@click.argument("photos", nargs=-1, required=True)
@click.option(
    "--memory",
    default=None,
    metavar="SIZE",
    help="That clustering may take, like 8G.  [default: half of what is free]",
)
@means_options
@output_options
def add(
    case: str,
    photos: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Let more photos join the groups of a case, or form new ones.

    Only the new photos are read. Grouping begins with the groups as they stand; photos whose
    group changes are listed. Their paths in CASE begin with "added 1/", "added 2/", and so
    on. Groups are numbered by size again; what each was before is said. The same command
    again goes on where it was stopped and does nothing twice.
    """
    from samecam.case import add_photos, stop_on_signals

    began = time.monotonic()
    resources = taken_resources(options)
    with stop_on_signals() as stop, Phases(quiet=quiet) as phases:
        result = add_photos(
            case,
            photos,
            progress=phases,
            stop=stop,
            planned=None if quiet or as_json else announcer(phases),
            resources=resources,
        )
        report = page(result.clustering, phases, resources)
    extraction = result.clustering.extraction
    if as_json:
        print_json({**_as_dict(result), "report": None if report is None else str(report)})
    elif extraction.interrupted:
        say(files_words(extraction), quiet=quiet)
    else:
        words = _words(result, time.monotonic() - began)
        say("\n".join(map(printable, words)), quiet=quiet)
    return exit_code(extraction)


def _as_dict(result: "Addition") -> dict[str, Any]:
    found = result.clustering
    return {
        "case": str(found.case),
        "folder": result.folder,
        "groups": [
            {"id": group.id, "size": group.size, "was": was}
            for group, was in zip(found.groups, result.was, strict=False)
        ],
        "unclustered": found.n_unclustered,
        "new": [{"path": path, "cluster": group} for path, group in result.new.items()],
        "moved": [{"path": m.path, "was": m.was, "cluster": m.now} for m in result.moved],
        "seconds": found.seconds,
        "extraction": extraction_dict(found.extraction),
    }


def _words(result: "Addition", seconds: float) -> list[str]:
    """What became of the new photos, and what changed."""
    found = result.clustering
    words = [files_words(found.extraction), *clustering_notices(found)]
    if not found.seconds:
        return [*words, _camera_words(found), "Nothing was to be done: the answer stands."]
    formed = sum(was is None for was in result.was)
    fresh = {k for k, was in enumerate(result.was) if was is None}
    groups = list(result.new.values())
    joined = sum(k >= 0 and k not in fresh for k in groups)
    alone = sum(k < 0 for k in groups)
    words += [
        f"{len(groups)} new photos used: {joined} joined groups, {len(groups) - joined - alone} "
        f"are in {formed} new ones, {alone} in none.",
        _camera_words(found),
        _number_words(result.was),
        *_move_words(result),
        f"Took {duration(seconds)}, {duration(found.seconds)} of it for grouping.",
        f"  {found.case / 'report.html'}: all of it on one page, for a browser",
        f"  {found.case / 'clusters.csv'}: the group of each photo",
        f"  samecam verify {shlex.quote(str(found.case))}: whether it can be repeated",
    ]
    return [word for word in words if word]


def _number_words(was: list[int | None]) -> str:
    changed = [f"{k} was {old}" for k, old in enumerate(was) if old is not None and old != k]
    if not changed:
        return ""
    more = ", …" if len(changed) > _LISTED else ""
    return f"Groups have new numbers: {', '.join(changed[:_LISTED])}{more}."


def _move_words(result: "Addition") -> list[str]:
    count = len(result.moved)
    if not count:
        return ["No photo of before changed its group."]
    lines = [f"{count} photo{'' if count == 1 else 's'} of before changed the group:"]
    lines += [f"  {m.path}: {_name(m.was)} → {_name(m.now)}" for m in result.moved[:_LISTED]]
    return lines + [f"  … ({count - _LISTED} more; --json has all)"] * (count > _LISTED)


def _name(group: int) -> str:
    return "none" if group < 0 else str(group)
