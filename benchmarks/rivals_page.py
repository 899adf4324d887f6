"""The tables of docs/rivals.md, from the figures of `benchmarks.rivals`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import record
from samecam.pages import Page, fill, table

Row = Mapping[str, Any]
KINDS = {
    "512², paper": "512², paper steps",
    "512², default": "512², default",
    "1024², paper": "1024², paper steps",
    "1024², default": "1024², default",
}
HARD = ("twin of D2", "twin of D4")


def options_of(row: Row) -> str:
    """What differs from a method's defaults."""
    if row.get("tuned_on_truth"):
        return "threshold by the truth"
    given = {key: value for key, value in row["options"].items() if key != "metric"}
    said = [f"{key} {value}" for key, value in given.items()]
    if row["options"].get("metric") == "correlation":
        said.append("from fingerprints")
    return ", ".join(said)


def rows_by_method(
    rows: Sequence[Row], names: Sequence[str], cell: Callable[[Row], str]
) -> list[list[str]]:
    """A line for each method and its options, a cell for each set; empty where it was not run."""
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        cells = lines.setdefault((row["method"], options_of(row)), {})
        cells[row["set"]] = cell(row)
    return [
        [method, given, *(cells.get(name, "") for name in names)]
        for (method, given), cells in lines.items()
    ]


def part_of(document: Mapping[str, Any], part: str) -> list[Row]:
    return [row for row in document["result"] if row["part"] == part]


def real(document: Mapping[str, Any]) -> str:
    """F (precision) groups on photographs."""
    names = [f"photographs, {kind}" for kind in KINDS]

    def cell(row: Row) -> str:
        return f"{row['F']:.3f} ({row['P']:.2f}) {row['clusters']:.0f}"

    rows = rows_by_method(part_of(document, "real"), names, cell)
    return table(["method", "options", *KINDS.values()], rows)


def published(document: Mapping[str, Any]) -> str:
    """F and groups over cameras on sets of the shapes of the published table."""
    rows = part_of(document, "table")
    names = list(dict.fromkeys(row["set"] for row in rows))

    def cell(row: Row) -> str:
        printed = f" (print {row['published_F']:.2f})" if "published_F" in row else ""
        return f"{row['F']:.2f}, {row['clusters']:.0f}/{row['cameras']}{printed}"

    heads = [name.split(",")[0] for name in names]
    return table(["method", "options", *heads], rows_by_method(rows, names, cell))


def short(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def twins(document: Mapping[str, Any]) -> str:
    """F on the twins of the published collections, best first, ours and those in print."""
    rows = part_of(document, "twins")
    names = list(dict.fromkeys(row["set"] for row in rows))
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        mine = {row["set"]: row for row in rows if row["method"] == method}
        hard = [mine[name] for name in HARD if name in mine]
        if method != "consolidated" and "published_F" not in next(iter(mine.values())):
            continue
        mean = fmean(row["F"] for row in hard) if hard else 0.0
        printed = [row["published_F"] for row in hard if "published_F" in row]
        cells = [short(mine[name]["F"]) for name in names]
        last = short(fmean(printed)) if printed else ""
        lines.append((-mean, [method, *cells, short(mean), last]))
    first, *rest = names
    heads = [first, *(name.removeprefix("twin of ") for name in rest)]
    more = ["mean of D2 and D4", "in print, mean of D2 and D4"]
    return table(["method", *heads, *more], [line for _, line in sorted(lines)])


def speed(document: Mapping[str, Any]) -> str:
    """F, groups and seconds on many cameras, and what becomes of strangers."""
    rows = part_of(document, "speed")
    names = list(dict.fromkeys(row["set"] for row in rows))

    def cell(row: Row) -> str:
        if row["set"] == "noise":
            return f"{row['images'] - row['unclustered']:.0f}, {row['seconds']:.1f}"
        return f"{row['F']:.3f}, {row['clusters']:.0f}, {row['seconds']:.1f}"

    heads = [
        f"{names[0].split(',')[0]}: F, clusters, seconds",
        "strangers: photos in groups, seconds",
    ]
    return table(["method", "options", *heads], rows_by_method(rows, names, cell))


def generated(document: Mapping[str, Any]) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    return {
        "real": real(document),
        "published": published(document),
        "twins": twins(document),
        "speed": speed(document),
    }


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "rivals.md",
    "python -m benchmarks.pages",
    lambda text: fill(text, generated(record.load("rivals"))),
)
