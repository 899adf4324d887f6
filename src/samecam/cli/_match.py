"""`samecam match`."""

import glob
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from samecam.cli._command import command, option, together
from samecam.cli._methods import SEARCHES
from samecam.cli._options import (
    check_case_first,
    is_case,
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
    from samecam.case import Matches, PairMatches, ReferenceMatches, SearchChoice

    Result = Matches | ReferenceMatches | PairMatches

_NAMED = 10
_PAGE = "For a page with the photos and a picture of the scores: the same again with -o FILE.html"


@command()
@click.argument("arguments", nargs=-1, metavar="[CASE] PHOTO...")
@option(
    "--reference",
    metavar="DIR",
    help="Photos by the camera at hand, instead of CASE.",
)
@option(
    "-o",
    "--output",
    "page",
    type=click.Path(),
    metavar="FILE.html",
    help="Page to write, with the photos and their scores.",
)
@option(
    "--size",
    type=Size(),
    default=None,
    show_default="the whole frame",
    help="With --reference: squares of this side.",
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
    help="Views, but for --reference: quick, normal, deep, off.",
)
@together(memory_option("it all"), workers_option(), timeout_option, output_options)
def match(
    arguments: tuple[str, ...],
    reference: str | None,
    page: str | None,
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
    is most like, if chance hardly reaches that in all comparisons. A photo that no group
    matches so is looked for among views of the cameras: turned, zoomed, reduced by messengers,
    corrected (quick: scales that widths and EXIF suggest; normal: all zooms; deep: crops too).
    In a case made with --size there are no views, and photos that are too small are compared on
    the common crop. Nothing is written but the page that -o names.

    With --reference, the photos in DIR are by the camera in question, and there is no CASE.
    With two photos and neither, it says whether one camera took both; with up to 20, of every
    two of them.

    Example:  samecam match CASE new/ -o match.html

    Example:  samecam match --reference her-phone/ leaked.jpg

    Example:  samecam match A.jpg B.jpg
    """
    pairs = _is_of_pairs(arguments, reference)
    _check_usage(arguments, reference, size, search, pairs=pairs)
    case = None if pairs or reference is not None else arguments[0]
    photos = arguments if case is None else arguments[1:]
    if page is not None:
        _check_page(page, photos, reference, case)
    resources = take_resources(options)
    given: dict[str, Any] = {"rate": rate, "resources": resources}
    if reference is None:
        given["search"] = search
    else:
        given["size"] = size
    with Phases(quiet=quiet) as phases:
        result = _compared(photos, case, reference, {**given, "progress": phases})
        written = None
        if page is not None and not result.interrupted:
            from samecam.report import write_matches

            written = write_matches(result, page, resources=resources, progress=phases)
    if as_json:
        print_json({**result.as_dict(), "page": None if written is None else str(written)})
    else:
        say([*_lines(result), *_closing(result, written)], quiet=quiet)
    return _exit_code(result)


def _is_of_pairs(arguments: tuple[str, ...], reference: str | None) -> bool:
    """Whether photos are compared with each other: there is neither a case nor a reference."""
    if reference is not None or not arguments or any(map(is_case, arguments)):
        return False
    first = arguments[0]
    if os.path.lexists(first):
        return not os.path.isdir(first)
    named_like_a_file = bool(os.path.splitext(first)[1])
    return named_like_a_file or first.startswith("@") or glob.has_magic(first)


def _check_usage(
    arguments: tuple[str, ...],
    reference: str | None,
    size: int | None,
    search: str | None,
    *,
    pairs: bool,
) -> None:
    if reference is None and size is not None:
        raise click.UsageError("--size is for --reference: a case has its own.")
    if reference is not None:
        if not arguments:
            raise click.UsageError("Missing argument 'PHOTO...'.")
        if search is not None:
            raise click.UsageError("--search is for a case: with --reference there are no views.")
    elif pairs:
        _check_pairs(arguments)
    elif not arguments:
        raise click.UsageError("Missing arguments 'CASE PHOTO...' (or --reference DIR).")
    elif len(arguments) < 2:
        raise click.UsageError(f"Missing argument 'PHOTO...' after the case {arguments[0]!r}.")
    else:
        check_case_first("match", arguments[0], arguments[1:])


def _check_pairs(arguments: tuple[str, ...]) -> None:
    """Refuse one photo alone, and a folder that is no case."""
    first = arguments[0]
    folder = next((name for name in arguments if os.path.isdir(name)), None)
    if folder is not None:
        rest = [name for name in arguments if name != folder]
        meant = shlex.join(["samecam", "match", "--reference", folder, *rest])
        raise click.UsageError(
            f"{folder!r} is a folder without a case. If its photos are by one camera: {meant}"
        )
    if len(arguments) == 1 and os.path.lexists(first):
        raise click.UsageError(
            f"{first!r} is one photo alone, which can be compared with nothing: give a second "
            "photo, a case folder before it, or --reference DIR."
        )


def _check_page(
    page: str, photos: tuple[str, ...], reference: str | None, case: str | None
) -> None:
    """Refuse a page that cannot be written, or would be among the photos, before the work."""
    from samecam.report import check_matches_page

    sources = photos if reference is None else (reference, *photos)
    check_matches_page(Path(page), sources, case)


def _compared(
    photos: tuple[str, ...], case: str | None, reference: str | None, given: dict[str, Any]
) -> "Result":
    from samecam.case import match_pairs, match_photos, match_reference, stop_on_signals

    with stop_on_signals() as stop:
        if reference is not None:
            return match_reference(reference, photos, stop=stop, **given)
        if case is not None:
            return match_photos(case, photos, stop=stop, **given)
        return match_pairs(photos, stop=stop, **given)


def _exit_code(result: "Result") -> int:
    if result.interrupted:
        tell(f"Interrupted. To begin again: {shlex.join(['samecam', *sys.argv[1:]])}")
        return 130
    return 3 if any(photo.status == "skipped" for photo in result.photos) else 0


def _lines(result: "Result") -> list[str]:
    """What is said of the photos, a line each; of two photos the answer alone."""
    from samecam.case import PairMatches, ReferenceMatches

    if isinstance(result, PairMatches):
        return _pair_lines(result)
    if isinstance(result, ReferenceMatches):
        return [*_reference_lines(result), *_lines(result.matches)]
    return [f"{photo.path}: {photo.sentence}" for photo in result.photos]


def _pair_lines(result: "PairMatches") -> list[str]:
    """The answer for two photos; for more a table of all pairs, and what is said of those linked.

    Pairs that are linked are told in full.
    """
    if len(result.pairs) == 1:
        return ["Were these two photos taken by one camera?", result.pairs[0].sentence]
    names = [f"{pair.first} – {pair.second}" for pair in result.pairs]
    wide = max(map(len, names), default=0)
    lines = []
    for name, pair in zip(names, result.pairs, strict=True):
        score = "     –" if pair.score is None else f"{pair.score:z6.1f}"
        lines.append(f"{name:{wide}}  {score}  {pair.support}")
    told = [pair for pair in result.pairs if pair.verdict in ("match", "alike")][:_NAMED]
    lines += [f"{pair.first} – {pair.second}: {pair.sentence}" for pair in told]
    return [f"{'Photos':{wide}}   score  says", *lines]


def _closing(result: "Result", page: Path | None) -> list[str]:
    """What the rates rest on, what they do not say, and the summary."""
    from samecam.evidence import ABSENCE, SENSOR

    last = _PAGE if page is None else f"Look further: {page}"
    summary = f"{result.summary[:1].upper()}{result.summary[1:]}."
    return ["", result.measured, SENSOR, ABSENCE, "", summary, last]


def _reference_lines(compared: "ReferenceMatches") -> list[str]:
    """What the reference is made of, and what was left out."""
    lines = []
    for each in compared.frames:
        count = len(each.used)
        what = f" of {each.frame.replace('x', '×')} pixels" if compared.size is None else ""
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
