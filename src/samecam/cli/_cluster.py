"""`samecam cluster`."""

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from samecam.cli._command import command, option, together
from samecam.cli._extract import (
    announcer,
    exit_code,
    extraction_dict,
    files_text,
    head_text,
)
from samecam.cli._hints import few_text, hints_dict, sources_text
from samecam.cli._methods import EPILOG, method_options, take_grouping
from samecam.cli._notices import clustering_notices, settled_dict, settled_text, shared_text
from samecam.cli._options import (
    case_option,
    device_option,
    extraction_options,
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
    from collections.abc import Callable

    from samecam.case import Camera, Clustering, Estimate
    from samecam.compute import Resources

_SIZES = 12
_FRAMES = 6
_VIEWS = 10
# Options that say how photos are read.
_READING = (
    *("size", "at", "offset", "portrait", "sigma", "spins", "weigh", "grid", "cfa", "wiener"),
    *("equalise", "dtype", "timeout"),
)


@command(epilog=EPILOG)
@click.argument("photos", nargs=-1)
@together(case_option, extraction_options, method_options, device_option)
@together(memory_option("grouping"), workers_option(), timeout_option, scheduler_option)
@option("--no-report", is_flag=True, help="Do not write CASE/report.html.")
@option(
    "--fingerprints",
    metavar="FILE.npy",
    section="Fingerprints",
    help="Group the rows of an array, not photos.",
)
@option(
    "--names",
    metavar="FILE.txt",
    section="Fingerprints",
    help="Names of these rows, one a line.",
    show_default="row 000000, …",
)
@output_options
@click.pass_context
def cluster(
    ctx: click.Context,
    /,
    photos: tuple[str, ...],
    case: str,
    fingerprints: str | None,
    names: str | None,
    no_report: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Group photos by the camera that took them.

    PHOTOS are files, folders (with all below), patterns, or @list.txt; they are only read.
    Writes into CASE: report.html, one page; clusters.csv, a row per used photo with
    its camera (-1: none); clusters.json, an object per camera. Photos of one
    width and height are grouped; groups that see one camera in several ways (zoomed, cut, turned,
    reduced) are joined by --search. The same command again goes on where it stopped; other
    clustering options use the fingerprints again.

    Example:  samecam cluster photos/ -o CASE
    """
    _check_usage(ctx, photos, fingerprints, names)
    began, resources = time.monotonic(), take_resources(options)
    with Phases(quiet=quiet) as phases:
        if fingerprints is None:
            tells = not (quiet or as_json)
            planned = announcer(phases, report=not no_report) if tells else None
            result = _cluster_photos(photos, case, resources, phases, planned, **options)
        else:
            result = _cluster_fingerprints(fingerprints, names, case, resources, phases, **options)
        report = None if no_report else page(result, phases, resources)
    if as_json:
        page_file = None if report is None else str(report)
        print_json({**_as_dict(result), **hints_dict(result), "report": page_file})
    elif result.extraction.interrupted:
        say(files_text(result.extraction), quiet=quiet)
    else:
        say(_summary(result, report, time.monotonic() - began), quiet=quiet)
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
    squares = fingerprints is not None or ctx.params.get("size") is not None
    if squares and ctx.get_parameter_source("search") is not ParameterSource.DEFAULT:
        raise click.UsageError("--search is for whole frames: leave it out, or --size.", ctx)
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
    for name in _READING:
        if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(
                f"--{name} says how photos are read and is not for --fingerprints.", ctx
            )


def _cluster_photos(
    photos: tuple[str, ...],
    case: str,
    resources: "Resources",
    phases: Phases,
    planned: "Callable[[Estimate], None] | None",
    **options: Any,
) -> "Clustering":
    from samecam.case import ExtractionSettings, cluster_photos, stop_on_signals

    grouping = take_grouping(options)
    with stop_on_signals() as stop:
        return cluster_photos(
            photos,
            case,
            ExtractionSettings(**options),
            grouping,
            resources=resources,
            progress=phases,
            stop=stop,
            planned=planned,
        )


def _cluster_fingerprints(
    file: str,
    names: str | None,
    case: str,
    resources: "Resources",
    phases: Phases,
    **options: Any,
) -> "Clustering":
    from samecam.case import cluster_fingerprints, stop_on_signals

    grouping = take_grouping(options)
    with stop_on_signals() as stop:
        return cluster_fingerprints(
            file, case, grouping, names=names, resources=resources, progress=phases, stop=stop
        )


def _as_dict(result: "Clustering") -> dict[str, Any]:
    return {
        "case": str(result.case),
        "cameras": len(result.cameras),
        "groups": len(result.groups),
        "sizes": result.sizes,
        "clusters": [views_dict(camera) for camera in result.cameras],
        "unclustered": result.n_unclustered,
        "seconds": result.seconds,
        "details": result.details,
        "decided": settled_dict(result),
        "changed_outside": result.changed_outside,
        "extraction": extraction_dict(result.extraction),
    }


def _summary(result: "Clustering", report: Path | None, seconds: float) -> list[str]:
    """What became of the photos, and where to look further."""
    new = result.extraction.done or result.seconds
    case = shlex.quote(str(result.case))
    return [
        files_text(result.extraction),
        *clustering_notices(result),
        cameras_text(result),
        *views_text(result),
        *frames_text(result),
        *shared_text(result),
        *settled_text(result),
        *few_text(result),
        *sources_text(result),
        f"Took {duration(seconds)}, {duration(result.seconds)} of it for grouping."
        if new
        else "Nothing was to be done: this is the answer that stood in the case.",
        "Look further:",
        *([] if report is None else [f"  {report}: all of it on one page, for a browser"]),
        f"  samecam review {case}: look, decide and undo on a page on this machine",
        f"  {result.case / 'clusters.csv'}: the camera of each photo",
        f"  {result.case / 'clusters.json'}: the cameras, their groups and views",
        f"  {result.case / 'images.csv'}: every file, and why it was not used",
        f"  samecam evaluate {case} --truth TRUTH.csv, if it is known who took which",
        head_text(result.case),
    ]


def views_dict(camera: "Camera") -> dict[str, Any]:
    """A camera with its groups and placed photos, for `--json`."""
    groups = [
        {"group": g.id, "frame": g.frame, "photos": g.size, "view": g.words} for g in camera.groups
    ]
    placed = [{"path": p.path, "frame": p.frame, "view": p.words} for p in camera.placed]
    return {"id": camera.id, "photos": camera.size, "groups": groups, "placed": placed}


def views_text(result: "Clustering") -> list[str]:
    """The cameras that are seen in several ways, each with its views in words."""
    seen = [camera for camera in result.cameras if len(camera.groups) + len(camera.placed) > 1]
    if not seen:
        return []
    groups = counted(len(result.groups), "group")
    lines = [f"Made of {groups}; {counted(len(seen), 'camera')} seen in several ways:"]
    for camera in seen[:_VIEWS]:
        lines.append(f"  camera {camera.id}, {counted(camera.size, 'photo')}")
        ways = [f"    group {g.id}: {counted(g.size, 'photo')}, {g.words}" for g in camera.groups]
        ways += [f"    {photo.path}: {photo.words}" for photo in camera.placed]
        more = len(ways) - _VIEWS
        lines += ways[:_VIEWS] + [f"    … ({more} more; clusters.json has all)"] * (more > 0)
    more = len(seen) - _VIEWS
    return lines + [f"  … ({more} more; clusters.json has all)"] * (more > 0)


def frames_text(result: "Clustering") -> list[str]:
    """How many sizes of pictures there are, if several, and how many groups each has."""
    from samecam.case import open_case

    if len(result.extraction.frames) < 2 or result.extraction.interrupted:
        return []
    frames = open_case(result.case).frames
    parts = [
        f"{frame.name.replace('x', '×')}: {frame.photos} in {counted(len(frame.groups), 'group')}"
        for frame in frames[:_FRAMES]
    ]
    rest = ", …" if len(frames) > _FRAMES else ""
    return [
        f"Photos of {len(frames)} sizes, each compared with its own ({', '.join(parts)}{rest})."
    ]


def cameras_text(result: "Clustering") -> str:
    """How many cameras there are, and of how many photos."""
    sizes = result.sizes
    rest = f"{counted(result.n_unclustered, 'photo')} of no camera"
    if not sizes:
        return f"No camera was found; {rest}."
    listed = ", ".join(map(str, sizes[:_SIZES])) + (", …" if len(sizes) > _SIZES else "")
    if len(sizes) == 1:
        return f"1 camera with {counted(sizes[0], 'photo')}; {rest}."
    if sizes[0] == sizes[-1]:
        return f"{len(sizes)} cameras with {counted(sizes[0], 'photo')} each; {rest}."
    return f"{len(sizes)} cameras with {sizes[-1]} to {sizes[0]} photos ({listed}); {rest}."
