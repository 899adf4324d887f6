"""The tables of docs/design-notes/consolidated.md, from `benchmarks.consolidated_study`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import record
from benchmarks.consolidated_sets import TRIPOD
from samecam.pages import Page, fill, table

Row = Mapping[str, Any]
# Heads of columns, and what the families of sets in them have in their names.
COLUMNS = {
    "whole": ("whole",),
    "½ photos": ("half of the photos",),
    "½ cameras": ("half of the cameras",),
    "8 each": ("8 a camera",),
    "5 each": ("5 a camera",),
    "no tripod": (f"without {TRIPOD}",),
    "60 × 10–50": ("simulated 60",),
    "120 × 5–15": ("simulated 120",),
    "strangers": ("strangers",),
    "kin ≤ 30 %": ("share 10%", "share 20%", "share 30%"),
    "kin 40 %": ("share 40%",),
    "scenes": ("scenes",),
}


def base_rows(document: Mapping[str, Any]) -> dict[str, Row]:
    """Rows of the method as it is, by family of sets."""
    rows = document["result"]["variants"]
    return {row["family"]: row for row in rows if row["variant"] == rows[0]["variant"]}


def losses(document: Mapping[str, Any]) -> str:
    """What the method as it is loses, family by family."""
    base, lines = base_rows(document), []
    for one in document["result"]["losses"]:
        row = base[one["family"]]
        score = ["–", "–", "–"]
        if "F" in row:
            score = [
                f"{row['F']:.3f} ({row['F_sd']:.3f}, {row['F_min']:.3f})",
                f"{row['P']:.3f} ({row['P_min']:.3f})",
                f"{row['R']:.3f}",
            ]
        kin = max((pair["share"] for pair in one["nearest_strangers"]), default=0)
        why = (one["lost_below_needed"], one["lost_without_group"], one["lost_dark"])
        lines.append(
            [
                *(one["family"], str(row["sets"]), *score),
                f"{one['lost']} of {one['photos']}",
                ", ".join(map(str, why)),
                *(str(one["wrong"]), str(one["split"]), f"{kin:.2f}"),
            ]
        )
    head = [
        *("set", "sets", "F (s.d., least)", "P (least)", "R", "lost"),
        *("too weak, no group, dark", "wrong", "split", "kin"),
    ]
    return table(head, lines)


def variants(document: Mapping[str, Any]) -> str:
    """What every variant changes, in columns of sets."""
    base, rows = base_rows(document), document["result"]["variants"]
    lines = []
    for name in list(dict.fromkeys(row["variant"] for row in rows))[1:]:
        mine = [row for row in rows if row["variant"] == name]
        cells = [
            change([row for row in mine if any(key in row["family"] for key in keys)], base)
            for keys in COLUMNS.values()
        ]
        noise = next(row["strangers"] for row in mine if row["family"].startswith("noise"))
        won, lost = (sum(row.get(key, 0) for row in mine) for key in ("better", "worse"))
        lines.append([mine[0]["letter"], name, *cells, f"{noise:g}", f"{won} : {lost}"])
    head = ["", "variant", *COLUMNS, "noise", "sets better : worse"]
    return table(head, lines).replace("|  | variant", "| | variant", 1)


def change(rows: Sequence[Row], base: Mapping[str, Row]) -> str:
    """Change of F and of P in thousandths, mean over families; nothing if there are none."""
    if not rows:
        return "–"
    changes = [fmean(row[key] - base[row["family"]][key] for row in rows) for key in "FP"]
    return "/".join(
        f"{1000 * one:+.0f}".replace("+0", "0").replace("-0", "0").replace("-", "−")
        for one in changes
    )


def generated(document: Mapping[str, Any]) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    return {"losses": losses(document), "variants": variants(document)}


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "design-notes" / "consolidated.md",
    "python -m benchmarks.pages",
    lambda text: fill(text, generated(record.load("consolidated_study"))),
)
