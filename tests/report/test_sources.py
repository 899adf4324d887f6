"""Sources × cameras: every file counted once, and what sharing a camera is worth."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from samecam.case import source_names, sources_by_camera
from samecam.report import _shared
from samecam.report._links import weakest_link
from samecam.report._shared import shared_cameras
from tests.report.test_pictures import planted

PARTS = st.sampled_from(["a", "b", "c", "<b>", "\udcff"])
FILES = st.lists(
    st.tuples(st.lists(PARTS, max_size=3), st.sampled_from([None, -1, 0, 1, 5])), max_size=30
)


def test_a_source_is_the_first_folder_that_differs():
    assert source_names(["a/1.jpg", "b/x/2.jpg"]) == ["a", "b"]
    assert source_names(["in/a/1.jpg", "in/b/x/2.jpg", "in/3.jpg"]) == ["a", "b", ""]
    assert source_names(["in/a/1.jpg", "in/a/2.jpg"]) == ["", ""]
    assert source_names(["in/a/1.jpg", "in/ab/2.jpg"]) == ["a", "ab"]
    assert source_names(["1.jpg", "a/1.jpg"]) == ["", "a"]
    assert source_names([]) == []


@given(FILES)
def test_every_file_is_counted_once(files):
    paths = ["/".join([*folders, f"{k}.jpg"]) for k, (folders, _) in enumerate(files)]
    cameras = [camera for _, camera in files]
    table = sources_by_camera(paths, cameras)
    slow = Counter(zip(source_names(paths), cameras, strict=True))
    for k, name in enumerate(table.names):
        assert table.alone[k] == slow[name, -1]
        assert table.unused[k] == slow[name, None]
        for j, camera in enumerate(table.cameras):
            assert table.counts[k, j] == slow[name, camera]
    assert table.files.sum() == len(files)
    for camera in table.cameras:
        holders = {name for (name, each), count in slow.items() if each == camera and count}
        assert {name for name, _ in table.holders(camera)} == holders
        assert (camera in table.shared) == (len(holders) > 1)


def laid_out(paths, cameras, links=None):
    table = sources_by_camera(paths, cameras)
    return shared_cameras(table, {k: Markup(f"camera {k}") for k in table.cameras}, links or {})


def test_who_shares_what_is_said():
    paths = ["a/1", "a/2", "b/3", "b/4", "b/5", "c/6", "<i>/7"]
    shown = laid_out(paths, [0, 1, 0, 0, None, -1, 1])
    text = [str(answer) for answer in shown.answers]
    assert '<bdi class="name">b</bdi></b> and <b><bdi class="name">a</bdi></b> share' in text[0]
    assert "camera 0: 2 and 1 photos." in text[0]
    assert "&lt;i&gt;" in text[1]
    assert [(row.cells, row.alone, row.unused, row.files) for row in shown.rows] == [
        ([0, 1], 0, 0, 1),
        ([1, 1], 0, 0, 2),
        ([2, 0], 0, 1, 3),
        ([0, 0], 1, 0, 1),
    ]
    assert shown.total.files == 7
    apart = laid_out(["a/1", "b/2"], [0, 1])
    assert apart.answers == ["No camera is shared by two sources."]
    assert laid_out(["a/1", "a/2"], [0, 0]) is None


def test_large_tables_are_cut_and_add_up(monkeypatch):
    monkeypatch.setattr(_shared, "_COLUMNS", 3)
    monkeypatch.setattr(_shared, "_ROWS", 4)
    paths = [f"s{k % 9}/{k}" for k in range(90)]
    cameras = [k % 9 if k < 81 else 7 for k in range(90)]
    shown = laid_out(paths, cameras)
    assert len(shown.columns) == 3
    assert (7, True) in shown.columns
    assert shown.left_out == 6
    assert len(shown.rows) == 5
    for row in [*shown.rows, shown.total]:
        assert sum(row.cells) + row.rest + row.alone + row.unused == row.files
    assert sum(row.files for row in shown.rows) == shown.total.files == 90


def test_what_a_shared_camera_is_worth():
    labels = [0] * 12 + [1] * 6 + [-1] * 2
    given_ = planted(labels, rho=0.05)
    cameras = np.array(labels)
    sources = ["a", "b"] * 10
    link = weakest_link(given_, sources, cameras, 0)
    assert link.log_ratio == link.cap > 2
    assert link.score > 30
    assert "strong support for one camera" in link.words
    parts = np.arange(20) % 2 == 0
    parts[12:] = False
    other = (np.arange(20) % 2 == 1) & (np.arange(20) < 12)
    sums = [given_.gram[np.ix_(p, q)].sum() for p, q in ((parts, other), (parts, parts))]
    norm = np.sqrt(sums[1] * given_.gram[np.ix_(other, other)].sum())
    assert np.isclose(link.score, sums[0] / norm / given_.scale)


def test_sources_that_were_put_together_wrongly_are_not_supported():
    """Two cameras in one group: what each source has in common with the other says so."""
    given_ = planted([0] * 6 + [1] * 6, rho=0.05)
    labels, cameras = np.zeros(12, dtype=np.intp), np.zeros(12, dtype=np.intp)
    given_.labels[:] = labels
    link = weakest_link(given_, ["a"] * 6 + ["b"] * 6, cameras, 0)
    assert link.log_ratio < 0
    assert "two cameras took them" in link.words
    three = weakest_link(given_, ["a"] * 3 + ["b"] * 3 + ["c"] * 6, cameras, 0)
    assert three.source == "c"


def test_a_source_in_another_view_has_no_ratio():
    given_ = planted([0] * 6 + [1] * 6, rho=0.05)
    sources = ["a", "b"] * 3 + ["c"] * 6
    assert weakest_link(given_, sources, np.zeros(12, dtype=np.intp), 0) is None
