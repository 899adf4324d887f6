"""`samecam extract`."""

import shlex
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from samecam.cli._notices import extraction_notices
from samecam.cli._output import Phases, duration, output_options, print_json, printable, say
from samecam.compute import format_bytes
from samecam.errors import SamecamError

if TYPE_CHECKING:
    from samecam.case import Estimate, Extraction, SizeChoice
    from samecam.compute import Resources

_KINDS = 5


class Offset(click.ParamType[tuple[int, int]]):
    """X,Y in pixels."""

    name = "X,Y"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        """Two whole numbers with a comma between."""
        if isinstance(value, tuple):
            return value
        try:
            x, y = (int(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is not X,Y (two whole numbers, like 0,0)", param, ctx)
        return x, y


class Size(click.ParamType["int | str"]):
    """`auto`, or pixels from 64 to 4096."""

    name = "auto|64…4096"

    def convert(self, value: Any, param: Any, ctx: Any) -> "int | str":
        """The word is kept, a number is read."""
        if value == "auto":
            return "auto"
        try:
            number = int(value)
        except ValueError:
            number = 0
        if not 64 <= number <= 4096:
            self.fail(f"{value!r} is neither auto nor a number from 64 to 4096", param, ctx)
        return number


class Device(click.ParamType[str]):
    """Name of a device."""

    name = "auto|cpu|cuda[:K]"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """A name; whether the device is there is asked when it is used."""
        from samecam.compute import check_device

        try:
            check_device(str(value))
        except SamecamError as error:
            self.fail(str(error), param, ctx)
        return str(value)


def means_options(command: Any) -> Any:
    """Options that say by which means the work is done; none of them changes the result."""
    options = [
        click.option(
            "--workers",
            type=click.IntRange(min=1),
            default=None,
            help="Processes.  [default: one a core]",
        ),
        click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            default=60.0,
            show_default=True,
            help="Seconds one file may take.",
        ),
        click.option(
            "--device",
            type=Device(),
            default="auto",
            show_default=True,
            help="What computes. 'auto': a GPU where PyTorch finds one, else the processor.",
        ),
        click.option(
            "--scheduler",
            metavar="ADDRESS|local",
            help="Work on the cluster of this dask scheduler (like tcp://10.0.0.1:8786), or on one "
            "made here. Its workers must see CASE and PHOTOS under the same paths.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def taken_resources(options: dict[str, Any]) -> "Resources":
    """Take what says by which means the work is done out of all options."""
    from samecam.compute import Resources, parse_bytes

    names = ("workers", "timeout", "device", "scheduler", "memory")
    given = {name: options.pop(name) for name in names if name in options}
    if given.get("memory") is not None:
        given["memory"] = parse_bytes(given["memory"])
    return Resources(**given)


def extraction_options(command: Any) -> Any:
    """Options that say how fingerprints are made; shared by all commands that make them."""
    options = [
        click.option(
            "--size",
            type=Size(),
            default="auto",
            show_default=True,
            help="Side of the square crop in pixels. 'auto': the largest of 256, 512, 768 and 1024 "
            "that 95 % of the photos allow, or what the case has.",
        ),
        click.option(
            "--offset",
            type=Offset(),
            default="0,0",
            show_default=True,
            help="Top-left corner of the crop.",
        ),
        click.option(
            "--portrait",
            type=click.Choice(["keep", "rotate"]),
            default="keep",
            show_default=True,
            help="'rotate' turns pictures stored upright by 90° clockwise first.",
        ),
        click.option(
            "--sigma",
            type=float,
            default=3.0,
            show_default=True,
            help="Noise level the denoiser assumes, in gray levels.",
        ),
        click.option(
            "--preset",
            type=click.Choice(["default", "paper"]),
            default="default",
            show_default=True,
            help="'paper' takes exactly the paper's steps (JPEG grid left in); see also --method.",
        ),
        click.option(
            "--grid/--no-grid",
            default=None,
            help="Remove the JPEG grid, or not, whatever the preset.",
        ),
        click.option("--cfa", is_flag=True, help="Zero means on each colour-filter sub-lattice."),
        click.option("--wiener", is_flag=True, help="Wiener filter in the Fourier domain."),
        click.option("--equalise", is_flag=True, help="Cut peaks of the spectrum."),
        click.option(
            "--dtype",
            type=click.Choice(["float16", "float32", "int8"]),
            default="float16",
            show_default=True,
            help="Numbers on disk.",
        ),
    ]
    command = means_options(command)
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@click.argument("photos", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    "case",
    required=True,
    metavar="CASE",
    help="Case folder: made, or gone on with.",
)
@extraction_options
@click.option("--dry-run", is_flag=True, help="Say what it would do and cost, and do nothing.")
@output_options
def extract(
    photos: tuple[str, ...],
    case: str,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> int:
    """Turn photos into fingerprints on disk.

    PHOTOS are files, folders (with all below), patterns, or @list.txt. Files are only
    read. The same command again goes on where it was stopped and does nothing twice.
    """
    from samecam.case import ExtractionSettings, extract_photos, plan_extraction, stop_on_signals

    resources = taken_resources(settings)
    chosen = ExtractionSettings(**settings)
    if dry_run:
        plan = plan_extraction(photos, case, chosen, resources=resources)
        print_json(plan.as_dict()) if as_json else say(plan_words(plan), quiet=quiet)
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
        say(extraction_words(result), quiet=quiet)
    return exit_code(result)


def exit_code(result: "Extraction") -> int:
    """130 with the command to go on if it was interrupted, 3 if files were skipped, else 0."""
    if result.interrupted:
        click.echo(f"Interrupted. To go on: {shlex.join(['samecam', *sys.argv[1:]])}", err=True)
        return 130
    return 3 if result.counts["skipped"] else 0


def announcer(phases: Phases) -> "Callable[[Estimate], None]":
    """Say what is to be done, if there is something."""

    def announce(plan: "Estimate") -> None:
        if plan.files:
            phases.note(plan_words(plan))

    return announce


def plan_words(plan: "Estimate") -> str:
    """What a run will cost, in words."""
    room = "" if plan.fits else " That does not fit."
    cost = (
        f"{plan.files} files, {format_bytes(plan.input_bytes)}: about {duration(plan.seconds)} "
        f"with {plan.workers} worker{'s' if plan.workers > 1 else ''} and up to "
        f"{format_bytes(plan.disk_bytes)} of {format_bytes(plan.free_bytes)} free disk.{room}"
    )
    return cost if plan.choice is None else f"{choice_words(plan.choice)}\n{cost}"


def choice_words(choice: "SizeChoice") -> str:
    """Which size was chosen, why, and what that leaves out."""
    allowing, share = choice.allowing[choice.size], choice.allowing[choice.size] / choice.photos
    few = "although only" if 20 * allowing < 19 * choice.photos else "which"
    words = (
        f"Size {choice.size} is chosen, {few} {allowing} of {choice.photos} photos "
        f"({100 * share:.0f} %) allow"
    )
    if not choice.excluded:
        return f"{words}."
    left = (
        "1 is too small and left"
        if choice.excluded == 1
        else f"{choice.excluded} are too small and left"
    )
    more = ": to use them, give a smaller --size" if few != "which" else ""
    return f"{words}; {left} out{more}."


def extraction_dict(result: "Extraction") -> dict[str, Any]:
    """What extraction did, for --json."""
    return {
        "case": str(result.case),
        "counts": result.counts,
        "reasons": result.reasons,
        "size": result.size,
        "size_choice": None if result.choice is None else result.choice.as_dict(),
        "done": result.done,
        "seconds": result.seconds,
        "work_seconds": result.work,
        "interrupted": result.interrupted,
        "missing": result.missing,
        "changed": result.changed,
    }


def files_words(result: "Extraction") -> str:
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
    return f"{total} {noun}{'' if total == 1 else 's'}: {', '.join(parts) or 'none'}."


def extraction_words(result: "Extraction") -> str:
    """What extraction did, in words."""
    rate = f" ({result.done / result.seconds:.0f} a second)" if result.done else ""
    notices = map(printable, extraction_notices(result))
    lines = [
        files_words(result),
        *notices,
        f"{result.done} done in {duration(result.seconds)}{rate}.",
    ]
    if result.counts["skipped"]:
        lines.append(f"Why files were skipped: column 'reason' of {result.case / 'images.csv'}")
    return "\n".join(lines)
