"""A decision, and the file that all of them stand in: `decisions.jsonl`."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samecam.case.folder import DECISIONS, chained_lines
from samecam.documents import HASH, Span, check_shape
from samecam.errors import SamecamError

KINDS = (
    *("same", "different", "cannot tell", "merge", "split", "reject", "move"),
    *("name", "note", "status", "confirm", "undo"),
)
STATUSES = ("ok", "check", "warning")
# Decisions that say who is of which camera.
MEMBERSHIP = frozenset({"same", "different", "merge", "split", "reject", "move", "confirm"})
# Names that cameras have by themselves.
OWN_NAME = re.compile(r"camera-[0-9]+")
_LONGEST_NAME, _LONGEST_TEXT = 100, 10_000
_ODD = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_PAIRS = frozenset({"same", "different", "cannot tell", "merge", "split", "reject", "move"})
_SHAPE = {
    "time": str,
    "event": set(KINDS),
    "examiner": str,
    "reason": str,
    "photos?": [HASH],
    "others?": [HASH],
    "camera?": str,
    "text?": str,
    "status?": set(STATUSES),
    "of?": Span(int, 1, 2**53),
}


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided, about photos by SHA-256.

    A camera is meant by the photos it had then: later it is the one that holds most of them.

    Attributes
    ----------
    number : its line in `decisions.jsonl`, from 1
    time, examiner, reason : when, who and why
    kind : what, see `KINDS`
    photos : those it is about, or those of the camera it is about
    others : those they are compared with: of another camera, or the rest of theirs
    camera : name that a camera has from now on; of a note the camera it is about; "": none
    text : of a note
    status : of a camera: "ok", "check" or "warning"
    of : number of the decision that an undo takes back
    """

    number: int
    time: str
    examiner: str
    reason: str
    kind: str
    photos: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    camera: str = ""
    text: str = ""
    status: str = ""
    of: int = 0

    @property
    def sends_photos(self) -> bool:
        """Whether it sends photos to a camera, and says nothing of those they stood with."""
        return self.kind == "move" or (self.kind == "same" and len(self.photos) == 1)

    def fields(self) -> dict[str, Any]:
        """What stands in its line beside time and kind."""
        values: dict[str, Any] = {"examiner": self.examiner, "reason": self.reason}
        for name in ("photos", "others"):
            if hashes := getattr(self, name):
                values[name] = list(hashes)
        more = ((name, getattr(self, name)) for name in ("camera", "text", "status", "of"))
        return {**values, **{name: value for name, value in more if value}}


def read_decisions(folder: Path) -> list[Decision]:
    """All decisions of a case, or an error: the file is not as it was written."""
    decisions: list[Decision] = []
    path = folder / DECISIONS
    if not os.path.lexists(path):
        return decisions
    try:
        for entry, _ in chained_lines(path):
            decisions.append(_decision(entry, len(decisions) + 1))
    except OSError as error:
        raise SamecamError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise SamecamError(
            f"Line {len(decisions) + 1} of {str(path)!r} is not as it was written ({error}): "
            "restore the file from a copy."
        ) from None
    return decisions


def in_force(decisions: Sequence[Decision]) -> frozenset[int]:
    """Numbers of the decisions that count: not taken back, or taken back and restored."""
    undone: set[int] = set()
    for decision in reversed(decisions):
        if decision.kind == "undo" and decision.number not in undone:
            undone.add(decision.of)
    return frozenset(d.number for d in decisions if d.number not in undone)


def counted(decisions: Sequence[Decision], *, most: int | None = None) -> list[Decision]:
    """Decisions in force, without the undoing itself; of the first `most` alone."""
    some = list(decisions[:most])
    forced = in_force(some)
    return [d for d in some if d.number in forced and d.kind != "undo"]


def check_name(name: str) -> str:
    """A name for a camera, without blanks around it, or an error: it cannot be one."""
    clean = name.strip()
    if not clean or len(clean) > _LONGEST_NAME or _ODD.search(clean):
        raise SamecamError(
            f"{name!r:.60} cannot be the name of a camera: give 1 to {_LONGEST_NAME} printable "
            "characters."
        )
    if OWN_NAME.fullmatch(clean):
        raise SamecamError(
            f"{clean!r} is a name that cameras have by themselves: give another, or take the "
            "naming back."
        )
    return clean


def check_text(text: str, what: str) -> str:
    """A reason, a note or a name of a person, without blanks around it, or an error."""
    clean = text.strip()
    if len(clean) > _LONGEST_TEXT or _ODD.search(clean.replace("\n", " ").replace("\t", " ")):
        raise SamecamError(
            f"The {what} {clean!r:.60} cannot be kept: give at most {_LONGEST_TEXT} printable "
            "characters."
        )
    return clean


def _decision(entry: Mapping[str, Any], number: int) -> Decision:
    """The decision of a line; `ValueError` if it is none of ours."""
    check_shape(entry, _SHAPE)
    decision = Decision(
        number,
        entry["time"],
        entry["examiner"],
        entry["reason"],
        entry["event"],
        tuple(entry.get("photos", ())),
        tuple(entry.get("others", ())),
        entry.get("camera", ""),
        entry.get("text", ""),
        entry.get("status", ""),
        entry.get("of", 0),
    )
    check_decision(decision)
    return decision


def check_decision(decision: Decision) -> None:
    """`ValueError` for a decision that cannot be: without photos, about what comes later, …"""
    if decision.kind == "undo":
        if not 0 < decision.of < decision.number:
            raise ValueError(f"it takes back {decision.of}, which is no decision before it")
        return
    if not decision.photos or (decision.kind in _PAIRS and not decision.others):
        raise ValueError("it is about no photos")
    if set(decision.photos) & set(decision.others):
        raise ValueError("a photo stands on both sides")
    for text in (decision.camera, decision.text, decision.examiner, decision.reason):
        if len(text) > _LONGEST_TEXT or _ODD.search(text.replace("\n", " ").replace("\t", " ")):
            raise ValueError("it holds text that none of ours does")
    needed = {"name": "camera", "note": "text", "status": "status"}.get(decision.kind)
    if needed is not None and not getattr(decision, needed):
        raise ValueError(f"it has no {needed}")
