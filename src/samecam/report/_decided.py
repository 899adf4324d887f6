"""What persons decided, as the page shows it: what stands, where that differs, and who said so."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from samecam.case import CasePhoto, Decided, DecidedCamera, Decision, SavedCase
from samecam.report._front import counted
from samecam.report._names import marked
from samecam.report._shared import listed

# Photos and notes that a line names, and rows of a table that the page shows.
_NAMED, _LONG = 3, 2000
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:\+00:00|Z)")
_WORDS = {
    "same": "{photos} and {others} are of one camera",
    "different": "{photos} and {others} are not of one camera",
    "cannot tell": "whether {photos} and {others} are of one camera cannot be told",
    "merge": "the cameras of {photos} and of {others} are one",
    "split": "{photos} are a camera of their own, apart from {others}",
    "reject": "{photos} out of the camera of {others}",
    "move": "{photos} into the camera of {others}",
    "name": "the camera of {photos} has this name",
    "note": "on {photos}: {text}",
    "status": "the camera of {photos}: {status}",
    "confirm": "all of {photos} are of one camera",
    "undo": "decision {of} is taken back",
}


@dataclass(frozen=True, slots=True)
class StandingRow:
    """A camera as it stands: its name, its photos, the machine's cameras they are from."""

    number: int
    name: Markup
    photos: int
    clusters: tuple[int, ...]
    status: str
    confirmed: bool
    notes: list[Markup]
    decisions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Moved:
    """A photo that stands elsewhere than the machine put it; `decision` is a number, 0: none."""

    path: Markup
    machine: str
    now: Markup
    decision: int


@dataclass(frozen=True, slots=True)
class DecisionLine:
    """A decision in words, and whether it counts."""

    decision: Decision
    words: Markup
    counts: bool

    @property
    def time(self) -> str:
        """When it was taken, to the second."""
        known = _TIME.fullmatch(self.decision.time)
        return f"{known[1]} {known[2]} UTC" if known else self.decision.time


@dataclass(frozen=True, slots=True)
class Stands:
    """Everything that the page shows of decisions.

    Attributes
    ----------
    decided : where photos stand
    cameras : as they stand
    moved, n_moved : photos that stand elsewhere, up to 2,000, and how many there are
    lines : all decisions
    persons : who took those that count
    """

    decided: Decided
    cameras: list[StandingRow]
    moved: list[Moved]
    n_moved: int
    lines: list[DecisionLine]
    persons: Markup

    @property
    def names(self) -> dict[int, Markup]:
        """Cameras as sentences name them, with a link to their row."""
        link = Markup('<a href="#stands-{}">{}</a>')
        return {row.number: link.format(row.number, row.name) for row in self.cameras}

    @property
    def changes(self) -> dict[int, Markup]:
        """Of cameras whose photos decisions changed, a sentence that says so."""
        said = {}
        for row in self.cameras:
            if row.decisions:
                numbers = ", ".join(map(str, row.decisions))
                word = "Decision" if len(row.decisions) == 1 else "Decisions"
                said[row.number] = Markup(f" {word} {numbers} changed its photos.")
        return said

    @property
    def n_alone(self) -> int:
        """Photos of no camera."""
        return int((self.decided.camera_of < 0).sum())


def stands(content: SavedCase, decided: Decided) -> Stands | None:
    """Lay out what was decided; None if nothing was."""
    if not decided.decisions:
        return None
    by_hash = {photo.sha256: photo for photo in reversed(content.photos) if photo.sha256}
    counting = [d for d in decided.decisions if d.number in decided.in_force and d.kind != "undo"]
    numbers = {decision.number for decision in counting}
    return Stands(
        decided,
        [_row(k, camera) for k, camera in enumerate(decided.cameras)],
        [_moved(decided, k) for k in decided.differs[:_LONG]],
        len(decided.differs),
        [DecisionLine(d, _words(d, by_hash), d.number in numbers) for d in decided.decisions],
        listed([marked(name) for name in sorted({d.examiner for d in counting})]),
    )


def machine_names(decided: Decided) -> dict[int, Markup]:
    """Names of what became of the machine's cameras, where they say more than the number.

    Most photos first, by the number of the machine's camera.
    """
    found: dict[int, dict[str, int]] = {}
    for k, photo in enumerate(decided.photos):
        if photo.cluster is not None and photo.cluster >= 0 and (name := decided.name_of(k)):
            counts = found.setdefault(photo.cluster, {})
            counts[name] = counts.get(name, 0) + 1
    result = {}
    for cluster, counts in found.items():
        names = sorted(counts, key=lambda name: (-counts[name], name))
        if names != [f"camera-{cluster}"]:
            result[cluster] = listed([marked(name) for name in names])
    return result


def _row(number: int, camera: DecidedCamera) -> StandingRow:
    notes = [marked(note.text) for note in camera.notes]
    return StandingRow(
        number,
        marked(camera.name),
        camera.size,
        camera.clusters,
        camera.status,
        camera.confirmed,
        notes,
        camera.decisions,
    )


def _moved(decided: Decided, k: int) -> Moved:
    photo = decided.photos[k]
    machine = "none" if photo.cluster is None or photo.cluster < 0 else str(photo.cluster)
    now = decided.name_of(k)
    return Moved(
        marked(photo.path),
        machine,
        marked(now) if now else Markup("none"),
        int(decided.decision_of[k]),
    )


def _words(decision: Decision, by_hash: dict[str, CasePhoto]) -> Markup:
    """What a decision says."""
    return Markup(_WORDS[decision.kind]).format(
        photos=_some(decision.photos, by_hash),
        others=_some(decision.others, by_hash),
        text=marked(decision.text),
        status=decision.status,
        of=decision.of,
    )


def _some(hashes: Sequence[str], by_hash: dict[str, CasePhoto]) -> Markup:
    """Photos by path, the first of many; those that are not in the case by their hash."""
    named = [
        marked(by_hash[each].path) if each in by_hash else Markup("<code>{}</code>").format(each)
        for each in hashes[:_NAMED]
    ]
    if len(hashes) > _NAMED:
        named.append(Markup(f"{len(hashes) - _NAMED:,} more"))
    return listed(named) if named else Markup("nothing")


def decided_conclusion(stood: Stands) -> Markup:
    """What stands after the decisions, in a sentence."""
    count = sum(line.counts for line in stood.lines)
    if not count:
        return Markup(
            f"Persons took {counted(len(stood.lines), 'decision')}; none counts any more."
        )
    return Markup(
        "{} by {} count{}: after {} there are <b>{}</b>, {} of none, and {} elsewhere than the "
        "machine put {} ({})."
    ).format(
        counted(count, "decision"),
        stood.persons,
        "s" if count == 1 else "",
        "it" if count == 1 else "them",
        counted(len(stood.cameras), "camera"),
        counted(stood.n_alone, "photo"),
        counted(stood.n_moved, "photo stands", "photos stand"),
        "it" if stood.n_moved == 1 else "them",
        Markup('<a href="#decided">what stands</a>'),
    )
