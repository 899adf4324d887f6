"""The tables of docs/rivals.md, from the figures of `benchmarks.rivals`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import record
from samecam.pages import Page, fill, share, table

Row = Mapping[str, Any]
# Sets of the first table, and what the page calls them.
SETS = {
    "photographs, 512², default": "512²",
    "photographs, 1024², default": "1024²",
    "66 cameras, m = 0.02": "66 cameras, seconds",
    "noise": "strangers in groups",
}
# Options that the page shows beside a method's defaults; all are in the JSON.
SHOWN: dict[str, dict[str, str]] = {
    "": {},
    ", measured": {"null": "measured"},
    ", measured, from fingerprints": {"null": "measured", "metric": "correlation"},
}


def rows_by_method(
    rows: Sequence[Row], names: Sequence[str], cell: Callable[[Row], str]
) -> list[list[str]]:
    """A line for each method and options shown, a cell for each set; empty where it was not run."""
    lines: dict[str, dict[str, str]] = {}
    for row in rows:
        for said, options in SHOWN.items():
            if row["options"] == options and not row.get("tuned_on_truth"):
                lines.setdefault(row["method"] + said, {})[row["set"]] = cell(row)
    return [[method, *(cells.get(name, "") for name in names)] for method, cells in lines.items()]


def part_of(document: Mapping[str, Any], part: str) -> list[Row]:
    return [row for row in document["result"] if row["part"] == part]


def real(document: Mapping[str, Any]) -> str:
    """F (precision) on photographs and on many cameras, and what becomes of strangers."""

    def cell(row: Row) -> str:
        if row["set"] == "noise":
            return f"{row['images'] - row['unclustered']:.0f}"
        score = f"{share(row['F'], 3)} ({share(row['P'])})"
        return f"{share(row['F'], 3)}, {row['seconds']:.1f}" if row["part"] == "speed" else score

    rows = [row for part in ("real", "speed") for row in part_of(document, part)]
    return table(["method", *SETS.values()], rows_by_method(rows, list(SETS), cell))


def published(document: Mapping[str, Any]) -> str:
    """F and groups over cameras on sets of the shapes of the published table."""
    rows = [row for row in part_of(document, "table") if not row["options"]]
    names = list(dict.fromkeys(row["set"] for row in rows))

    def cell(row: Row) -> str:
        printed = f" ({share(row['published_F'])})" if "published_F" in row else ""
        return f"{share(row['F'])}{printed}"

    heads = [name.split(",")[0] for name in names]
    return table(["method", *heads], rows_by_method(rows, names, cell))


def generated(document: Mapping[str, Any]) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    return {"real": real(document), "published": published(document)}


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "rivals.md",
    "python -m benchmarks.pages",
    lambda text: fill(text, generated(record.load("rivals"))),
)
