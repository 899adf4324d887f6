"""The tables of docs/copies.md, from the figures of `benchmarks.copies`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import record
from samecam.pages import Page, bullets, fill, share, table


def recognised(document: Mapping[str, Any]) -> str:
    """Copies that are recognised, by kind."""
    rows = []
    for row in document["result"]["kinds"]:
        telling = row["copies"] - row["without contrast"]
        known = row["recognised"] - row["recognised without contrast"]
        size = "same" if row["scale"] == 1 else share(row["scale"], 2)
        rows.append(
            [
                *(row["kind"], size, str(row["quality"]), f"{known} of {telling}"),
                str(row["another original"]),
                str(row["different photos as copies"]),
            ]
        )
    head = ["copy", "size", "quality", "recognised", "of another photo", "originals called copies"]
    return table(head, rows)


def different(document: Mapping[str, Any]) -> str:
    """What different photos have in common, in words."""
    found, drawn = document["result"]["different"], document["result"]["drawn"]
    kinds = document["result"]["kinds"]
    plain, copies = kinds[0]["without contrast"], kinds[0]["copies"]
    seconds = [
        f"{row['pictures']:,} in {row['seconds']:g} s" for row in document["result"]["look up"]
    ]
    return bullets(
        [
            f"{found['photos']} originals, {found['pairs']:,} pairs: {found['alike']} look alike, "
            f"{found['looking the same']} of them the same (unmoving series). The most noise that "
            f"two of these have in common is {share(found['most noise in common'], 3)}. Called "
            f"copies: {found['as copies']}.",
            f"{plain} of the {copies} photos that were copied have too little contrast (flat "
            "fields, dark walls) and are not in the table: of such pictures no copy is ever named.",
            f"Of {drawn['screenshots']} simulated screenshots "
            f"{drawn['screenshots that look drawn']} look like graphics, and "
            f"{drawn['photos that look drawn']} of the {drawn['photos']} photographs.",
            f"Looking up different random pictures, one core: {', '.join(seconds)}.",
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
