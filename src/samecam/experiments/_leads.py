"""Where another method is ahead of ours at no cost in precision, and whose photos it has more."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from samecam.arrays import Labels
from samecam.experiments._grid import behind, cell
from samecam.experiments._study import Study
from samecam.pages import listed, share

# Leads in F that are looked into.
LEAD = 0.002


def leads(study: Study, scored: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each lead over ours of more than .002 in F at equal or better precision.

    With the camera of which the other method's first run has most pairs more than ours: its photos,
    in how many groups ours has them, and its share of all pairs that cameras have more there.
    """
    found = []
    for row in behind(scored, LEAD):
        ours = cell(scored, row["configuration"], "ours")
        if ours is None or row["precision"] < ours["precision"]:
            continue
        runs = [_first(study, scored, row["configuration"], m) for m in ("ours", row["method"])]
        found.append(
            {
                **{name: row[name] for name in ("configuration", "method", "label", "f", "ours")},
                **_most(*runs),
            }
        )
    return found


def _first(
    study: Study, scored: Mapping[str, Any], configuration: str, method: str
) -> tuple[Labels, Labels]:
    """Truth and labels of the first run."""
    for run in scored["runs"]:
        if (run["configuration"], run["method"]) == (configuration, method) and "failed" not in run:
            arrays = study.load(run["key"]).arrays
            return arrays["truth"], arrays["labels"]
    raise KeyError((configuration, method))


def _most(ours: tuple[Labels, Labels], other: tuple[Labels, Labels]) -> dict[str, Any]:
    """What the camera is like with which the other method gains most."""
    cameras = np.unique(ours[0])
    more = {c: _pairs(other, c) - _pairs(ours, c) for c in cameras.tolist()}
    first = max(more, key=lambda camera: (more[camera], -camera))
    gained = sum(pairs for pairs in more.values() if pairs > 0)
    labels = ours[1][ours[0] == first]
    sizes = np.bincount(labels[labels >= 0])
    return {
        "photos": len(labels),
        "groups": int((sizes > 1).sum()),
        "share": round(more[first] / max(gained, 1), 3),
    }


def _pairs(run: tuple[Labels, Labels], camera: int) -> int:
    """Pairs of photos of one camera that are in one group."""
    truth, labels = run
    mine = labels[(truth == camera) & (labels >= 0)]
    sizes = np.bincount(mine) if len(mine) else np.zeros(1, dtype=np.intp)
    return int((sizes * (sizes - 1) // 2).sum())


def tell_leads(found: Sequence[Mapping[str, Any]]) -> str:
    """Which these are, and why."""
    if not found:
        return f"None is ahead by more than {share(LEAD, 3)} at equal or better precision."
    labels = [lead["label"] for lead in found]
    words = [f"{label} {labels.count(label)}" for label in dict.fromkeys(labels)]
    most = [lead for lead in found if lead["share"] >= 0.5]
    split = [lead for lead in most if lead["groups"] > 1]
    why = []
    if split:
        why.append(
            f"{len(split)} by a camera that ours keeps in several groups (`cluster` may join them "
            "as [views](views.md))"
        )
    if missed := len(most) - len(split):
        why.append(f"{missed} by photos of one camera that ours leaves alone")
    if right := sum(lead["share"] <= 0 for lead in found):
        why.append(f"{right} by fewer wrong pairs")
    reasons = f": {listed(why)}" if why else ""
    return (
        f"**By more than {share(LEAD, 3)} at equal or better precision**: {listed(words)}{reasons}."
    )
