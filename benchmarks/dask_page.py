"""The figures of docs/scaling.md, from those of `benchmarks.dask_tasks`.

python -m benchmarks.dask_page
"""

import json
from pathlib import Path

from benchmarks.growth_page import filled

HERE = Path(__file__).parent
RESULT = HERE / "results" / "dask_tasks.json"
PAGE = HERE.parent / "docs" / "scaling.md"


def duration(hours):
    """Hours, or minutes where these say more."""
    return f"{hours:.1f} h" if hours >= 1 else f"{max(1, round(60 * hours))} min"


def kilobytes(count):
    return f"{count / 1e3:,.0f} kB"


def tasks(document):
    """The table of what was measured."""
    result, settings = document["result"], document["settings"]
    small, large = (result["extraction"][f"task_of_{count}"] for count in (50, 200))
    parent, batch = result["parent"]["seconds_per_photo"], result["ls_ssc"]
    photo = (large["bytes_sent"] + large["bytes_returned"]) / 200
    command = ", ".join(
        f"{1e6 * seconds:.0f}"
        for seconds in (
            parent["scan"],
            parent["likely_twins"],
            result["parent"]["book_elapsed_seconds_per_photo"],
        )
    )
    return f"""
Measured on two local workers: processor time, {document["processor"]}, photos of
{result["photo_bytes"] / 1e6:.1f} MB in the page cache, crop {settings["size"]}², float16.

| figure | |
|---|---|
| task of 50 photos, of 200 | {small["processor_seconds"]:.1f} s, {large["processor_seconds"]:.1f} s of a core |
| sent to the worker, returned (task of 200) | {kilobytes(large["bytes_sent"])}, {kilobytes(large["bytes_returned"])}: {photo / 1e3:.1f} kB a photo |
| written into shards (task of 200) | {large["shard_bytes"] / 1e6:.0f} MB |
| a task that does nothing: scheduler, worker, process beside it | {1e3 * result["overhead_seconds"]:.0f} ms |
| the command itself, a photo: find, compare, book (elapsed) | {command} µs |
| LS-SSC, a batch of {batch["photos"]:,} | {batch["processor_seconds"]:.1f} s of a core; {kilobytes(batch["bytes_sent"])} sent, {kilobytes(batch["bytes_returned"])} returned |
"""  # noqa: E501


def limit(document):
    """Workers that would keep the command busy with booking."""
    result = document["result"]
    booking = result["parent"]["book_elapsed_seconds_per_photo"]
    return result["million"]["seconds_per_photo"] / booking


def million(document):
    """What a million photos cost, and the simulated schedule."""
    costs = document["result"]["million"]
    rows = "\n".join(
        f"| {workers} | {duration(row['extraction_hours'])} | {100 * row['busy']:.0f} % "
        f"| {row['read_bytes_per_second'] / 1e6:,.0f} MB/s "
        f"| {row['write_bytes_per_second'] / 1e6:,.0f} MB/s "
        f"| {duration(row['ls_ssc_first_round_hours'])} |"
        for workers, row in costs["workers"].items()
    )
    most = max(costs["workers"].values(), key=lambda row: row["read_bytes_per_second"])
    return f"""
A million photos: **{costs["read_bytes"] / 1e12:.1f} TB** read, **{costs["shard_bytes"] / 1e9:.0f} GB** of fingerprints
written (`--dtype int8`: half), {costs["catalogue_bytes"] / 1e9:.1f} GB of catalogue, {costs["scheduler_bytes"] / 1e9:.1f} GB through the scheduler.
A schedule simulated from these figures (twice as many tasks out as workers, the scheduler and the command each one
thing at a time):

| workers | extraction | workers busy | reading | writing | LS-SSC, first round of batches |
|---|---|---|---|---|---|
{rows}

The storage comes first: 100 workers ask it for {most["read_bytes_per_second"] / 1e9:.1f} GB/s, more than most have. One that gives 1 GB/s
needs {duration(costs["hours_at_one_gigabyte_a_second"])} for the million, however many workers there are. Processors, scheduler and command would stand 100
workers; the command would be the limit at about {round(limit(document), -1):,.0f}.
"""  # noqa: E501


def serial(document):
    """The parts that only the command itself does."""
    result = document["result"]
    seconds = result["million"]["serial_seconds"]
    rate = result["ls_ssc"]["read_bytes_per_second"] / 1e6
    reading = result["million"]["one_reading_of_all_rows_seconds"] / 3600
    booking = 1e6 * result["parent"]["book_elapsed_seconds_per_photo"]
    return f"""
- finding the files {seconds["scan"]:.0f} s and comparing likely twins {seconds["likely_twins"]:.0f} s here; on a network file system each costs a
  question to the server, and files of equal length have both ends read
- `--size auto` reads all headers with the processes of this machine: give `--size`
- booking outcomes: {booking:.0f} s, while workers work
- grouping begins with reading the catalogue, {seconds["open_store"]:.0f} s; workers do not read it, they are told where their rows lie
- between rounds of batches, merging, attracting and refining run in the command, and read all fingerprints again: one
  reading is {duration(reading)} of a core at {rate:.0f} MB/s, or what the storage gives. How many rounds there are depends
  on the photos; this part is not in the table
- evidence and the report
"""  # noqa: E501


def generated(document):
    """Every part of the page that holds a figure."""
    parts = {"tasks": tasks, "million": million, "serial": serial}
    return {name: part(document) for name, part in parts.items()}


def main():
    document = json.loads(RESULT.read_text())
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(filled(text, generated(document)), encoding="utf-8")
    print(f"written: {PAGE}")


if __name__ == "__main__":
    main()
