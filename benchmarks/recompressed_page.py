"""The table of docs/design-notes/frames.md, from the figures of `benchmarks.recompressed`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import record
from samecam.pages import Page, fill, listed, share, table

Row = Mapping[str, Any]
# Qualities that the page does not show; all are in the JSON.
LEFT_OUT = (65,)
# Settings of residuals that the page does not show either.
FILTERS_LEFT_OUT = (
    "one grid, σ = 4",
    "eight grids",
    "two grids, guided filter, radius 3",
    "two grids, frequencies evened",
    "wavelet domain, bands half evened",
)


def recompressed(document: Mapping[str, Any]) -> str:
    """F (P) and separation by fingerprint and quality."""
    rows = [row for row in document["result"] if row["quality"] not in LEFT_OUT]
    qualities = list(dict.fromkeys(row["quality"] for row in rows))
    lines: dict[tuple[str, str], dict[int | None, str]] = {}
    for row in rows:
        whole = row["set"].endswith(row["area"])
        name = row["set"] if whole else f"{row['set']}, {row['area']}"
        cells = lines.setdefault((name, row["fingerprint"]), {})
        score = f"{share(row['F'], 3)} ({share(row['P'], 3)})"
        cells[row["quality"]] = f"{score}, {row['separation']:.1f}"
    head = ["set", "fingerprint", *("once" if q is None else str(q) for q in qualities)]
    body = [[*key, *(cells.get(q, "–") for q in qualities)] for key, cells in lines.items()]
    return table(head, body)


def scored(document: Mapping[str, Any]) -> str:
    """How many photos were scored."""
    firsts: dict[str, Row] = {}
    for row in document["result"]:
        firsts.setdefault(row["set"], row)
    said = [f"{row['scored']} ({name})" for name, row in firsts.items()]
    return f"Photos scored: {listed(said)}."


def quantised(document: Mapping[str, Any]) -> str:
    """Separation and F by the number of pixels and of bits."""
    kinds = ("float", "int8", "2 bits", "1 bit")
    lines: dict[str, dict[str, str]] = {}
    for row in document["result"]["photographs"]:
        cells = lines.setdefault(f"photographs, {row['pixels'] / 1e6:.1f} MP", {})
        cells[row["kind"]] = _quantised_cell(row)
    for row in document["result"]["frames"]:
        pixels = row["width"] * row["height"] / 1e6
        cells = lines.setdefault(f"phones, {pixels:.1f} MP", {})
        cells[row["kind"]] = _quantised_cell(row)
    return table(["set", *kinds], [[name, *(c[k] for k in kinds)] for name, c in lines.items()])


def _quantised_cell(row: Row) -> str:
    return f"{row['separation']:.1f}, {share(row['F'], 3)}"


def filters(document: Mapping[str, Any]) -> str:
    """Pairs above strangers, cost of small groups and F (P) by filter and quality."""
    rows = [row for row in document["result"] if row["filter"] not in FILTERS_LEFT_OUT]
    again = [quality for quality in dict.fromkeys(row["quality"] for row in rows) if quality]
    by_name: dict[str, dict[int | None, Row]] = {}
    for row in rows:
        by_name.setdefault(row["filter"], {})[row["quality"]] = row

    def scored(row: Row | None) -> str:
        return f"{share(row['F'], 3)} ({share(row['P'], 3)})" if row else "–"

    head = [
        "residual",
        "above",
        "Cllr at best",
        "five each",
        "F (P)",
        *(f"quality {q}" for q in again),
    ]
    body = [
        [
            name,
            share(one[None]["above"], 3),
            share(one[None]["cllr_min"], 3),
            share(one[None]["F_five"], 3),
        ]
        + [scored(one.get(quality)) for quality in (None, *again)]
        for name, one in by_name.items()
    ]
    return table(head, body)


def network(document: Mapping[str, Any]) -> str:
    """What networks gain on cameras they never saw, mean of two folds."""
    lines = []
    for name, told in document["result"].items():
        once, again = (
            {key: sum(fold[q][key] for fold in told["folds"]) / 2 for key in told["folds"][0][q]}
            for q in ("None", "80")
        )
        shown = (once["above"], once["cllr_min"], once["F_five"])
        scores = (f"{share(one['F'], 3)} ({share(one['P'], 3)})" for one in (once, again))
        lines.append([name, *(share(value, 3) for value in shown), *scores])
    return table(["residual", "above", "Cllr at best", "five each", "F (P)", "quality 80"], lines)


def generated(document: Mapping[str, Any]) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    parts = {"recompressed": recompressed, "scored": scored}
    made = {name: make(document) for name, make in parts.items()}
    made["filters"] = filters(record.load("filters"))
    made["network"] = network(record.load("gpu.network"))
    return {**made, "quantised": quantised(record.load("quantised"))}


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "design-notes" / "frames.md",
    "python -m benchmarks.pages",
    lambda text: fill(text, generated(record.load("recompressed"))),
)
