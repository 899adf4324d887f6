"""The page in a real browser: it opens, filters, unfolds, and nothing in it does harm.

Needs Debian's chromium and chromium-driver: see `make browser` and tests/extras.py.
"""

import json
import shutil
import time

import pytest

from samecam import cluster_photos
from samecam.case import open_case
from samecam.report import shown, write_report
from tests.case.seen import join_groups
from tests.report.conftest import BIDI, IMG, MAKE, ODD
from tests.report.pages import find, focused, press, visible, window

pytestmark = pytest.mark.browser


def requests(browser):
    messages = [json.loads(row["message"])["message"] for row in browser.get_log("performance")]
    sent = [m for m in messages if m["method"] == "Network.requestWillBeSent"]
    return {m["params"]["request"]["url"].split(",")[0] for m in sent}


def test_it_opens_and_asks_nobody(page, report, made):
    assert len(visible(page, ".card")) == len(open_case(made).cameras) + 1
    loaded = page.execute_script(
        "return [...document.images].every(i => i.complete && i.naturalWidth > 0)"
    )
    assert loaded
    urls = {url for url in requests(page) if not url.startswith("data:image/")}
    assert urls == {report.as_uri()}


def test_odd_names_are_shown_as_text(page):
    texts = page.execute_script(
        "return [...document.querySelectorAll('.photo .name')].map(e => e.textContent)"
    )
    for name in ODD:
        assert shown(name.rsplit("/", 1)[-1]) in texts
    assert IMG in texts
    assert page.find_elements("css selector", "img[src=x], svg[onload]") == []
    assert page.execute_script("return document.scripts.length") == 2


def test_a_closer_look_is_text_too(page):
    for name in (IMG, BIDI):
        find(page, shown(name).split(".")[0])
        (photo,) = visible(page, ".photo .look")
        photo.click()
        dialog = page.find_element("id", "closer")
        assert dialog.find_element("tag name", "h3").text == shown(name)
        assert "SHA-256" in dialog.text
        assert "Its correlation with the fingerprint" in dialog.text
        press(page, "\ue00c")
        assert not dialog.is_displayed()


def test_metadata_are_text_in_it(page):
    find(page, "onload=alert(3)")
    (photo,) = visible(page, ".photo .look")
    photo.click()
    dialog = page.find_element("id", "closer")
    assert MAKE in dialog.text
    assert "{{ 6*7 }}" in dialog.text
    assert dialog.find_elements("tag name", "svg") == []


def test_the_policy_forbids_scripts_and_the_network(browser, report):
    browser.get(report.as_uri())
    browser.execute_script(
        "document.body.insertAdjacentHTML('beforeend', '<img src=\"http://127.0.0.1:9/a.png\">"
        '<img src="data:," onerror="document.title = 1">\');'
        "const s = document.createElement('script'); s.textContent = 'document.title = 2';"
        "document.body.append(s);"
    )
    time.sleep(0.2)
    log = " ".join(row["message"] for row in browser.get_log("browser"))
    assert log.count("Content Security Policy") >= 3
    assert browser.title not in ("1", "2")


def test_it_filters(page, made):
    content = open_case(made)
    photo = content.members(content.groups[1])[0]
    find(page, photo.path[:9].upper())
    hits = visible(page, ".photo")
    assert [e.get_attribute("data-text")[:9] for e in hits] == [photo.path[:9].lower()]
    assert [e.get_attribute("id") for e in visible(page, ".card")] == ["camera-1"]
    assert len(visible(page, ".overview tbody tr")) == 1
    assert visible(page, "#found")[0].text.startswith("1 photo in 1 of")
    for words in ("camera 2", "group 2"):
        find(page, words)
        assert [e.get_attribute("id") for e in visible(page, ".card")] == ["camera-2"]
    find(page, "no such thing")
    assert visible(page, ".card") == []
    assert visible(page, "#nothing")
    find(page, "skipped")
    assert len(visible(page, ".files tbody tr")) == 1
    assert len(visible(page, ".hashes tbody tr")) == 1
    press(page, "\ue00c")
    assert len(visible(page, ".card")) == len(content.cameras) + 1
    assert focused(page) != "find"


def test_only_cameras_with_remarks(page):
    page.find_element("id", "remarked").click()
    shown_cards = visible(page, ".card")
    assert shown_cards
    assert all(card.get_attribute("data-remarks") for card in shown_cards)
    page.find_element("css selector", ".overview a").get_attribute("href")
    page.execute_script("location.hash = 'group-0'")
    time.sleep(0.2)
    assert page.find_element("id", "group-0").is_displayed()


def test_it_opens_a_camera(page, made):
    size = len(open_case(made).groups[0].paths)
    assert size > 9
    before = len(visible(page, "#group-0 .photo"))
    assert before == 8
    button = page.find_element("css selector", "#camera-0 .fold")
    assert button.get_attribute("aria-expanded") == "false"
    button.click()
    assert len(visible(page, "#group-0 .photo")) == size
    assert button.get_attribute("aria-expanded") == "true"
    button.click()
    page.find_element("css selector", "#group-0 .more").click()
    assert len(visible(page, "#group-0 .photo")) == size
    page.find_element("id", "unfold").click()
    assert len(visible(page, "#group-1 .photo")) == len(open_case(made).groups[1].paths)


@pytest.fixture
def joined(made, tmp_path, monkeypatch):
    """The same photos, two of the groups taken for views of one camera; its report."""
    case = shutil.copytree(made, tmp_path / "case")
    monkeypatch.setattr("samecam.register.find_cameras", join_groups(0, 1))
    cluster_photos([made.parent / "photos"], case, search="deep")
    return write_report(case)


@pytest.mark.parametrize("width", [1400, 420])
def test_every_view_of_a_camera_has_a_strip_of_its_own(page, joined, width):
    window(page, width)
    page.get(joined.as_uri())
    content = open_case(joined.parent)
    first, other = content.cameras[0].groups
    titles = [title.text for title in visible(page, "#camera-0 h4")]
    assert [title.split(" group ")[0] for title in titles] == ["640×600", "2.0× zoom"]
    assert visible(page, "#camera-1 h4"), "its group has another number"
    assert (
        "a score of 45.6 (chance scatters by 1)"
        in page.find_element("id", f"group-{other.id}").text
    )
    for group in (first, other):
        assert len(visible(page, f"#group-{group.id} .photo")) == 8
    page.find_element("css selector", f"#group-{other.id} .more").click()
    for group in (first, other):
        assert len(visible(page, f"#group-{group.id} .photo")) == group.size
    for words in ("camera 0", f"group {other.id}"):
        find(page, words)
        assert [e.get_attribute("id") for e in visible(page, ".card")] == ["camera-0"]
    page.execute_script("location.hash = 'group-2'")
    time.sleep(0.2)
    assert page.find_element("id", "group-2").is_displayed(), "what the filter hid is shown again"
    scroll = page.execute_script("return document.documentElement.scrollWidth")
    assert scroll <= width


def test_keys(page):
    press(page, "j")
    assert focused(page) == "camera-0"
    press(page, "j")
    assert focused(page) == "camera-1"
    top = page.execute_script("return document.activeElement.getBoundingClientRect().top")
    assert 0 <= top < 200
    press(page, "k")
    assert focused(page) == "camera-0"
    press(page, "o")
    assert "folded" not in page.find_element("id", "camera-0").get_attribute("class")
    press(page, "?")
    assert "next, previous camera" in page.find_element("id", "keys").text
    press(page, "j")
    assert page.find_element("id", "keys").is_displayed()
    press(page, "\ue00c")
    assert not page.find_element("id", "keys").is_displayed()
    press(page, "/")
    assert focused(page) == "find"
    press(page, "j?")
    assert page.find_element("id", "find").get_attribute("value") == "j?"


def test_blur_and_theme_stay(page, report):
    style = "return getComputedStyle(document.querySelector('.look img')).filter"
    assert page.execute_script(style) == "none"
    press(page, "b")
    assert "blur" in page.execute_script(style)
    ground = "return getComputedStyle(document.body).backgroundColor"
    light = page.execute_script(ground)
    press(page, "t")
    dark = page.execute_script(ground)
    assert dark != light
    page.get(report.as_uri())
    assert page.execute_script(ground) == dark
    assert "blur" in page.execute_script(style)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 768, 420, 320])
def test_it_fits_its_window(page, report, width, scheme):
    window(page, width, scheme)
    page.get(report.as_uri())
    scroll = page.execute_script("return document.documentElement.scrollWidth")
    assert scroll <= width
    for selector in ("#find", ".tiles li", ".photo img", ".chart svg", ".sheet"):
        for element in visible(page, selector)[:3]:
            assert element.rect["x"] >= 0
            assert element.rect["x"] + element.rect["width"] <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(page, report, scheme):
    window(page, scheme=scheme)
    page.get(report.as_uri())

    def colour(name):
        text = page.execute_script(
            f"return getComputedStyle(document.documentElement).getPropertyValue('--{name}')"
        ).strip()
        parts = [int(text[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    pairs = [("text", "card"), ("soft", "card"), ("soft", "ground"), ("accent", "card")]
    pairs += [("warn", "warn-soft"), ("accent", "accent-soft"), ("text", "shade")]
    for front, back in pairs:
        a, b = sorted([colour(front), colour(back)])
        assert (b + 0.05) / (a + 0.05) >= 4.5, (front, back)
    for front in ("within", "limit", "between"):
        a, b = sorted([colour(front), colour("card")])
        assert (b + 0.05) / (a + 0.05) >= 3, front


def test_buttons_and_pictures_have_names(page):
    nameless = page.execute_script(
        "return [...document.querySelectorAll('button, a, input')].filter(e => "
        "!(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).length"
    )
    assert nameless == 0
    charts = page.find_elements("css selector", ".chart > svg")
    assert len(charts) == 3
    assert all(chart.get_attribute("aria-label") for chart in charts)
