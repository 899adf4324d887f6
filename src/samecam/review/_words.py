"""Decisions in words, for the log and for what is said after each."""

from samecam.case import Decision
from samecam.report import shown
from samecam.review._state import Moment

_VERBS = {
    "same": "one camera: {photos} and {others}",
    "different": "two cameras: {photos} and {others}",
    "cannot tell": "cannot tell whether one camera: {photos} and {others}",
    "merge": "merged {photos} and {others} into {camera}",
    "split": "split off {photos} as {camera}",
    "reject": "detached {photos} from {others}",
    "move": "moved {photos} to {others}",
    "name": "named {photos}: {camera}",
    "note": "note on {photos}: {text}",
    "status": "marked {photos}: {status}",
    "confirm": "accepted {photos} as one camera",
}
_LONG = 200


def decision_words(moment: Moment, decision: Decision) -> str:
    """What was decided, with cameras by the names they have now."""
    if decision.kind == "undo":
        of = moment.decided.decisions[decision.of - 1]
        if of.kind == "undo":
            return f"restored decision {of.of}"
        return f"took back decision {decision.of} ({decision_words(moment, of)})"
    text = _VERBS[decision.kind].format(
        photos=_side(moment, decision.photos),
        others=_side(moment, decision.others, rest=True),
        camera=decision.camera or "photos of no camera",
        text=decision.text if len(decision.text) <= _LONG else decision.text[:_LONG] + "…",
        status=decision.status,
    )
    return shown(text)


def _side(moment: Moment, hashes: tuple[str, ...], *, rest: bool = False) -> str:
    rows = [row for h in hashes[:5] if (row := moment.index.row_of.get(h)) is not None]
    if not rows:
        return "photos that are not in the case"
    home = moment.home(rows)
    if len(hashes) == 1:
        return moment.index.photos[rows[0]].name
    if rest and home:
        return home
    return f"{len(hashes)} photos" + (f" of {home}" if home else "")
