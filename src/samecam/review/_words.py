"""Decisions in words, for the log and for what is said after each."""

from samecam.case import Decision
from samecam.report import shown
from samecam.review._state import Moment

_LONG = 200


def decision_words(moment: Moment, decision: Decision) -> str:
    """What was decided, with cameras by the names they have now."""
    if decision.kind == "undo":
        of = moment.decided.decisions[decision.of - 1]
        if of.kind == "undo":
            return f"restored decision {of.of}"
        return f"took back decision {decision.of} ({decision_words(moment, of)})"
    return shown(_said(moment, decision))


def _said(moment: Moment, decision: Decision) -> str:
    kind, name = decision.kind, decision.camera
    photos, home = _counted(moment, decision.photos), _home(moment, decision.photos)
    if kind in ("same", "merge"):
        return f"{_both(moment, decision)} are of one camera{_now(home)}"
    if kind == "different":
        return f"{_both(moment, decision)} are of two cameras"
    if kind == "cannot tell":
        return f"cannot tell whether {_both(moment, decision)} are of one camera"
    if kind == "split":
        return f"split off {photos}" + (f" as {name}" if name else "")
    if kind == "reject":
        return f"detached {photos}{_of(_home(moment, decision.others), 'from')}"
    if kind == "move":
        return f"moved {photos}{_of(_home(moment, decision.others), 'to')}"
    if kind == "name":
        return f"named a camera of {photos} {name}"
    if kind == "status":
        return f"marked {home or photos}: {decision.status}"
    if kind == "confirm":
        return f"accepted {photos} as one camera{_now(home)}"
    text = decision.text if len(decision.text) <= _LONG else decision.text[:_LONG] + "…"
    return f"note on {(home if name else '') or photos}: {text}"


def _both(moment: Moment, decision: Decision) -> str:
    """Both sides, by their cameras where these are two."""
    homes = [_home(moment, side) for side in (decision.photos, decision.others)]
    sides = [_counted(moment, side) for side in (decision.photos, decision.others)]
    if homes[0] != homes[1]:
        sides = [f"{side}{_of(home, 'of')}" for side, home in zip(sides, homes, strict=True)]
    return " and ".join(sides)


def _of(home: str, word: str) -> str:
    return f" {word} {home}" if home else ""


def _now(home: str) -> str:
    return f" ({home})" if home else ""


def _rows(moment: Moment, hashes: tuple[str, ...]) -> list[int]:
    rows = moment.index.row_of
    return [rows[each] for each in hashes[:5] if each in rows]


def _home(moment: Moment, hashes: tuple[str, ...]) -> str:
    return moment.home(_rows(moment, hashes))


def _counted(moment: Moment, hashes: tuple[str, ...]) -> str:
    """A photo by its name, several by their number."""
    if len(hashes) != 1:
        return f"{len(hashes):,} photos"
    rows = _rows(moment, hashes)
    return moment.index.photos[rows[0]].name if rows else "a photo that is not in the case"
