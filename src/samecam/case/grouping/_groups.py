"""What can be said of every group, from its evidence and its files' own data."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from samecam import evidence
from samecam.arrays import Labels
from samecam.case.folder import Camera, Group, Scenes, frame_name
from samecam.case.grouping._evidence import Weighed, figures, number
from samecam.store import Record


def describe_groups(
    records: Sequence[Record], labels: Labels, weighed: Weighed | None
) -> list[Group]:
    """Groups from 0 on; `records` are the used photos in the order of `labels`."""
    if weighed is None:
        return []
    return [
        _describe([records[int(row)] for row in np.flatnonzero(labels == k)], facts, scenes)
        for k, (facts, scenes) in enumerate(zip(weighed.groups, weighed.scenes, strict=True))
    ]


def _describe(rows: list[Record], facts: evidence.GroupEvidence, scenes: Scenes | None) -> Group:
    warnings = evidence.exif_warnings([{k: _text(v) for k, v in r.meta.items()} for r in rows])
    if scenes is not None:
        warnings.append(_still(facts, scenes))
    return Group(
        id=facts.group,
        size=facts.size,
        frame=frame_name(rows[0]),
        paths=[row.key for row in rows],
        hashes=[row.sha256 for row in rows],
        correlation=number(facts.intra_correlation),
        quality=number(facts.quality),
        z=figures(facts.z),
        cameras=_cameras(rows),
        nearest=facts.nearest if facts.nearest >= 0 else None,
        nearest_correlation=number(facts.nearest_correlation),
        expected=number(facts.expected),
        apart=facts.apart,
        why_apart=evidence.apart_sentence(facts),
        scenes=scenes,
        warnings=warnings,
    )


def _still(facts: evidence.GroupEvidence, scenes: Scenes) -> str:
    """What unmoving scenes mean for the group."""
    pairs = facts.size * (facts.size - 1) // 2
    return evidence.still_sentence(
        sum(map(len, scenes.paths)),
        facts.size,
        evidence.PairEvidence(pairs, facts.intra_correlation, facts.z),
        evidence.PairEvidence(scenes.pairs, _nan(scenes.correlation), _nan(scenes.z)),
    )


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _nan(value: float | None) -> float:
    return float("nan") if value is None else value


def _cameras(rows: Sequence[Record]) -> list[Camera]:
    """Make and model with counts, most frequent first."""
    seen = Counter((row.meta.get("make") or "", row.meta.get("model") or "") for row in rows)
    ordered = sorted(seen.items(), key=lambda item: (-item[1], item[0]))
    return [Camera(make, model, count) for (make, model), count in ordered]


def about_evidence(null: evidence.Null, count: int) -> dict[str, Any]:
    """What the error rates rest on, and what they do not say."""
    return {
        "comparisons": null.comparisons,
        "groups": count,
        "smallest_rate": figures(null.floor),
        "scale": figures(null.scale),
        "words": [
            evidence.null_sentence(null),
            evidence.SENSOR,
            evidence.MODEL,
            evidence.ABSENCE,
        ],
    }
