"""Pictures of one camera as numbers that a template draws: when, how near, how strong."""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from samecam.report import Histogram, histogram
from samecam.review._cameras import CameraFacts
from samecam.review._state import Moment

WIDTH, HEIGHT = 480, 96
_FOOT = 22
_MOST_BARS = 60
_NEAREST = 8
_RINGS = 3


@dataclass(frozen=True, slots=True)
class Bar:
    """Photos of a time: its place in the picture, and words."""

    x: float
    y: float
    width: float
    height: float
    words: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """When photos were taken, as EXIF has it; `undated` do not say."""

    bars: list[Bar]
    first: str
    last: str
    undated: int


@dataclass(frozen=True, slots=True)
class Near:
    """Another camera on the map: nearer to the middle, more alike."""

    name: str
    score: float
    photos: int
    x: float
    y: float
    radius: float


def timeline(moment: Moment, facts: CameraFacts) -> Timeline | None:
    """Bars by day, month or year, whichever are not too many; None: no photo has a date."""
    days = [moment.index.days[row] for row in facts.rows]
    dated = sorted(day for day in days if day)
    if not dated:
        return None
    for length in (10, 7, 4):
        periods = _periods(dated[0], dated[-1], length)
        if len(periods) <= _MOST_BARS:
            break
    counts = Counter(day[:length] for day in dated)
    if len(periods) > _MOST_BARS:  # dates that no camera of ours has: those that occur
        periods = sorted(counts)[:_MOST_BARS]
    top, step = max(counts.values()), WIDTH / len(periods)
    bars = []
    for k, period in enumerate(periods):
        if counts[period]:
            high = max(3.0, (HEIGHT - _FOOT) * counts[period] / top)
            words = f"{period}: {counts[period]}"
            place = round(k * step, 2), round(HEIGHT - _FOOT - high, 2)
            bars.append(Bar(*place, round(max(min(step - 1, 24), 1), 2), round(high, 2), words))
    return Timeline(bars, periods[0], periods[-1], len(days) - len(dated))


def _periods(first: str, last: str, length: int) -> list[str]:
    """Every day, month or year from one to another, few more than can be drawn."""
    if length == 4:
        end = min(int(last[:4]), int(first[:4]) + _MOST_BARS)
        return [f"{year:04d}" for year in range(int(first[:4]), end + 1)]
    if length == 7:
        begin, end = (int(day[:4]) * 12 + int(day[5:7]) - 1 for day in (first, last))
        end = min(end, begin + _MOST_BARS)
        return [f"{month // 12:04d}-{month % 12 + 1:02d}" for month in range(begin, end + 1)]
    try:
        begin, end = (np.datetime64(day, "D").astype(int) for day in (first, last))
    except ValueError:  # 31 February
        return [""] * (_MOST_BARS + 1)
    end = min(end, begin + _MOST_BARS)
    return [str(np.datetime64(int(day), "D")) for day in range(begin, end + 1)]


def nearest_map(moment: Moment, facts: CameraFacts) -> list[Near]:
    """The cameras that are most like this one, by the scores of groups with each other."""
    index = moment.index
    own = {int(index.group_of[row]) for row in facts.rows} - {-1}
    best: dict[str, float] = {}
    for group in index.groups:
        near, score = group.nearest, group.nearest_score
        if near is None or score is None or not 0 <= near < len(index.groups):
            continue
        for one, two in ((group.id, near), (near, group.id)):
            if one in own and two not in own:
                name = moment.home(index.by_group[two])
                if name and name != facts.name:
                    best[name] = max(score, best.get(name, -math.inf))
    ordered = sorted(best.items(), key=lambda item: (-item[1], item[0]))[:_NEAREST]
    result = []
    for k, (name, score) in enumerate(ordered):
        far = 1 / (1 + max(score, 0.0) / 6)
        angle = 2 * math.pi * k / len(ordered) - math.pi / 2
        x, y = 100 + 84 * far * math.cos(angle), 100 + 84 * far * math.sin(angle)
        size = moment.cameras.by_name[name].size
        radius = 3 + 1.6 * math.log2(1 + size)
        result.append(Near(name, score, size, round(x, 1), round(y, 1), round(radius, 1)))
    return result


def strength_histogram(moment: Moment, facts: CameraFacts) -> Histogram | None:
    """Scores of its members, and of photos elsewhere that are nearest to one of its groups."""
    index = moment.index
    rows = np.array(facts.rows, dtype=np.intp)
    groups = np.unique(index.group_of[rows])
    outside = np.ones(len(index.photos), dtype=bool)
    outside[rows] = False
    near = outside & np.isin(index.near, groups[groups >= 0]) & np.isfinite(index.near_score)
    own = index.strength[rows]
    sets = {
        "within": ("its photos", own[np.isfinite(own)]),
        "between": ("photos of others that are nearest to it", index.near_score[near]),
    }
    axis = "score (chance scatters by 1)"
    return histogram("Its photos and strangers", axis, sets, [("chance", "doubtful below 5", 5.0)])
