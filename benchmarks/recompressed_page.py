"""The table of docs/design-notes/frames.md, from the figures of `benchmarks.recompressed`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import record
from samecam.pages import Page, bullets, fill, listed, share, table

Row = Mapping[str, Any]
HOPED = 0.9


def recompressed(document: Mapping[str, Any]) -> str:
    """F (P), unclustered photos and separation by fingerprint and quality."""
    rows = document["result"]
    qualities = list(dict.fromkeys(row["quality"] for row in rows))
    lines: dict[tuple[str, str, str], dict[int | None, str]] = {}
    for row in rows:
        cells = lines.setdefault((row["set"], row["area"], row["fingerprint"]), {})
        score = f"{share(row['F'], 3)} ({share(row['P'], 3)})"
        cells[row["quality"]] = f"{score}, {row['unclustered']}, {row['separation']:.1f}"
    head = ["set", "pixels", "fingerprint", *("once" if q is None else str(q) for q in qualities)]
    body = [[*key, *(cells.get(q, "–") for q in qualities)] for key, cells in lines.items()]
    return table(head, body)


def scored(document: Mapping[str, Any]) -> str:
    """How many photos of how many cameras were scored."""
    firsts: dict[str, Row] = {}
    for row in document["result"]:
        firsts.setdefault(row["set"], row)
    said = [f"{row['scored']} of {row['cameras']} cameras ({name})" for name, row in firsts.items()]
    return f"Photos that are scored: {listed(said)}."


def verdict(document: Mapping[str, Any]) -> str:
    """Which whole frames reach what was hoped for at the lowest quality."""
    worst = min(row["quality"] for row in document["result"] if row["quality"])
    last = [row for row in document["result"] if row["quality"] == worst]
    sentences = []
    for name in dict.fromkeys(row["set"] for row in last if row["set"] != "photographs"):
        mine = [row for row in last if row["set"] == name]
        said = [f"{share(row['F'], 3)} ({row['area']}, {row['fingerprint']})" for row in mine]
        enough = [
            row["fingerprint"] for row in mine if "×" in row["area"] and row["F"] >= HOPED
        ] or ["none"]
        sentences.append(
            f"Quality {worst}, {name}: F {listed(said)}. Whole frames with at least "
            f"{share(HOPED, 1)}, which was hoped for: {listed(enough)}."
        )
    return bullets(sentences)


def quantised(document: Mapping[str, Any]) -> str:
    """Separation, F (P) and bytes by the number of pixels and of bits."""
    kinds = ("float", "int8", "2 bits", "1 bit")
    lines: dict[str, dict[str, str]] = {}
    for row in document["result"]["photographs"]:
        cells = lines.setdefault(f"photographs, {row['pixels'] / 1e6:.1f} MP", {})
        cells[row["kind"]] = _quantised_cell(row)
    for row in document["result"]["frames"]:
        pixels = row["width"] * row["height"] / 1e6
        cells = lines.setdefault(f"phones, centre of {pixels:.1f} MP", {})
        cells[row["kind"]] = _quantised_cell(row) + f", {row['bytes'] / 1e6:.2g} MB"
    return table(["set", *kinds], [[name, *(c[k] for k in kinds)] for name, c in lines.items()])


def _quantised_cell(row: Row) -> str:
    return f"{row['separation']:.2f}, {share(row['F'], 3)} ({share(row['P'], 3)})"


def generated(document: Mapping[str, Any]) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    parts = {"recompressed": recompressed, "scored": scored, "verdict": verdict}
    made = {name: make(document) for name, make in parts.items()}
    return {**made, "quantised": quantised(record.load("quantised"))}


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "design-notes" / "frames.md",
    "python -m benchmarks.pages",
    lambda text: fill(text, generated(record.load("recompressed"))),
)
