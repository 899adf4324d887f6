"""The tables of docs/design-notes/consolidated.md, from `benchmarks.consolidated_study`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import record
from benchmarks.consolidated_sets import TRIPOD
from samecam.pages import Page, fill, share, table

Row = Mapping[str, Any]
PARTS = ("whole", "8 a camera", "5 a camera")
# Of the families of sets, those that the page shows, as their names begin; all are in the JSON.
FAMILIES = (
    *(f"photographs {size}² default, {part}" for size in (512, 1024) for part in PARTS),
    "simulated 60 × 10–50, m = 0.01",
    "simulated 120 × 5–15, m = 0.01",
    "simulated 120 × 5–15, m = 0.002",
    "simulated 20 × 50",
    "simulated 15 pairs of cameras that share 40%",
    "simulated 30 cameras",
    "noise",
)
# Heads of columns, and what the families of sets in them have in their names.
COLUMNS = {
    "photographs": ("photographs",),
    "no tripod": (f"without {TRIPOD}",),
    "simulated": ("simulated 60", "simulated 120", "strangers"),
    "kin ≤ 30 %": ("share 10%", "share 20%", "share 30%"),
    "kin 40 %": ("share 40%",),
}
# Variants that the page shows, and what it calls them; all are in the JSON.
VARIANTS = {
    "join rate 0.05": "join rate .05",
    "join rate 0.001": "join rate .001",
    "join rate shared by weakness": "join rate shared by weakness",
    "strangers at most ½ in all": "strangers: ½ in all",
    "neither": "no measured scales",
    "fixed 3.5 σ, nothing dissolves": "fixed 3.5 σ",
    "likelihood ratio": "merge: likelihood ratio",
    "chance and H₁/3": "merge: H₁/3",
    "chance and H₁/4": "merge: H₁/4",
    "H₁/2 less 2 σ of chance": "merge: H₁/2 − 2 σ",
    "chance alone": "merge: chance alone",
    "then LASSO of the rest beside groups": "a second LASSO",
    "start from strongest correlations": "start without LASSO",
    "start from the truth": "start: the truth",
    "dark photos found no group": "dark photos found none",
    "softer joining, k = 1, rate .02": "softer joining",
    "H₁ from the median pair": "H₁ from the median",
    "members weighted by strength": "weights by strength",
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
        if not row["family"].startswith(FAMILIES):
            continue
        score = [share(row[key], 3) for key in "FP"] if "F" in row else ["–", "–"]
        kin = max((pair["share"] for pair in one["nearest_strangers"]), default=0)
        lines.append(
            [
                *(one["family"].replace(" default", "").removeprefix("simulated "), *score),
                f"{one['lost']} of {one['photos']} ({one['lost_below_needed']})",
                *(str(one["wrong"]), str(one["split"]), f"{kin:.2f}"),
            ]
        )
    return table(["set", "F", "P", "lost (too weak)", "wrong", "split", "kin"], lines)


def variants(document: Mapping[str, Any]) -> str:
    """What every variant changes, in columns of sets."""
    base, rows = base_rows(document), document["result"]["variants"]
    lines = []
    for name in dict.fromkeys(row["variant"] for row in rows if row["variant"] in VARIANTS):
        mine = [row for row in rows if row["variant"] == name]
        cells = [
            change([row for row in mine if any(key in row["family"] for key in keys)], base)
            for keys in COLUMNS.values()
        ]
        noise = next(row["strangers"] for row in mine if row["family"].startswith("noise"))
        lines.append([VARIANTS[name], *cells, f"{noise:g}"])
    return table(["variant", *COLUMNS, "noise"], lines)


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
