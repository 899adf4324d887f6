"""The table of docs/review.md, from `benchmarks.review`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import record
from samecam.pages import Page, fill, table


def speed(document: Mapping[str, Any]) -> str:
    """Milliseconds of pages, and of decisions with the page after them."""
    result = document["result"]
    rows = [
        [name, *(f"{times[key]:.0f}" for key in ("p50", "p95", "processor"))]
        for name, times in result["milliseconds"].items()
    ]
    start, page = result["start_seconds"], result["first_page_ms"]
    busy = max(result["load"]) > document["cores"] + 1
    others = (
        f" The machine was busy with other work (load {result['load'][0]:g} to "
        f"{result['load'][1]:g}), so that waiting is overstated; the processor's time is not."
    )
    first = (
        f"{result['photos']:,} photos on {document['cores']} cores: {start:.0f} s until the case "
        f"is read, {page:.0f} ms until the first page. An action is a decision, on the disk, and "
        "the page after it."
    ) + (others if busy else "")
    head = ["", "median, ms", "95 of 100 below, ms", "processor, mean, ms"]
    return f"{first}\n\n{table(head, rows)}"


def generated(document: Mapping[str, Any]) -> dict[str, str]:
    """Parts of the page by the names of their markers."""
    return {"speed": speed(document)}


def _page(text: str) -> str:
    return fill(text, generated(record.load("review")))


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "review.md", "python -m benchmarks.pages", _page
)
