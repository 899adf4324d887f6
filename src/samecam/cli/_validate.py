"""`samecam validate`."""

from typing import TYPE_CHECKING, Any

import click

from samecam.cli._command import command, option, together
from samecam.cli._extract import announcer, exit_code, extraction_dict, files_text
from samecam.cli._notices import extraction_notices
from samecam.cli._options import (
    device_option,
    extraction_options,
    memory_option,
    output_options,
    scheduler_option,
    take_resources,
    timeout_option,
    truth_option,
    workers_option,
)
from samecam.cli._output import print_json, say
from samecam.cli._progress import Phases
from samecam.cli._text import counted
from samecam.cli._types import Share

if TYPE_CHECKING:
    from samecam.case import Validation

_LISTED = 10


@command()
@click.argument("photos", nargs=-1, required=True)
@truth_option
@option(
    "-o",
    "--output",
    "output",
    required=True,
    metavar="OUTPUT",
    help="Folder for the result: made, or gone on with.",
)
@option("--cllr", type=Share(), default=0.3, show_default=True, help="Criterion: most of Cllr.")
@option("--eer", type=Share(), default=0.05, show_default=True, help="Criterion: most of the EER.")
@option(
    "--calibration",
    type=Share(),
    default=0.1,
    show_default=True,
    help="Criterion: most that calibration may cost.",
)
@together(extraction_options, device_option, memory_option("the comparisons"), workers_option())
@together(timeout_option, scheduler_option, output_options)
def validate(
    photos: tuple[str, ...],
    truth: str,
    output: str,
    cllr: float,
    eer: float,
    calibration: float,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Measure how good likelihood ratios are on photos whose cameras you know.

    TRUTH.csv has the columns path and camera, and may have model; else EXIF tells which
    cameras are of one model. Each photo is compared with every camera of its width and height,
    itself left out. OUTPUT/validation.html says what was tested, how it did, and whether the
    criteria are met; validation.json has all figures, llr.csv every comparison. The same command
    again goes on where it was stopped.

    Example:  samecam validate photos/ --truth truth.csv -o validation
    """
    from samecam.case import Criteria, ExtractionSettings, stop_on_signals, validate_photos
    from samecam.report import write_validation

    resources = take_resources(options)
    criteria, page = Criteria(cllr, eer, calibration), None
    with stop_on_signals() as stop, Phases(quiet=quiet) as phases:
        result = validate_photos(
            photos,
            truth,
            output,
            ExtractionSettings(**options),
            criteria=criteria,
            resources=resources,
            progress=phases,
            stop=stop,
            planned=None if quiet or as_json else announcer(phases),
        )
        if not result.interrupted:
            page = str(write_validation(result))
    if as_json:
        extraction = extraction_dict(result.extraction)
        print_json({"output": output, "page": page, **result.content, "run": extraction})
    elif result.interrupted:
        say(files_text(result.extraction), quiet=quiet)
    else:
        say(_summary(result, str(page)), quiet=quiet)
    return exit_code(result.extraction)


def _summary(result: "Validation", page: str) -> list[str]:
    """What was compared, the figures, the criteria that are not met, and what was left out."""
    content = result.content
    overall = content["overall"]
    cost = "infinite" if overall["cllr"] is None else f"{overall['cllr']:.3f}"
    lower, upper = overall["elub"]
    lines = [
        files_text(result.extraction),
        *extraction_notices(result.extraction),
        *_left_out(content["photos"]),
        f"Compared: {counted(content['photos']['compared'], 'photo')} of "
        f"{counted(len(content['cameras']), 'camera')}, {overall['n_same']} times with the own "
        f"camera and {overall['n_different']} times with another.",
        f"Cllr {cost} (at best {overall['cllr_min']:.3f}), equal-error rate {overall['eer']:.2%}, "
        f"supported log10 likelihood ratios {lower:.2f} to {upper:.2f}.",
    ]
    for check in content["checks"]:
        if check["passed"] is not True:
            what = "fails" if check["passed"] is False else "not decided"
            lines.append(
                f"  {what}: {check['metric']}, {check['criterion']}; measured: {check['value']}"
            )
    met = {
        "passed": "All criteria are met.",
        "failed": "Criteria are not met.",
        "not decided": "Some criteria cannot be decided with so few photos or cameras.",
    }
    return [*lines, met[content["verdict"]], f"Look further: {page}"]


def _left_out(photos: dict[str, Any]) -> list[str]:
    """Photos that could not be used, each with its reason, and those that did not fit the truth."""
    unused = photos["not_used"]
    lines = [f"  not used: {each['path']}: {each['reason']}" for each in unused[:_LISTED]]
    if len(unused) > _LISTED:
        lines.append(f"  … ({len(unused) - _LISTED} more; validation.json has all)")
    for name, what in (("not_in_truth", "not named in the truth"), ("not_found", "not found")):
        if photos[name]:
            example = photos[name][0]
            lines.append(f"{what.capitalize()}: {len(photos[name])}, for instance {example}")
    return lines
