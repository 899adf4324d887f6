"""`samecam extract`."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from samecam.cli._command import command, option, together
from samecam.cli._notices import extraction_notices
from samecam.cli._options import (
    case_option,
    device_option,
    extraction_options,
    output_options,
    scheduler_option,
    take_resources,
    timeout_option,
    workers_option,
)
from samecam.cli._output import print_json, say, tell
from samecam.cli._progress import Phases
from samecam.cli._text import counted, duration
from samecam.compute import format_bytes

if TYPE_CHECKING:
    from samecam.case import Estimate, Extraction

_KINDS = 5
_FRAMES = 8


@command()
@click.argument("photos", nargs=-1, required=True)
@together(case_option, extraction_options, device_option, workers_option())
@option("--dry-run", is_flag=True, help="Say what it would do and cost, and do nothing.")
@together(timeout_option, scheduler_option, output_options)
def extract(
    photos: tuple[str, ...],
    case: str,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Turn photos into fingerprints on disk.

    PHOTOS are files, folders (with all below), patterns, or @list.txt. Files are only
    read. The same command again goes on where it was stopped and does nothing twice.

    Example:  samecam extract photos/ -o CASE --dry-run
    """
    from samecam.case import ExtractionSettings, extract_photos, plan_extraction, stop_on_signals

    resources = take_resources(options)
    chosen = ExtractionSettings(**options)
    if dry_run:
        plan = plan_extraction(photos, case, chosen, resources=resources)
        print_json(plan.as_dict()) if as_json else say(plan_lines(plan), quiet=quiet)
        return 0 if plan.fits else 1
    with stop_on_signals() as stop, Phases(quiet=quiet) as phases:
        result = extract_photos(
            photos,
            case,
            chosen,
            resources=resources,
            progress=phases,
            stop=stop,
            planned=None if quiet or as_json else announcer(phases),
        )
    if as_json:
        print_json(extraction_dict(result))
    else:
        say(_summary(result), quiet=quiet)
    return exit_code(result)


def exit_code(result: "Extraction") -> int:
    """130 with the command to go on if it was interrupted, 3 if files were skipped, else 0."""
    if result.interrupted:
        tell(f"Interrupted. To go on: {shlex.join(['samecam', *sys.argv[1:]])}")
        return 130
    return 3 if result.counts["skipped"] else 0


def announcer(phases: Phases, *, report: bool = False) -> "Callable[[Estimate], None]":
    """Say what is to be done, if there is something; `report`: one will be written too."""

    def announce(plan: "Estimate") -> None:
        if plan.files and report:
            from samecam.report import with_report

            plan = with_report(plan)
        if plan.files:
            phases.note(plan_lines(plan))

    return announce


def plan_lines(plan: "Estimate") -> list[str]:
    """What a run will cost."""
    room = "" if plan.fits else " That does not fit."
    parts = [f"{name} {duration(seconds)}" for name, seconds in plan.parts.items()]
    each = f" ({', '.join(parts)})" if len(parts) > 1 else ""
    cost = (
        f"{counted(plan.files, 'file')}, {format_bytes(plan.input_bytes)}: about "
        f"{duration(plan.seconds)} with {counted(plan.workers, 'worker')}{each} and up to "
        f"{format_bytes(plan.disk_bytes)} of {format_bytes(plan.free_bytes)} free disk.{room}"
    )
    return [cost, *_frame_lines(plan)]


def _frame_lines(plan: "Estimate") -> list[str]:
    """The same frame by frame, where there are several; the rarest together."""
    if len(plan.frames) < 2:
        return []
    shown, rest = plan.frames[:_FRAMES], plan.frames[_FRAMES:]
    lines = [
        f"  {cost.frame}: {counted(cost.photos, 'photo')}, {format_bytes(cost.disk_bytes)}, "
        f"{duration(cost.seconds)}"
        for cost in shown
    ]
    if rest:
        photos, disk = sum(cost.photos for cost in rest), sum(cost.disk_bytes for cost in rest)
        seconds = sum(cost.seconds for cost in rest)
        lines.append(
            f"  {counted(len(rest), 'other size')}: {counted(photos, 'photo')}, "
            f"{format_bytes(disk)}, {duration(seconds)}"
        )
    return lines


def extraction_dict(result: "Extraction") -> dict[str, Any]:
    """What extraction did, for --json."""
    return {
        "case": str(result.case),
        "counts": result.counts,
        "copies": result.copies,
        "reasons": result.reasons,
        "frames": {frame.name: count for frame, count in result.frames.items()},
        "done": result.done,
        "seconds": result.seconds,
        "work_seconds": result.work,
        "interrupted": result.interrupted,
        "log_head": log_head(result.case),
        "missing": result.missing,
        "changed": result.changed,
    }


def files_text(result: "Extraction") -> str:
    """How many files there are of which status, and why some were not used."""
    parts = []
    for status, number in result.counts.items():
        kinds = result.reasons.get(status, {})
        why = ", ".join(f"{count} {kind}" for kind, count in list(kinds.items())[:_KINDS])
        why = next(iter(kinds)) if len(kinds) == 1 else why
        why += ", …" if len(kinds) > _KINDS else ""
        parts += [f"{number} {status}" + (f" ({why})" if why else "")] * bool(number)
    total = sum(result.counts.values())
    noun = "fingerprint" if result.brought else "file"
    return f"{counted(total, noun)}: {', '.join(parts) or 'none'}."


def head_text(case: Path) -> str:
    """The head of the log, for whoever wants to tell later that nothing was rewritten."""
    return f"Head of the log, to be noted elsewhere for samecam verify --head: {log_head(case)}"


def log_head(case: Path) -> str | None:
    """SHA-256 of the last line of the log of a case, if there is one."""
    from samecam.case import open_case

    return open_case(case).log_head if (case / "case.json").exists() else None


def _summary(result: "Extraction") -> list[str]:
    """What extraction did."""
    rate = f" ({result.done / result.seconds:.0f} a second)" if result.done else ""
    done = f"{result.done} done in {duration(result.seconds)}{rate}."
    lines = [files_text(result), *extraction_notices(result), done]
    if result.counts["skipped"]:
        lines.append(f"Why files were skipped: column 'reason' of {result.case / 'images.csv'}")
    return [*lines, *([] if result.interrupted else [head_text(result.case)])]
