"""`clusters.json`: what can be said of every group."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from samecam import evidence
from samecam.arrays import Labels
from samecam.case.grouping._evidence import Scenes, Weighed, figures, number
from samecam.store import Record

FORMAT = "samecam-clusters"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Camera:
    """Make and model as EXIF has them ("" where it has none), and in how many photos."""

    make: str
    model: str
    photos: int


@dataclass(frozen=True, slots=True)
class Group:
    """The photos of one camera, and what holds them together.

    Attributes
    ----------
    id : its number, as in `clusters.csv`
    size : how many photos
    paths, hashes : of its photos, sorted by path
    correlation : mean correlation of two of its photos; None for a single one
    quality : expected correlation of the group's fingerprint with the camera's pattern,
        √(nρ/(1 + (n−1)ρ)) with n photos of mean correlation ρ
    z : sum over its pairs, in standard deviations of chance
    cameras : what EXIF says took them, most frequent first
    nearest : the group whose fingerprint is most like this one's; None if it is the only one
    nearest_correlation : of the two fingerprints
    expected : what the two would show if one camera had taken both
    apart : why they are two, in a word, see `samecam.evidence.GroupEvidence`
    why_apart : the same in a sentence
    scenes : members that show one unmoving scene, and what the other pairs show; None: none
    warnings : what should make a reader careful, from the files' own data and the scenes
    """

    id: int
    size: int
    paths: list[str]
    hashes: list[str]
    correlation: float | None
    quality: float | None
    z: float | None
    cameras: list[Camera]
    nearest: int | None
    nearest_correlation: float | None
    expected: float | None
    apart: str
    why_apart: str
    scenes: Scenes | None
    warnings: list[str]

    def as_dict(self) -> dict[str, Any]:
        """As it stands in `clusters.json`."""
        values = asdict(self)
        values["members"] = _members(values.pop("paths"), values.pop("hashes"))
        return values


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


def _members(paths: Sequence[str], hashes: Sequence[str]) -> list[dict[str, str]]:
    return [{"path": p, "sha256": h} for p, h in zip(paths, hashes, strict=True)]


def clusters_json(
    groups: Sequence[Group],
    alone: Sequence[Record],
    weighed: Weighed | None,
    hashes: Mapping[str, str],
) -> str:
    """Text of `clusters.json`; odd bytes of paths stand as escaped surrogates."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "sha256": dict(hashes),
        "evidence": None if weighed is None else _about(weighed.null, len(groups)),
        "clusters": [group.as_dict() for group in groups],
        "unclustered": _members([r.key for r in alone], [r.sha256 for r in alone]),
    }
    return json.dumps(content, indent=1, ensure_ascii=True) + "\n"


def _about(null: evidence.Null, count: int) -> dict[str, Any]:
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


def read_groups(content: Mapping[str, Any]) -> list[Group] | None:
    """Groups as they stand in `clusters.json`; None if it is of another version."""
    if content["version"] != VERSION:
        return None
    groups = []
    for entry in content["clusters"]:
        members = entry["members"]
        values = {name: value for name, value in entry.items() if name != "members"}
        values["cameras"] = [Camera(**camera) for camera in entry["cameras"]]
        values["scenes"] = None if entry["scenes"] is None else Scenes(**entry["scenes"])
        values["paths"] = [member["path"] for member in members]
        values["hashes"] = [member["sha256"] for member in members]
        groups.append(Group(**values))
    return groups
