"""`samecam match`."""

import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from samecam.cli._command import command, option, together
from samecam.cli._methods import SEARCHES
from samecam.cli._options import (
    check_case_first,
    memory_option,
    output_options,
    take_resources,
    timeout_option,
    workers_option,
)
from samecam.cli._output import print_json, say, tell
from samecam.cli._progress import Phases
from samecam.cli._text import counted
from samecam.cli._types import Rate, Size

if TYPE_CHECKING:
    from samecam.case import (
        Candidate,
        Match,
        Matches,
        ReferenceMatches,
        SearchChoice,
        SeenCamera,
    )

_NAMED = 10
_SMALLEST = 1e-12  # smaller rates say no more to a reader


@command()
@click.argument("case_and_photos", nargs=-1, metavar="CASE PHOTO...")
@option(
    "--reference",
    metavar="DIR",
    help="Photos by the camera at hand, instead of CASE.",
)
@option(
    "--size",
    type=Size(),
    default=None,
    show_default="the whole frame",
    help="With --reference: compare squares of this side.",
)
@option(
    "--rate",
    type=Rate(),
    default=0.01,
    show_default=True,
    help="Nominal chance of a false match, for each photo.",
)
@option(
    "--search",
    type=click.Choice(SEARCHES),
    metavar="HOW",
    show_default="quick",
    help="Views of the cameras of CASE: quick, normal, deep, off.",
)
@together(memory_option("it all"), workers_option(), timeout_option, output_options)
def match(
    case_and_photos: tuple[str, ...],
    reference: str | None,
    size: int | None,
    rate: float,
    search: "SearchChoice | None",
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Say which group's camera took a photo, or none.

    Each PHOTO (file, folder, pattern or @list.txt) is compared, in four orientations, with
    every group of CASE that has photos of the same width and height. It goes to the group it
    is most like, if chance hardly reaches that in all comparisons; the error rate that is
    stated is an upper bound, measured on CASE. A photo that no group matches so is looked for
    among views of the cameras: turned, zoomed, reduced by messengers, corrected (quick: scales
    that widths and EXIF suggest; normal: all zooms; deep: crops too). In a case made with --size
    there are no views, and photos that are too small are compared on the common crop. Nothing
    is written.

    With --reference, the photos in DIR are by the camera in question, and there is no CASE.
    """
    _check_usage(case_and_photos, reference, size, search)
    given = {"rate": rate, "resources": take_resources(options)}
    with Phases(quiet=quiet) as phases:
        if reference is None:
            case, *photos = case_and_photos
            result = _with_case(case, photos, phases, {**given, "search": search})
            answer, lines = result.as_dict(), _summary(result)
        else:
            given["size"] = size
            compared = _with_reference(reference, case_and_photos, phases, given)
            result, answer = compared.matches, compared.as_dict()
            lines = [*_reference_lines(compared), *_summary(result)]
    if as_json:
        print_json(answer)
    else:
        say(lines, quiet=quiet)
    return _exit_code(result)


def _check_usage(
    arguments: tuple[str, ...], reference: str | None, size: int | None, search: str | None
) -> None:
    if reference is None:
        if size is not None:
            raise click.UsageError("--size is for --reference: a case has its own.")
        if not arguments:
            raise click.UsageError("Missing arguments 'CASE PHOTO...' (or --reference DIR).")
        if len(arguments) < 2:
            raise click.UsageError(f"Missing argument 'PHOTO...' after the case {arguments[0]!r}.")
        check_case_first("match", arguments[0], arguments[1:])
    elif not arguments:
        raise click.UsageError("Missing argument 'PHOTO...'.")
    elif search is not None:
        raise click.UsageError("--search is for a case: with --reference there are no views.")


def _with_case(case: str, photos: list[str], phases: Phases, options: dict[str, Any]) -> "Matches":
    from samecam.case import match_photos, stop_on_signals

    with stop_on_signals() as stop:
        return match_photos(case, photos, progress=phases, stop=stop, **options)


def _with_reference(
    reference: str,
    photos: tuple[str, ...],
    phases: Phases,
    options: dict[str, Any],
) -> "ReferenceMatches":
    from samecam.case import match_reference, stop_on_signals

    with stop_on_signals() as stop:
        return match_reference(reference, photos, progress=phases, stop=stop, **options)


def _exit_code(result: "Matches") -> int:
    if result.interrupted:
        tell(f"Interrupted. To begin again: {shlex.join(['samecam', *sys.argv[1:]])}")
        return 130
    return 3 if any(photo.verdict == "skipped" for photo in result.photos) else 0


def _reference_lines(compared: "ReferenceMatches") -> list[str]:
    """What the reference is made of, and what was left out."""
    lines = []
    for each in compared.frames:
        count = len(each.used)
        what = f" of {_frame(each.frame)} pixels" if compared.size is None else ""
        what = what or f", squares of {compared.size} pixels"
        lines.append(f"Reference: {counted(count, 'photo')}{what}.")
        if not each.agrees:
            lines.append(
                "There is nothing to check it by: it is a single photo."
                if count == 1
                else "Its photos show no common pattern beyond chance: that nothing matches it "
                "would mean nothing at all."
            )
    lines += [f"  left out: {o.path}: {o.reason}" for o in compared.outliers[:_NAMED]]
    if len(compared.outliers) > _NAMED:
        lines.append(f"  … ({len(compared.outliers) - _NAMED} more; --json has all)")
    return lines


def _summary(result: "Matches") -> list[str]:
    """One line a photo, and what the rates rest on."""
    from samecam.evidence import ABSENCE, SENSOR

    lines = [f"{photo.path}: {_photo_text(photo)}" for photo in result.photos]
    return [*lines, "", result.measured, SENSOR, ABSENCE]


def _photo_text(photo: "Match") -> str:
    if photo.seen is not None:
        return f"{_seen_text(photo.seen)}{_known_text(photo)}"
    if photo.best is None:
        return f"{photo.verdict}: {photo.reason}."
    best = photo.best
    camera = _camera(best)
    start = camera if photo.verdict == "match" else f"none. Most like {camera}"
    text = f"{start}{_turn(best)}{_on(photo)}: correlation {best.correlation:.4f}, "
    text += f"a score of {best.score:.1f} (chance scatters by 1). {_ratio_text(best)}"
    text += f"{_rate_text(photo)}."
    if photo.other is not None:
        text += f" Next is {_camera(photo.other)}, score {photo.other.score:.1f}."
    if photo.by_views:
        text += f" Compared with {counted(photo.by_views, 'camera')} by views, none fits."
    return text + _known_text(photo)


def _known_text(photo: "Match") -> str:
    """Where the same bytes are."""
    if photo.known is None:
        return ""
    one = photo.seen or photo.best
    group = photo.known_group
    where = "" if one is None or one.group is None or group is None else f", in {_group(group)}"
    return f" The same file is there already ({photo.known}{where}) and was left out."


def _seen_text(seen: "SeenCamera") -> str:
    """The camera that a photo sees, how, and how sure that is."""
    from samecam.evidence import rate_text

    view = seen.view
    how = f"{seen.words} ({view.scale:.2f}×)"
    rate = rate_text(max(view.rate or 0.0, _SMALLEST))
    return (
        f"camera {seen.camera}, group {seen.group}: {how}: a score of {view.score or 0.0:.1f}; "
        f"chance does that anywhere in all that was searched in at most {rate} cases."
    )


def _camera(candidate: "Candidate") -> str:
    """The group that fits, and where there are views its camera and its own view of it."""
    if candidate.group is None:
        return "the reference"
    group = f"group {candidate.group}"
    return f"camera {candidate.camera} ({group}, {candidate.view})" if candidate.view else group


def _rate_text(photo: "Match") -> str:
    from samecam.evidence import rate_text

    many = counted(photo.comparisons, "comparison")
    if photo.adjusted >= 0.5:
        return f"Chance does that in {many} more often than not"
    return f"Chance does that in any of {many} in {rate_text(max(photo.adjusted, _SMALLEST))} cases"


def _ratio_text(best: "Candidate") -> str:
    from samecam.evidence import ratio_sentence

    group = "the reference" if best.group is None else f"group {best.group}"
    return f"{ratio_sentence(best.log10_lr, best.cap, group)} "


def _turn(best: "Candidate") -> str:
    return f" (turned by {best.turned}°)" if best.turned else ""


def _on(photo: "Match") -> str:
    return f" on {_frame(photo.frame)} pixels" if photo.frame else ""


def _frame(name: str) -> str:
    return name.replace("x", "×")


def _group(number: int) -> str:
    return f"group {number}" if number >= 0 else "no group"
