"""The table of strangers in docs/views.md, from the figures of `benchmarks.strangers`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import record
from samecam.pages import Page, fill, table


def counted(document: Mapping[str, Any]) -> str:
    """Pairs of strangers, the largest score, and claimed against counted."""
    rows = []
    for name, some in document["result"].items():
        n = some["registrations"]
        claims = [
            f"{some['claimed'][rate]} ({some['expected'][rate]:g})" for rate in some["claimed"]
        ]
        rows.append([name, f"{n:,}", f"{some['largest_scores'][0]:.1f}", *claims])
    rates = next(iter(document["result"].values()))["claimed"]
    return table(["patterns", "pairs", "largest score", *(f"stated {r}" for r in rates)], rows)


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "views.md",
    "python -m benchmarks.pages",
    lambda text: fill(text, {"strangers": counted(record.load("strangers"))}),
)
