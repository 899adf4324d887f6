"""The page of a match in a real browser: it opens, draws its marks, and nothing in it does harm."""

import pytest

from samecam.case import match_photos
from samecam.report import write_matches
from tests.report.conftest import ODD, browser
from tests.report.pages import visible, window

__all__ = ["browser"]

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def matches(made):
    photos = made.parent / "photos"
    return match_photos(made, [photos / name for name in (*ODD, "<b>no photo.txt")], search="off")


@pytest.fixture(scope="module")
def page(matches, tmp_path_factory):
    return write_matches(matches, tmp_path_factory.mktemp("browser") / "match.html")


@pytest.mark.parametrize("width", [1300, 400])
def test_a_match_opens_and_shows_its_marks(browser, page, matches, width):
    window(browser, width=width)
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(page.as_uri())
    assert browser.title == "Match – samecam"
    assert matches.summary in browser.find_element("css selector", ".lead").text
    scored = [m for m in matches.photos if m.score is not None]
    assert len(visible(browser, ".mark circle, .mark rect")) == len(scored)
    for picture in browser.find_elements("css selector", ".still img"):
        assert int(picture.get_property("naturalWidth")) > 0
    first = browser.find_element("css selector", ".answers details")
    assert not first.find_element("tag name", "p").is_displayed()
    first.find_element("tag name", "summary").click()
    assert first.find_element("tag name", "p").is_displayed()
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(wide) <= 0
    assert browser.get_log("browser") == []
    asked = [entry for entry in browser.get_log("performance") if '"http' in entry["message"]]
    assert asked == []
