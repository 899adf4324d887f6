"""`samecam verify`."""

from typing import TYPE_CHECKING, Any

import click

from samecam.cli._extract import taken_resources
from samecam.cli._output import Phases, output_options, print_json, printable, say

if TYPE_CHECKING:
    from samecam.case import Verification

_LISTED = 20


@click.command()
@click.argument("case")
@click.option(
    "--memory",
    default=None,
    metavar="SIZE",
    help="That the replay may take, like 8G.  [default: what grouping was told]",
)
@click.option(
    "--workers", type=click.IntRange(min=1), help="Threads that hash.  [default: one a core]"
)
@output_options
def verify(case: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Check a case against its photos and itself; exit code 4 if anything differs.

    The photos are hashed again, the fingerprints' checksums and the chain of the log are
    checked, the tables are compared with what was written, and the grouping is replayed
    from the stored fingerprints. Nothing is written.
    """
    from samecam.case import verify_case

    with Phases(quiet=quiet) as phases:
        result = verify_case(
            case,
            resources=taken_resources(options),
            progress=phases,
        )
    if as_json:
        print_json(result.as_dict())
    else:
        say("\n".join(map(printable, _words(result))), quiet=quiet)
    return 0 if result.agrees else 4


def _words(result: "Verification") -> list[str]:
    """What was checked, and all that differs."""
    inputs = result.inputs
    lines = [
        f"{inputs.checked} inputs hashed: {len(inputs.missing)} not found, "
        f"{len(inputs.changed)} changed.",
        *(f"  not there: {name}" for name in inputs.lost_sources),
        *_listed("not found", inputs.missing),
        *_listed("changed", inputs.changed),
        f"{result.rows} fingerprints checked: {len(result.damaged)} damaged.",
        *_listed("damaged", result.damaged),
        *result.troubles,
    ]
    if inputs.new:
        lines.append(f"{inputs.new} files beside them are not in the case (samecam add).")
    if result.other_device:
        lines.append(
            f"It was grouped on {result.other_device}, which is not here: replayed on the "
            "processor, where rounding may decide otherwise."
        )
    if not result.replayed:
        lines.append("The grouping was not replayed.")
    elif not result.relabelled:
        lines.append("The grouping was replayed and is the same.")
    else:
        lines.append(f"The grouping was replayed; {len(result.relabelled)} photos differ.")
        moved = [
            f"{r.path} stands in {_group(r.stands)}, replayed {_group(r.replayed)}"
            for r in result.relabelled
        ]
        lines += _listed("differs", moved)
    return [*lines, "The case agrees." if result.agrees else "The case does not agree."]


def _listed(what: str, names: list[str]) -> list[str]:
    lines = [f"  {what}: {name}" for name in names[:_LISTED]]
    return lines + [f"  … ({len(names) - _LISTED} more; --json has all)"] * (len(names) > _LISTED)


def _group(number: int | None) -> str:
    if number is None:
        return "no table"
    return "none" if number < 0 else f"group {number}"
