"""Decisions on the page: what stands, where it differs, who said so, and which is which."""

import re

import pytest

from samecam.case import Contradiction, Deciding, open_case, read_decided, report_is_current
from samecam.report import _page, write_report
from samecam.report._decided import machine_names
from tests.report.pages import visible
from tests.report.test_report import Parsed, written

NAME = "Ann’s <b>phone</b>"


def decide(case):
    """A name, a split, a rejection, and a merge that is taken back."""
    with Deciding(case, "E. <i>Xaminer</i>") as now:
        assert now.decided.cameras[0].name == "camera-0"

        def hashes(name):
            rows = now.decided.cameras[now.decided.names[name]].rows
            return [now.decided.photos[k].sha256 for k in rows]

        now.name("camera-0", NAME, reason="on the box")
        now.split("camera-1", hashes("camera-1")[:2], reason="another lens")
        now.reject(NAME, hashes(NAME)[:1])
        merged = now.merge("camera-1", "camera-2", reason="in error")
        now.undo(merged.number)
        now.note("camera-2", "Look </td> again.")
        now.status("camera-2", "check")
        return now.decided


@pytest.fixture
def decided(case):
    return decide(case)


def plain(text):
    return " ".join("".join(Parsed(text).texts).split())


def rows(page, table):
    found = re.search(rf'<table class="{table} .*?</table>', page, re.S)[0]
    body = re.search(r"<tbody>(.*?)</tbody>", found, re.S)[1]
    return [
        [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.S)]
        for row in re.findall(r"<tr.*?</tr>", body, re.S)
    ]


def test_without_decisions_nothing_is_said_of_them(case):
    page = written(case, thumbnails=False)
    assert "decisions.jsonl" not in page
    assert "What stands" not in page
    assert machine_names(read_decided(open_case(case))) == {}


def test_what_stands_and_where_it_differs(case, decided):
    page = written(case, thumbnails=False)
    text = plain(page)
    standing = rows(page, "stands")
    assert len(standing) == len(decided.cameras)
    assert sum(int(row[1]) for row in standing) == (decided.camera_of >= 0).sum()
    assert {row[0] for row in standing} == {
        c.name.replace("<", "&lt;").replace(">", "&gt;") for c in decided.cameras
    }
    moved = rows(page, "moved")
    assert len(moved) == len(decided.differs) == 3
    assert {row[3] for row in moved} == {"2", "3"}
    assert f"after them there are {len(decided.cameras)} cameras" in text
    assert "3 photos stand elsewhere than the machine put them" in text
    assert "as the machine found them" in text
    assert text.count("after the decisions") >= 2
    total = re.search(r"<tfoot>(.*?)</tfoot>", page, re.S)[1]
    *each, files = map(int, re.findall(r"<td[^>]*>(\d+)</td>", total))
    assert sum(each) == files == len(open_case(case).photos)
    assert each[:-2] == [camera.size for camera in decided.cameras]


def test_who_decided_what_and_whether_it_counts(case, decided):
    page = written(case, thumbnails=False)
    lines = rows(page, "decisions")
    assert [int(line[0]) for line in lines] == [d.number for d in decided.decisions]
    assert [line[-1] for line in lines] == ["yes", "yes", "yes", "no", "an undo", "yes", "yes"]
    assert all("E. &lt;i&gt;Xaminer&lt;/i&gt;" in line for line in page.split("<tr id=")[-7:])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", lines[0][1])
    assert "on the box" in lines[0]
    assert "Look &lt;/td&gt; again." in page
    assert "<i>Xaminer" not in page
    assert "<b>phone" not in page


def test_names_stand_beside_numbers(case, decided):
    page = written(case, thumbnails=False)
    (heading,) = re.findall(r'<h3 id="name-0">(.*?)</h3>', page)
    assert "Camera 0" in heading
    assert "&lt;b&gt;phone" in heading
    (second,) = re.findall(r'<h3 id="name-1">(.*?)</h3>', page)
    assert "camera-1" in second
    assert decided.cameras[-1].name in second
    details = Parsed(page).scripts[1]
    assert "After the decisions" in details
    assert "by decision 3" in details
    hashes = rows(page, "hashes")
    assert all(len(row) == 5 for row in hashes)


def test_contradictions_and_what_is_void_are_said(case, decided, monkeypatch):
    decided.contradictions.append(Contradiction(9, 2, "decision 2 says <otherwise>"))
    decided.void.append(6)
    decided.stale = True
    monkeypatch.setattr(_page, "read_decided", lambda _: decided)
    text = plain(written(case, thumbnails=False))
    assert "Decision 9 is set aside: decision 2 says <otherwise>" in text
    assert "without effect: decision 6." in text
    assert "samecam cluster groups anew" in text


def test_decisions_that_were_all_taken_back(case):
    with Deciding(case, "E") as now:
        now.undo(now.name("camera-0", "X").number)
    page = written(case, thumbnails=False)
    assert "none counts any more" in page
    assert "as the machine found them" not in page
    assert len(rows(page, "decisions")) == 2


def test_a_decision_makes_a_report_old(case):
    write_report(case, thumbnails=False)
    assert report_is_current(case, open_case(case).info)
    decide(case)
    assert not report_is_current(case, open_case(case).info)
    first = write_report(case, thumbnails=False).read_bytes()
    assert report_is_current(case, open_case(case).info)
    assert write_report(case, thumbnails=False).read_bytes() == first


@pytest.mark.browser
def test_the_page_of_decisions_opens(browser, case, decided):
    browser.get(write_report(case).as_uri())
    assert len(visible(browser, ".stands tbody tr")) == len(decided.cameras)
    browser.find_elements("css selector", ".stands thead .sort")[1].click()
    browser.execute_script("scrollTo(0, 0)")
    browser.find_element("link text", "what stands").click()
    assert browser.execute_script("return location.hash") == "#decided"
    assert browser.get_log("browser") == []
