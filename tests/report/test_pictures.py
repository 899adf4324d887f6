"""Heat map and histograms against the slow obvious way."""

import base64
import io
import itertools
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from samecam.case import SavedCase
from samecam.report._correlations import Correlations, sample
from samecam.report._heatmap import averaged, heat_map, spread
from samecam.report._histogram import (
    HEIGHT,
    entry_threshold,
    pair_histogram,
    photo_histogram,
    ticks,
)


def planted(labels, rho=0.05, scale=0.004, seed=0, frames=None, scales=None):
    """Correlations of groups in their order; of frames whose correlations are of other scales."""
    rng = np.random.default_rng(seed)
    labels = np.asarray(labels)
    n = len(labels)
    gram = rng.normal(0, scale, (n, n))
    gram = (gram + gram.T) / 2
    gram[(labels[:, None] == labels) & (labels >= 0)[:, None]] += rho
    frames = np.zeros(n, dtype=np.intp) if frames is None else np.asarray(frames)
    scales = scales or {"64x64": scale}
    factors = np.array(list(scales.values()))[frames] / scale
    gram *= factors * (frames[:, None] == frames)
    np.fill_diagonal(gram, 1)
    own = np.where(labels >= 0, 0.2, np.nan) * factors
    other = own - 0.18 * factors
    return Correlations(
        gram.astype(np.float32),
        np.arange(n),
        labels,
        frames,
        n,
        scales,
        [64 * 64] * len(scales),
        own,
        other,
        own,
    )


def content(details=None, groups=(), used=()):
    info = {"clustering": {"details": details or {}}}
    frames = [SimpleNamespace(groups=list(groups))]
    case = SimpleNamespace(groups=list(groups), info=info, used=list(used), frames=frames)
    case.detail = partial(SavedCase.detail, case)
    return case


def decoded(uri):
    data = base64.b64decode(uri.removeprefix("data:image/png;base64,"))
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"))


@pytest.mark.parametrize(("n", "side"), [(7, 7), (10, 4), (23, 5), (8, 8), (9, 2)])
def test_blocks_are_means_without_the_diagonal(n, side):
    gram = np.random.default_rng(1).normal(size=(n, n)).astype(np.float32)
    edges = [int(k * n / side) for k in range(side)] + [n]
    slow = np.zeros((side, side))
    for a in range(side):
        for b in range(side):
            values = [
                gram[i, j]
                for i in range(edges[a], edges[a + 1])
                for j in range(edges[b], edges[b + 1])
                if i != j
            ]
            slow[a, b] = np.mean(values) if values else 0
    np.testing.assert_allclose(averaged(gram, side), slow, atol=1e-6)


def test_groups_are_dark_squares_on_the_diagonal():
    given = planted([0] * 6 + [1] * 3 + [-1] * 2)
    heat = heat_map(given)
    alpha = decoded(heat.uri)[..., 3].astype(int)
    assert alpha.shape == (11, 11)
    off = ~np.eye(11, dtype=bool)
    same = (given.labels[:, None] == given.labels) & (given.labels >= 0)[:, None] & off
    assert alpha[same].min() > 150
    assert np.median(alpha[~same & off]) < 40
    assert not alpha[~off].any()
    assert [(b.group, b.start, b.side) for b in heat.blocks] == [
        (0, 0.0, pytest.approx(100 * 6 / 11, abs=1e-3)),
        (1, pytest.approx(100 * 6 / 11, abs=1e-3), pytest.approx(100 * 3 / 11, abs=1e-3)),
    ]


def test_a_large_heat_map_stays_small():
    heat = heat_map(planted(np.repeat([0, 1, -1], 300)))
    assert heat.pixels == 600
    alpha = decoded(heat.uri)[..., 3]
    assert alpha.shape == (600, 600)
    assert np.median(alpha[:200, :200]) > 200
    assert np.median(alpha[:200, 200:]) < 30
    assert heat_map(planted([0])) is None


LARGE, SMALL = "4000x3000", "64x64"
TWO = {LARGE: 0.0004, SMALL: 0.02}


def test_colours_of_several_frames_are_in_units_of_chance():
    """Chance of the small pictures correlates more than what a camera shows in large ones."""
    labels = np.repeat([0, -1, 1, -1], [8, 6, 8, 6])
    given = planted(labels, frames=np.repeat([0, 1], 14), scales=TWO, rho=0.04)
    heat = heat_map(given)
    alpha = decoded(heat.uri)[..., 3].astype(int)
    off = ~np.eye(28, dtype=bool)
    same = (labels[:, None] == labels) & (labels >= 0)[:, None] & off
    assert alpha[same].min() > 150
    assert np.median(alpha[~same & off & given.compared]) < 60
    assert not alpha[~given.compared].any()
    assert "times chance" in heat.full_text
    assert heat.full == pytest.approx(10, rel=0.3)
    alone = heat_map(planted(labels))
    assert alone.full_text == f"{alone.full:.3f}"


def test_pairs_of_several_frames_are_in_units_of_chance_and_of_one_frame_each():
    labels = np.repeat([0, 1, 2], [6, 4, 5])
    given = planted(labels, frames=np.repeat([0, 1], [10, 5]), scales=TWO, rho=0.04)
    facts = {"frames": {LARGE: {"gamma": 0.0008}, SMALL: {"gamma": 0.04}}}
    histogram = pair_histogram(given, content(facts))
    within, between = histogram.series
    assert (within.count, between.count) == (15 + 6 + 10, 24)
    assert within.mean == pytest.approx(10, rel=0.1)
    assert between.mean == pytest.approx(0, abs=0.3)
    assert histogram.axis.endswith("in units of chance")
    assert "γ = 2," in histogram.marks[1].label
    photos = [SimpleNamespace(frame=(LARGE, SMALL)[k]) for k in given.frames]
    own, other = photo_histogram(given, content(used=photos)).series
    assert (own.mean, other.mean) == (pytest.approx(50), pytest.approx(5))


def test_pair_histogram_counts_the_right_pairs():
    labels = [0, 0, 0, 1, 1, -1, -1]
    given = planted(labels)
    histogram = pair_histogram(given, content({"frames": {"64x64": {"gamma": 0.008}}}))
    pairs = [(i, j) for i in range(7) for j in range(i) if labels[i] >= 0 and labels[j] >= 0]
    within = [given.gram[i, j] for i, j in pairs if labels[i] == labels[j]]
    between = [given.gram[i, j] for i, j in pairs if labels[i] != labels[j]]
    assert [s.count for s in histogram.series] == [len(within), len(between)] == [4, 6]
    assert histogram.series[0].mean == pytest.approx(np.mean(within), rel=1e-5)
    assert histogram.series[1].mean == pytest.approx(np.mean(between), abs=1e-6)
    assert [mark.kind for mark in histogram.marks] == ["chance", "gamma"]
    assert "γ = 0.008," in histogram.marks[1].label
    # A threshold stands where its value is on the axis.
    (x0, t0), (x1, t1) = histogram.x_ticks[0], histogram.x_ticks[-1]
    at = float(t0) + (histogram.marks[1].x - x0) / (x1 - x0) * (float(t1) - float(t0))
    assert at == pytest.approx(0.008, rel=0.02)


def test_outlines_add_up_to_all():
    histogram = pair_histogram(planted(np.repeat([0, 1], 20)), content())
    top = float(histogram.y_ticks[-1][1].rstrip(" %")) / 100
    floor, high = histogram.y_ticks[0][0], histogram.y_ticks[-1][0]
    for series in histogram.series:
        heights = [float(p.split("H")[0].split()[1]) for p in series.outline.split("L")[1:]]
        shares = [(floor - y) / (floor - high) * top for y in heights]
        assert sum(shares) == pytest.approx(1, abs=0.02)
        assert min(heights) > 0
        assert max(heights) < HEIGHT


def test_no_group_no_histogram():
    assert pair_histogram(planted([-1] * 5), content()) is None
    nobody = [SimpleNamespace(frame="64x64")] * 5
    assert photo_histogram(planted([-1] * 5), content(used=nobody)) is None


def test_the_entry_threshold_holds_for_simulated_strangers():
    """Photos of no camera exceed it with any of the groups at the stated rate."""
    rng = np.random.default_rng(0)
    m, rho, d, rate, count = 12, 0.03, 4096, 0.05, 4
    groups = []
    for _ in range(count):
        rows = np.sqrt(rho) * rng.normal(size=d) + np.sqrt(1 - rho) * rng.normal(size=(m, d))
        groups.append(rows.sum(axis=0) / np.linalg.norm(rows.sum(axis=0)))
    strangers = rng.normal(size=(4000, d))
    r = strangers @ np.transpose(groups) / np.linalg.norm(strangers, axis=1)[:, None]
    rows = [SimpleNamespace(id=k, size=m) for k in range(count)]
    needed = entry_threshold(content({"parameters": {"join_rate": rate}}, rows), 1 / np.sqrt(d))
    assert np.mean((r > needed).any(axis=1)) == pytest.approx(rate, abs=0.012)
    assert entry_threshold(content({}, rows), 0.01) is None
    beside = content({"parameters": {"join_rate": rate}}, rows)
    beside.groups *= 5  # of other frames, which a photo is not compared with
    assert entry_threshold(beside, 1 / np.sqrt(d)) == needed


@pytest.mark.parametrize(("low", "high"), [(-0.01, 0.04), (0, 1), (-3e-5, 2e-4), (0, 0.17)])
def test_ticks_are_round_and_inside(low, high):
    places = ticks(low, high)
    assert 3 <= len(places) <= 8
    assert low <= places[0]
    assert places[-1] <= high + 1e-12
    steps = np.diff(places)
    np.testing.assert_allclose(steps, steps[0])


def test_samples_take_from_every_group_alike():
    labels = np.repeat([0, 1, 2, -1], [600, 300, 100, 200])
    np.random.default_rng(0).shuffle(labels)
    rows = sample(labels, 120)
    assert (np.diff(rows) > 0).all()
    counts = np.bincount(labels[rows] + 1, minlength=4)
    np.testing.assert_allclose(counts, [20, 60, 30, 10], atol=1)
    assert sample(labels, 5000).tolist() == list(range(1200))


@given(st.lists(st.floats(0, 100), min_size=1, max_size=30).map(sorted))
def test_labels_stand_apart_and_inside(wanted):
    apart = 100 / 30
    places = spread(wanted, apart, 100.0)
    assert all(b - a >= apart - 1e-9 for a, b in itertools.pairwise(places))
    assert places[0] >= apart / 2 - 1e-9
    assert places[-1] <= 100 - apart / 2 + 1e-9
    if all(b - a >= apart for a, b in itertools.pairwise([0, *wanted, 100])):
        assert places == wanted


@pytest.mark.parametrize(
    ("groups", "labelled", "sides"), [(1, 1, 1), (34, 34, 1), (60, 60, 2), (200, 160, 2)]
)
def test_every_group_has_a_label(groups, labelled, sides):
    picture = heat_map(planted(np.repeat(np.arange(groups), 3)))
    with_label = [block for block in picture.blocks if block.label is not None]
    assert len(with_label) == labelled
    assert picture.unlabelled == groups - labelled
    assert picture.both_sides == (sides == 2)
    for right in (False, True):
        heights = [block.label for block in with_label if block.right == right]
        assert all(b - a >= picture.line - 0.01 for a, b in itertools.pairwise(heights))
