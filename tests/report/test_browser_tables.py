"""Tables that sort and are filtered, photos one after the other, and the map of correlations."""

import numpy as np
import pytest

from samecam.case import open_case
from samecam.correlate import gram
from samecam.report import shown
from tests.processes import wait_for
from tests.report.pages import find, press, visible

pytestmark = pytest.mark.browser
LEFT, RIGHT, DOWN, ENTER, ESCAPE = "\ue012", "\ue014", "\ue015", "\ue007", "\ue00c"


def column(page, table, number):
    script = (
        "return [...document.querySelectorAll(arguments[0] + ' tbody tr')]"
        ".map(row => row.cells[arguments[1]].textContent.trim())"
    )
    return page.execute_script(script, table, number)


def headings(page, table):
    return page.find_elements("css selector", f"{table} thead .sort")


def sorting(page, table):
    script = (
        "return [...document.querySelectorAll(arguments[0] + ' thead th')].map(h => h.ariaSort)"
    )
    return page.execute_script(script, table)


def test_headings_sort(page):
    first = column(page, ".files", 0)
    assert first != sorted(first)
    heading = headings(page, ".files")[0]
    heading.click()
    assert column(page, ".files", 0) == sorted(first)
    assert sorting(page, ".files") == ["ascending", None, None, None]
    heading.click()
    assert column(page, ".files", 0) == sorted(first, reverse=True)
    assert sorting(page, ".files") == ["descending", None, None, None]
    heading.click()
    assert column(page, ".files", 0) == first
    assert sorting(page, ".files") == [None, None, None, None]


def test_numbers_sort_as_numbers_and_by_keyboard(page):
    page.execute_script("document.querySelectorAll('.overview thead .sort')[3].focus()")
    press(page, ENTER)
    values = list(map(float, column(page, ".overview", 4)))
    assert values == sorted(values, reverse=True)
    press(page, " ")
    assert list(map(float, column(page, ".overview", 4))) == values[::-1]
    page.find_element("css selector", ".folds .fold").click()
    cameras = headings(page, ".hashes")[3]
    cameras.click()
    numbers = [int(text) if text.isdigit() else -1 for text in column(page, ".hashes", 3)]
    assert numbers == sorted(numbers, reverse=True)


def test_every_table_has_headings_that_sort_or_rows_that_are_found(page):
    script = (
        "return [...document.querySelectorAll('main table')]"
        ".filter(t => !t.matches('.sorts, .sheet') || !t.matches('.finds, .overview')).length"
    )
    assert page.execute_script(script) == 0


def test_the_filter_reaches_every_table(page, made):
    content = open_case(made)
    photo = content.members(content.groups[1])[-1]
    find(page, photo.sha256[:20])
    assert len(visible(page, ".hashes tbody tr")) == 1, "unfolded while something is looked for"
    assert visible(page, ".files tbody tr") == []
    find(page, "camera 1")
    of_camera = [p for p in content.photos if p.cluster == 1]
    rows = visible(page, ".hashes tbody tr")
    assert len(rows) >= len(of_camera)
    assert {row.text.split()[-1] for row in rows} == {"1"}
    found = page.find_element("id", "found").text
    assert found.startswith(f"{len(of_camera)} photos in 1 of {len(content.cameras)} cameras;")
    find(page, "join_rate")
    assert [row.text.split()[0] for row in visible(page, ".sheet tr")]
    press(page, ESCAPE)
    assert visible(page, ".hashes tbody tr") == []


def test_arrows_walk_through_photos(page):
    page.find_element("css selector", "#group-0 .look").click()
    dialog = page.find_element("id", "closer")

    def name():
        return dialog.find_element("tag name", "h3").text

    first = name()
    assert page.find_element("id", "place").text.startswith("1 of ")
    press(page, RIGHT)
    second = name()
    assert second != first
    press(page, LEFT, LEFT)
    assert name() == first
    page.find_element("id", "after").click()
    assert name() == second
    for _ in range(6):
        press(page, RIGHT)
    seventh = name()
    press(page, ESCAPE)
    assert not dialog.is_displayed()
    has_focus = "return document.activeElement.querySelector('.caption')?.textContent ?? '-'"
    # The dialog is told that it was closed after the key has done its work.
    assert wait_for(lambda: seventh.endswith(page.execute_script(has_focus))), (
        "the photo is shown, if its camera was folded, and has the focus"
    )
    find(page, "camera 1")
    visible(page, ".look")[0].click()
    total = int(page.find_element("id", "place").text.split()[2])
    assert total == page.execute_script(
        "return document.querySelectorAll('#camera-1 .look').length"
    )


def test_captions_carry_the_folder(page):
    folders = {e.text for e in visible(page, ".folder")}
    assert "a</script><script>alert(2)<" in folders


def test_the_map_is_read_by_pointing_and_pressing(page, made):
    from selenium.webdriver import ActionChains

    content = open_case(made)
    target = page.find_element("id", "map")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", target)
    labels = page.find_elements("css selector", "#map text")
    assert [label.text for label in labels] == [str(group.id) for group in content.groups]
    block = page.find_element("css selector", "#map .block")
    ActionChains(page).move_to_element_with_offset(block, -12, 9).perform()
    reading = page.find_element("id", "reading").text
    assert reading.count("(group 0)") == 2
    assert "about" in reading or "or more" in reading
    ActionChains(page).click().perform()
    pair = page.find_element("id", "pair")
    assert pair.is_displayed()
    assert len(pair.find_elements("tag name", "img")) == 2
    assert page.find_element("id", "pair-value").text.startswith("They correlate by ")
    pair.find_element("link text", "camera 0").click()
    assert not pair.is_displayed()
    labels[1].click()
    assert page.execute_script("return location.hash") == "#group-1"


def test_the_map_is_read_with_keys(page):
    page.execute_script("document.querySelector('#map').focus()")
    press(page, DOWN)
    first = page.find_element("id", "reading").text
    press(page, DOWN, RIGHT)
    assert page.find_element("id", "reading").text != first
    press(page, ENTER)
    assert page.find_element("id", "pair").is_displayed()
    press(page, ESCAPE)
    assert not page.find_element("id", "pair").is_displayed()


def test_the_map_says_what_the_correlation_is(page, made):
    """Against the fingerprints themselves."""
    page.execute_script("document.querySelector('#map').focus()")
    full = float(page.find_element("id", "map").get_attribute("data-full"))
    row, text = 0, ""
    while ": about " not in text and row < 34:
        press(page, DOWN)
        row, text = row + 1, page.find_element("id", "reading").text
    script = (
        "const numbers = JSON.parse(document.querySelector('#map').dataset.photos);"
        "const details = JSON.parse(document.querySelector('#details').textContent);"
        "return [0, arguments[0]].map(k => details[numbers[k]][0])"
    )
    paths = page.execute_script(script, row)
    with open_case(made).open_store() as store:
        (frame,) = store.frames
        rows = store.rows(frame)
        names = [shown(key) for key in rows.keys]
        value = float(gram(rows, rows=np.array(sorted(map(names.index, paths))))[0, 1])
        rows.close()
    assert 0 < value < full
    assert float(text.rsplit(" ", 1)[1]) == pytest.approx(value, abs=full / 63)
