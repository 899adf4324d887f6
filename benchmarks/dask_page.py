"""The figures of docs/scaling.md, from those of `benchmarks.dask_tasks`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import record
from samecam.pages import Page, duration, fill, table

Document = Mapping[str, Any]
HOUR = 3600


def limit(document: Document) -> float:
    """Workers that would keep the command busy with booking."""
    result = document["result"]
    booking = result["parent"]["book_elapsed_seconds_per_photo"]
    return float(result["million"]["seconds_per_photo"] / booking)


def million(document: Document) -> str:
    """What a million photos cost, by the simulated schedule."""
    result, costs = document["result"], document["result"]["million"]
    rows = [
        [
            workers,
            duration(HOUR * row["extraction_hours"]),
            f"{row['read_bytes_per_second'] / 1e6:,.0f} MB/s",
            f"{row['write_bytes_per_second'] / 1e6:,.0f} MB/s",
            duration(HOUR * row["ls_ssc_first_round_hours"]),
        ]
        for workers, row in costs["workers"].items()
    ]
    head = ["workers", "extraction", "reading", "writing", "LS-SSC, first round"]
    one = duration(HOUR * costs["hours_at_one_gigabyte_a_second"])
    return f"""
Squares of {document["settings"]["size"]}², photos of {result["photo_bytes"] / 1e6:.1f} MB:
{costs["read_bytes"] / 1e12:.1f} TB are read, {costs["shard_bytes"] / 1e9:.0f} GB of fingerprints
written, {costs["scheduler_bytes"] / 1e9:.1f} GB go through the scheduler.

{table(head, rows)}

Storage is the first limit: one that gives 1 GB/s needs {one}, however many workers there are. The
command itself would be the limit at about {round(limit(document), -1):,.0f} workers.
"""


def serial(document: Document) -> str:
    """What one processor and the command itself take."""
    result = document["result"]
    seconds, batch = result["million"]["serial_seconds"], result["ls_ssc"]
    booking = 1e6 * result["parent"]["book_elapsed_seconds_per_photo"]
    reading = duration(result["million"]["one_reading_of_all_rows_seconds"])
    return f"""
Finding the files {seconds["scan"]:.0f} s, comparing likely duplicates
{seconds["likely_duplicates"]:.0f} s, booking outcomes {booking:.0f} s (while workers work), reading
the catalogue {seconds["open_store"]:.0f} s. A batch of {batch["photos"]:,} photos takes LS-SSC
{batch["processor_seconds"]:.1f} s of a core. Between rounds of batches the command reads all
fingerprints, {reading} each time; how often depends on the photos, and is not in the table.
"""


def generated(document: Document) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    return {"million": million(document), "serial": serial(document)}


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "scaling.md",
    "python -m benchmarks.pages",
    lambda text: fill(text, generated(record.load("dask_tasks"))),
)
