"""The tables of docs/views.md, from figures of `benchmarks.strangers` and `benchmarks.views`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import record
from samecam.pages import Page, fill, table


def counted(document: Mapping[str, Any]) -> str:
    """Pairs of strangers, the largest score, and claimed against counted."""
    rows = []
    for name, some in document["result"].items():
        claims = [
            f"{some['claimed'][rate]} ({some['expected'][rate]:g})" for rate in some["claimed"]
        ]
        largest = f"{some['largest_scores'][0]:.1f}"
        rows.append([name, f"{some['registrations']:,}", largest, *claims])
    rates = next(iter(document["result"].values()))["claimed"]
    return table(["patterns", "pairs", "largest score", *(f"stated {r}" for r in rates)], rows)


def cost(documents: Mapping[str, Mapping[str, Any]]) -> str:
    """Seconds of the coarse search and of fits."""
    rows = []
    for on, document in documents.items():
        for run in document["result"]["runs"]:
            fits = sum(part["fits"] for part in run["searches"])
            pairs = sum(part["pairs"] for part in run["searches"])
            seconds = [f"{run[name]['wall']:.1f}" for name in ("coarse", "fit")]
            rows.append([on, str(run["groups"]), str(pairs), seconds[0], str(fits), seconds[1]])
    head = ["on", "groups", "pairs, all searches", "coarse search, s", "fits", "fits, s"]
    return table(head, rows)


def generated(document: Mapping[str, Any]) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    machines = {"2 cores": record.load("views"), "NVIDIA H200": record.load("gpu.views")}
    return {"strangers": counted(document), "cost": cost(machines)}


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "views.md",
    "python -m benchmarks.pages",
    lambda text: fill(text, generated(record.load("strangers"))),
)
