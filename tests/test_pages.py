"""Pages made from JSON: each is what its JSON makes, figures as text, parts filled in."""

import json
from functools import partial

import numpy as np
import pytest

from benchmarks import (
    calibration_page,
    consolidated_page,
    copies_page,
    dask_page,
    growth_page,
    method_page,
    recompressed_page,
    record,
    review_page,
    rivals_page,
    soak_page,
    views_page,
)
from benchmarks import (
    pages as all_pages,
)
from samecam import pages
from samecam.errors import SamecamError

# Generator of the marked parts of a page, its JSON, and places in it that the page shows.
MARKED = {
    "calibration": (calibration_page, "calibration", ("result", "sets", 0, "rates", 0, "rate")),
    "consolidated": (
        consolidated_page,
        "consolidated_study",
        ("result", "losses", 0, "lost_below_needed"),
    ),
    "copies": (copies_page, "copies", ("result", "kinds", 0, "recognised")),
    "cost": (growth_page, "growth", ("cpu", "result", "rows", -1, "lasso", "seconds")),
    "frames": (recompressed_page, "recompressed", ("result", 0, "separation")),
    "method": (method_page, "consolidated", ("result", 1, "F")),
    "reliability": (soak_page, "soak", ("result", "total", "tampered cases")),
    "review": (review_page, "review", ("result", "first_page_ms")),
    "rivals": (rivals_page, "rivals", ("result", 0, "F")),
    "scaling": (dask_page, "dask_tasks", ("result", "ls_ssc", "processor_seconds")),
    "views": (views_page, "strangers", ("result", "photographs", "registrations")),
}
SCALING = (
    ("million", "workers", "100", "extraction_hours"),
    ("million", "serial_seconds", "open_store"),
    ("parent", "book_elapsed_seconds_per_photo"),
)


@pytest.mark.parametrize("name", all_pages.PAGES)
def test_a_page_is_what_its_json_makes(name):
    page = all_pages.PAGES[name]
    assert page.differences() == "", f"run: {page.command}"


def changed(document, place):
    """The document with another number in that place."""
    other = json.loads(json.dumps(document))
    at = other
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] *= 3
    assert at[place[-1]], "a number that can be seen to change"
    return other


@pytest.mark.parametrize(
    ("name", "place"),
    [(name, place) for name, (_, _, place) in MARKED.items()]
    + [("scaling", ("result", *place)) for place in SCALING],
)
def test_a_page_with_another_number_is_not(name, place):
    module, source, _ = MARKED[name]
    document = record.load(source)
    page = all_pages.PAGES[name]
    make = partial(pages.fill, parts=module.generated(changed(document, place)))
    assert pages.Page(page.path, "", lambda text: make(text)).differences()


def test_all_marked_pages_are_there():
    # The README has a part of the page on cost; those of `samecam benchmark` and of experiments
    # are made from results/, see tests/experiments.
    assert set(all_pages.PAGES) == {*MARKED, "benchmark", "results", "readme"}


def test_parts_are_filled_in_and_the_rest_stays(tmp_path):
    path = tmp_path / "docs" / "page.md"
    path.parent.mkdir()
    path.write_text("a\n<!-- x -->\nold\n<!-- end of x -->\nb\n")
    page = pages.Page(path, "make it", lambda text: pages.fill(text, {"x": "\nnew \\1\n"}))
    assert page.differences().splitlines()[-2:] == ["-old", "+new \\1"]
    page.write()
    assert path.read_text() == "a\n<!-- x -->\nnew \\1\n<!-- end of x -->\nb\n"
    assert page.differences() == ""


@pytest.mark.parametrize("text", ["nothing", "<!-- table -->\n<!-- end of table -->\n" * 2])
def test_a_pair_of_markers_that_is_not_there_once_is_an_error(text):
    with pytest.raises(ValueError, match="pair of markers 'table'"):
        pages.fill(text, {"table": ""})


def test_json_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(SamecamError, match=r"a\.json' is not there: run it first\."):
        pages.read_json(tmp_path / "a.json", "run it first")
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(SamecamError, match=r"a\.json' cannot be read .*: make it again\."):
        pages.read_json(tmp_path / "a.json", "run it first")


def test_a_picture_has_the_same_bytes_and_names_its_result():
    from matplotlib.figure import Figure

    def drawn():
        figure = Figure()
        figure.subplots().plot([1, 2], label="x")
        return pages.svg(figure, pages.digest({"a": 1}))

    assert drawn() == drawn()
    assert pages.digest_in(drawn()) == pages.digest({"a": 1})


def test_the_digest_is_that_of_the_numbers():
    first = {"a": [1.5, None], "b": {"γ": "x"}}
    again = json.loads(json.dumps(dict(reversed(first.items()))))
    assert pages.digest(first) == pages.digest(again)
    assert pages.digest(first) != pages.digest({**first, "a": [1.5000001, None]})
    assert pages.digest_in("<svg/>") == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0.5, ".50"), (0.996, ".996"), (0.99951, ".9995"), (0.999749, ".9997")),
        *((0.999999, ".999999"), (0.9999996, "1"), (0, ".00"), (1, "1"), (0.9949, ".99")),
    ],
)
def test_shares(value, text):
    assert pages.share(value) == text


def test_nothing_below_one_is_shown_as_one():
    for value in 1 - np.geomspace(1e-6, 0.9, 400):
        for digits in (2, 3):
            shown = pages.share(value, digits)
            assert float(shown) < 1
            assert float(shown) == pytest.approx(value, abs=0.5 * 10**-digits)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0, "0.0%"), (1, "100.0%"), (0.0005, "0.1%"), (0.0004, "0.04%")),
        *((0.9998, "99.98%"), (0.5, "50.0%")),
    ],
)
def test_percentages_read_nought_or_all_only_where_they_are(value, text):
    assert pages.percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.234e13, "1.2·10¹³"), (9.99e-3, "1.0·10⁻²"), (7, "7.0·10⁰"), (6.4e-5, "6.4·10⁻⁵")],
)
def test_powers_of_ten(value, text):
    assert pages.power_of_ten(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.00123, "0.0012"), (0.5, "0.50"), (12.3, "12"), (15422.1, "15,422")],
)
def test_significant_figures(value, text):
    assert pages.significant(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(46, "46 s"), (600, "10 minutes"), (5400, "1.5 hours")]
)
def test_durations(seconds, text):
    assert pages.duration(seconds) == text


def test_lists_and_tables():
    assert pages.listed(["a"]) == "a"
    assert pages.listed(["a", "b", "c"]) == "a, b and c"
    assert pages.bullets(["a", "", "b"]) == "- a\n- b"
    assert pages.table(["x", "y"], [["1", "2"]]) == "| x | y |\n|---|---|\n| 1 | 2 |"
