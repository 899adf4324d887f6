"""Plots as numbers that a template draws: paths, marks and ticks, hand made."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

WIDTH, HEIGHT = 480, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 14, 14, 44
# Kinds of comparison, in the order of the legend, each with its class in the style sheet.
_KINDS = {
    "same camera": "own",
    "another body of the same model": "body",
    "another model": "model",
    "another camera, model not known": "unknown",
}
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_TICKS = 8

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Axis:
    """From values to places: `low` is drawn at `start`, `high` at `end`."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """Where a value stands; what lies beyond the axis stands at its end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 2)


@dataclass(frozen=True, slots=True)
class Line:
    """A line: its class in the style sheet, what it shows, and its SVG path."""

    kind: str
    label: str
    path: str


@dataclass(frozen=True, slots=True)
class Dot:
    """A counted rate: its place, the ends of its interval, whether few were counted, in words."""

    x: float
    y: float
    low: float
    high: float
    few: bool
    label: str


@dataclass(frozen=True, slots=True)
class Plot:
    """Everything that is drawn. Ticks are (place, label)."""

    title: str
    caption: str
    x_label: str
    y_label: str
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    lines: list[Line]
    rule: str
    dots: list[Dot] = field(default_factory=list)


def tippett_plot(content: Mapping[str, Any]) -> Plot:
    """Share of comparisons with at least so large a likelihood ratio."""
    curves = content["curves"]["tippett"]
    at = curves["log_ratio"]
    x, y = _across(at[0], at[-1]), _up(0.0, 1.0)
    lines = [
        Line(
            kind, name, _path((x.place(a), y.place(share)) for a, share in _pairs(at, curves, name))
        )
        for name, kind in _KINDS.items()
        if name in curves
    ]
    return Plot(
        "Tippett plot",
        "Share of comparisons whose likelihood ratio is at least as large. Right of 1 the lines of "
        "other cameras are misleading evidence; left of it, what the line of the same camera "
        "lacks.",
        "likelihood ratio, stated",
        "share at or above it",
        _decades(x),
        [(y.place(share), f"{share:.0%}") for share in (0, 0.25, 0.5, 0.75, 1)],
        lines,
        f"M{x.place(0)} {TOP}V{HEIGHT - BOTTOM}",
    )


def pav_plot(content: Mapping[str, Any]) -> Plot:
    """Stated likelihood ratios against those that pool-adjacent-violators make of them."""
    pools, overall = content["curves"]["pools"], content["overall"]
    after = [_calibrated(pool, overall) for pool in pools]
    ends = [v for pool in pools for v in (pool["from"], pool["to"]) if v is not None]
    known = [value for value in after if math.isfinite(value)]
    low = math.floor(min([*ends, *known, -1.0]))
    high = math.ceil(max([*ends, *known, 1.0]))
    x, y = _across(low, high), _up(low, high)
    points: list[Point] = []
    for pool, value in zip(pools, after, strict=True):
        first = low if pool["from"] is None else pool["from"]
        last = high if pool["to"] is None else pool["to"]
        points += [(x.place(first), y.place(value)), (x.place(last), y.place(value))]
    return Plot(
        "Calibration after pool-adjacent-violators (PAV)",
        "What these photos themselves make of each stated likelihood ratio. On the dashed line "
        "stated ratios are right; right of 1, below it they are too bold and above it too modest. "
        "At the upper and lower edge there are comparisons of one kind alone.",
        "likelihood ratio, stated",
        "likelihood ratio after PAV",
        _decades(x),
        _decades(y),
        [Line("own", "all comparisons", _path(points))],
        f"M{x.place(low)} {y.place(low)}L{x.place(high)} {y.place(high)}",
    )


def counted_plot(content: Mapping[str, Any], few: int) -> Plot:
    """Claimed rates of chance against those that were counted, with their intervals."""
    rows = [row for row in content["curves"]["counted"] if row["count"]]
    low = math.floor(math.log10(min(row["claimed"] for row in content["curves"]["counted"])))
    x, y = _across(low, 0), _up(low, 0)
    dots = [
        Dot(
            x.place(math.log10(row["claimed"])),
            y.place(math.log10(row["rate"])),
            y.place(_log(row["low"], low)),
            y.place(_log(row["high"], low)),
            row["count"] < few,
            f"claimed {row['claimed']:.2g}, counted {row['count']:,} of {row['n']:,}",
        )
        for row in rows
    ]
    return Plot(
        "Claimed against counted",
        "Share of comparisons with another camera that reach a score which chance is claimed to "
        "give so often, with 95 % intervals. Above the dashed line claims are too low. Hollow: "
        f"fewer than {few} counted.",
        "claimed rate of chance",
        "counted rate",
        _decades(x),
        _decades(y),
        [],
        f"M{x.place(low)} {y.place(low)}L{x.place(0)} {y.place(0)}",
        dots,
    )


def power(exponent: float) -> str:
    """10⁻³; 1 and 10 as they are."""
    if exponent in (0, 1):
        return f"{10**exponent:g}"
    return f"10{f'{exponent:g}'.translate(_RAISED)}"


def _calibrated(pool: Mapping[str, Any], overall: Mapping[str, Any]) -> float:
    same, different = pool["same"] / overall["n_same"], pool["different"] / overall["n_different"]
    if not same or not different:
        return math.inf if same else -math.inf
    return math.log10(same / different)


def _log(rate: float, low: float) -> float:
    return math.log10(rate) if rate > 0 else low


def _across(low: float, high: float) -> Axis:
    return Axis(low, high, LEFT, WIDTH - RIGHT)


def _up(low: float, high: float) -> Axis:
    return Axis(low, high, HEIGHT - BOTTOM, TOP)


def _decades(axis: Axis) -> list[tuple[float, str]]:
    """Whole powers of ten along an axis of exponents, 0 among them where it is."""
    first, last = math.ceil(axis.low), math.floor(axis.high)
    step = max(1, math.ceil((last - first) / _TICKS))
    exponents = [k for k in range(first, last + 1) if k % step == 0]
    return [(axis.place(k), power(k)) for k in exponents]


def _path(points: Iterable[Point]) -> str:
    return "M" + "L".join(f"{x} {y}" for x, y in points)


def _pairs(at: Sequence[float], curves: Mapping[str, Any], name: str) -> Iterable[Point]:
    return zip(at, curves[name], strict=True)
