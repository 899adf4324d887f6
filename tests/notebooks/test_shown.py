"""Results as a notebook shows them: one line, a table that does nothing, a data frame."""

import os
import shutil
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import samecam
from samecam.case import (
    ComparedMethod,
    Comparison,
    Extraction,
    InputCheck,
    Match,
    Matches,
    Relabelled,
    Verification,
    open_case,
)
from samecam.errors import ParameterError, SamecamError
from samecam.notebook import data_frame, figure, shown, table
from tests.notebooks.conftest import ONE

HARM = os.fsdecode(b"<script>\xff\n$x$</td>.jpg")


class Page(HTMLParser):
    """What stands in some HTML."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.rows, self.text, self.inside = [], [], "", False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag):
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, data):
        self.text += data
        if self.inside:
            self.rows[-1][-1] += data


KNOWN_TAGS = {"div", "strong", "bdi", "table", "thead", "tbody", "tr", "td", "th"}


@pytest.fixture(scope="module")
def held(taken, case, result):
    """Everything that a user of a notebook may hold, by name."""
    saved = open_case(case)
    matches = samecam.match(saved, saved.sources().files[saved.used[0].path], resources=ONE)
    return {
        "result": result,
        "extraction": result.extraction,
        "case": saved,
        "camera": saved.cameras[0],
        "group": saved.groups[1],
        "matches": matches,
        "verification": samecam.verify_case(saved, resources=ONE),
        "evaluation": samecam.evaluate(saved, taken / "truth.csv"),
        "photo": saved.photos[0],
        "placed": saved.cameras[0].placed[0],
        "match": matches.photos[0],
        "candidate": matches.photos[0].best,
        "sources": saved.sources(),
        "plan": samecam.plan_extraction(taken / "photos", case, resources=ONE),
    }


def test_reprs_are_one_short_line(held):
    for name, value in held.items():
        assert "\n" not in repr(value), name
        assert len(repr(value)) < 200 + len(os.fspath(held["case"])), name
        assert "CasePhoto(" not in repr(value), name
    assert repr(held["camera"]) == "<Camera 0: 14 photos in 2 groups, 1 in none>"
    assert repr(held["group"]).startswith("<Group 1 of camera ")
    assert repr(held["result"]).startswith("<Clustering of ")
    assert "5 cameras of 14 to 3 photos" in repr(held["result"])


def test_tables_have_a_row_for_each(held):
    shown_of = {name: value for name, value in held.items() if hasattr(value, "_repr_html_")}
    wanted = {"result", "extraction", "case", "camera", "group", "matches", "verification"}
    assert wanted | {"evaluation"} <= set(shown_of)
    pages = {name: Page(value._repr_html_()) for name, value in shown_of.items()}
    for name, page in pages.items():
        assert set(page.tags) <= KNOWN_TAGS, name
    for name in ("result", "case"):
        assert [row[:2] for row in pages[name].rows[1:]] == [
            [str(camera.id), str(camera.size)] for camera in held["case"].cameras
        ]
    assert [row[0] for row in pages["camera"].rows] == ["group", "0", "1", "none"]
    assert [row[0] for row in pages["group"].rows[1:]] == held["group"].paths
    # The search for views was not the real one, which replays otherwise.
    assert "DIFFERS" in pages["verification"].text
    assert {row[0] for row in pages["verification"].rows[1:]} == {"placed elsewhere"}


def test_what_is_long_is_cut_and_counted():
    page = Page(table("many", ("n",), [(k,) for k in range(50)], most=20))
    assert len(page.rows) == 21
    assert "… and 30 more" in page.text
    assert len(Page(table("x" * 10**6, (), ())).text) < 1000


@given(st.text(alphabet=st.characters(), max_size=30) | st.just(HARM))
def test_any_text_is_text(text):
    html = table(text, (text,), [(text,)], notes=[text])
    page = Page(html)
    assert set(page.tags) <= KNOWN_TAGS
    assert page.rows == [[shown(text)], [shown(text)]]
    html.encode("utf-8")


def test_hostile_names_are_shown_everywhere(held):
    group = replace(held["group"], paths=[HARM], warnings=[HARM], words=HARM)
    camera = replace(held["camera"], groups=[group], warnings=[HARM])
    photo = Match(HARM, "", "good", HARM, "none")
    inputs = InputCheck(1, [HARM], [HARM])
    moved = [Relabelled(HARM, 0, 1, 0, 1)]
    for value in (
        group,
        camera,
        Matches([photo], 1, 0.01, HARM),
        Verification(held["case"].folder, inputs, 1, [HARM], [HARM], relabelled=moved),
        Extraction(held["case"].folder, {"skipped": 1}, 1, 0.0, reasons={"skipped": {HARM: 1}}),
        replace(held["result"], cameras=[camera]),
    ):
        html = value._repr_html_()
        html.encode("utf-8")
        assert set(Page(html).tags) <= KNOWN_TAGS
        assert "\n" not in repr(value)
        repr(value).encode("utf-8")


def test_a_frame_of_a_case_has_a_row_for_every_file(held):
    pandas = pytest.importorskip("pandas")
    frame, saved = held["result"].to_frame(), held["case"]
    pandas.testing.assert_frame_equal(frame, saved.to_frame())
    assert frame.path.tolist() == [photo.path for photo in saved.photos]
    used = frame[frame.camera.notna()]
    assert len(used) == len(saved.used)
    sizes = used[used.camera >= 0].groupby("camera").size()
    assert sizes.tolist() == [camera.size for camera in saved.cameras]
    assert set(frame[frame.group == 1]["view"]) == {saved.groups[1].words}
    scores = [photo.figure("score") for photo in saved.photos]
    np.testing.assert_array_equal(
        frame.score.to_numpy(), [np.nan if s is None else s for s in scores]
    )
    assert frame.doubtful.dtype == bool
    assert (frame.width.dropna() > 0).all()


def test_frames_of_matches_and_evaluations(held):
    pytest.importorskip("pandas")
    frame = held["matches"].to_frame()
    assert frame.path.tolist() == [photo.path for photo in held["matches"].photos]
    assert frame.verdict.tolist() == ["match"]
    assert frame.camera.tolist() == [held["matches"].photos[0].camera]
    scored = held["evaluation"].to_frame()
    assert scored.n_images.sum() == held["evaluation"].scores.n_images


def test_a_comparison_without_truth_or_with_failures(tmp_path):
    pytest.importorskip("pandas")
    rows = (
        ComparedMethod("consolidated", "correlations", "", 3, 2, None, 0.25, 2**20),
        ComparedMethod("ssc", "correlations", "It took too long."),
    )
    compared = Comparison(tmp_path, None, 9, {}, rows, None, tmp_path / "compare.json")
    frame = compared.to_frame()
    assert frame.method.tolist() == ["consolidated", "ssc"]
    assert frame.groups.isna().tolist() == [False, True]
    assert "f" not in frame
    assert [row[0] for row in Page(compared._repr_html_()).rows[1:]] == ["consolidated", "ssc"]
    assert [repr(row) for row in rows][1] == "<ComparedMethod 'ssc': failed>"


def test_columns_keep_what_is_missing_and_bytes_that_are_no_text():
    pytest.importorskip("pandas")
    frame = data_frame(
        {
            "whole": [1, None],
            "all": [1, 2],
            "yes": [True, None],
            "number": [1, 2.5],
            "path": [HARM, "plain"],
            "none": [None, None],
        }
    )
    kinds = [str(kind) for kind in frame.dtypes]
    assert kinds == ["Int64", "int64", "boolean", "float64", "object", "object"]
    assert frame.path.tolist() == [HARM, "plain"]


def test_without_pandas_it_says_what_to_install(held, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for name in ("result", "case", "matches", "evaluation"):
        with pytest.raises(SamecamError, match="pip install pandas"):
            held[name].to_frame()


def test_a_result_stands_for_its_case(held, case, taken):
    """Wherever a case folder is asked for."""
    assert os.fspath(held["result"]) == os.fspath(held["case"]) == str(case)
    assert samecam.open_case(held["result"]).folder == case
    found = samecam.evaluate(held["result"], taken / "truth.csv")
    assert found.scores == held["evaluation"].scores


def test_labels_and_truth_may_be_given_as_they_are(case, taken, tmp_path):
    labels = {"a.jpg": 0, "b.jpg": 0, "c.jpg": -1}
    truth = {"x/a.jpg": "one", "x/b.jpg": "two", "x/c.jpg": "two", "x/d.jpg": "two"}
    found = samecam.evaluate(labels, truth)
    assert (found.scores.precision, found.scores.n_unclustered) == (0.0, 2)
    assert (found.unclustered["left_alone"], found.unclustered["not_found"]) == (1, 1)
    (tmp_path / "labels.csv").write_text(
        "path,cluster\n" + "".join(f"{path},{label}\n" for path, label in labels.items())
    )
    assert samecam.evaluate(tmp_path / "labels.csv", truth).scores == found.scores
    with pytest.raises(SamecamError, match="None of the 3 photos of the grouping has .* the truth"):
        samecam.evaluate(labels, {"other.jpg": "one"})
    with pytest.raises(ParameterError, match="is no case, and decided is for one"):
        samecam.evaluate(labels, truth, decided=True)
    decided = samecam.evaluate(case, taken / "truth.csv", decided=True)
    assert decided.scores == samecam.evaluate(case, taken / "truth.csv").scores


def test_numbers_are_short():
    assert [figure(x) for x in (None, 0.000123456, 12.3456, 1e9)] == [
        *("–", "0.000123", "12.3", "1e+09"),
    ]


def test_what_stands_after_decisions_is_shown(case, tmp_path):
    copy = shutil.copytree(case, tmp_path / "case")
    with samecam.Deciding(copy, "Ada") as deciding:
        deciding.merge("camera-1", "camera-2")
        deciding.confirm("camera-0")
        decided = deciding.decided
    assert repr(decided) == "<Decided: 4 cameras after 2 decisions>"
    assert repr(decided.cameras[0]) == "<DecidedCamera 'camera-0': 14 photos, confirmed>"
    page = Page(decided._repr_html_())
    assert [row[:2] for row in page.rows[1:]] == [[c.name, str(c.size)] for c in decided.cameras]
    assert set(page.tags) <= KNOWN_TAGS
