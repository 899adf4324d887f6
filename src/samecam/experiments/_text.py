"""Text on the rows of a result: how ours compares, what failed, means with their spread."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from samecam.experiments._grid import behind, best_first, cell, mean_of
from samecam.pages import count, listed, share

_TIE = 2e-6
_MOST = 6


def standing(result: Mapping[str, Any], configurations: Sequence[str]) -> list[str]:
    """Sentences on whether ours is ahead: where it is behind, of whom, by how much, and why.

    Only what is the same to six digits, as results are kept, is level.
    """
    ahead = behind(result, _TIE)
    places = [name for name in configurations if any(r["configuration"] == name for r in ahead)]
    free, total = len(configurations) - len(places), len(configurations)
    sentences = _not_first(result, configurations)
    if not places:
        shown = "" if total == 1 else f" on any of these {total}"
        sentences.append(f"In F, no method is ahead of ours{shown}.")
    elif free:
        sentences.append(f"In F, no method is ahead of ours on {free} of {total}.")
    if places:
        sentences.append(f"**Ahead of ours in F:** {_leads(ahead)}.")
    sentences += [_why(result, place, ahead) for place in places]
    ties = _ties(result, configurations)
    if ties:
        easy = sum(bool(_ties(result, [name])) for name in configurations)
        where = "" if total == 1 else f" on {easy} of {total}"
        sentences.append(
            f"Level with ours{where}, where F does not tell the best apart: {'; '.join(ties)}."
        )
    return sentences


def _not_first(result: Mapping[str, Any], configurations: Sequence[str]) -> list[str]:
    """Where methods are listed the best first and that is not ours: what both have, in the mean."""
    if not result.get("best_first"):
        return []
    (first, label), *_ = best_first(result, configurations)
    if first == "ours" or all(row["method"] != "ours" for row in result["rows"]):
        return []

    def pair(name: str, words: Callable[[float], str]) -> str:
        values = (mean_of(result, configurations, method, name) for method in ("ours", first))
        ours, theirs = map(words, values)
        return f"{ours} against {theirs}"

    mean = "" if len(configurations) == 1 else " in the mean"
    return [
        f"**Ours is not first, {label} is:** F {pair('f', _three)}{mean}, precision "
        f"{pair('precision', _three)}, recall {pair('recall', _three)}, photos left alone "
        f"{pair('n_unclustered', count)}, seconds {pair('seconds', _three_digits)}."
    ]


def _three(value: float) -> str:
    return share(value, 3)


def _three_digits(value: float) -> str:
    return f"{value:.3g}"


def _leads(ahead: Sequence[Mapping[str, Any]]) -> str:
    """Methods ahead of ours, each with where, the largest lead first."""
    leads: dict[str, list[str]] = {}
    for row in ahead:
        leads.setdefault(row["label"], []).append(f"{row['configuration']} {_against(row)}")
    return "; ".join(f"{label} on {listed(places)}" for label, places in leads.items())


def _against(row: Mapping[str, Any]) -> str:
    """Both F, with as many digits as it takes to tell them apart."""
    theirs = ours = ""
    for digits in range(3, _MOST + 1):
        theirs, ours = share(row["f"], digits), share(row["ours"], digits)
        if theirs != ours:
            break
    return f"({theirs} against {ours})"


def _why(result: Mapping[str, Any], place: str, ahead: Sequence[Mapping[str, Any]]) -> str:
    """What ours loses in a place where it is behind, as far as its scores tell."""
    ours = cell(result, place, "ours")
    assert ours is not None
    others = [row for row in ahead if row["configuration"] == place]
    # A stranger is a camera to the scores, but nothing that could be a group.
    strangers = ours.get("strangers") or 0
    cameras = ours["n_cameras"] - strangers
    text = (
        f"On {place} ours has precision {share(ours['precision'])}, recall "
        f"{share(ours['recall'])}, {count(ours['n_clusters'])} groups for "
        f"{count(cameras)} cameras{f' and {count(strangers)} strangers' if strangers else ''}, "
        f"photos left alone: {count(ours['n_unclustered'])}"
    )
    if result.get("best_first"):  # measured facts alone
        first = max(others, key=lambda row: (row["f"], row["precision"]))
        return (
            f"{text}; {first['label']}, which has the highest F there, has precision "
            f"{share(first['precision'])}, recall {share(first['recall'])}, "
            f"{count(first['n_clusters'])} groups, photos left alone: "
            f"{count(first['n_unclustered'])}."
        )
    if ours["n_unclustered"] > max(row["n_unclustered"] for row in others):
        return (
            f"{text}, more than those ahead of it: it asks for evidence before a photo joins a "
            "group, which costs recall where guessing is right."
        )
    if ours["n_clusters"] > cameras:
        return f"{text}: it splits a camera where it cannot show that two groups are one."
    if ours["precision"] < min(row["precision"] for row in others):
        return f"{text}: more of its pairs are wrong than of those ahead of it."
    return f"{text}: the difference is in single photos."


def _ties(result: Mapping[str, Any], configurations: Sequence[str]) -> list[str]:
    """Methods with the F of ours, with where."""
    ties: dict[str, list[str]] = {}
    for row in result["rows"]:
        ours = cell(result, row["configuration"], "ours")
        if ours is None or row["method"] == "ours" or not row["runs"]:
            continue
        if abs(row["f"] - ours["f"]) <= _TIE and row["configuration"] in configurations:
            ties.setdefault(row["label"], []).append(row["configuration"])
    return [f"{label} on {listed(names)}" for label, names in ties.items()]


def failures(result: Mapping[str, Any]) -> list[str]:
    """Sentences on methods that could not do a collection, with the reason that they gave."""
    failed_runs: dict[tuple[str, str], dict[str, list[Any]]] = {}
    runs = result.get("runs", [])
    for run in runs:
        if "failed" in run:
            places = failed_runs.setdefault((run["label"], run["failed"]), {})
            places.setdefault(run["configuration"], []).append(run)
    sentences = []
    for (label, reason), places in failed_runs.items():
        words = []
        for name, failed in places.items():
            all_runs = [r for r in runs if (r["configuration"], r["label"]) == (name, label)]
            some = len(failed) < len(all_runs)
            words.append(f"{name} ({len(failed)} of {len(all_runs)} runs)" if some else name)
        sentences.append(f"{label} gives no answer on {listed(words)}: {reason.rstrip('.')}.")
    return sentences
