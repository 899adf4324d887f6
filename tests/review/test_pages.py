"""What the pages show: of the case, of what was decided, a page at a time."""

import re

import numpy as np
import pytest

from samecam import compute
from samecam.case import open_case
from samecam.report import shown
from samecam.review import Review, _pages
from samecam.review._addresses import Here, camera_address, here_of, setting, turned, without
from samecam.review._index import folder_of
from tests.case.decisions.conftest import planted_case  # noqa: F401
from tests.report.conftest import BYTES
from tests.review.conftest import SCORE, WORDS, Browser


def keys(text):
    """Keys of the items of a page, in their order."""
    return re.findall(r'class="[^"]*\bitem\b[^"]*"[^>]* data-key="([^"]+)"', text)


def test_the_first_page_asks_what_matters_most(browser, review):
    text = browser.text("/")
    assert 'data-question="pair-0-1"' in text
    assert "The fingerprints of groups 0" in text
    assert text.count('href="/camera?name=camera-0"') >= 2
    count = len(review.state.now.questions)
    assert f'id="count-queue">{count}<' in text
    assert f"Question 1 of {count}" in text


def test_questions_come_best_first_and_have_their_evidence(review):
    questions = review.state.now.questions
    kinds = [question.kind for question in questions]
    assert kinds[:2] == ["pair", "part"]
    assert "weak" in kinds
    worth = [question.worth for question in questions]
    assert worth == sorted(worth, reverse=True)
    by_key = review.state.queue.by_key
    assert by_key["pair-0-1"].words == WORDS
    part = by_key["part-2"]
    assert len(part.first) == 4
    assert "Divided into 4 and" in part.words
    assert set(part.first) | set(part.second) == set(review.state.index.by_group[2])
    (weak,) = [q for q in questions if q.kind == "weak" and q.score == float(SCORE)]
    assert review.state.index.photos[weak.first[0]].doubtful
    assert weak.first[0] not in weak.second
    assert re.match(
        r"Its correlation with .* \(chance scatters by 1\)\. Such a score is", weak.words
    )
    for question in questions:
        if question.kind == "alone":
            assert question.words.startswith("Nearest is group ")


def test_a_question_by_its_address(browser, review):
    questions = review.state.now.questions
    text = browser.text(f"/?item={questions[1].key}")
    assert f'data-question="{questions[1].key}"' in text
    assert f'data-previous="/?item={questions[0].key}"' in text
    assert f'data-next="/?item={questions[2].key}"' in text
    browser.decide(kind="cannot tell", question=questions[1].key)
    text = browser.text(f"/?item={questions[1].key}")
    assert f'data-question="{questions[2].key}"' in text, "the one after it"
    assert f'data-question="{questions[0].key}"' in browser.text("/?item=nothing")


def test_all_cameras_are_there_the_largest_first(browser, review):
    text = browser.text("/cameras")
    names = [camera.name for camera in review.state.now.decided.cameras]
    assert keys(text) == names
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("sort", ["size", "weakest", "doubt", "name", "date"])
def test_every_sort_has_every_camera(browser, review, sort):
    names = {camera.name for camera in review.state.now.decided.cameras}
    assert set(keys(browser.text(f"/cameras?sort={sort}"))) == names


def test_facets_count_what_a_click_would_leave(browser, review):
    now = review.state.now
    facets = now.cameras.facets({})
    assert [name for name, _ in facets["folder"]] == ["phone", "."] or len(facets["folder"]) == 2
    for facet, values in facets.items():
        for value, count in values:
            here = setting(Here("/cameras"), facet, value)
            assert len(keys(browser.text(here))) == count, (facet, value)
    both = now.cameras.chosen({"folder": "phone", "status": "open"})
    assert {f.name for f in both} <= {f.name for f in now.cameras.chosen({"folder": "phone"})}
    assert now.cameras.chosen({"folder": "nowhere"}) == []


def test_search_finds_cameras_by_their_photos_and_names(browser, review):
    index = review.state.index
    row = index.by_group[1][0]
    photo = index.photos[row]
    home = review.state.now.camera_of(row)
    assert keys(browser.text(f"/cameras?q={photo.sha256[:20]}")) == [home]
    assert keys(browser.text("/cameras?q=camera-2")) == ["camera-2"]
    assert keys(browser.text("/cameras?q=no+such+thing")) == []


def test_a_camera_has_its_photos_the_strongest_first(browser, review):
    index = review.state.index
    facts = review.state.now.cameras.by_name["camera-0"]
    shown_photos = keys(browser.text("/camera?name=camera-0"))
    assert shown_photos == index.hashes(facts.rows)
    strengths = [index.strength[row] for row in facts.rows]
    assert strengths == sorted(strengths, reverse=True)
    turned_round = keys(browser.text("/camera?name=camera-0&order=weak"))
    assert turned_round == shown_photos[::-1]


def test_a_long_list_comes_in_pages(browser, review, monkeypatch):
    monkeypatch.setattr(_pages, "PHOTOS", 5)
    monkeypatch.setattr(_pages, "CAMERAS", 2)
    whole = review.state.index.hashes(review.state.now.cameras.by_name["camera-0"].rows)
    seen, address = [], "/camera?name=camera-0"
    while address:
        text = browser.text(address)
        assert 0 < len(keys(text)) <= 5
        seen += keys(text)
        found = re.search(r'rel="next" href="([^"]+)"', text)
        address = found[1].replace("&amp;", "&") if found else ""
    assert seen == whole
    assert len(keys(browser.text("/cameras"))) == 2
    assert 'rel="prev"' in browser.text("/cameras?at=2")


def test_a_sub_group_is_shown_by_itself(browser, review):
    text = browser.text("/camera?name=camera-2&only=part-2")
    part = review.state.queue.by_key["part-2"]
    assert set(keys(text)) == set(review.state.index.hashes(part.first))
    assert 'data-split-group="part-2"' in text
    assert keys(browser.text("/camera?name=camera-2&only=part-999")) == keys(
        browser.text("/camera?name=camera-2")
    )


def test_a_photo_tells_what_is_known(browser, review):
    index = review.state.index
    row = index.by_group[0][0]
    photo = index.photos[row]
    text = browser.text(f"/photo/{photo.sha256}")
    assert f"/large/{photo.sha256}.jpg" in text
    assert "SHA-256" in text
    assert "None: it stands where samecam put it." in text
    assert '<tr class="own"><td><a href="/camera?name=camera-0">' in text
    skipped = next(p for p in open_case(index.saved.folder).photos if p.status == "unusable")
    assert "unusable" in browser.text(f"/photo/{skipped.sha256}")


def test_two_side_by_side(browser):
    text = browser.text("/two?first=camera-0&second=camera-1")
    assert "a score of 9.9" in text
    assert 'data-load="/heat?first=camera-0&amp;second=camera-1"' in text
    words = browser.text("/heat?first=camera-0&second=camera-1")
    within = [float(number) for number in re.findall(r"by (-?\d+\.\d)", words)]
    assert min(within[:2]) > 3 > abs(within[2])
    picture = browser.get("/heat.png?first=camera-0&second=camera-1")
    assert picture.content.startswith(b"\x89PNG")
    assert "no such camera" in browser.text("/heat?first=camera-0&second=nobody")
    assert browser.get("/heat.png?first=x&second=y").status_code == 404
    assert browser.get("/two?first=camera-0&second=camera-0").status_code == 404


def test_sources_that_share_a_camera_are_named(browser, review):
    index, now = review.state.index, review.state.now
    text = browser.text("/sources")
    camera = now.decided.camera_of
    for number, each in enumerate(now.decided.cameras):
        rows = np.flatnonzero(camera == number)
        counts = [sum(index.folder(row) == folder for row in rows) for folder in ("", "phone")]
        if all(counts):
            large, small = max(counts), min(counts)
            assert re.search(rf"share <bdi[^>]*>{each.name}</bdi></a>: {large} and {small} ", text)
    total = sum(int(n) for n in re.findall(r'<td class="n[^"]*">(\d+)</td>', text))
    assert total == len(index.photos)


def test_photos_alone_have_their_nearest_camera(browser, review):
    now = review.state.now
    alone = {now.index.photos[row].sha256 for row in np.flatnonzero(now.decided.camera_of < 0)}
    assert set(keys(browser.text("/alone"))) == alone


def test_blur_is_there_from_the_beginning(case):
    with Review(case, "Ada", blur=True, resources=compute.Resources(workers=1)) as blurred:
        text = Browser(blurred).text("/cameras")
    assert '<html lang="en" class="blur">' in text


def test_pictures_are_made_once_and_kept(browser, review, case):
    photo = review.state.index.photos[0]
    answer = browser.get(f"/small/{photo.sha256}.jpg")
    assert answer.headers["content-type"] == "image/jpeg"
    assert answer.content.startswith(b"\xff\xd8\xff")
    kept = case / "thumbnails" / f"{photo.sha256}.jpg"
    assert kept.read_bytes() == answer.content
    large = browser.get(f"/large/{photo.sha256}.jpg").content
    assert large.startswith(b"\xff\xd8\xff")
    assert large != answer.content
    assert list(kept.parent.iterdir()) == [kept]


def test_all_small_pictures_are_made_in_the_background(review, case):
    rows = [0, 5, 7]
    review._pictures.make_all(rows)
    made = {file.stem for file in (case / "thumbnails").iterdir()}
    assert made == set(review.state.index.hashes(rows))


def test_a_photo_that_is_gone_has_a_reason(browser, review):
    photo = review.state.index.photos[0]
    review._pictures._files = {}
    answer = browser.get(f"/small/{photo.sha256}.jpg")
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert b"not found" in answer.content
    assert "not found" in browser.text(f"/photo/{photo.sha256}")


def test_fingerprints_without_photos_can_be_reviewed(planted_case, tmp_path):  # noqa: F811
    import shutil

    case = shutil.copytree(planted_case, tmp_path / "case")
    with Review(case, "Ada", resources=compute.Resources(workers=1)) as review:
        browser = Browser(review)
        assert len(keys(browser.text("/cameras"))) == 3
        photo = review.state.index.photos[0].sha256
        assert b"not found" in browser.get(f"/small/{photo}.jpg").content
        for path in ("/", "/alone", "/sources", f"/photo/{photo}", "/camera?name=camera-0"):
            browser.text(path)
        assert browser.text("/heat?first=camera-0&second=camera-1")


def test_addresses_keep_any_name():
    for name in (BYTES, 'a&b="c"', "x y+z", "ש\u05d1", "\n"):
        address = camera_address(name)
        path, _, query = address.partition("?")
        assert here_of(path, query.encode()).get("name") == name
    here = here_of("/cameras", b"at=60&model=a&model=b&q=x")
    assert here.fields == {"at": "60", "model": "b", "q": "x"}
    assert turned(here, 120) == "/cameras?at=120&model=b&q=x"
    assert setting(here, "model", "c") == "/cameras?q=x&model=c"
    assert without(Here("/cameras", {"q": "x", "at": "9"}), "q") == "/cameras"
    assert [here.number("at", most) for most in (100, 30, -1)] == [60, 30, 0]


def test_folders_of_paths():
    assert [folder_of("a/b/c.jpg", depth) for depth in (1, 2, 3)] == ["a", "a/b", "a/b"]
    assert folder_of("c.jpg", 1) == ""
    assert shown(folder_of(BYTES + "/x.jpg", 1)).isascii()
