"""The tables of docs/calibration.md, from the figures of `benchmarks.calibration`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import record
from samecam.pages import Page, fill, power_of_ten, table

Document = Mapping[str, Any]
_FEW = 20


def rate(value: float) -> str:
    """A rate: three digits from .01 on, else as a power of ten."""
    if value == 0:
        return "0"
    return f"{value:.3f}".removeprefix("0") if value >= 0.01 else power_of_ten(value)


def _cell(row: Mapping[str, Any]) -> str:
    """A counted rate; in brackets if few were counted, so that it says little."""
    text = f"{rate(row['rate'])} [{rate(row['low'])}, {rate(row['high'])}]"
    return text if row["count"] >= _FEW else f"({text})"


def rates(document: Document) -> str:
    """Counted rates for claimed ones."""
    lines = []
    heads: list[str] = []
    for one in document["result"]["sets"]:
        heads = [f"{row['claimed']:f}".strip("0") for row in one["rates"]]
        many = one["rates"][0]["n"]
        lines.append([f"{one['set']} ({many:,})", *map(_cell, one["rates"])])
        if one["same_model"] and "photographs" in one["set"]:
            many = one["same_model"][0]["n"]
            cells = map(_cell, one["same_model"])
            lines.append([f"{one['set']}, another body of the same model ({many:,})", *cells])
    return table(["set (comparisons counted)", *heads], lines)


def ratios(document: Document) -> str:
    """Cost of likelihood ratios, by the size of groups."""
    lines = []
    for one in document["result"]["sets"]:
        for row in one["ratios"]:
            if not row["cameras"]:
                continue
            lines.append(
                [
                    one["set"],
                    row["group"],
                    f"{row['same']:,}, {row['different']:,}",
                    f"{row['cllr']:.3f}".removeprefix("0"),
                    f"{row['cllr_min']:.3f}".removeprefix("0"),
                    f"{100 * row['eer']:.1f} %",
                    f"{row['elub'][1]:.1f}",
                    f"{one['cap']:.1f}",
                ]
            )
    heads = ["set", "photos in the group", "comparisons, one camera and two", "Cllr", "at best"]
    return table([*heads, "EER", "supported (log10)", "stated (log10)"], lines)


_WAYS = {
    "all": "all",
    "shown": "without photos that show nothing with all others of their camera",
    "formed": "groups that samecam forms, photos in none of them",
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
    heads = ["counted", "comparisons of one camera", "Cllr, mean", "from – to", "at best"]
    return table(heads, lines)


def _mean(values: Sequence[float]) -> str:
    return _short(sum(values) / len(values))


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def matches(document: Document) -> str:
    """Strangers that match at a nominal .01, by the number of groups."""
    sets = [one for one in document["result"]["sets"] if one["matches"]]
    sizes = sorted({row["groups"] for one in sets for row in one["matches"]})
    lines = []
    for one in sets:
        found = {row["groups"]: row for row in one["matches"]}
        cells = []
        for size in sizes:
            row = found.get(size)
            cells.append("–" if row is None else f"{100 * row['matched'] / row['photos']:.1f} %")
        lines.append([one["set"], *cells])
    return table(["set", *(f"{size} groups" if size > 1 else "1 group" for size in sizes)], lines)


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
                    f"{100 * one['kin_misled']:.1f} %",
                ]
            )
    heads = ["set", "comparisons", "mean and scale of scores", "largest ratio stated (log10)"]
    return table([*heads, "above 10"], lines)


def scenes(document: Document) -> str:
    """Pairs of photographs that are alike, by the threshold."""
    given = document["result"]["scenes"]
    lines = []
    for threshold, pairs in given["alike_pairs"].items() if given else ():
        others = f"{pairs['different_cameras']} of {given['pairs_of_different_cameras']:,}"
        lines.append([threshold.removeprefix("0"), str(pairs["one_camera"]), others])
    return table(["alike above", "pairs of one camera", "pairs of different cameras"], lines)


def generated(document: Document) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    return {
        "rates": rates(document),
        "ratios": ratios(document),
        "draws": draws(document),
        "matches": matches(document),
        "kin": kin(document),
        "scenes": scenes(document),
    }


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "calibration.md",
    "python -m benchmarks.pages",
    lambda text: fill(text, generated(record.load("calibration"))),
)
