"""Numbers in sentences and tables, formatted the same way everywhere."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from samecam.experiments._grid import behind, cell

_TIE = 2e-6


def share(value: float) -> str:
    """A number between 0 and 1 with two digits, three where it would round to 1."""
    text = f"{value:.2f}" if value < 0.995 else f"{value:.3f}"
    return "1" if text == "1.000" else text.removeprefix("0")


def with_spread(row: Mapping[str, Any], name: str = "f") -> str:
    """Mean ± standard deviation of a method with chance in it, else the number alone."""
    spread = f" ± {share(row[f'{name}_spread'])}" if row["runs"] > 1 else ""
    return share(row[name]) + spread


def count(value: float) -> str:
    """A mean of counts: whole where it is."""
    return f"{value:.0f}" if abs(value - round(value)) < 0.05 else f"{value:.1f}"


def span(low: str, high: str) -> str:
    """Two numbers as a range, or the one that they are."""
    return low if low == high else f"{low} to {high}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def listed(words: Sequence[str]) -> str:
    """One, two and three."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def standing(result: Mapping[str, Any], configurations: Sequence[str]) -> str:
    """Sentences on whether ours is ahead: where it is behind, of whom, by how much, and why.

    Only what is the same to six digits, as results are kept, is level.
    """
    ahead = behind(result, _TIE)
    ties = _ties(result, configurations)
    also = f" Level with ours: {'; '.join(ties)}." if ties else ""
    if not ahead:
        shown = "" if len(configurations) == 1 else f" on any of these {len(configurations)}"
        return f"In F, no method is ahead of ours{shown}.{also}"
    places = sorted({row["configuration"] for row in ahead}, key=list(configurations).index)
    words = [f"{row['label']} on {row['configuration']} {_against(row)}" for row in ahead]
    free = len(configurations) - len(places)
    reasons = [_why(result, place, ahead) for place in places]
    first = f"In F, no method is ahead of ours on {free} of {len(configurations)}.{also} "
    return (
        f"{first if free else also.lstrip() + ' ' * bool(also)}**Ahead of ours in F:** "
        f"{'; '.join(words)}. {' '.join(reasons)}"
    )


def _against(row: Mapping[str, Any]) -> str:
    """Both F, with as many digits as it takes to tell them apart."""
    for digits in (3, 4, 5, 6):
        theirs, ours = f"{row['f']:.{digits}f}", f"{row['ours']:.{digits}f}"
        if theirs != ours:
            break
    return f"({theirs} against {ours})"


def _why(result: Mapping[str, Any], place: str, ahead: Sequence[Mapping[str, Any]]) -> str:
    """What ours loses in a place where it is behind, as far as its scores tell."""
    ours = cell(result, place, "ours")
    assert ours is not None
    others = [row for row in ahead if row["configuration"] == place]
    said = (
        f"On {place} ours has precision {share(ours['precision'])}, recall "
        f"{share(ours['recall'])}, {count(ours['n_clusters'])} groups for "
        f"{count(ours['n_cameras'])} cameras, photos left alone: {count(ours['n_unclustered'])}"
    )
    if ours["n_unclustered"] > max(row["n_unclustered"] for row in others):
        return (
            f"{said}, more than those ahead of it: it asks for evidence before a photo joins a "
            "group, which costs recall where guessing is right."
        )
    if ours["n_clusters"] > ours["n_cameras"]:
        return f"{said}: it splits a camera where it cannot show that two groups are one."
    if ours["precision"] < min(row["precision"] for row in others):
        return f"{said}: more of its pairs are wrong than of those ahead of it."
    return f"{said}: the difference is in single photos."


def level(result: Mapping[str, Any], configurations: Sequence[str]) -> int:
    """On how many configurations another method has the F of ours."""
    return sum(bool(_ties(result, [name])) for name in configurations)


def _ties(result: Mapping[str, Any], configurations: Sequence[str]) -> list[str]:
    """Methods with the F of ours, with where."""
    found: dict[str, list[str]] = {}
    for row in result["rows"]:
        ours = cell(result, row["configuration"], "ours")
        if ours is None or row["method"] == "ours" or not row["runs"]:
            continue
        if abs(row["f"] - ours["f"]) <= _TIE and row["configuration"] in configurations:
            found.setdefault(row["label"], []).append(row["configuration"])
    return [f"{label} on {listed(names)}" for label, names in found.items()]
