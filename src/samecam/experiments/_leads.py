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


def tell_leads(found: Sequence[Mapping[str, Any]], places: int) -> str:
    """Which these are, and why."""
    if not found:
        return f"No method is ahead by more than {share(LEAD, 3)} at equal or better precision."
    by_label: dict[str, list[Mapping[str, Any]]] = {}
    for lead in found:
        by_label.setdefault(lead["label"], []).append(lead)
    words = [
        f"{label} at {len(some)} ({share(some[0]['f'], 3)} against {share(some[0]['ours'], 3)})"
        for label, some in by_label.items()
    ]
    most = [lead for lead in found if lead["share"] >= 0.5]
    split = [lead for lead in most if lead["groups"] > 1]
    why = ""
    if split:
        sizes = sorted({lead["photos"] for lead in split})
        photos = listed([str(size) for size in sizes])
        why = (
            f" At {len(split)} most of it is one camera ({photos} photos) that ours keeps in "
            "several groups: what they share is not enough for it to join them ([threshold]"
            "(#threshold)). `samecam cluster` may join such groups as [views](views.md)."
        )
    if missed := len(most) - len(split):
        why += f" At {missed} it is photos of one camera that ours leaves alone."
    if right := sum(lead["share"] <= 0 for lead in found):
        why += f" At {right} no camera has more pairs, but fewer are wrong."
    return (
        f"**By more than {share(LEAD, 3)} at equal or better precision**, of {places} settings: "
        f"{listed(words)}.{why}"
    )
