"""`samecam decide`."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from samecam.cli._command import command, option
from samecam.cli._options import output_options
from samecam.cli._output import print_json, say
from samecam.cli._text import counted

if TYPE_CHECKING:
    from samecam.case import Decided, Deciding, Decision

_LISTED, _DIGITS = 10, 9


class _Kind(NamedTuple):
    """A kind of decision: what is typed after it, how many words at least, and what is done."""

    words: str
    least: int
    decide: "Callable[[Deciding, Sequence[str], str], list[Decision]]"
    most: int = 2**20


def _merge(held: "Deciding", cameras: "Sequence[str]", reason: str) -> "list[Decision]":
    made: list[Decision] = []
    for camera in cameras[1:]:
        made.append(held.merge(made[-1].camera if made else cameras[0], camera, reason))
    return made


def _same(held: "Deciding", photos: "Sequence[str]", reason: str) -> "list[Decision]":
    first, second = held.photos(photos)
    return [held.same([first], [second], reason)]


def _note(held: "Deciding", words: "Sequence[str]", reason: str) -> "list[Decision]":
    subject, text = words
    about = subject if subject in held.decided.names else held.photos([subject])
    return [held.note(about, text, reason)]


def _undo(held: "Deciding", numbers: "Sequence[str]", reason: str) -> "list[Decision]":
    for number in numbers:
        if not number.isdecimal() or len(number) > _DIGITS:
            raise click.UsageError(f"{number[:20]!r} is no number of a decision.")
    return [held.undo(int(number), reason) for number in numbers]


_KINDS = {
    "merge": _Kind("CAMERA CAMERA...", 2, _merge),
    "split": _Kind("CAMERA PHOTO...", 2, lambda h, w, r: [h.split(w[0], h.photos(w[1:]), r)]),
    "reject": _Kind("CAMERA PHOTO...", 2, lambda h, w, r: [h.reject(w[0], h.photos(w[1:]), r)]),
    "move": _Kind("CAMERA PHOTO...", 2, lambda h, w, r: [h.move(h.photos(w[1:]), w[0], r)]),
    "same": _Kind("PHOTO PHOTO", 2, _same, 2),
    "different": _Kind(
        "CAMERA|PHOTO CAMERA|PHOTO",
        2,
        lambda h, w, r: [h.different(h.either(w[0]), h.either(w[1]), r)],
        2,
    ),
    "cannot-tell": _Kind(
        "CAMERA|PHOTO CAMERA|PHOTO",
        2,
        lambda h, w, r: [h.cannot_tell(h.either(w[0]), h.either(w[1]), r)],
        2,
    ),
    "confirm": _Kind("CAMERA...", 1, lambda h, w, r: [h.confirm(name, r) for name in w]),
    "name": _Kind("CAMERA NAME", 2, lambda h, w, r: [h.name(w[0], w[1], r)], 2),
    "note": _Kind("CAMERA|PHOTO TEXT", 2, _note, 2),
    "status": _Kind("CAMERA ok|check|warning", 2, lambda h, w, r: [h.status(w[0], w[1], r)], 2),
    "undo": _Kind("NUMBER...", 1, _undo),
}


@command()
@click.argument("case", type=click.Path())
@click.argument("decision", required=False, type=click.Choice(list(_KINDS)), metavar="[DECISION]")
@click.argument("words", nargs=-1, metavar="[WORDS]...")
@option("--reason", default="", metavar="TEXT", help="Why, kept with the decision.")
@option("--examiner", metavar="NAME", show_default="who is logged in", help="Who decides.")
@option("--from", "file", metavar="FILE.csv", help="Decisions of a table, one a row.")
@output_options
@click.pass_context
def decide(
    ctx: click.Context,
    /,
    case: str,
    decision: str | None,
    words: tuple[str, ...],
    reason: str,
    examiner: str | None,
    file: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Decide about the photos of a CASE; decided.csv is what stands then, and it lasts.

    \b
    merge CAMERA CAMERA...          they are one camera
    split CAMERA PHOTO...           these of its photos are a camera of their own
    reject CAMERA PHOTO...          these are not of it, and never come back
    move CAMERA PHOTO...            these are of it, and not where they stand
    same PHOTO PHOTO                the first goes to the camera of the second
    different CAMERA|PHOTO CAMERA|PHOTO     never one camera
    cannot-tell CAMERA|PHOTO CAMERA|PHOTO   nothing changes, it is not asked again
    confirm CAMERA...               all their photos are their own
    name CAMERA NAME, note CAMERA|PHOTO TEXT, status CAMERA ok|check|warning
    undo NUMBER...                  takes back, or of an undo restores

    Cameras are named as in cameras.csv and decided.csv ("camera-3", or the name one was given),
    photos by their path in CASE or their SHA-256. Every later `samecam cluster` and `samecam add`
    honours what was decided. FILE.csv has the columns decision, camera, other, photos (between
    them |), text, reason. With CASE alone: what was decided so far.

    Example:  samecam decide CASE merge camera-3 camera-5 --reason "same scratch"
    """  # noqa: D301 - click's own mark for lines that stay as they are
    from samecam.case import Deciding, decide_from, usual_examiner

    if file is not None and decision is not None:
        raise click.UsageError("Give a decision, or --from with a table of them, not both.", ctx)
    if decision is not None:
        kind = _KINDS[decision]
        if not kind.least <= len(words) <= kind.most:
            raise click.UsageError(f"{decision} wants {kind.words}.", ctx)
    elif file is None:
        return _show(case, as_json, quiet)
    with Deciding(case, examiner or usual_examiner()) as held:
        if decision is None:
            made = decide_from(held, str(file))
        else:
            made = _KINDS[decision].decide(held, words, reason)
        return _told(held, made, as_json, quiet)


def _told(held: "Deciding", made: "Sequence[Decision]", as_json: bool, quiet: bool) -> int:
    """What was decided, and how many cameras stand."""
    decided = held.decided
    if as_json:
        print_json(
            {
                "decisions": [{"number": d.number, "time": d.time, **_line(d)} for d in made],
                "cameras": {camera.name: camera.size for camera in decided.cameras},
                "differs": len(decided.differs),
                "contradictions": [found.words for found in decided.contradictions],
            }
        )
        return 0
    lines = [f"{decision.number}: {_words(decision, decided)}" for decision in made[:_LISTED]]
    if len(made) > _LISTED:
        lines.append(f"… ({len(made) - _LISTED} more)")
    lines += _warnings(decided)
    stands = f"{counted(len(decided.cameras), 'camera')} now"
    lines.append(f"{stands}; {held.saved.folder / 'decided.csv'} has the camera of each photo.")
    say(lines, quiet=quiet)
    return 0


def _show(case: str, as_json: bool, quiet: bool) -> int:
    """What was decided so far."""
    from samecam.case import open_case, read_decided

    decided = read_decided(open_case(case))
    forced = decided.in_force
    if as_json:
        print_json(
            {
                "decisions": [
                    {"number": d.number, "time": d.time, "in_force": d.number in forced, **_line(d)}
                    for d in decided.decisions
                ],
                "cameras": {camera.name: camera.size for camera in decided.cameras},
                "differs": len(decided.differs),
                "contradictions": [found.words for found in decided.contradictions],
            }
        )
        return 0
    lines = [
        f"{d.number}: {d.time[:16].replace('T', ' ')} {d.examiner}: {_words(d, decided)}"
        + ("" if d.number in forced else " (taken back)")
        for d in decided.decisions
    ] or ["Nothing was decided yet: see samecam decide --help, or samecam review."]
    lines += _warnings(decided)
    say(lines, quiet=quiet)
    return 0


def _warnings(decided: "Decided") -> list[str]:
    """What a reader must know of decisions that do not do what they say."""
    lines = [f"Contradiction: {found.words}" for found in decided.contradictions]
    if decided.void:
        numbers = ", ".join(map(str, decided.void[:_LISTED]))
        lines.append(f"About photos that are not in the case, and without effect: {numbers}.")
    if decided.stale:
        lines.append(
            "The last run had honoured what is taken back: samecam cluster groups anew after it."
        )
    return lines


def _line(decision: "Decision") -> dict[str, Any]:
    return {"decision": decision.kind, **decision.fields()}


def _words(decision: "Decision", decided: "Decided") -> str:
    """A decision in a few words, and what it is about."""
    paths = {photo.sha256: photo.path for photo in decided.photos}
    about, others = _subject(decision.photos, paths), _subject(decision.others, paths)
    if decision.kind == "undo":
        said = f"undo {decision.of}"
    elif decision.kind in ("name", "note", "status"):
        named = (decision.kind, decision.camera, decision.text or decision.status)
        said = f"{' '.join(filter(None, named))}, {about}"
    elif others:
        said = f"{decision.kind}, {about} and {others}"
        said += f": {decision.camera}" if decision.camera else ""
    else:
        said = f"{decision.kind}, {about}"
    return said + (f" ({decision.reason})" if decision.reason else "")


def _subject(hashes: Sequence[str], paths: Mapping[str, str]) -> str:
    """A photo by its path, several by their number and the first; what is gone by its hash."""
    if not hashes:
        return ""
    first = min(paths.get(each, each) for each in hashes)
    return first if len(hashes) == 1 else f"{len(hashes)} photos with {first}"
