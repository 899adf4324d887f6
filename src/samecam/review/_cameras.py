"""Cameras as they stand after all decisions: what is said of each, sorted, filtered, counted."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from samecam.case import Decided, DecidedCamera
from samecam.review._index import Index

# What cameras can be filtered by, as the address and the page name it.
FACETS = {
    "folder": "Folder",
    "model": "Camera named in EXIF",
    "year": "Year",
    "frame": "Frame",
    "view": "View",
    "status": "Status",
}
SORTS = {
    "size": "most photos",
    "weakest": "weakest member",
    "doubt": "most doubtful photos",
    "name": "name",
    "date": "date",
}
_SHOWN = 12
_UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class CameraFacts:
    """What is said of one camera.

    Attributes
    ----------
    camera : as it was decided
    rows : of its photos, the strongest first
    values : for each facet, values with the number of photos
    weakest : lowest score of a member; None: not known
    doubtful : members whose place is weak
    remarks : what should make a reader careful
    first, last : days of its photos, "" if none is known
    """

    camera: DecidedCamera
    rows: list[int]
    values: Mapping[str, Mapping[str, int]]
    weakest: float | None
    doubtful: int
    remarks: int
    first: str
    last: str

    @property
    def name(self) -> str:
        """Its name."""
        return self.camera.name

    @property
    def size(self) -> int:
        """How many photos it has."""
        return len(self.rows)

    @property
    def states(self) -> list[str]:
        """In words: what a person said of it, or that nobody did, and what to look at."""
        camera = self.camera
        said = [camera.status] if camera.status else []
        said += ["accepted"] if camera.confirmed else []
        told = {
            "changed by decisions": camera.decisions,
            "with a note": camera.notes,
            "doubtful photos": self.doubtful,
            "remarks": self.remarks,
        }
        return (said or ["open"]) + [words for words, holds in told.items() if holds]


class Cameras:
    """All cameras of one moment, and what is counted of them.

    What is said of photos is taken from the moment before if a camera had the same ones.
    """

    def __init__(self, index: Index, decided: Decided, before: "Cameras | None" = None) -> None:
        self._index, self._decided = index, decided
        self.by_rows: dict[bytes, CameraFacts] = {}
        known = {} if before is None else before.by_rows
        for camera in decided.cameras:
            key = camera.rows.tobytes()
            facts = known.get(key)
            if facts is None:
                facts = _describe(index, camera)
            elif facts.camera is not camera:
                facts = replace(facts, camera=camera)
            self.by_rows[key] = facts
        self.all = list(self.by_rows.values())
        self.by_name = {facts.name: facts for facts in self.all}

    def chosen(
        self, wanted: Mapping[str, str], words: str = "", sort: str = "size"
    ) -> list[CameraFacts]:
        """Cameras that have a photo of each wanted value, and one with all the words."""
        some = [facts for facts in self.all if _fits(facts, wanted)]
        if words:
            hits = set(self._decided.camera_of[self._index.find(words)].tolist())
            found = {self._decided.cameras[number].name for number in hits - {-1}}
            folded = words.casefold()
            some = [f for f in some if folded in f.name.casefold() or f.name in found]
        return sorted(some, key=_ORDERS[sort])

    def facets(self, wanted: Mapping[str, str]) -> dict[str, list[tuple[str, int]]]:
        """For each facet, values with numbers of cameras among those that the others leave."""
        result = {}
        for facet in FACETS:
            others = {name: value for name, value in wanted.items() if name != facet}
            counts: Counter[str] = Counter()
            for facts in self.all:
                if not others or _fits(facts, others):
                    counts.update(_values(facts, facet).keys())
            ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
            chosen = [item for item in ordered[_SHOWN:] if item[0] == wanted.get(facet)]
            result[facet] = ordered[:_SHOWN] + chosen
        return result


def _values(facts: CameraFacts, facet: str) -> Mapping[str, int]:
    return dict.fromkeys(facts.states, 1) if facet == "status" else facts.values[facet]


def _fits(facts: CameraFacts, wanted: Mapping[str, str]) -> bool:
    return all(value in _values(facts, facet) for facet, value in wanted.items())


def _describe(index: Index, camera: DecidedCamera) -> CameraFacts:
    rows = index.strongest(camera.rows.tolist())
    folders = index.folders()
    days = sorted(day for row in rows if (day := index.days[row]))
    known = [float(index.strength[row]) for row in rows if index.strength[row] > -1e300]
    values = {
        "folder": _counted([folders[row] or "." for row in rows]),
        "model": _counted([index.models[row] for row in rows]),
        "year": _counted([index.days[row][:4] or _UNKNOWN for row in rows]),
        "frame": _counted([index.photos[row].frame or _UNKNOWN for row in rows]),
        "view": _counted([index.views[row] or "as it is" for row in rows]),
    }
    groups = {int(index.group_of[row]) for row in rows} - {-1}
    return CameraFacts(
        camera,
        rows,
        values,
        weakest=min(known) if known else None,
        doubtful=sum(index.photos[row].doubtful for row in rows),
        remarks=sum(len(index.remarks[group]) for group in groups),
        first=days[0] if days else "",
        last=days[-1] if days else "",
    )


def _counted(values: Sequence[str]) -> dict[str, int]:
    """Values with their numbers, most frequent first."""
    return dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


def _natural(name: str) -> tuple[str, int, str]:
    """camera-10 after camera-9."""
    head = name.rstrip("0123456789")
    digits = name[len(head) :][:18]
    return head.casefold(), int(digits) if digits.isascii() and digits else -1, name


_ORDERS: dict[str, Callable[[CameraFacts], tuple[object, ...]]] = {
    "size": lambda facts: (-facts.size, _natural(facts.name)),
    "weakest": lambda facts: (
        facts.weakest is None,
        facts.weakest or 0.0,
        _natural(facts.name),
    ),
    "doubt": lambda facts: (-facts.doubtful, -facts.remarks, _natural(facts.name)),
    "name": lambda facts: (_natural(facts.name),),
    "date": lambda facts: (not facts.first, facts.first, _natural(facts.name)),
}
