"""Text on the rows of a result: where ours is behind, what failed, means with their spread."""

from collections.abc import Mapping, Sequence
from typing import Any

from samecam.experiments._grid import behind, cell
from samecam.pages import count, listed, share

_TIE = 2e-6
_MOST = 6


def bold(row: Mapping[str, Any]) -> str:
    """A method's label, bold if it is ours."""
    return f"**{row['label']}**" if row["method"] == "ours" else str(row["label"])


def standing(result: Mapping[str, Any], configurations: Sequence[str]) -> str:
    """A sentence on where ours is behind: of whom, by how much, and how many photos it leaves.

    Only what is the same to six digits, as results are kept, is level.
    """
    ahead = behind(result, _TIE)
    places = [name for name in configurations if any(r["configuration"] == name for r in ahead)]
    total = len(configurations)
    if not places:
        return f"In F, no method is ahead of ours{f' on any of the {total}' * (total > 1)}."
    leads = [_leads(result, place, [r for r in ahead if r["configuration"] == place])
             for place in places]  # fmt: skip
    where = f" on {len(places)} of {total}" if total > 1 else ""
    return f"**Ahead of ours in F**{where}: {'; '.join(leads)}."


def _leads(result: Mapping[str, Any], place: str, ahead: Sequence[Mapping[str, Any]]) -> str:
    """Methods ahead of ours in one place, the largest lead first."""
    ours = cell(result, place, "ours")
    assert ours is not None
    labels = listed([row["label"] for row in ahead])
    up_to = "up to " * (len({row["f"] for row in ahead}) > 1)
    return (
        f"{labels} on {place} ({up_to}{_against(ahead[0])}; ours leaves "
        f"{count(ours['n_unclustered'])} alone)"
    )


def _against(row: Mapping[str, Any]) -> str:
    """Both F, with as many digits as it takes to tell them apart."""
    theirs = ours = ""
    for digits in range(3, _MOST + 1):
        theirs, ours = share(row["f"], digits), share(row["ours"], digits)
        if theirs != ours:
            break
    return f"{theirs} against {ours}"


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
