"""Parts of a camera that may be split off at once: its groups, and sub-groups of these."""

from dataclasses import dataclass

from samecam.review._cameras import CameraFacts
from samecam.review._state import Moment


@dataclass(frozen=True, slots=True)
class Part:
    """A sub-group: the smaller part of a group's best division in two."""

    key: str
    group: int
    size: int
    words: str


def parts_of(moment: Moment, facts: CameraFacts) -> list[Part]:
    """Sub-groups of a camera's groups that all its photos still hold."""
    index, result = moment.index, []
    for number in sorted({int(index.group_of[row]) for row in facts.rows} - {-1}):
        division = index.groups[number].division
        if division is None:
            continue
        key = f"part-{number}"
        count = len(part_rows(moment, facts, key))
        if 0 < count < facts.size:
            share = (division.correlation or 0.0) / division.expected if division.expected else 0.0
            state = "falls apart" if division.falls_apart else "holds together"
            words = (
                f"The best division of the group in two {state}: the parts show "
                f"{max(share, 0):.0%} of what one camera would."
            )
            result.append(Part(key, number, count, words))
    return result


def part_rows(moment: Moment, facts: CameraFacts, key: str) -> list[int]:
    """Rows of a camera that are of a group ("group-3") or of its sub-group ("part-3").

    The strongest first; all of the camera if there is no such part.
    """
    kind, _, digits = key.partition("-")
    index = moment.index
    if kind not in ("group", "part") or not (digits.isascii() and digits.isdecimal()):
        return facts.rows
    number = int(digits[:9])
    if number >= len(index.groups):
        return facts.rows
    rows = [row for row in facts.rows if index.group_of[row] == number]
    if kind == "part":
        division = index.groups[number].division
        paths = set(division.paths) if division is not None else set()
        rows = [row for row in rows if index.photos[row].path in paths]
    return rows or facts.rows
