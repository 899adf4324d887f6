"""docs/scaling.md: its sums are right."""

import pytest

from benchmarks import record

DOCUMENT = record.load("dask_tasks")


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
