"""The tables of docs/calibration.md, from the figures of `benchmarks.calibration`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import artefacts_page, record
from benchmarks.artefacts_page import rate
from samecam.pages import Page, fill, table

Document = Mapping[str, Any]
_FEW = 20
_SIZES = (1, 20, 60)  # groups of a case


def _cell(row: Mapping[str, Any]) -> str:
    """A counted rate; in brackets if few were counted, so that it says little."""
    return rate(row["rate"]) if row["count"] >= _FEW else f"({rate(row['rate'])})"


def rates(document: Document) -> str:
    """Counted rates for claimed ones, and strangers that match at a nominal .01 in a case."""
    sets = document["result"]["sets"]
    columns = range(len(sets[0]["rates"]))
    told = [k for k in columns if any(one["rates"][k]["count"] >= _FEW for one in sets)]
    lines = []
    for one in sets:
        found = {row["groups"]: row["matched"] / row["photos"] for row in one["matches"]}
        shares = [f"{100 * found[size]:.1f}%" if size in found else "–" for size in _SIZES]
        cells = [_cell(one["rates"][k]) for k in told]
        lines.append([f"{one['set']} ({one['rates'][0]['n']:,})", *cells, *shares])
    heads = [f"{sets[0]['rates'][k]['claimed']:f}".strip("0") for k in told]
    cases = [f"in {size} groups" if size > 1 else "match in 1 group" for size in _SIZES]
    return table(["set (comparisons)", *heads, *cases], lines)


def ratios(document: Document) -> str:
    """Cost of likelihood ratios, by the size of groups, and the largest that counts support."""
    lines = []
    heads: list[str] = []
    for one in document["result"]["sets"]:
        rows = [row for row in one["ratios"] if row["cameras"]]
        if rows:
            heads = [f"{row['group']} photos" for row in rows]
            bounds = sorted(row["elub"][1] for row in rows)
            supported = f"{bounds[0]:.1f} – {bounds[-1]:.1f}"
            lines.append([one["set"], *map(_cost, rows), supported, f"{one['cap']:.1f}"])
    return table(["set", *heads, "supported (log10)", "stated (log10)"], lines)


def _cost(row: Mapping[str, Any]) -> str:
    """Cllr, at best, and the equal-error rate."""
    cost, best = _short(row["cllr"]), _short(row["cllr_min"])
    return f"{cost} ({best}), {100 * row['eer']:.1f}%"


_WAYS = {
    "all": "all",
    "formed": "groups that samecam forms",
}


def draws(document: Document) -> str:
    """Cost of likelihood ratios of small groups, drawn several times."""
    lines = []
    for one in document["result"]["sets"]:
        for way, words in _WAYS.items():
            rows = [row for row in one.get("draws", ()) if way in row]
            if not rows:
                continue
            cost, best, same = (
                [row[way][name] for row in rows] for name in ("cllr", "cllr_min", "same")
            )
            cells = [_mean(cost), f"{_short(min(cost))} – {_short(max(cost))}", _mean(best)]
            lines.append([words, f"{sum(same) / len(same):.0f}", *cells])
    heads = ["counted", "comparisons", "Cllr, mean", "from – to", "at best"]
    return table(heads, lines)


def _mean(values: Sequence[float]) -> str:
    return _short(sum(values) / len(values))


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def kin(document: Document) -> str:
    """What bodies of one model get."""
    lines = []
    for one in document["result"]["sets"]:
        if one["kin_ratio"] is not None:
            fit = one["fitted_same_model"]
            lines.append(
                [
                    one["set"],
                    f"{one['same_model'][0]['n']:,}",
                    f"{fit['mean']:.2f}, {fit['scale']:.2f}",
                    f"{one['kin_ratio']:.1f}",
                    f"{100 * one['kin_misled']:.1f}%",
                ]
            )
    heads = ["set", "comparisons", "scores: mean, scale", "largest ratio (log10)", "above 10"]
    return table(heads, lines)


def scenes(document: Document) -> str:
    """Pairs of photographs that are alike at the threshold, in words."""
    given = document["result"]["scenes"]
    if not given:
        return ""
    pairs = given["alike_pairs"]["0.7"]
    return (
        f"Above .7 are {pairs['one_camera']} pairs of one camera and {pairs['different_cameras']} "
        f"of {given['pairs_of_different_cameras']:,} pairs of different cameras."
    )


def generated(document: Document) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    return {
        "rates": rates(document),
        "ratios": ratios(document),
        "draws": draws(document),
        "kin": kin(document),
        "scenes": scenes(document),
    }


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "calibration.md",
    "python -m benchmarks.pages",
    lambda text: fill(
        text,
        {
            **generated(record.load("calibration")),
            **artefacts_page.generated(record.load("artefacts")),
            "stamped": artefacts_page.stamped(record.load("stamps")),
        },
    ),
)
