"""Two sources of photos, two accounts or two phones: whether a case shows a camera of both."""

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from samecam.case.folder import SavedCase, folders_below, source_names

# Photos of one camera from which they make a good reference.
REFERENCE = 10
# Cameras that a sentence names.
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Source:
    """One of the two: a folder, and the cameras of its photos.

    Attributes
    ----------
    name : of the folder
    above : parts of the paths before it, "" if there are none
    photos : how many could be used
    cameras : photos by number of their camera, without those of none
    """

    name: str
    above: str
    photos: int
    cameras: dict[int, int]

    @property
    def is_reference(self) -> bool:
        """Whether its photos are of one camera, and enough of them to compare others with."""
        return len(self.cameras) == 1 and sum(self.cameras.values()) >= REFERENCE


@dataclass(frozen=True, slots=True)
class TwoSources:
    """Whether two sources of a case share a camera.

    Attributes
    ----------
    first, second : the sources, by name
    shared : numbers of the cameras that took photos of both
    """

    first: Source
    second: Source
    shared: list[int]

    @property
    def sentence(self) -> str:
        """Whether they do, in words."""
        one, two = self.first, self.second
        names = f"{one.name} and {two.name}"
        if not self.shared:
            return (
                f"No camera was found that took photos of both {names}; that is no evidence of "
                "different cameras."
            )
        told = [
            f"camera {k} ({one.cameras[k]} of {one.name}, {two.cameras[k]} of {two.name})"
            for k in self.shared[:_NAMED]
        ]
        told += ["…"] * (len(self.shared) > _NAMED)
        what = "a camera" if len(self.shared) == 1 else f"{len(self.shared)} cameras"
        return f"{names} share {what}: {', '.join(told)}."

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "first": asdict(self.first),
            "second": asdict(self.second),
            "shared": self.shared,
            "sentence": self.sentence,
        }


def two_sources(saved: SavedCase) -> TwoSources | None:
    """The two folders that the used photos of a case lie in; None if they are more, or one.

    They are the arguments of the case, or where its paths first part. A case that was added to
    has none.
    """
    if not saved.is_of_photos or saved.info.get("added"):
        return None
    paths = [photo.path for photo in saved.used]
    counts: dict[str, Counter[int]] = {}
    for photo, name in zip(saved.used, source_names(paths), strict=True):
        label = -1 if photo.cluster is None else photo.cluster
        counts.setdefault(name, Counter())[label] += 1
    if len(counts) != 2 or "" in counts:
        return None
    above = paths[0].split("/")[: -1 - len(folders_below(paths)[0])]
    first, second = (
        Source(name, "/".join(above), some.total(), {k: some[k] for k in sorted(some) if k >= 0})
        for name, some in sorted(counts.items())
    )
    return TwoSources(first, second, sorted(first.cameras.keys() & second.cameras.keys()))
