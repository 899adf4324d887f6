"""Scores as marks over what chance does, and over what photos of the camera show."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from samecam import evidence
from samecam.arrays import Doubles

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 16, 16, 12, 58
# Scores are drawn as they are up to about this one, and by their logarithm beyond.
_LINEAR = 2.0
_POINTS = 240
_LOWEST, _LEAST_HIGH, _HIGHEST = -4.0, 8.0, 1e6
_TICKS = (-4, -2, 0, 2, 4, 7, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000)
# Pixels between ticks, between marks on one level, and from level to level.
_APART, _BESIDE, _LEVEL = 30.0, 17.0, 17.0
_LEVELS = 10
# Up to so many marks carry their short names.
_NAMED = 60
_UPPER = 0.995

Kind = Literal["match", "view", "alike", "none"]


@dataclass(frozen=True, slots=True)
class Score:
    """A photo, or a pair, that is marked: its short and its long name on the page, its score."""

    tag: str
    name: str
    score: float
    kind: Kind


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a score is drawn, and what is said of it; `text` is its short name or ""."""

    x: float
    y: float
    kind: Kind
    text: str
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Everything that is drawn. Outlines and the rule are SVG paths; ticks are (place, label).

    Attributes
    ----------
    members : what the second distribution is of; "" if there is none
    rug : places of the scores that it was learnt from
    needed : the score that a match needs, in words; "" if it differs from mark to mark
    kinds : of marks that there are
    """

    title: str
    chance: str
    own: str
    members: str
    rule: str
    needed: str
    rug: list[float]
    marks: list[Mark]
    ticks: list[tuple[float, str]]
    kinds: list[Kind]


def score_chart(
    title: str,
    scores: Sequence[Score],
    *,
    members: evidence.Members | None = None,
    label: str = "",
    known: Sequence[float] = (),
    needed: float | None = None,
) -> Chart | None:
    """Scores over the law of strangers; None if there are none.

    Parameters
    ----------
    title : of the picture
    scores : what is marked
    members : what is known of the scores of the camera's photos; None: nothing is drawn
    label : what these are, in words
    known : scores of the camera's members, drawn as lines under the axis
    needed : the score that a match needs
    """
    if not scores:
        return None
    high = _high(scores, members, known, needed)
    places = np.linspace(_bent(_LOWEST), _bent(high), _POINTS)
    chance = _per_place(np.exp(evidence.STRANGERS.log_density(_unbent(places))), places)
    own = np.zeros(_POINTS)
    if members is not None:
        own = _per_place(np.exp(members.log_density(_unbent(places))), places)
    top = 1.08 * max(float(chance.max()), float(own.max()))
    rule, said = "", ""
    if needed is not None:
        rule = f"M{_x(needed, high)} {TOP}V{HEIGHT - BOTTOM}"
        said = f"a match needs about {needed:.1f}"
    return Chart(
        title,
        _outline(chance, top),
        "" if members is None else _outline(own, top),
        "" if members is None else label,
        rule,
        said,
        [_x(score, high) for score in sorted(known)],
        _marks(scores, high),
        _ticks(high),
        [kind for kind in get_args(Kind) if any(each.kind == kind for each in scores)],
    )


def _high(
    scores: Sequence[Score],
    members: evidence.Members | None,
    known: Sequence[float],
    needed: float | None,
) -> float:
    """The highest score that is drawn in its place."""
    ends = [score.score for score in scores] + list(known) + [needed or 0.0, _LEAST_HIGH]
    if members is not None:
        from scipy.special import stdtrit

        upper = float(stdtrit(members.freedom, _UPPER))
        ends.append(math.exp(float(members.mean) + float(members.spread) * min(upper, 2.5)))
    return min(1.15 * max(end for end in ends if math.isfinite(end)), _HIGHEST)


def _bent(score: float) -> float:
    return math.asinh(score / _LINEAR)


def _unbent(places: Doubles) -> Doubles:
    return np.asarray(_LINEAR * np.sinh(places))


def _per_place(density: Doubles, places: Doubles) -> Doubles:
    """A density of scores as one of places."""
    return np.asarray(density * _LINEAR * np.cosh(places))


def _x(score: float, high: float) -> float:
    low, end = _bent(_LOWEST), _bent(high)
    share = (min(max(_bent(score), low), end) - low) / (end - low)
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 2)


def _outline(heights: Doubles, top: float) -> str:
    """A closed path over a curve."""
    step, ground = (WIDTH - LEFT - RIGHT) / (_POINTS - 1), HEIGHT - BOTTOM
    inner = ground - TOP
    points = (
        f"{LEFT + k * step:.1f} {ground - inner * height / top:.1f}"
        for k, height in enumerate(heights.tolist())
    )
    return f"M{LEFT} {ground}L{'L'.join(points)}L{WIDTH - RIGHT} {ground}Z"


def _ticks(high: float) -> list[tuple[float, str]]:
    """Round scores, not too near to each other."""
    result: list[tuple[float, str]] = []
    for tick in _TICKS:
        x = _x(tick, high)
        if tick <= high and (not result or x - result[-1][0] >= _APART):
            result.append((x, f"{tick:,}".replace("-", "−")))
    return result


def _marks(scores: Iterable[Score], high: float) -> list[Mark]:
    """Marks from left to right, each on the lowest level on which it hides no other."""
    ordered = sorted(scores, key=lambda each: each.score)
    named = len(ordered) <= _NAMED
    free = [-math.inf] * _LEVELS
    marks = []
    for each in ordered:
        x = _x(each.score, high)
        level = next((k for k, end in enumerate(free) if x - end >= _BESIDE), None)
        level = min(range(_LEVELS), key=lambda k: free[k]) if level is None else level
        free[level] = x
        y = HEIGHT - BOTTOM - 14 - level * _LEVEL
        text = each.tag if named else ""
        label = f"{each.tag}: {each.name}, a score of {each.score:z.1f}"
        marks.append(Mark(x, y, each.kind, text, label))
    return marks
