"""`samecam add`."""

import shlex
import time
from typing import TYPE_CHECKING, Any

import click

from samecam.cli._cluster import cameras_text, page, views_dict, views_text
from samecam.cli._command import command, option, together
from samecam.cli._extract import (
    announcer,
    exit_code,
    extraction_dict,
    files_text,
    head_text,
)
from samecam.cli._methods import SEARCH_HELP, SEARCHES
from samecam.cli._notices import clustering_notices, settled_dict, settled_text, shared_text
from samecam.cli._options import (
    check_case_first,
    device_option,
    memory_option,
    output_options,
    scheduler_option,
    take_resources,
    timeout_option,
    workers_option,
)
from samecam.cli._output import print_json, say
from samecam.cli._progress import Phases
from samecam.cli._text import counted, duration

if TYPE_CHECKING:
    from samecam.case import Addition, SearchChoice

_LISTED = 20


@command()
@click.argument("case")
@click.argument("photos", nargs=-1, required=True)
@option(
    "--search",
    type=click.Choice(SEARCHES),
    metavar="HOW",
    show_default="as before",
    help=SEARCH_HELP,
)
@together(device_option, memory_option("grouping"), workers_option())
@together(timeout_option, scheduler_option, output_options)
def add(
    case: str,
    photos: tuple[str, ...],
    search: "SearchChoice | None",
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Let more photos join the groups of a case, or form new ones.

    Only the new photos are read. Grouping begins with the groups as they stand, then views of
    one camera are looked for among all; photos whose camera changes are listed. Their paths in
    CASE begin with "added 1/", "added 2/", and so on. Cameras are numbered by size again; what
    each was before is said. The same command again goes on where it was stopped and does
    nothing twice.

    Example:  samecam add CASE more-photos/
    """
    from samecam.case import add_photos, stop_on_signals

    check_case_first("add", case, photos)
    began, resources = time.monotonic(), take_resources(options)
    with stop_on_signals() as stop, Phases(quiet=quiet) as phases:
        result = add_photos(
            case,
            photos,
            search=search,
            resources=resources,
            progress=phases,
            stop=stop,
            planned=None if quiet or as_json else announcer(phases, report=True),
        )
        report = page(result.clustering, phases, resources)
    extraction = result.clustering.extraction
    if as_json:
        print_json({**_as_dict(result), "report": None if report is None else str(report)})
    elif extraction.interrupted:
        say(files_text(extraction), quiet=quiet)
    else:
        say(_summary(result, time.monotonic() - began), quiet=quiet)
    return exit_code(extraction)


def _as_dict(result: "Addition") -> dict[str, Any]:
    clustering = result.clustering
    return {
        "case": str(clustering.case),
        "folder": result.folder,
        "clusters": [
            {**views_dict(camera), "was": was}
            for camera, was in zip(clustering.cameras, result.was, strict=False)
        ],
        "cameras": len(clustering.cameras),
        "groups": len(clustering.groups),
        "unclustered": clustering.n_unclustered,
        "new": [{"path": path, "cluster": group} for path, group in result.new.items()],
        "moved": [{"path": m.path, "was": m.was, "cluster": m.now} for m in result.moved],
        "decided": settled_dict(clustering),
        "seconds": clustering.seconds,
        "extraction": extraction_dict(clustering.extraction),
    }


def _summary(result: "Addition", seconds: float) -> list[str]:
    """What became of the new photos, and what changed."""
    clustering = result.clustering
    lines = [files_text(clustering.extraction), *clustering_notices(clustering)]
    if not clustering.seconds:
        lines += [cameras_text(clustering), *views_text(clustering), *settled_text(clustering)]
        return [*lines, "Nothing was to be done: the answer stands."]
    formed = sum(was is None for was in result.was)
    fresh = {k for k, was in enumerate(result.was) if was is None}
    cameras = list(result.new.values())
    joined = sum(k >= 0 and k not in fresh for k in cameras)
    alone = sum(k < 0 for k in cameras)
    lines += [
        f"{counted(len(cameras), 'new photo')} used: {joined} joined cameras, "
        f"{len(cameras) - joined - alone} are of {counted(formed, 'new camera')}, {alone} of none.",
        cameras_text(clustering),
        *views_text(clustering),
        _numbers_text(result.was),
        *_moved_lines(result),
        *shared_text(clustering),
        *settled_text(clustering),
        f"Took {duration(seconds)}, {duration(clustering.seconds)} of it for grouping.",
        f"  {clustering.case / 'report.html'}: all of it on one page, for a browser",
        f"  {clustering.case / 'clusters.csv'}: the camera of each photo",
        f"  samecam verify {shlex.quote(str(clustering.case))}: whether it can be repeated",
        head_text(clustering.case),
    ]
    return [line for line in lines if line]


def _numbers_text(was: list[int | None]) -> str:
    changed = [f"{k} was {old}" for k, old in enumerate(was) if old is not None and old != k]
    if not changed:
        return ""
    more = ", …" if len(changed) > _LISTED else ""
    return f"Cameras have new numbers: {', '.join(changed[:_LISTED])}{more}."


def _moved_lines(result: "Addition") -> list[str]:
    count = len(result.moved)
    if not count:
        return ["No photo of before changed its camera."]
    lines = [f"{counted(count, 'photo')} of before changed the camera:"]
    lines += [f"  {m.path}: {_name(m.was)} → {_name(m.now)}" for m in result.moved[:_LISTED]]
    return lines + [f"  … ({count - _LISTED} more; --json has all)"] * (count > _LISTED)


def _name(camera: int) -> str:
    return "none" if camera < 0 else str(camera)
