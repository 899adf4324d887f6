"""The figures of docs/scaling.md, from those of `benchmarks.dask_tasks`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import record
from samecam.pages import Page, duration, fill, table

Document = Mapping[str, Any]
HOUR = 3600


def kilobytes(count: float) -> str:
    return f"{count / 1e3:,.0f} kB"


def tasks(document: Document) -> str:
    """The table of what was measured."""
    result, settings = document["result"], document["settings"]
    small, large = (result["extraction"][f"task_of_{count}"] for count in (50, 200))
    parent, batch = result["parent"]["seconds_per_photo"], result["ls_ssc"]
    photo = (large["bytes_sent"] + large["bytes_returned"]) / 200
    booking = result["parent"]["book_elapsed_seconds_per_photo"]
    command = ", ".join(
        f"{1e6 * seconds:.0f}" for seconds in (parent["scan"], parent["likely_duplicates"], booking)
    )
    sent, back = kilobytes(large["bytes_sent"]), kilobytes(large["bytes_returned"])
    batch_sent, batch_back = (kilobytes(batch[key]) for key in ("bytes_sent", "bytes_returned"))
    rows = [
        [
            "task of 50 photos, of 200",
            f"{small['processor_seconds']:.1f} s, {large['processor_seconds']:.1f} s of a core",
        ],
        [
            "sent to the worker, returned (task of 200)",
            f"{sent}, {back}: {photo / 1e3:.1f} kB a photo",
        ],
        ["written into shards (task of 200)", f"{large['shard_bytes'] / 1e6:.0f} MB"],
        [
            "a task that does nothing: scheduler, worker, process beside it",
            f"{1e3 * result['overhead_seconds']:.0f} ms",
        ],
        ["the command itself, a photo: find, compare, book (elapsed)", f"{command} µs"],
        [
            f"LS-SSC, a batch of {batch['photos']:,}",
            f"{batch['processor_seconds']:.1f} s of a core; {batch_sent} sent, "
            f"{batch_back} returned",
        ],
    ]
    return (
        f"Measured on two local workers: processor time, {document['processor']}, photos of\n"
        f"{result['photo_bytes'] / 1e6:.1f} MB in the page cache, crop {settings['size']}², "
        f"float16.\n\n{table(['figure', ''], rows)}"
    )


def limit(document: Document) -> float:
    """Workers that would keep the command busy with booking."""
    result = document["result"]
    booking = result["parent"]["book_elapsed_seconds_per_photo"]
    return float(result["million"]["seconds_per_photo"] / booking)


def million(document: Document) -> str:
    """What a million photos cost, and the simulated schedule."""
    costs = document["result"]["million"]
    rows = [
        [
            workers,
            duration(HOUR * row["extraction_hours"]),
            f"{100 * row['busy']:.0f} %",
            f"{row['read_bytes_per_second'] / 1e6:,.0f} MB/s",
            f"{row['write_bytes_per_second'] / 1e6:,.0f} MB/s",
            duration(HOUR * row["ls_ssc_first_round_hours"]),
        ]
        for workers, row in costs["workers"].items()
    ]
    head = [
        *("workers", "extraction", "workers busy", "reading", "writing"),
        "LS-SSC, first round of batches",
    ]
    most = max(row["read_bytes_per_second"] for row in costs["workers"].values()) / 1e9
    one = duration(HOUR * costs["hours_at_one_gigabyte_a_second"])
    return f"""
A million photos: **{costs["read_bytes"] / 1e12:.1f} TB** read,
**{costs["shard_bytes"] / 1e9:.0f} GB** of fingerprints written (`--dtype int8`: half),
{costs["catalogue_bytes"] / 1e9:.1f} GB of catalogue, {costs["scheduler_bytes"] / 1e9:.1f} GB
through the scheduler. A schedule simulated from these figures (twice as many tasks out as workers,
the scheduler and the command each one thing at a time):

{table(head, rows)}

The storage comes first: 100 workers ask it for {most:.1f} GB/s, more than most have. One that
gives 1 GB/s needs {one} for the million, however many workers there are. Processors,
scheduler and command would stand 100 workers; the command would be the limit at about
{round(limit(document), -1):,.0f}.
"""


def serial(document: Document) -> str:
    """The parts that only the command itself does."""
    result = document["result"]
    seconds = result["million"]["serial_seconds"]
    rate = result["ls_ssc"]["read_bytes_per_second"] / 1e6
    reading = duration(result["million"]["one_reading_of_all_rows_seconds"])
    booking = 1e6 * result["parent"]["book_elapsed_seconds_per_photo"]
    return f"""
- finding the files {seconds["scan"]:.0f} s and comparing likely duplicates
  {seconds["likely_duplicates"]:.0f} s here; on a network file system each costs a question to the
  server, and files of equal length have both ends read
- headers of all photos are read with the processes of this machine, to know frames and disk (not
  with `--size`)
- booking outcomes: {booking:.0f} s, while workers work
- grouping begins with reading the catalogue, {seconds["open_store"]:.0f} s; workers do not read
  it, they are told where their rows lie
- between rounds of batches, merging, attracting and refining run in the command, and read all
  fingerprints again: one reading is {reading} of a core at {rate:.0f} MB/s, or what the
  storage gives. How many rounds there are depends on the photos; this part is not in the table
- evidence and the report
"""


def generated(document: Document) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    return {"tasks": tasks(document), "million": million(document), "serial": serial(document)}


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "scaling.md",
    "python -m benchmarks.pages",
    lambda text: fill(text, generated(record.load("dask_tasks"))),
)
