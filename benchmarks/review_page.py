"""The figures of docs/review.md, from `benchmarks.review`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import record
from samecam.pages import Page, fill


def speed(document: Mapping[str, Any]) -> str:
    """Milliseconds of pages, and of decisions with the page after them, in words."""
    result = document["result"]
    pages, actions = (
        [times for name, times in result["milliseconds"].items() if name.startswith(kind)]
        for kind in ("page", "action")
    )
    busy = max(result["load"]) > document["cores"] + 1
    return (
        f"{result['photos']:,} photos on {document['cores']} cores: "
        f"{result['start_seconds']:.0f} s until the case is read, "
        f"{result['first_page_ms']:.0f} ms until the first page. Then a page takes "
        f"{_between(pages)}, a decision, on the disk and with the page after it, "
        f"{_between(actions)}."
    ) + (" The machine was busy with other work." if busy else "")


def _between(some: Sequence[Mapping[str, float]]) -> str:
    """Medians, and below what the slowest stays in 95 of 100."""
    middle = [times["p50"] for times in some]
    slowest = max(times["p95"] for times in some)
    return f"{min(middle):.0f} to {max(middle):.0f} ms (95 of 100 below {slowest:.0f})"


def generated(document: Mapping[str, Any]) -> dict[str, str]:
    """Parts of the page by the names of their markers."""
    return {"speed": speed(document)}


def _page(text: str) -> str:
    return fill(text, generated(record.load("review")))


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "review.md", "python -m benchmarks.pages", _page
)
