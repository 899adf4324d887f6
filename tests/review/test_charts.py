"""What is drawn of a camera: times that files may say anything of, and how near others are."""

import math

import numpy as np
import pytest

from samecam.review._charts import HEIGHT, WIDTH, nearest_map, strength_histogram, timeline
from samecam.review._index import _day


@pytest.fixture
def facts(review):
    return review.state.now.cameras.by_name["camera-0"]


def dated(review, facts, days):
    for row in facts.rows:
        review.state.index.days[row] = ""
    for row, day in zip(facts.rows, days, strict=False):
        review.state.index.days[row] = day
    return timeline(review.state.now, facts)


@pytest.mark.parametrize(
    ("days", "first", "last"),
    [
        (["2026-05-17"], "2026-05-17", "2026-05-17"),
        (["2026-05-17", "2026-05-17", "2026-05-30"], "2026-05-17", "2026-05-30"),
        (["2025-11-30", "2026-05-17"], "2025-11", "2026-05"),
        (["1999-01-01", "2026-05-17"], "1999", "2026"),
        (["0001-01-01", "9999-12-31", "2026-05-17"], "0001", "9999"),
        (["2026-02-31", "2026-03-01"], "2026-02", "2026-03"),
    ],
)
def test_times_are_days_months_or_years(review, facts, days, first, last):
    times = dated(review, facts, days)
    assert (times.first, times.last) == (first, last)
    assert times.undated == facts.size - len(days)
    assert sum(int(bar.words.rpartition(" ")[2]) for bar in times.bars) == len(days)
    for bar in times.bars:
        assert 0 <= bar.x <= bar.x + bar.width <= WIDTH
        assert 0 <= bar.y < bar.y + bar.height <= HEIGHT


def test_without_dates_there_is_no_timeline(review, facts):
    assert dated(review, facts, []) is None


@pytest.mark.parametrize(
    ("taken", "day"),
    [
        ("2026:05:17 12:00:00", "2026-05-17"),
        ("2026-05-17T12:00", "2026-05-17"),
        ("", ""),
        ("yesterday", ""),
        ("2026:13:01 00:00:00", ""),
        ("2026:00:01 00:00:00", ""),
        ("٢٠٢٦:05:17", ""),
        ("<b>2026:05:17", ""),
    ],
)
def test_days_of_what_files_say(taken, day):
    assert _day(taken) == day


def test_the_nearest_camera_is_nearest_on_the_map(review, facts):
    others = nearest_map(review.state.now, facts)
    assert others[0].name == "camera-1"
    distances = [math.hypot(each.x - 100, each.y - 100) for each in others]
    assert distances == sorted(distances)
    assert all(distance <= 100 for distance in distances)


def test_members_and_strangers_are_counted(review, facts):
    index = review.state.index
    chart = strength_histogram(review.state.now, facts)
    inside, outside = chart.series
    assert inside.count == np.isfinite(index.strength[facts.rows]).sum()
    elsewhere = set(range(len(index.photos))) - set(facts.rows)
    groups = {index.group_of[row] for row in facts.rows}
    assert outside.count == sum(index.near[row] in groups for row in elsewhere)
    assert inside.mean > outside.mean
