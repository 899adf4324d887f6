"""The page of a match: what it says, whatever files are called, and where it may be written."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from samecam import evidence
from samecam.case import match_pairs, match_photos, match_reference, open_case
from samecam.errors import SamecamError
from samecam.report import check_matches_page, write_matches
from samecam.report.matching._chart import HEIGHT, LEFT, RIGHT, WIDTH, Score, score_chart
from tests.case.worlds import tree
from tests.report.conftest import BYTES, IMG, ODD, SCRIPT


class Seen(HTMLParser):
    """Elements of a page, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.words, self.attributes = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *each) for each in attrs]

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def photos(made):
    return made.parent / "photos"


@pytest.fixture(scope="module")
def questioned(photos):
    """Photos of the case with names that mean harm, and files that are none."""
    return [photos / name for name in (*ODD, "white.jpg", "<b>no photo.txt")]


@pytest.fixture(scope="module")
def matches(made, questioned):
    return match_photos(made, questioned, search="off")


@pytest.fixture(scope="module")
def page(matches, tmp_path_factory):
    return write_matches(matches, tmp_path_factory.mktemp("page") / "match.html")


def check_harmless(text):
    """Nothing acts, nothing is loaded from elsewhere."""
    seen = Seen(text)
    assert not {"script", "iframe", "link", "object", "form", "base"} & set(seen.tags)
    for tag, name, value in seen.attributes:
        assert not name.startswith("on")
        if name in ("src", "href"):
            assert value.startswith(("data:image/jpeg;base64,", "#")), (tag, value)
    (policy,) = [v for t, n, v in seen.attributes if n == "content" and "default-src" in v]
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "script-src" not in policy
    return seen


def test_the_page_says_what_was_found(page, matches, made):
    text = page.read_text()
    seen = check_harmless(text)
    assert "Which camera took these photos?" in seen.text
    assert f"{matches.summary}." in seen.text
    for match in matches.photos:
        assert match.sha256 in seen.text
    for camera in {m.camera for m in matches.photos if m.camera is not None}:
        assert f"Camera {camera}" in seen.text
    assert "strong support for one camera" in seen.text or "support for" in seen.text
    for sentence in (evidence.SENSOR, evidence.ABSENCE, matches.measured):
        assert sentence in seen.text
    for digest in open_case(made).hashes.values():
        assert digest in seen.text
    assert "libjpeg" in seen.text
    assert text.count("data:image/jpeg") >= 7 + 6  # in question, and members
    marked = sum(m.score is not None for m in matches.photos)
    assert text.count('<g class="mark ') == marked


def test_names_stay_text(page):
    text = page.read_text()
    assert IMG not in text
    assert SCRIPT not in text
    assert "&lt;img src=x onerror=alert(1)&gt;.jpg" in text
    assert r'b<span class="odd">\xff</span>' in text
    assert "7*7" in text
    assert BYTES  # its lone surrogates could not be written as UTF-8


def test_the_same_match_gives_the_same_page_and_the_case_stays(page, made, questioned, tmp_path):
    before = tree(made)
    again = write_matches(match_photos(made, questioned, search="off"), tmp_path / "again.html")
    assert again.read_bytes() == page.read_bytes()
    assert tree(made) == before


def test_the_page_of_a_reference(made, photos, questioned, tmp_path):
    group = open_case(made).groups[0]
    result = match_reference([photos / path for path in group.paths], questioned)
    text = write_matches(result, tmp_path / "match.html").read_text()
    seen = check_harmless(text)
    assert "Did the camera at hand take these photos?" in seen.text
    assert f"{result.summary}." in seen.text
    (frame,) = result.frames
    assert len(frame.scores) == len(frame.hashes) == len(frame.used)
    for digest in frame.hashes:
        assert digest in seen.text
    assert text.count('class="rug"') == len(frame.used)
    assert "photos of this camera, by the scores of" in seen.text


def test_the_scores_of_a_reference_are_those_that_ratios_rest_on(made, photos):
    group = open_case(made).groups[0]
    files = [photos / path for path in group.paths]
    result = match_reference(files[1:], files[0])
    (match,), (frame,) = result.photos, result.frames
    expected = evidence.log_ratios(match.best.score, evidence.known_members(frame.scores))
    assert match.best.log10_lr == pytest.approx(min(float(expected), match.best.cap), abs=1e-3)


def test_the_page_of_pairs(questioned, tmp_path):
    result = match_pairs(questioned[:3], search="off")
    text = write_matches(result, tmp_path / "pairs.html").read_text()
    seen = check_harmless(text)
    assert "Were these photos taken by one camera?" in seen.text
    assert f"{result.pairs[0].score:z.1f}" in seen.text
    assert text.count('<g class="mark ') == 3
    assert IMG not in text
    two = match_pairs(questioned[:2], search="off")
    text = write_matches(two, tmp_path / "two.html").read_text()
    assert two.pairs[0].sentence.split(":")[0] in Seen(text).text


def test_a_page_goes_nowhere_it_does_harm(matches, made, photos, tmp_path):
    for target, message in (
        (made / "report.html", "among the case's own files"),
        (made / "fingerprints" / "x.html", "among the case's own files"),
        (photos / "x.html", "among the photos"),
        (photos / IMG, "among the photos"),
        (tmp_path, "is a folder"),
        (tmp_path / "no" / "x.html", "name a file elsewhere with -o"),
    ):
        with pytest.raises(SamecamError, match=message):
            write_matches(matches, target)
    file = tmp_path / "a.jpg"
    file.write_bytes(b"a photo")
    for source in (file, tmp_path, str(tmp_path / "*")):
        with pytest.raises(SamecamError, match="among the photos"):
            check_matches_page(file, [source], None)
    assert file.read_bytes() == b"a photo"


def test_a_chart_is_of_the_law_and_the_members():
    scores = [Score("1", "a", -9.0, "none"), Score("2", "b", 3.0, "none")]
    scores += [Score(str(k), "c", 40.0, "match") for k in range(3, 8)]
    members = evidence.known_members([30.0, 40.0, 50.0])
    chart = score_chart("of scores", scores, members=members, label="own", known=[30, 40, 50])
    places = [mark.x for mark in chart.marks]
    assert places == sorted(places)
    assert places[0] == LEFT  # what is lower than all that is drawn stands at the edge
    assert len({(mark.x, mark.y) for mark in chart.marks}) == len(scores)
    assert chart.rug == sorted(chart.rug)
    assert chart.kinds == ["match", "none"]
    tops = {name: highest(getattr(chart, name)) for name in ("chance", "own")}
    labels = {label: x for x, label in chart.ticks}
    assert tops["chance"][0] == pytest.approx(labels["0"], abs=3)
    assert labels["20"] < tops["own"][0] < labels["50"]
    assert score_chart("of none", []) is None


def highest(path):
    """The highest point of an outline."""
    points = np.array(re.findall(r"(-?[\d.]+) (-?[\d.]+)", path), dtype=float)
    assert points[:, 0].min() >= LEFT
    assert points[:, 0].max() <= WIDTH - RIGHT
    assert points[:, 1].max() <= HEIGHT
    return points[points[:, 1].argmin()]


def test_many_marks_carry_no_names():
    scores = [Score(str(k), "a", 0.01 * k, "none") for k in range(300)]
    chart = score_chart("of many", scores)
    assert {mark.text for mark in chart.marks} == {""}
    assert all(0 < mark.y < HEIGHT for mark in chart.marks)
