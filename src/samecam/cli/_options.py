"""Options that several commands share."""

import os
import shlex
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from samecam.cli._command import Section, choice, option, together
from samecam.cli._types import Count, Device, Level, Memory, Offset, Seconds, Size

if TYPE_CHECKING:
    from samecam.compute import Resources

F = TypeVar("F", bound=Callable[..., Any])
_SQUARES: Section = "Squares, with --size"

output_options = together(
    option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    option("--quiet", "-q", is_flag=True, help="Print nothing but errors and --json."),
)

case_option = option(
    "-o",
    "--output",
    "case",
    required=True,
    metavar="CASE",
    help="Case folder: made, or gone on with.",
)

truth_option = option(
    "--truth",
    required=True,
    type=click.Path(),
    metavar="TRUTH.csv",
    help="CSV with the columns path and camera.",
)


def file_option(name: str, default: str, help: str) -> Callable[[F], F]:
    """The option -o, and `name`, of a command that writes a file; the default as it is shown."""
    kind = "FILE.json" if default.endswith(".json") else "FILE"
    return option("-o", name, type=click.Path(), metavar=kind, show_default=default, help=help)


def folder_option(*names: str, help: str, default: str | None = None) -> Callable[[F], F]:
    """An option that names a folder; the default, if there is one, is shown."""
    return option(
        *names,
        type=click.Path(),
        default=default,
        show_default=default is not None,
        metavar="DIR",
        help=help,
    )


def runs_option(full: int, quick: int) -> Callable[[F], F]:
    """--runs, of a command that makes fewer of them with --quick."""
    return option(
        "--runs",
        type=Count(),
        show_default=f"{full}, or {quick} if quick",
        help="Runs of a method with chance in it.",
    )


seed_option = option(
    "--seed",
    type=Count(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Seed of everything random.",
)

device_option = option(
    "--device",
    type=Device(),
    default="auto",
    show_default=True,
    help="What computes; auto is a GPU where there is one.",
)

timeout_option = option(
    "--timeout",
    type=Seconds(),
    default=60.0,
    section="Running",
    show_default="60",
    help="Time that one file may take.",
)

scheduler_option = option(
    "--scheduler",
    metavar="ADDRESS|local",
    section="Running",
    help="Work on a dask cluster that sees the same paths.",
)

extraction_options = together(
    option(
        "--size",
        type=Size(),
        show_default="the whole frame",
        help="Pixels a side of squares to compare.",
    ),
    choice(
        "--at",
        *("corner", "centre"),
        section=_SQUARES,
        help="Where the square lies.",
    ),
    option(
        "--offset",
        type=Offset(),
        default="0,0",
        section=_SQUARES,
        show_default=True,
        help="Right and down from there, in pixels.",
    ),
    choice(
        "--portrait",
        *("keep", "rotate"),
        section=_SQUARES,
        help="rotate: turn pictures stored upright by 90°.",
    ),
    option(
        "--sigma",
        type=Level(),
        default=3.0,
        section="Fingerprints",
        show_default="3",
        help="Noise level to assume, in gray levels.",
    ),
    option(
        "--spins",
        type=Count(),
        section="Fingerprints",
        show_default="2, squares 1",
        help="Wavelet grids to average; 1 is faster.",
    ),
    option(
        "--weigh/--no-weigh",
        default=None,
        section="Fingerprints",
        show_default="whole frames",
        help="Let light and rare frequencies count.",
    ),
    option(
        "--grid/--no-grid",
        default=None,
        section=_SQUARES,
        show_default="as the preset has it",
        help="Remove the JPEG grid.",
    ),
    option(
        "--cfa",
        is_flag=True,
        section=_SQUARES,
        help="Zero means on each colour-filter sub-lattice.",
    ),
    option(
        "--wiener",
        is_flag=True,
        section=_SQUARES,
        help="Wiener filter in the Fourier domain.",
    ),
    option("--equalise", is_flag=True, section=_SQUARES, help="Cut peaks of the spectrum."),
    choice(
        "--dtype",
        *("auto", "bits", "2bits", "int8", "float16", "float32"),
        section="Fingerprints",
        metavar="KIND",
        help="As 2bits, bits, int8, float16 or float32.",
    ),
    choice(
        "--preset",
        *("default", "paper"),
        section="Research methods",
        help="paper: the published steps and constants.",
    ),
)


def workers_option(what: str = "Number of processes.") -> Callable[[F], F]:
    """--workers."""
    return option("--workers", type=Count(), show_default="one a core", help=what)


def memory_option(what: str, *, default: str = "half of what is free") -> Callable[[F], F]:
    """--memory, for some work."""
    text = f"Memory for {what}, like 8G."
    return option("--memory", type=Memory(), show_default=default, help=text)


def take_resources(options: dict[str, Any]) -> "Resources":
    """Take out of all options what does the work."""
    from samecam.compute import Resources

    names = ("workers", "timeout", "device", "scheduler", "memory")
    return Resources(**{name: options.pop(name) for name in names if name in options})


def check_case_first(command: str, case: str, others: Iterable[str]) -> None:
    """Refuse arguments in the wrong order: the case folder comes first."""
    if is_case(case) or not os.path.lexists(case):
        return
    meant = next((name for name in others if is_case(name)), None)
    if meant is None and os.path.isdir(case):
        return  # some other folder: what it lacks is said when it is read
    what = "is a folder without a case" if os.path.isdir(case) else "is no folder"
    hint = ""
    if meant is not None:
        rest = [case, *(name for name in others if name != meant)]
        hint = f" Did you mean: {shlex.join(['samecam', command, meant, *rest])}"
    raise click.UsageError(f"The first argument must be the case folder; {case!r} {what}.{hint}")


def is_case(name: str) -> bool:
    """Whether a name is that of a case folder."""
    return os.path.isfile(os.path.join(name, "case.json"))
