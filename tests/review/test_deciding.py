"""Decisions taken on the page: each is one of the case's own, and the questions follow."""

import json

import pytest

from samecam.case import open_case, read_decided
from samecam.review import Review
from tests.review.conftest import SCORE, Browser
from tests.review.test_pages import keys


def asked(review):
    return [question.key for question in review.state.now.questions]


def members(review, name):
    return set(review.state.index.hashes(review.state.now.cameras.by_name[name].rows))


def on_disk(case):
    return read_decided(open_case(case))


def test_same_makes_one_camera_of_two_and_the_question_goes(browser, review, case):
    both = members(review, "camera-0") | members(review, "camera-1")
    before = review.state.now.version
    done = browser.decide(kind="same", question="pair-0-1")
    assert done["version"] == before + 1
    assert "pair-0-1" not in asked(review)
    assert members(review, "camera-0") == both
    assert "camera-1" not in review.state.now.cameras.by_name
    assert [d.kind for d in on_disk(case).decisions] == ["same"]
    assert on_disk(case).decisions[0].examiner == "Ada"


@pytest.mark.parametrize("answer", ["different", "cannot tell"])
def test_an_answer_that_changes_no_camera_settles_the_question(browser, review, answer):
    sizes = [facts.size for facts in review.state.now.cameras.all]
    browser.decide(kind=answer, question="pair-0-1")
    assert "pair-0-1" not in asked(review)
    assert [facts.size for facts in review.state.now.cameras.all] == sizes
    browser.decide(kind="undo")
    assert "pair-0-1" in asked(review)
    browser.decide(kind="redo")
    assert "pair-0-1" not in asked(review)


def test_two_in_one_come_apart(browser, review):
    part = set(review.state.index.hashes(review.state.queue.by_key["part-2"].first))
    done = browser.decide(kind="different", question="part-2")
    assert done["kind"] == "split"
    assert members(review, done["camera"]) == part
    assert "part-2" not in asked(review)


def test_one_that_stays_one_is_not_asked_again(browser, review):
    for answer in ("same", "cannot tell"):
        browser.decide(kind=answer, question="part-2")
        assert "part-2" not in asked(review)
        browser.decide(kind="undo")
        assert "part-2" in asked(review)


def test_a_weak_photo_is_detached_or_stays(browser, review):
    questions = review.state.now.questions
    (key,) = [q.key for q in questions if q.kind == "weak" and q.score == float(SCORE)]
    photo = key.removeprefix("weak-")
    home = review.state.now.home(review.state.queue.by_key[key].first)
    browser.decide(kind="same", question=key)
    assert key not in asked(review)
    assert photo in members(review, home)
    browser.decide(kind="undo")
    done = browser.decide(kind="different", question=key)
    assert done["kind"] == "reject"
    assert photo not in members(review, home)
    assert key not in asked(review)
    assert photo in keys(browser.text("/alone"))
    assert f'<li><a href="/log#decision-{done["number"]}">' in browser.text(f"/photo/{photo}")


def test_a_camera_that_is_accepted_is_asked_about_no_more(browser, review):
    browser.decide(kind="confirm", camera="camera-2")
    assert "part-2" not in asked(review)
    assert review.state.now.cameras.by_name["camera-2"].states[0] == "accepted"
    assert "accepted" in browser.text("/camera?name=camera-2")
    assert keys(browser.text("/cameras?status=accepted")) == ["camera-2"]


def test_merge_split_detach_move_name_note_status(browser, review):
    index = review.state.index
    done = browser.decide(kind="merge", first="camera-0", second="camera-1", reason="one lens")
    name = done["camera"]
    photos = index.hashes(review.state.now.cameras.by_name[name].rows[:3])
    new = browser.decide(kind="split", camera=name, photos=photos)["camera"]
    assert members(review, new) == set(photos)
    browser.decide(kind="reject", camera=new, photos=photos[:1])
    assert members(review, new) == set(photos[1:])
    browser.decide(kind="move", photos=photos[1:2], camera="camera-2")
    assert photos[1] in members(review, "camera-2")
    browser.decide(kind="name", camera="camera-2", name="Phone of X")
    browser.decide(kind="note", camera="Phone of X", text="seen\ntwice")
    browser.decide(kind="note", photos=photos[:1], text="blurred")
    browser.decide(kind="status", camera="Phone of X", status="check")
    text = browser.text("/camera?name=Phone+of+X")
    assert "seen" in text
    assert "twice" in text
    assert 'class="chip state-check"' in text
    assert "blurred" in browser.text(f"/photo/{photos[0]}")
    log = browser.text("/log")
    assert keys(log) == [f"decision-{k}" for k in range(8, 0, -1)]
    assert "one lens" in log


def test_a_part_is_split_off_by_its_name(browser, review):
    part = set(review.state.index.hashes(review.state.queue.by_key["part-2"].first))
    done = browser.decide(kind="split", camera="camera-2", part="part-2")
    assert members(review, done["camera"]) == part
    assert "no such part" in browser.refused(kind="split", camera="camera-2", part="part-2")


def test_any_step_is_taken_back_and_restored(browser, review, case):
    whole = {f.name: set(f.rows) for f in review.state.now.cameras.all}
    browser.decide(kind="merge", first="camera-0", second="camera-1")
    browser.decide(kind="confirm", camera="camera-2")
    browser.decide(kind="undo", number=1)
    assert {f.name: set(f.rows) for f in review.state.now.cameras.all} == whole
    assert review.state.now.cameras.by_name["camera-2"].camera.confirmed
    log = browser.text("/log")
    assert 'data-undo="3">Redo' in log
    assert 'data-undo="2">Undo' in log
    browser.decide(kind="redo", number=1)
    assert "camera-1" not in review.state.now.cameras.by_name
    assert len(on_disk(case).decisions) == 4
    assert browser.refused(kind="redo", number=1)


def test_what_cannot_be_is_refused_in_a_sentence(browser, review):
    photo = review.state.index.photos[0].sha256
    for body in (
        {"kind": "merge", "first": "camera-0", "second": "nobody"},
        {"kind": "merge", "first": "camera-0"},
        {"kind": "split", "camera": "camera-0"},
        {"kind": "split", "camera": "camera-0", "photos": []},
        {"kind": "reject", "camera": "camera-0", "photos": ["0" * 64]},
        {"kind": "same", "question": "pair-7-9"},
        {"kind": "same", "photos": [photo], "others": [photo]},
        {"kind": "status", "camera": "camera-0", "status": "fine"},
        {"kind": "undo"},
        {"kind": "undo", "number": 99},
        {"kind": "drop table"},
        {"kind": "same", "photos": ["../x"], "others": [photo]},
        {"kind": "name", "camera": "camera-0", "name": "x" * 20_000},
    ):
        assert len(browser.refused(**body)) > 10
    assert review.state.now.decided.decisions == []
    assert review.state.now.version == 1


def test_a_contradiction_is_refused_and_nothing_changes(browser, review):
    browser.decide(kind="different", first="camera-0", second="camera-1")
    assert browser.refused(kind="merge", first="camera-0", second="camera-1")
    assert len(review.state.now.decided.decisions) == 1


def test_what_was_decided_is_there_the_next_time(case):
    with Review(case, "Ada") as first:
        Browser(first).decide(kind="name", camera="camera-0", name="Known")
        asked_then = len(first.state.now.questions)
    with Review(case, "Bob") as second:
        assert "Known" in second.state.now.cameras.by_name
        assert len(second.state.now.questions) == asked_then
        Browser(second).decide(kind="undo")
    lines = (case / "decisions.jsonl").read_text().splitlines()
    assert [json.loads(line)["examiner"] for line in lines] == ["Ada", "Bob"]
