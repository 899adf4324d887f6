"""`clusters.json`: one object per camera, with its groups."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from samecam.case.folder._shared import SHARED_SHAPE, Shared, read_shared
from samecam.case.folder._views import VIEW_SHAPE, object_view, view_object
from samecam.documents import Span, check_shape
from samecam.notebook import counted, shown, table
from samecam.register import View

FORMAT = "samecam-clusters"
VERSION = 3
_COUNT = Span(int, 0, 2**53)
_MAYBE = (float, None)
_GROUP = {
    "id": _COUNT,
    "camera": _COUNT,
    "size": _COUNT,
    "frame": (str, None),
    "view": (VIEW_SHAPE, None),
    "words": str,
    "why_joined": str,
    "members": [{"path": str, "sha256": str}],
    **dict.fromkeys(("correlation", "quality", "score", "weakest", "repeats"), _MAYBE),
    **dict.fromkeys(("nearest_correlation", "nearest_score", "nearest_log10_lr"), _MAYBE),
    "expected": _MAYBE,
    "cameras": [{"make": str, "model": str, "photos": _COUNT}],
    "nearest": (_COUNT, None),
    "apart": str,
    "why_apart": str,
    "scenes": (None, {"paths": [[str]], "pairs": _COUNT, "correlation": _MAYBE, "score": _MAYBE}),
    "division": (
        None,
        {
            "paths": [str],
            **dict.fromkeys(("correlation", "expected", "score"), _MAYBE),
            "falls_apart": bool,
        },
    ),
    "shared?": (None, SHARED_SHAPE),
    "warnings": [str],
}
_PLACED = {
    "path": str,
    "sha256": str,
    "frame": (str, None),
    "view": VIEW_SHAPE,
    "words": str,
    "why_joined": str,
}
_SHAPE = {
    "format": {FORMAT},
    "evidence": (None, {"words": [str]}),
    "clusters": [
        {"id": _COUNT, "size": _COUNT, "groups": [_GROUP], "placed": [_PLACED], "warnings": [str]}
    ],
}


@dataclass(frozen=True, slots=True, repr=False)
class Scenes:
    """Members of a group that show one unmoving scene, and what the other pairs show.

    Attributes
    ----------
    paths : of the photos of each scene, largest first
    pairs, correlation, score : number, mean correlation and strength (in units of chance) of the
        pairs of unlike pictures; None if there are none
    """

    paths: list[list[str]]
    pairs: int
    correlation: float | None
    score: float | None

    def __repr__(self) -> str:
        sizes = ", ".join(str(len(paths)) for paths in self.paths)
        return f"<Scenes of {sizes} photos; {self.pairs} pairs of unlike pictures>"


@dataclass(frozen=True, slots=True, repr=False)
class Division:
    """The best division of a group in two.

    Attributes
    ----------
    paths : photos of the smaller part
    correlation, expected, score : of the fingerprints of the two parts, what one camera would
        show, and the correlation in units of chance
    falls_apart : whether they may well be of two cameras
    """

    paths: list[str]
    correlation: float | None
    expected: float | None
    score: float | None
    falls_apart: bool

    def __repr__(self) -> str:
        what = "falls apart" if self.falls_apart else "holds together"
        return f"<Division with {counted(len(self.paths), 'photo')} apart: {what}>"


@dataclass(frozen=True, slots=True)
class ExifCamera:
    """Make and model as EXIF has them ("" where it has none), and in how many photos."""

    make: str
    model: str
    photos: int


@dataclass(frozen=True, slots=True, repr=False)
class Group:
    """Photos of one frame by one camera, and what holds them together.

    Attributes
    ----------
    id : its number, as in `clusters.csv`
    camera : number of its camera
    size : how many photos
    frame : width and height of what was compared, like 4000x3000; None if that is not known
    view : how it sees the frame of its camera's first group; None for squares
    words : the same in words, "2.0× zoom"; "" for squares
    why_joined : why it is of that camera, a sentence; "" for the first group
    paths, hashes : of its photos, sorted by path
    correlation : mean correlation of two of its photos; None for a single one
    quality : expected correlation of the group's fingerprint with the camera's pattern,
        √(nρ/(1 + (n−1)ρ)) with n photos of mean correlation ρ
    score : sum over its pairs, in standard deviations of chance
    weakest : lowest score of its members
    repeats : what of its members' correlation is there at shifts by multiples of 8 pixels too
    division : the best one in two, whether it falls apart or not; None of fewer than four
    cameras : what EXIF says took them, most frequent first
    nearest : the group whose fingerprint is most like this one's; None if it is the only one
    nearest_correlation, nearest_score : of the two fingerprints
    nearest_log10_lr : likelihood ratio of one camera and two, log10
    expected : what the two would show if one camera had taken both
    apart : why they are two, in a word, see `samecam.evidence.GroupEvidence`
    why_apart : the same in a sentence
    scenes : members that show one unmoving scene, and what the other pairs show; None: none
    warnings : what should make a reader careful, from the files' own data and the scenes
    shared : a pattern that groups of other cameras have too, and evidence without it; None: none
    """

    id: int
    size: int
    frame: str | None
    paths: list[str]
    hashes: list[str]
    correlation: float | None
    quality: float | None
    score: float | None
    weakest: float | None
    repeats: float | None
    division: Division | None
    cameras: list[ExifCamera]
    nearest: int | None
    nearest_correlation: float | None
    nearest_score: float | None
    nearest_log10_lr: float | None
    expected: float | None
    apart: str
    why_apart: str
    scenes: Scenes | None
    warnings: list[str]
    camera: int = 0
    view: View | None = None
    words: str = ""
    why_joined: str = ""
    shared: Shared | None = None

    def __repr__(self) -> str:
        seen = f", {shown(self.words)}" if self.words and self.words != self._size else ""
        return (
            f"<Group {self.id} of camera {self.camera}: {counted(self.size, 'photo')}"
            f"{', ' + self._size if self._size else ''}{seen}>"
        )

    @property
    def _size(self) -> str:
        """Its frame as a person writes it."""
        return shown(self.frame or "").replace("x", "×")

    def _repr_html_(self) -> str:
        """What a notebook shows: the photos, and what should make a reader careful."""
        weakest = [] if self.weakest is None else [f"weakest score {self.weakest:.3g}"]
        strong = [] if self.score is None else [f"score of all pairs {self.score:.3g}"]
        notes = [self.why_joined, self.why_apart, "; ".join([*strong, *weakest]), *self.warnings]
        rows = [(path,) for path in self.paths]
        return table(repr(self)[1:-1], ("photo",), rows, notes=[*filter(None, notes)])

    def as_dict(self) -> dict[str, Any]:
        """As it stands in `clusters.json`."""
        values = {**asdict(self), "view": view_object(self.view)}
        values["members"] = _members(values.pop("paths"), values.pop("hashes"))
        return values


@dataclass(frozen=True, slots=True, repr=False)
class PlacedPhoto:
    """A photo in no group that sees a camera in a way of its own.

    Attributes
    ----------
    path, sha256, frame : of the photo
    view : how it sees the frame of the camera's first group
    words : the same in words
    why_joined : why it is of that camera, a sentence
    """

    path: str
    sha256: str
    frame: str | None
    view: View
    words: str
    why_joined: str

    def __repr__(self) -> str:
        return f"<PlacedPhoto {self.path!r}: {shown(self.words)}>"

    def as_dict(self) -> dict[str, Any]:
        """As it stands in `clusters.json`."""
        return {**asdict(self), "view": view_object(self.view)}


@dataclass(frozen=True, slots=True, repr=False)
class Camera:
    """Groups, and photos in none, that see one sensor.

    Attributes
    ----------
    id : its number, `cluster` in `clusters.csv`
    size : how many photos
    groups : the first is that in whose frame the others are seen
    placed : photos in no group
    warnings : what should make a reader careful of joining these
    """

    id: int
    size: int
    groups: list[Group]
    placed: list[PlacedPhoto] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        alone = f", {len(self.placed)} in none" if self.placed else ""
        groups = counted(len(self.groups), "group")
        return f"<Camera {self.id}: {counted(self.size, 'photo')} in {groups}{alone}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: its groups, and photos that see it in ways of their own."""
        head = ("group", "photos", "view", "why it is of this camera", "first photos")
        rows: list[tuple[object, ...]] = [
            (g.id, g.size, g.words, g.why_joined, ", ".join(g.paths[:3])) for g in self.groups
        ]
        rows += [("none", 1, p.words, p.why_joined, p.path) for p in self.placed]
        return table(repr(self)[1:-1], head, rows, notes=self.warnings)

    @property
    def views(self) -> list[str]:
        """How its groups and placed photos see it, in words, each once."""
        groups = [group.words for group in self.groups]
        return list(dict.fromkeys([*groups, *(photo.words for photo in self.placed)]))

    @property
    def exif_names(self) -> list[str]:
        """Makes and models that EXIF names in photos of its groups, most frequent first."""
        seen: Counter[str] = Counter()
        for group in self.groups:
            for one in group.cameras:
                twice = one.model.lower().startswith(one.make.lower())
                seen[one.model if twice else f"{one.make} {one.model}".strip()] += one.photos
        return [name for name, _ in seen.most_common() if name]

    def as_dict(self) -> dict[str, Any]:
        """As it stands in `clusters.json`."""
        return {
            "id": self.id,
            "size": self.size,
            "groups": [group.as_dict() for group in self.groups],
            "placed": [photo.as_dict() for photo in self.placed],
            "warnings": list(self.warnings),
        }


def all_groups(cameras: Sequence[Camera]) -> list[Group]:
    """The groups of all cameras, in the order of their numbers."""
    groups = [group for camera in cameras for group in camera.groups]
    return sorted(groups, key=lambda group: group.id)


def cameras_phrase(cameras: Sequence[Camera]) -> str:
    """How many cameras, and of how many photos: "3 cameras of 30 to 12 photos"."""
    if not cameras:
        return "no camera"
    largest, least = cameras[0].size, min(camera.size for camera in cameras)
    many = "" if least == largest else f"{largest} to "
    return f"{counted(len(cameras), 'camera')} of {many}{counted(least, 'photo')}"


def _members(paths: Sequence[str], hashes: Sequence[str]) -> list[dict[str, str]]:
    return [{"path": p, "sha256": h} for p, h in zip(paths, hashes, strict=True)]


def clusters_json(
    cameras: Sequence[Camera],
    alone: Sequence[tuple[str, str]],
    about: Mapping[str, Any] | None,
    hashes: Mapping[str, str],
) -> str:
    """Text of `clusters.json`; odd bytes of paths stand as escaped surrogates.

    Parameters
    ----------
    cameras : in the order of their numbers
    alone : path and SHA-256 of the used photos of no camera
    about : what the error rates rest on; None if nothing is stated
    hashes : of the tables that belong to it
    """
    content = {
        "format": FORMAT,
        "version": VERSION,
        "sha256": dict(hashes),
        "evidence": None if about is None else dict(about),
        "clusters": [camera.as_dict() for camera in cameras],
        "unclustered": _members([path for path, _ in alone], [sha256 for _, sha256 in alone]),
    }
    return json.dumps(content, indent=1, ensure_ascii=True) + "\n"


def read_cameras(content: Mapping[str, Any]) -> list[Camera] | None:
    """Cameras as they stand in `clusters.json`; None if it is of another version.

    `ValueError` or `TypeError` if it is no such file.
    """
    check_shape(content, {"version": int})
    if content["version"] != VERSION:
        return None
    check_shape(content, _SHAPE)
    return [
        Camera(
            entry["id"],
            entry["size"],
            [_group(group) for group in entry["groups"]],
            [_placed(photo) for photo in entry["placed"]],
            entry["warnings"],
        )
        for entry in content["clusters"]
    ]


def _group(entry: Mapping[str, Any]) -> Group:
    members = entry["members"]
    values = {name: value for name, value in entry.items() if name != "members"}
    values["cameras"] = [ExifCamera(**camera) for camera in entry["cameras"]]
    values["scenes"] = None if entry["scenes"] is None else Scenes(**entry["scenes"])
    values["division"] = None if entry["division"] is None else Division(**entry["division"])
    shared = entry.get("shared")
    values["shared"] = None if shared is None else read_shared(shared)
    values["paths"] = [member["path"] for member in members]
    values["hashes"] = [member["sha256"] for member in members]
    values["view"] = object_view(entry["view"])
    return Group(**values)


def _placed(entry: Mapping[str, Any]) -> PlacedPhoto:
    return PlacedPhoto(**{**entry, "view": object_view(entry["view"])})
