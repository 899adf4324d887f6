"""The pages in a real browser: keys, selection, several tabs, widths, and nothing that does harm.

Needs Debian's chromium and chromium-driver: see `make browser` and tests/extras.py.
"""

import shutil
import threading
import time

import pytest

from samecam import compute
from samecam.review import Review
from tests.processes import PATIENCE, wait_for
from tests.report.conftest import browser  # noqa: F401
from tests.report.pages import press, window

pytestmark = pytest.mark.browser

ESCAPE, ENTER, SHIFT = "\ue00c", "\ue007", "\ue008"


@pytest.fixture
def served(made, tmp_path):
    case = shutil.copytree(made, tmp_path / "case")
    with Review(case, "Ada", resources=compute.Resources(workers=1)) as review:
        thread = threading.Thread(target=review.serve)
        thread.start()
        yield review
        review.stop()
        thread.join(PATIENCE)


@pytest.fixture
def page(browser, served):  # noqa: F811
    window(browser)
    browser.get_log("browser")
    browser.get(served.address)
    browser.execute_script("localStorage.clear()")
    settled(browser)
    yield browser
    told = [row["message"] for row in browser.get_log("browser")]
    # Pictures that are still being made, and decisions that are refused, are answers.
    serious = [text for text in told if "status of 503" not in text and "status of 409" not in text]
    browser.get("about:blank")
    assert serious == []


def at(browser, path):  # noqa: F811
    base = browser.execute_script("return location.origin")
    browser.get(base + path)
    settled(browser)


def settled(browser):  # noqa: F811
    assert wait_for(lambda: browser.execute_script("return document.readyState") == "complete")


def value(browser, script):  # noqa: F811
    return browser.execute_script(f"return {script}")


def becomes(browser, script, wanted):  # noqa: F811
    """Whether something on the page comes to be so."""
    found = wait_for(lambda: value(browser, script) == wanted, 20)
    assert found, (script, value(browser, script), wanted)


def question(browser):  # noqa: F811
    return value(browser, "document.querySelector('#question')?.dataset.question ?? ''")


QUESTION = "document.querySelector('#question')?.dataset.question ?? ''"
FOCUS = "document.activeElement.closest('.item')?.dataset.key ?? ''"
PICKED = "[...document.querySelectorAll('.item.picked')].map(e => e.dataset.key)"
SAID = "document.querySelector('#said').textContent"


def after(served, order, key):
    """The question that comes after one, of those that are open once that is answered."""
    assert wait_for(lambda: key not in [q.key for q in served.state.now.questions])
    still = {q.key for q in served.state.now.questions}
    return next(each for each in order[order.index(key) :] if each in still)


def test_the_token_is_gone_from_the_address(page):
    assert "token" not in page.current_url
    assert value(page, "document.cookie") == ""


def test_questions_are_answered_by_keys_and_taken_back(page, served):
    order = [q.key for q in served.state.now.questions]
    assert question(page) == order[0] == "pair-0-1"
    press(page, "j")
    becomes(page, QUESTION, order[1])
    press(page, "k")
    becomes(page, QUESTION, order[0])
    press(page, "s")
    becomes(page, QUESTION, order[1])
    assert "camera-1" not in served.state.now.cameras.by_name
    press(page, "d")
    third = after(served, order, order[1])
    becomes(page, QUESTION, third)
    press(page, "c")
    becomes(page, QUESTION, after(served, order, third))
    kinds = [d.kind for d in served.state.now.decided.decisions]
    assert kinds == ["same", "split", "cannot tell"]
    press(page, "u")
    press(page, "u")
    press(page, "u")
    assert wait_for(lambda: len(served.state.now.questions) == len(order))
    press(page, "U")
    assert wait_for(lambda: len(served.state.now.decided.decisions) == 7)


def test_questions_are_answered_by_mouse(page, served):
    first, second = (q.key for q in served.state.now.questions[:2])
    page.find_element("id", "skip").click()
    becomes(page, QUESTION, second)
    page.back()
    becomes(page, QUESTION, first)
    page.find_element("id", "different").click()
    becomes(page, QUESTION, second)
    page.find_element("css selector", "[data-do=confirm]").click()
    assert wait_for(lambda: served.state.now.cameras.by_name["camera-2"].camera.confirmed)
    page.find_element("id", "undo").click()
    assert wait_for(lambda: not served.state.now.cameras.by_name["camera-2"].camera.confirmed)


def test_photos_are_selected_and_split_off(page, served):
    at(page, "/camera?name=camera-0")
    rows = served.state.now.cameras.by_name["camera-0"].rows
    hashes = served.state.index.hashes(rows)
    press(page, "j")
    becomes(page, FOCUS, hashes[0])
    press(page, " ")
    becomes(page, PICKED, hashes[:1])
    press(page, "j", "j")
    page.find_element("tag name", "body")
    from selenium.webdriver import ActionChains

    ActionChains(page).key_down(SHIFT).send_keys(" ").key_up(SHIFT).perform()
    becomes(page, PICKED, hashes[:3])
    assert "3 photos selected" in page.find_element("id", "selected").text
    press(page, "s")
    assert wait_for(lambda: len(served.state.now.decided.decisions) == 1)
    decision = served.state.now.decided.decisions[0]
    assert (decision.kind, set(decision.photos)) == ("split", set(hashes[:3]))
    becomes(page, PICKED, [])
    becomes(page, "document.querySelectorAll('#photos .item').length", len(hashes) - 3)
    becomes(page, FOCUS, hashes[5])  # that which has come to its place
    press(page, " ", "x")
    assert wait_for(lambda: len(served.state.now.decided.decisions) == 2)
    assert served.state.now.decided.decisions[1].photos == (hashes[5],)


def test_a_camera_gets_a_name_a_note_and_a_status(page, served):
    at(page, "/camera?name=camera-0")
    press(page, "n")
    becomes(page, "document.activeElement.id", "ask-value")
    press(page, "Phone <b>of</b> A", ENTER)
    becomes(page, "document.querySelector('h1').textContent", "Phone <b>of</b> A")
    press(page, "w")
    becomes(page, "document.activeElement.id", "ask-value")
    press(page, "seen twice", ENTER)
    becomes(page, "document.querySelectorAll('[data-note]').length", 1)
    page.find_element("css selector", "[data-status=check]").click()
    becomes(page, "document.querySelectorAll('.state-check').length", 1)
    press(page, "a")
    becomes(page, "document.querySelectorAll('.state-ok').length", 1)
    press(page, "n", ESCAPE)
    assert len(served.state.now.decided.decisions) == 4


def test_cameras_are_merged(page, served):
    at(page, "/cameras")
    press(page, "j", " ", "j", " ", "m")
    assert wait_for(lambda: "camera-1" not in served.state.now.cameras.by_name)
    becomes(page, "document.querySelectorAll('#cameras .item').length",
            len(served.state.now.cameras.all))  # fmt: skip
    becomes(page, FOCUS, "camera-2")
    press(page, "u")
    becomes(page, "document.querySelectorAll('#cameras .item').length",
            len(served.state.now.cameras.all) )  # fmt: skip
    at(page, "/camera?name=camera-0")
    press(page, "m")
    becomes(page, "document.querySelectorAll('#ask-names option').length > 1", True)
    press(page, "camera-2", ENTER)
    assert wait_for(lambda: "camera-2" not in served.state.now.cameras.by_name)


def test_two_side_by_side(page, served):
    at(page, "/cameras")
    press(page, "j", " ", "j", " ", "v")
    becomes(page, "document.querySelector('#two')?.dataset.second ?? ''", "camera-1")
    becomes(page, "document.querySelector('.heat-picture')?.naturalWidth > 0", True)
    press(page, "d")
    assert wait_for(lambda: len(served.state.now.decided.decisions) == 1)
    press(page, "m")
    becomes(page, f"{SAID}.includes('cannot stand')", True)
    press(page, "u")
    assert wait_for(lambda: len(served.state.now.decided.decisions) == 2)
    press(page, "m")
    becomes(page, "document.querySelector('h1').textContent", "camera-0")


def test_two_cameras_that_become_one_are_not_asked_for_again(page, served, monkeypatch):
    # Word of the change comes before the answer: the page of two would be found missing.
    decide = served.state.decide

    def slowly(*given):
        decision = decide(*given)
        time.sleep(1.5)
        return decision

    monkeypatch.setattr(served.state, "decide", slowly)
    at(page, "/two?first=camera-0&second=camera-1")
    becomes(page, "document.querySelector('.heat-picture')?.naturalWidth > 0", True)
    press(page, "m")
    becomes(page, "document.querySelector('h1').textContent", "camera-0")


def test_a_change_in_one_tab_shows_in_another(page, served):
    first = page.current_window_handle
    at(page, "/cameras")
    page.switch_to.new_window("tab")
    try:
        at_origin = f"http://127.0.0.1:{served.port}"
        page.get(at_origin + "/camera?name=camera-0")
        settled(page)
        press(page, "a")
        becomes(page, "document.querySelectorAll('.state-ok').length", 1)
        page.switch_to.window(first)
        becomes(page, "document.querySelectorAll('.state-ok').length", 1)
    finally:
        page.switch_to.window(page.window_handles[-1])
        page.close()
        page.switch_to.window(first)


def test_the_log_takes_back_and_restores(page, served):
    press(page, "s")
    assert wait_for(lambda: len(served.state.now.decided.decisions) == 1)
    at(page, "/log")
    page.find_element("css selector", "[data-undo='1']").click()
    becomes(page, "document.querySelectorAll('#decision-1.undone').length", 1)
    page.find_element("css selector", "[data-undo='2']").click()
    becomes(page, "document.querySelectorAll('#decision-1.undone').length", 0)


def test_keys_find_help_blur_theme(page):
    press(page, "?")
    assert "accept the whole camera" in page.find_element("id", "keys").text
    press(page, ESCAPE)
    press(page, "/")
    becomes(page, "document.activeElement.id", "find")
    press(page, "camera-2", ENTER)
    becomes(page, "document.querySelectorAll('#cameras .item').length", 1)
    press(page, "b")
    style = "getComputedStyle(document.querySelector('.tiles4 img')).filter"
    assert "blur" in value(page, style)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = value(page, ground)
    press(page, "t")
    assert value(page, ground) != light
    page.refresh()
    settled(page)
    assert "blur" in value(page, style)
    assert value(page, ground) != light


PAGES = ["/", "/cameras", "/camera?name=camera-0", "/alone", "/sources", "/log"]
PAGES += ["/two?first=camera-0&second=camera-1", "/photo/PHOTO"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_their_window_and_everything_has_a_name(page, served, scheme):
    photo = served.state.index.photos[0].sha256
    nameless = (
        "[...document.querySelectorAll('button, a, input:not([type=hidden])')].filter(e => "
        "!(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length || "
        "e.querySelector('img[alt]:not([alt=\"\"])'))).map(e => e.outerHTML)"
    )
    for width in (1400, 768, 420, 320):
        window(page, width, scheme)
        for path in PAGES:
            at(page, path.replace("PHOTO", photo))
            assert value(page, "document.documentElement.scrollWidth") <= width, (path, width)
            assert value(page, nameless) == [], path
            assert value(page, "document.querySelectorAll('h1').length") == 1


def test_pictures_stay_when_the_page_changes(page):
    at(page, "/camera?name=camera-0")
    first = "document.querySelector('#photos img')"
    becomes(page, f"{first}.complete && {first}.naturalWidth > 0", True)
    page.execute_script(f"{first}.seen = true")
    press(page, "a")
    becomes(page, "document.querySelectorAll('.state-ok').length", 1)
    assert value(page, f"{first}.seen === true && {first}.isConnected")


def test_pictures_come_as_they_are_made(page):
    at(page, "/cameras")
    loaded = "[...document.querySelectorAll('.camera-card img')].slice(0, 8)"
    becomes(page, f"{loaded}.every(i => i.complete && i.naturalWidth > 0)", True)


def test_the_policy_forbids_what_is_not_ours(browser, served):  # noqa: F811
    browser.get(served.address)
    browser.get_log("browser")
    browser.execute_script(
        "document.body.insertAdjacentHTML('beforeend', '<img src=\"http://127.0.0.1:9/a.png\">"
        '<p style="color: red">x</p><img src="/x" onerror="document.title = 1">\');'
        "const s = document.createElement('script'); s.textContent = 'document.title = 2';"
        "document.body.append(s);"
    )
    time.sleep(0.3)
    log = " ".join(row["message"] for row in browser.get_log("browser"))
    assert log.count("Content Security Policy") >= 3
    assert browser.title not in ("1", "2")


def test_pages_can_be_read_without_scripts(browser, served):  # noqa: F811
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(served.address)
        assert "One camera or two?" in browser.find_element("tag name", "main").text
        browser.find_element(
            "link text", "Cameras " + str(len(served.state.now.cameras.all))
        ).click()
        assert browser.find_elements("css selector", ".camera-card")
        browser.find_element("css selector", ".camera-card a").click()
        assert browser.find_elements("css selector", "#photos .photo")
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
