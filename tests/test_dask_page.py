"""docs/scaling.md says what benchmarks/results/dask_tasks.json holds, and its sums are right."""

import json

import pytest

from benchmarks import dask_page
from benchmarks.growth_page import filled

DOCUMENT = json.loads(dask_page.RESULT.read_text())


def test_page_is_made_from_the_figures():
    text = dask_page.PAGE.read_text(encoding="utf-8")
    assert filled(text, dask_page.generated(DOCUMENT)) == text


@pytest.mark.parametrize(
    "path",
    [
        ("ls_ssc", "processor_seconds"),
        ("million", "workers", "100", "extraction_hours"),
        ("million", "serial_seconds", "open_store"),
        ("parent", "book_elapsed_seconds_per_photo"),
    ],
)
def test_page_with_another_number_is_not(path):
    text = dask_page.PAGE.read_text(encoding="utf-8")
    other = json.loads(json.dumps(DOCUMENT))
    at = other["result"]
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] *= 3
    assert filled(text, dask_page.generated(other)) != text


def test_a_million_photos_follow_from_the_tasks():
    result = DOCUMENT["result"]
    per_photo = result["extraction"]["task_of_200"]["processor_seconds"] / 200
    costs = result["million"]
    assert costs["read_bytes"] == pytest.approx(1e6 * result["photo_bytes"])
    for workers, row in costs["workers"].items():
        floor = 1e6 * per_photo / int(workers)
        assert floor <= row["seconds"] < 1.1 * floor
        batches = 1e6 / result["ls_ssc"]["photos"]
        hours = batches / int(workers) * result["ls_ssc"]["processor_seconds"] / 3600
        assert row["ls_ssc_first_round_hours"] == pytest.approx(hours)
