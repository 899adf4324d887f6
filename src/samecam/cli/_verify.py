"""`samecam verify`."""

from typing import TYPE_CHECKING, Any

import click

from samecam.cli._command import command, option, together
from samecam.cli._options import memory_option, output_options, take_resources, workers_option
from samecam.cli._output import print_json, say
from samecam.cli._progress import Phases
from samecam.cli._text import counted, cut

if TYPE_CHECKING:
    from samecam.case import Relabelled, Verification

_LISTED = 20


@command()
@click.argument("case")
@option(
    "--head",
    metavar="HASH",
    help="Head of the log as it was noted elsewhere: the log must hold it.",
)
@memory_option("the replay", default="what grouping was told")
@together(workers_option("Number of threads that hash."), output_options)
def verify(case: str, head: str | None, as_json: bool, quiet: bool, **options: Any) -> int:
    """Check a case against its photos and itself; exit code 4 if anything differs.

    The photos are hashed again, the fingerprints' checksums and the chain of the log are
    checked, settings and tables are compared with the log and with what was written, and the
    grouping is replayed from the stored fingerprints. Nothing is written. Who can write to the
    case can write all of it anew, log included: only a head of the log that was noted
    elsewhere tells (--head).

    Example:  samecam verify CASE --head HASH
    """
    from samecam.case import verify_case

    with Phases(quiet=quiet) as phases:
        result = verify_case(case, head=head, resources=take_resources(options), progress=phases)
    if as_json:
        print_json(result.as_dict())
    else:
        say(_summary(result), quiet=quiet)
    return 0 if result.agrees else 4


def _summary(result: "Verification") -> list[str]:
    """What was checked, and all that differs."""
    inputs = result.inputs
    lines = [
        f"{counted(inputs.checked, 'input')} hashed: {len(inputs.missing)} not found, "
        f"{len(inputs.changed)} changed.",
        *(f"  not there: {name}" for name in inputs.lost_sources),
        *_listed("not found", inputs.missing),
        *_listed("changed", inputs.changed),
        f"{counted(result.rows, 'fingerprint')} checked: {len(result.damaged)} damaged.",
        *_listed("damaged", result.damaged),
        *result.troubles,
    ]
    if inputs.new:
        beside = f"{counted(inputs.new, 'file')} beside them {'is' if inputs.new == 1 else 'are'}"
        lines.append(f"{beside} not in the case (samecam add).")
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
        count = len(result.relabelled)
        differ = f"{counted(count, 'photo')} {'differs' if count == 1 else 'differ'}"
        lines.append(f"The grouping was replayed; {differ}.")
        lines += _listed("differs", [_moved(photo) for photo in result.relabelled])
    agrees = "The case agrees." if result.agrees else "The case does not agree."
    return [cut(line) for line in (*lines, *_about_log(result), agrees)]


def _about_log(result: "Verification") -> list[str]:
    """What the log shows, and what it cannot."""
    if not result.head:
        return []
    lines = counted(result.lines, "line")
    if result.noted_line is not None:
        return [
            f"The head you noted is line {result.noted_line} of {result.lines} of the log: nothing "
            "up to it was changed since."
        ]
    return [
        f"The log has {lines}; its head is {result.head}.",
        "Whoever wrote all of the case anew, log included, is not seen by this: note the head "
        "elsewhere, and give it with --head.",
    ]


def _listed(what: str, names: list[str]) -> list[str]:
    lines = [f"  {what}: {name}" for name in names[:_LISTED]]
    return lines + [f"  … ({len(names) - _LISTED} more; --json has all)"] * (len(names) > _LISTED)


def _moved(photo: "Relabelled") -> str:
    """Where a photo stands and where the replay puts it; cameras and groups that are one number."""
    if photo.view:
        return f"{photo.path} sees camera {photo.stands} otherwise when replayed"
    stands = _place(photo.stands, photo.stands_group)
    replayed = _place(photo.replayed, photo.replayed_group)
    return f"{photo.path} stands in {stands}, replayed {replayed}"


def _place(camera: int | None, group: int | None) -> str:
    if camera is None or group is None:
        return "no table"
    inside = "none" if group < 0 else f"group {group}"
    return inside if camera in (group, -1) else f"{inside} of camera {camera}"
