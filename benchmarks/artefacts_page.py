"""The table of docs/calibration.md of what cameras share, from `benchmarks.artefacts`."""

from collections.abc import Mapping
from typing import Any

from samecam.pages import power_of_ten, share, table


def rate(value: float) -> str:
    """A rate: three digits from .01 on, else as a power of ten."""
    if value == 0:
        return "0"
    return f"{value:.3f}".removeprefix("0") if value >= 0.01 else power_of_ten(value)


def changed(first: str, then: str) -> str:
    """Two figures, or the one that they are."""
    return first if first == then else f"{first} → {then}"


def shared(document: Mapping[str, Any]) -> str:
    """Counted rates with what is shared and without, but for the highest; what members lose."""
    lines, claims = [], list[str]()
    for one in document["result"]["sets"]:
        ways = [one[way] for way in ("with_it", "without")]
        claims = [f"{row['claimed']:f}".strip("0") for row in ways[0]["rates"][1:]]
        pairs = zip(*(way["rates"][1:] for way in ways), strict=True)
        many = f"{sum(one['found'])} of {sum(one['sharing'])}" if any(one["sharing"]) else "–"
        lines.append(
            [
                f"{one['set']} ({ways[0]['rates'][0]['n']:,})",
                many,
                str(sum(one["found_wrongly"])),
                *(changed(rate(a["rate"]), rate(b["rate"])) for a, b in pairs),
                changed(*(f"{way['members']['median']:.1f}" for way in ways)),
            ]
        )
    heads = ["set (comparisons counted)", "groups found", "wrongly", *claims, "members' median"]
    return table(heads, lines)


def stamped(document: Mapping[str, Any]) -> str:
    """Grouping and strangers that match, with everything in the frame and as it is."""
    lines = []
    for one in document["result"]:
        ways = [one[way] for way in ("everything", "default")]
        lines.append(
            [
                f"{one['stamp']} ({one['cameras']})",
                *(changed(*(share(way[name], 3) for way in ways)) for name in ("F", "P")),
                changed(*(str(way["groups"]) for way in ways)),
                changed(*(f"{way['matched']} of {way['strangers']}" for way in ways)),
            ]
        )
    return table(["printed (cameras)", "F", "precision", "groups", "strangers that match"], lines)


def generated(document: Mapping[str, Any]) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    return {"shared": shared(document)}
