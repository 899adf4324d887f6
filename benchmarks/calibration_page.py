"""The tables of docs/calibration.md, from the figures of `benchmarks.calibration`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import record
from samecam.pages import Page, fill, power_of_ten, table

Document = Mapping[str, Any]
CLAIMS = (0.1, 0.01, 0.001, 0.0001)


def rate(value: float) -> str:
    """A rate: three digits from .01 on, else as a power of ten."""
    if value == 0:
        return "0"
    return f"{value:.3f}".removeprefix("0") if value >= 0.01 else power_of_ten(value)


def rates(document: Document, law: str) -> str:
    """Counted rates, with their intervals, for claimed ones; only the normal law has no floor."""
    rows = document["result"]["rates"]
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        mine = [row for row in rows if row["set"] == name]
        cells = [f"{name} ({mine[0]['comparisons']:,})"]
        for claim in CLAIMS:
            row = min(mine, key=lambda row: abs(row["claimed"] / claim - 1))
            counted = row[law]
            text = f"{rate(counted['rate'])} [{rate(counted['low'])}, {rate(counted['high'])}]"
            cells.append(text if row["supported"] or law == "normal" else "–")
        lines.append(cells)
    heads = [f"{claim:f}".strip("0") for claim in CLAIMS]
    return table(["set (comparisons counted)", *heads], lines)


def scenes(document: Document) -> str:
    """Pairs of photographs that are alike, by the threshold."""
    photographs = document["result"]["photographs"]
    lines = []
    for threshold, pairs in photographs[0]["alike_pairs"].items() if photographs else ():
        others = f"{pairs['different_cameras']} of {photographs[0]['pairs_of_different_cameras']:,}"
        lines.append([threshold.removeprefix("0"), str(pairs["one_camera"]), others])
    return table(["alike above", "pairs of one camera", "pairs of different cameras"], lines)


def links(document: Document) -> str:
    """Groups, floors and PCE on the photographs."""
    lines = []
    for one in document["result"]["photographs"]:
        low, _, middle, _, high = one["pce_quantiles"]
        lines.append(
            [
                (f"{one['size']}²" if isinstance(one["size"], int) else one["size"])
                + (", grid not removed" if one["preset"] == "paper" else ""),
                str(one["groups"]),
                str(one["clustered"]),
                rate(one["floor"]),
                str(one["links_at_floor"]),
                f"{middle:.0f} ({low:.0f}, {high:.0f})",
                f"{100 * one['pce_above_60']:.0f} %",
                f"{1e3 * one['pce_seconds_a_photo']:.0f}",
            ]
        )
    head = [
        *("fingerprints", "groups", "clustered photos", "floor of one comparison"),
        *("links within 10 % of the floor", "PCE, median (5 %, 95 %)", "PCE above 60"),
        "PCE, ms a photo",
    ]
    return table(head, lines)


def generated(document: Document) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    return {
        "stated": rates(document, "stated"),
        "fitted": rates(document, "fitted"),
        "normal": rates(document, "normal"),
        "scenes": scenes(document),
        "links": links(document),
    }


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "calibration.md",
    "python -m benchmarks.pages",
    lambda text: fill(text, generated(record.load("calibration"))),
)
