"""Histograms as numbers that a template draws: outlines, ticks and thresholds, hand made."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles
from samecam.case import SavedCase
from samecam.report._correlations import Correlations

WIDTH, HEIGHT = 480, 250
LEFT, RIGHT, TOP, BOTTOM = 44, 14, 16, 44
_BINS = 60
_TICKS = 6
_OUTER = 0.002

Limit = tuple[str, str, float]


@dataclass(frozen=True, slots=True)
class Series:
    """One outline: what it shows, how many values, their mean, and its SVG path."""

    kind: str
    label: str
    count: int
    mean: float
    outline: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A threshold: what it says, and where it stands."""

    kind: str
    label: str
    x: float


@dataclass(frozen=True, slots=True)
class Histogram:
    """Everything that is drawn. Ticks are (place, label)."""

    title: str
    axis: str
    series: list[Series]
    marks: list[Mark]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]


def pair_histogram(given: Correlations, content: SavedCase) -> Histogram | None:
    """Correlations of pairs within and between groups; None if no group has two photos."""
    same = given.labels[:, np.newaxis] == given.labels
    inside = given.labels >= 0
    both = np.triu(inside[:, np.newaxis] & inside & given.compared, 1)
    several = len(given.scales) > 1
    values = given.in_units_of_chance() if several else given.gram
    within = values[both & same].astype(np.float64)
    between = values[both & ~same].astype(np.float64)
    limits: list[Limit] = []
    chance = NormalDist().inv_cdf(0.999) * (1 if several else given.scale)
    limits.append(("chance", f"chance stays below {chance:.4g} in 999 of 1000 pairs", chance))
    gamma = content.detail("frames", next(iter(given.scales)), "gamma")
    if isinstance(gamma, float):
        gamma /= given.scale if several else 1
        limits.append(("gamma", f"γ = {gamma:.4g}, what a link must be worth", gamma))
    sets = {
        "within": ("pairs within a group", within),
        "between": ("pairs of two groups", between),
    }
    axis = "correlation of two photos" + (", in units of chance" if several else "")
    return histogram("Pairs of photos", axis, sets, limits)


def photo_histogram(given: Correlations, content: SavedCase) -> Histogram | None:
    """Each photo with the rest of its group, and with the best other group."""
    several = len(given.scales) > 1
    unit = np.array(
        [given.scales.get(p.frame, given.scale) if several else 1 for p in content.used]
    )
    own, other = given.own / unit, given.other / unit
    sets = {
        "within": ("with the rest of its own group", own[np.isfinite(own)]),
        "between": ("with the nearest other group", other[np.isfinite(other)]),
    }
    limits = []
    needed = entry_threshold(content, 1.0 if several else given.scale)
    if needed is not None:
        limits.append(("chance", f"about {needed:.4g}: what a photo needs to join", needed))
    axis = "correlation with a group’s fingerprint" + (", in units of chance" if several else "")
    return histogram("Photos and groups", axis, sets, limits)


def entry_threshold(content: SavedCase, scale: float) -> float | None:
    """About what a photo must show to join a group, under the rate that was set; None if unknown.

    The correlation of a stranger with any unit vector scatters by σ₀, and there are as many
    chances as groups of its frame (here that with most): r = z·σ₀ with Q(z) = rate / number of
    groups. (The method measures how much more its own sums scatter; this is where that comes out
    on average.)
    """
    rate = content.detail("parameters", "join_rate")
    count = max((len(frame.groups) for frame in content.frames), default=0)
    if not isinstance(rate, float) or not 0 < rate < 1 or not count:
        return None
    return NormalDist().inv_cdf(1 - rate / count) * scale


def histogram(
    title: str,
    axis: str,
    sets: Mapping[str, tuple[str, Doubles]],
    limits: list[Limit],
) -> Histogram | None:
    """Outlines of several sets of values, each as shares of its own; None without the first.

    Parameters
    ----------
    sets : by kind ("within", "between"): what the values are, and the values
    limits : kind, words and place of what is marked
    """
    values = [v for _, v in sets.values() if len(v)]
    if not len(next(iter(sets.values()))[1]):
        return None
    low, high = _span(values, limits)
    edges = np.linspace(low, high, _BINS + 1)
    shares = {
        kind: np.histogram(np.clip(v, low, high), edges)[0] / max(len(v), 1)
        for kind, (_, v) in sets.items()
    }
    top = max(float(share.max()) for share in shares.values()) * 1.08
    series = [
        Series(kind, label, len(v), float(v.mean()), _outline(shares[kind], top))
        for kind, (label, v) in sets.items()
        if len(v)
    ]
    marks = [Mark(kind, label, _x(at, low, high)) for kind, label, at in limits]
    x_ticks = [(_x(t, low, high), _short(t)) for t in ticks(low, high)]
    y_ticks = [(_y(t, top), f"{100 * t:.3g} %") for t in ticks(0, top)]
    return Histogram(title, axis, series, marks, x_ticks, y_ticks)


def _span(values: list[npt.NDArray[np.float64]], limits: list[Limit]) -> tuple[float, float]:
    """From the least to the greatest value, a few outliers moved to the edge."""
    lows = [float(np.quantile(v, _OUTER)) for v in values] + [0.0]
    highs = [float(np.quantile(v, 1 - _OUTER)) for v in values]
    highs += [at for _, _, at in limits]
    low, high = min(lows), max(highs)
    room = 0.03 * (high - low) or 0.01
    return low - room, high + room


def ticks(low: float, high: float) -> list[float]:
    """Round numbers, about six, between two others."""
    raw = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * f for f in (1, 2, 5, 10) if power * f >= raw)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [k * step for k in range(first, last + 1)]


def _short(value: float) -> str:
    return f"{value:.6g}"


def _inner_width() -> float:
    return WIDTH - LEFT - RIGHT


def _x(value: float, low: float, high: float) -> float:
    return round(LEFT + (value - low) / (high - low) * _inner_width(), 2)


def _y(share: float, top: float) -> float:
    return round(HEIGHT - BOTTOM - share / top * (HEIGHT - TOP - BOTTOM), 2)


def _outline(shares: Doubles, top: float) -> str:
    """A closed path along the tops of the bars."""
    step = _inner_width() / len(shares)
    parts = [f"M{LEFT} {HEIGHT - BOTTOM}"]
    for k, share in enumerate(shares.tolist()):
        y = _y(share, top)
        parts.append(f"L{LEFT + k * step:.2f} {y}H{LEFT + (k + 1) * step:.2f}")
    parts.append(f"V{HEIGHT - BOTTOM}Z")
    return "".join(parts)
