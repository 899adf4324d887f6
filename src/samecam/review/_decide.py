"""What a page asks to be decided becomes one call; everything in it is checked first."""

from collections.abc import Callable, Mapping
from typing import Any

from samecam.case import Deciding, Decision
from samecam.documents import HASH, Span, check_shape
from samecam.errors import SamecamError
from samecam.review._parts import part_rows
from samecam.review._queue import SPOKESMEN, Question
from samecam.review._state import Moment

Body = Mapping[str, Any]
_SHAPE = {
    "kind": str,
    **dict.fromkeys(("reason?", "camera?", "first?", "second?", "name?", "text?"), str),
    **dict.fromkeys(("status?", "question?", "part?"), str),
    "photos?": [HASH],
    "others?": [HASH],
    "number?": Span(int, 1, 2**53),
}
_LONGEST = 10_000
ANSWERS = ("same", "different", "cannot tell")


def check_body(body: object) -> Body:
    """A request to decide; `ValueError` or `TypeError` for what is none."""
    check_shape(body, _SHAPE)
    assert isinstance(body, dict)
    for name, value in body.items():
        if isinstance(value, str) and len(value) > _LONGEST:
            raise ValueError(f"{name} is too long")
    return body


def decide(
    deciding: Deciding, now: Moment, body: Body, questions: Mapping[str, Question]
) -> Decision:
    """Take the decision that a page asks for."""
    kind = body["kind"]
    if "question" in body and kind in ANSWERS:
        question = questions.get(body["question"])
        if question is None:
            raise SamecamError("There is no such question: load the page again.")
        return _answer(deciding, now, question, kind, body.get("reason", ""))
    if kind not in _ACTIONS:
        raise SamecamError(f"{kind[:40]!r} is nothing that can be decided.")
    return _ACTIONS[kind](deciding, now, body)


def _answer(
    deciding: Deciding, now: Moment, question: Question, answer: str, reason: str
) -> Decision:
    """Same, different or cannot tell, as it is meant for this kind of question."""
    first = now.index.hashes(question.first)
    second = now.index.hashes(question.second[:SPOKESMEN])
    if answer == "cannot tell":
        return deciding.cannot_tell(first, second, reason)
    if answer == "same":
        return deciding.same(first, second, reason)
    if question.kind == "weak":
        return deciding.reject(now.home(question.first), first, reason)
    if question.kind == "part":
        home = now.home(question.first)
        there = [row for row in question.first if now.camera_of(row) == home]
        return deciding.split(home, now.index.hashes(there), reason)
    return deciding.different(first, second, reason)


def _sides(now: Moment, body: Body) -> tuple[list[str], list[str]]:
    """Photos on two sides: as given, or the strongest of two cameras."""
    if "photos" in body and "others" in body:
        return body["photos"], body["others"]
    sides = []
    for name in ("first", "second"):
        facts = now.cameras.by_name.get(_text(body, name))
        if facts is None:
            raise SamecamError(f"There is no camera {_text(body, name)[:80]!r}.")
        sides.append(now.index.hashes(facts.rows[:SPOKESMEN]))
    return sides[0], sides[1]


def _text(body: Body, name: str) -> str:
    if name not in body:
        raise SamecamError(f"To decide this, give {name!r}.")
    return str(body[name])


def _photos(now: Moment, body: Body) -> list[str]:
    """Photos as given, or those of a part of a camera."""
    facts = now.cameras.by_name.get(body.get("camera", ""))
    if "part" in body and facts is not None:
        rows = part_rows(now, facts, body["part"])
        if rows is facts.rows:
            raise SamecamError("There is no such part any more: load the page again.")
        return now.index.hashes(rows)
    if not body.get("photos"):
        raise SamecamError("No photo is selected: select some first.")
    return list(body["photos"])


def _note(deciding: Deciding, now: Moment, body: Body) -> Decision:
    subject = _text(body, "camera") if "camera" in body else _photos(now, body)
    return deciding.note(subject, _text(body, "text"))


def _undo(deciding: Deciding, now: Moment, body: Body) -> Decision:
    """Take back a decision, the last one if none is named."""
    number = body.get("number") or _last(now, undo=False)
    return deciding.undo(number, body.get("reason", ""))


def _redo(deciding: Deciding, now: Moment, body: Body) -> Decision:
    """Restore a decision that was taken back, the last one if none is named."""
    of = body.get("number")
    return deciding.undo(_last(now, undo=True, of=of), body.get("reason", ""))


def _last(now: Moment, *, undo: bool, of: int | None = None) -> int:
    """The last decision in force that is an undo (of this one), or is none."""
    for decision in reversed(now.decided.decisions):
        counts = decision.number in now.decided.in_force
        if counts and (decision.kind == "undo") == undo and of in (None, decision.of):
            return decision.number
    raise SamecamError("There is nothing to redo." if undo else "There is nothing to undo.")


_ACTIONS: dict[str, Callable[[Deciding, Moment, Body], Decision]] = {
    "same": lambda d, now, b: d.same(*_sides(now, b), b.get("reason", "")),
    "different": lambda d, now, b: d.different(*_sides(now, b), b.get("reason", "")),
    "cannot tell": lambda d, now, b: d.cannot_tell(*_sides(now, b), b.get("reason", "")),
    "merge": lambda d, _, b: d.merge(_text(b, "first"), _text(b, "second"), b.get("reason", "")),
    "split": lambda d, now, b: d.split(_text(b, "camera"), _photos(now, b), b.get("reason", "")),
    "reject": lambda d, now, b: d.reject(_text(b, "camera"), _photos(now, b), b.get("reason", "")),
    "move": lambda d, now, b: d.move(_photos(now, b), _text(b, "camera"), b.get("reason", "")),
    "name": lambda d, _, b: d.name(_text(b, "camera"), _text(b, "name"), b.get("reason", "")),
    "note": _note,
    "status": lambda d, _, b: d.status(_text(b, "camera"), _text(b, "status"), b.get("reason", "")),
    "confirm": lambda d, _, b: d.confirm(_text(b, "camera"), b.get("reason", "")),
    "undo": _undo,
    "redo": _redo,
}
