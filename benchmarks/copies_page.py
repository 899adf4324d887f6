"""The tables of docs/copies.md, from the figures of `benchmarks.copies`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import record
from samecam.pages import Page, bullets, fill, listed, share, table


def recognised(document: Mapping[str, Any]) -> str:
    """Copies that are recognised, by kind; kinds of which none is are named below."""
    rows, never = [], []
    for row in document["result"]["kinds"]:
        if not row["recognised"]:
            never.append(row["kind"])
            continue
        telling = row["copies"] - row["without contrast"]
        known = row["recognised"] - row["recognised without contrast"]
        size = "same" if row["scale"] == 1 else share(row["scale"], 2)
        kind = f"{row['kind']}: {size}, {row['quality']}"
        rows.append([kind, f"{known}/{telling}", str(row["another original"])])
    head = ["copy: size, quality", "recognised", "of another photo"]
    wrong = sum(row["different photos as copies"] for row in document["result"]["kinds"])
    words = f"Recognised never: {listed(never or ['none'])}. Originals called copies: {wrong}."
    return f"{table(head, rows)}\n\n{words}"


def different(document: Mapping[str, Any]) -> str:
    """What different photos have in common, in words."""
    found, drawn = document["result"]["different"], document["result"]["drawn"]
    kinds = document["result"]["kinds"]
    plain, copies = kinds[0]["without contrast"], kinds[0]["copies"]
    return bullets(
        [
            f"Of {found['pairs']:,} pairs of originals {found['as copies']} are called copies; "
            f"{found['looking the same']} look the same (unmoving series), with "
            f"{share(found['most noise in common'], 3)} of noise in common at most.",
            f"Of pictures with little contrast (flat fields, dark walls) no copy is named: {plain} "
            f"of the {copies} copied photos, not in the table.",
            f"{drawn['screenshots that look drawn']} of {drawn['screenshots']} simulated "
            f"screenshots look drawn, and {drawn['photos that look drawn']} of "
            f"{drawn['photos']} photographs.",
        ]
    )


def generated(document: Mapping[str, Any]) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    return {"recognised": recognised(document), "different": different(document)}


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "copies.md",
    "python -m benchmarks.pages",
    lambda text: fill(text, generated(record.load("copies"))),
)
