"""Decisions from a table, and who takes them if nobody says."""

import getpass
import os

from samecam.case.decisions._deciding import Deciding
from samecam.case.decisions._decision import Decision
from samecam.case.folder import csv_rows
from samecam.errors import ParameterError, SamecamError
from samecam.inputs import read_input

COLUMNS = ("decision", "camera", "other", "photos", "text", "reason")
_SEPARATOR = "|"


def decide_from(held: Deciding, file: str | os.PathLike[str]) -> list[Decision]:
    """Take the decisions of a CSV file in their order; at the first that cannot be, an error.

    Columns: `decision` (a kind, see `KINDS`), `camera` and `other` (names of cameras), `photos`
    (paths or SHA-256, separated by |), `text` (a name, a note, a status, a number to undo),
    `reason`. What is not needed may be left out or empty. "same", "different" and "cannot tell" are
    about two cameras, about photos and a camera, or about two photos.

    Examples
    --------
    >>> with samecam.Deciding("CASE", "Ada") as deciding:
    ...     samecam.decide_from(deciding, "decisions.csv")
    """
    try:
        rows = csv_rows(read_input(file), ("decision",))
    except ValueError as error:
        raise SamecamError(f"{os.fspath(file)!r} is no table of decisions: {error}.") from None
    made = []
    for number, row in enumerate(rows, start=2):
        cells = {name: (row.get(name) or "").strip() for name in COLUMNS}
        try:
            made.append(_decide(held, cells))
        except SamecamError as error:
            done = f" {len(made)} before it count." if made else ""
            raise SamecamError(f"Row {number} of {os.fspath(file)!r}: {error}{done}") from None
    return made


def _decide(held: Deciding, cells: dict[str, str]) -> Decision:
    kind, camera, other, text, reason = (
        cells[name] for name in ("decision", "camera", "other", "text", "reason")
    )
    photos = held.photos([p for p in cells["photos"].split(_SEPARATOR) if p])
    if kind in ("same", "different", "cannot tell"):
        if camera and other:
            first, second = held.hashes(camera), held.hashes(other)
        elif camera:
            first, second = photos, held.hashes(camera)
        else:
            first, second = photos[:1], photos[1:]
        act = {"same": held.same, "different": held.different, "cannot tell": held.cannot_tell}
        return act[kind](first, second, reason)
    if kind == "merge":
        return held.merge(camera, other, reason)
    if kind == "split":
        return held.split(camera, photos, reason)
    if kind == "reject":
        return held.reject(camera, photos, reason)
    if kind == "move":
        return held.move(photos, camera, reason)
    if kind == "name":
        return held.name(camera, text, reason)
    if kind == "note":
        return held.note(camera or photos, text, reason)
    if kind == "status":
        return held.status(camera, text, reason)
    if kind == "confirm":
        return held.confirm(camera, reason)
    if kind == "undo":
        if not text.isdecimal():
            raise SamecamError(f"The number to undo is {text!r:.40}; give one in the column text.")
        return held.undo(int(text), reason)
    raise SamecamError(f"{kind!r:.40} is no decision.")


def usual_examiner() -> str:
    """Who decides if nobody is named: whoever is logged in."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError) as error:  # as in a container
        user = os.getuid()
        message = f"This machine has no name for user {user}: say who decides by {{name}}."
        raise ParameterError("examiner", message) from error
