"""`clusters.json`: one object per group."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from samecam.documents import Span, check_shape

FORMAT = "samecam-clusters"
VERSION = 2
_COUNT = Span(int, 0, 2**53)
_MAYBE = (float, None)
_GROUP = {
    "id": _COUNT,
    "size": _COUNT,
    "frame": (str, None),
    "members": [{"path": str, "sha256": str}],
    **dict.fromkeys(("correlation", "quality", "z", "nearest_correlation", "expected"), _MAYBE),
    "cameras": [{"make": str, "model": str, "photos": _COUNT}],
    "nearest": (_COUNT, None),
    "apart": str,
    "why_apart": str,
    "scenes": (None, {"paths": [[str]], "pairs": _COUNT, "correlation": _MAYBE, "z": _MAYBE}),
    "warnings": [str],
}
_SHAPE = {
    "format": {FORMAT},
    "evidence": (None, {"words": [str]}),
    "clusters": [_GROUP],
}


@dataclass(frozen=True, slots=True)
class Scenes:
    """Members of a group that show one unmoving scene, and what the other pairs show.

    Attributes
    ----------
    paths : of the photos of each scene, largest first
    pairs, correlation, z : number, mean correlation and strength (in units of chance) of the
        pairs of unlike pictures; None if there are none
    """

    paths: list[list[str]]
    pairs: int
    correlation: float | None
    z: float | None


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
    frame : width and height of what was compared, like 4000x3000; None if that is not known
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
    frame: str | None
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


def _members(paths: Sequence[str], hashes: Sequence[str]) -> list[dict[str, str]]:
    return [{"path": p, "sha256": h} for p, h in zip(paths, hashes, strict=True)]


def clusters_json(
    groups: Sequence[Group],
    alone: Sequence[tuple[str, str]],
    about: Mapping[str, Any] | None,
    hashes: Mapping[str, str],
) -> str:
    """Text of `clusters.json`; odd bytes of paths stand as escaped surrogates.

    Parameters
    ----------
    groups : in the order of their numbers
    alone : path and SHA-256 of the used photos in no group
    about : what the error rates rest on; None if nothing is stated
    hashes : of the tables that belong to it
    """
    content = {
        "format": FORMAT,
        "version": VERSION,
        "sha256": dict(hashes),
        "evidence": None if about is None else dict(about),
        "clusters": [group.as_dict() for group in groups],
        "unclustered": _members([path for path, _ in alone], [sha256 for _, sha256 in alone]),
    }
    return json.dumps(content, indent=1, ensure_ascii=True) + "\n"


def read_groups(content: Mapping[str, Any]) -> list[Group] | None:
    """Groups as they stand in `clusters.json`; None if it is of another version.

    `ValueError` or `TypeError` if it is no such file.
    """
    check_shape(content, {"version": int})
    if content["version"] != VERSION:
        return None
    check_shape(content, _SHAPE)
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
