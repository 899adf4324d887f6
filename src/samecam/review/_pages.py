"""What each page shows: a moment and an address to what a template is filled with."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from samecam.case import CasePhoto, Decision, Group
from samecam.report import CHART, photo_rows, shown
from samecam.review._addresses import Here, beside_address
from samecam.review._cameras import FACETS, SORTS, CameraFacts
from samecam.review._charts import nearest_map, strength_histogram, timeline
from samecam.review._parts import part_rows, parts_of
from samecam.review._queue import KINDS, Question
from samecam.review._sources import source_matrix
from samecam.review._state import Moment
from samecam.review._words import decision_words

CAMERAS, PHOTOS, DECISIONS = 60, 200, 200
_COMING = 12
_ANSWERS = {
    "pair": ("Same camera", "Different cameras"),
    "part": ("One camera", "Two: split"),
    "weak": ("It belongs here", "It does not: detach"),
    "alone": ("Same camera", "Different camera"),
}
_STATUSES = ("ok", "check", "warning")
_CHANGES = 50
# What is said of a photo in another place of its page, with names that decisions give.
_ELSEWHERE = ("In words", "Camera")
_COMMON = 6

Context = dict[str, Any]


class NothingThereError(Exception):
    """What an address names is not in the case; its text says what."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a question."""

    title: str
    words: str
    camera: str
    whole: bool
    key: str
    size: int
    rows: tuple[int, ...]
    models: Mapping[str, int]
    folders: Mapping[str, int]


def queue_page(moment: Moment, here: Here) -> Context:
    """The question of an address, or the best one, and those that come after it."""
    questions = moment.questions
    if not questions:
        return {"question": None, "answered": bool(moment.decided.decisions)}
    place = moment.place(here.get("item"))
    question = questions[place]
    one, two = moment.home(question.first), moment.home(question.second)
    return {
        "question": question,
        "asked": KINDS[question.kind],
        "answers": _ANSWERS[question.kind],
        "sides": [_side(moment, question, 0), _side(moment, question, 1)],
        "place": place + 1,
        "total": len(questions),
        "previous": questions[place - 1] if place else None,
        "next": questions[place + 1] if place + 1 < len(questions) else None,
        "coming": [(q, KINDS[q.kind]) for q in questions[place + 1 : place + 1 + _COMING]],
        "pair": beside_address((one, two)) if one and two and one != two else "",
    }


def _side(moment: Moment, question: Question, number: int) -> Side:
    rows = question.second if number else question.first
    home = moment.home(rows)
    facts = moment.cameras.by_name.get(home)
    whole = question.kind == "pair" or number == 1
    count = len(rows)
    words = f"{count} photo{'' if count == 1 else 's'}"
    if facts is not None and whole:
        words = f"{facts.size:,} photo{'' if facts.size == 1 else 's'}"
    title = home if whole else "The part that would come off"
    if question.kind in ("weak", "alone") and not number:
        title, words = moment.index.photos[rows[0]].name, home or "of no camera"
    elif question.kind == "part" and number:
        title, words, whole = "The rest", f"{count} photos of {home}", False
    index = moment.index
    counted = {"models": [index.models[row] for row in rows]}
    counted["folders"] = [index.folder(row) for row in rows if index.folder(row)]
    keys = {"pair": ("a", "A")}.get(question.kind, ("", "a"))
    asks = bool(home) and (question.kind == "pair" or number == 1)
    return Side(
        title,
        words,
        home if asks else "",
        whole and bool(home) and asks,
        keys[number],
        facts.size if facts is not None else 0,
        tuple(rows),
        *(_counts(counted[name]) for name in ("models", "folders")),
    )


def _counts(values: Sequence[str]) -> dict[str, int]:
    result: dict[str, int] = {}
    for value in values:
        result[value] = result.get(value, 0) + 1
    return dict(sorted(result.items(), key=lambda item: (-item[1], item[0])))


def cameras_page(moment: Moment, here: Here) -> Context:
    """Cameras of an address: filtered, sorted, from some place on."""
    wanted = {facet: value for facet in FACETS if (value := here.get(facet))}
    words, sort = here.get("q"), here.get("sort")
    sort = sort if sort in SORTS else "size"
    chosen = moment.cameras.chosen(wanted, words, sort)
    at = here.number("at", len(chosen) - 1)
    return {
        "shown": chosen[at : at + CAMERAS],
        "total": len(chosen),
        "n_photos": sum(facts.size for facts in chosen),
        "filtered": bool(wanted or words),
        "wanted": wanted,
        "query_text": shown(words),
        "facets": moment.cameras.facets(wanted),
        "facet_names": FACETS,
        "sorts": SORTS,
        "sort": sort,
        "at": at,
        "size": CAMERAS,
    }


def _named(moment: Moment, name: str) -> CameraFacts:
    facts = moment.cameras.by_name.get(name)
    if facts is None:
        raise NothingThereError(f"There is no camera {name[:80]!r} (any more).")
    return facts


def camera_page(moment: Moment, here: Here) -> Context:
    """One camera: its photos by strength, its views, what is near it, and when it took them."""
    facts = _named(moment, here.get("name"))
    index, only = moment.index, here.get("only")
    rows = facts.rows if not only else part_rows(moment, facts, only)
    if here.get("order") == "weak":
        rows = rows[::-1]
    at = here.number("at", len(rows) - 1)
    counts = Counter(index.group_of[facts.rows].tolist())
    groups = [index.groups[number] for number in sorted(counts) if number >= 0]
    remarks = dict.fromkeys(text for group in groups for text in index.remarks[group.id])
    decisions = [moment.decided.decisions[k - 1] for k in facts.camera.decisions[-_CHANGES:]]
    return {
        "facts": facts,
        "rows": rows[at : at + PHOTOS],
        "at": at,
        "size": PHOTOS,
        "total": len(rows),
        "order": here.get("order"),
        "only": only if rows is not facts.rows else "",
        "groups": [(group, counts[group.id], _group_words(group)) for group in groups],
        "parts_of": parts_of(moment, facts),
        "remarks": list(remarks)[:8],
        "statuses": _STATUSES,
        "strengths": strength_histogram(moment, facts),
        "near": nearest_map(moment, facts),
        "times": timeline(moment, facts),
        "chart": CHART,
        "changes": [(d.number, decision_words(moment, d)) for d in reversed(decisions)],
    }


def _group_words(group: Group) -> str:
    """Why a group is of its camera, and how well its photos hold together."""
    parts = [group.why_joined] if group.why_joined else []
    if group.correlation is not None:
        parts.append(f"Two of its photos correlate by {group.correlation:.4f} on average.")
    if group.quality is not None:
        parts.append(f"Its fingerprint has a quality of {group.quality:.2f} of 1.")
    return " ".join(parts)


def alone_page(moment: Moment, here: Here) -> Context:
    """Photos of no camera, those with the likeliest camera first."""
    index = moment.index
    rows = [k for k, camera in enumerate(moment.decided.camera_of.tolist()) if camera < 0]
    rows.sort(key=lambda row: (-index.near_score[row] if index.near[row] >= 0 else 0.0, row))
    at = here.number("at", len(rows) - 1)
    some = rows[at : at + PHOTOS]
    near = [
        moment.home(index.by_group[index.near[row]]) if index.near[row] >= 0 else "" for row in some
    ]
    return {"rows": some, "near": near, "at": at, "size": PHOTOS, "total": len(rows)}


def two_page(moment: Moment, here: Here) -> Context:
    """Two cameras side by side."""
    first, second = (_named(moment, here.get(name)) for name in ("first", "second"))
    if first is second:
        raise NothingThereError("These are one camera now.")
    return {
        "first": first,
        "second": second,
        "words": _between(moment, first, second),
        "common": list(_common(moment, first, second).items()),
        "heat": here.moved("/heat"),
    }


def _between(moment: Moment, first: CameraFacts, second: CameraFacts) -> str:
    """What the case says of the groups of two cameras that are nearest to each other."""
    index = moment.index
    own, other = ({int(index.group_of[r]) for r in f.rows} - {-1} for f in (first, second))
    sentences = {}
    for group in index.groups:
        ends = {group.id, group.nearest}
        if ends & own and ends & other and group.why_apart and len(ends) == 2:
            sentences[group.why_apart] = group.nearest_score or 0.0
    if sentences:
        return shown(max(sentences, key=sentences.__getitem__))
    return "Neither is the other's nearest: see what their strongest photos show below."


def _common(moment: Moment, first: CameraFacts, second: CameraFacts) -> dict[str, str]:
    """What the files of both say."""
    index = moment.index
    result = {}
    for label, facet in (
        ("Camera named in EXIF", "model"),
        ("Folder", "folder"),
        ("Frame", "frame"),
    ):
        both = [value for value in first.values[facet] if value in second.values[facet]]
        result[label] = ", ".join(both[:_COMMON]) if both else "nothing in common"
    for label, column in (("Serial number", "serial"), ("Software", "software")):
        sets = [{index.photos[r].image[column] for r in f.rows} - {""} for f in (first, second)]
        both = sorted(sets[0] & sets[1])
        said = ", ".join(both[:_COMMON]) if both else "nothing in common"
        result[label] = said if all(sets) else "not told by both"
    days = [{index.days[r] for r in f.rows} - {""} for f in (first, second)]
    both = sorted(days[0] & days[1])
    said = f"{len(both)}: {', '.join(both[:_COMMON])}" if both else "none"
    result["Days with photos by both"] = said if all(days) else "not told by both"
    scenes = [s for f in (first, second) for g in _groups(moment, f) if (s := g.scenes)]
    count = sum(len(paths) for scene in scenes for paths in scene.paths)
    result["Photos of unmoving scenes"] = str(count) if count else "none"
    return result


def _groups(moment: Moment, facts: CameraFacts) -> list[Group]:
    index = moment.index
    return [index.groups[k] for k in sorted({int(index.group_of[r]) for r in facts.rows} - {-1})]


def photo_page(moment: Moment, sha256: str, history: list[Decision], reason: str) -> Context:
    """One photo: its picture, what is known of it, and what was decided about it."""
    photo = moment.index.files.get(sha256)
    if photo is None:
        raise NothingThereError("No file of the case has this SHA-256.")
    row = moment.index.row_of.get(sha256)
    nan = float("nan")
    own = nan if photo.correlation is None else photo.correlation
    other = nan if photo.margin is None else own - photo.margin
    words = moment.index.views[row] if row is not None else ""
    in_force = moment.decided.in_force
    return {
        "photo": photo,
        "used": row is not None,
        "camera": moment.camera_of(row) if row is not None else "",
        "words": photo.evidence.get("words") or "",
        "placed": int(moment.decided.decision_of[row]) if row is not None else 0,
        "rows": [
            (label, value)
            for label, value in photo_rows(photo, own, other, words)
            if label not in _ELSEWHERE
        ],
        "scores": _scores(moment, photo, row) if row is not None else [],
        "copies": moment.index.copies.get(photo.path, []),
        "notes": [d for d in history if d.kind == "note" and d.number in in_force],
        "history": [(d, decision_words(moment, d), d.number in in_force) for d in history],
        "reason": reason,
    }


def _scores(moment: Moment, photo: CasePhoto, row: int) -> list[tuple[str, float, float, bool]]:
    """(camera, score, width of a bar, whether it is its own) with those the case knows."""
    index, found = moment.index, []
    if photo.group is not None and photo.group >= 0 and index.strength[row] > -1e300:
        name = moment.home(index.by_group[photo.group])
        found.append((name, float(index.strength[row])))
    if index.near[row] >= 0 and index.near_score[row] == index.near_score[row]:
        name = moment.home(index.by_group[index.near[row]])
        found.append((name, float(index.near_score[row])))
    top = max((score for _, score in found), default=1.0)
    own = moment.camera_of(row)
    return [
        (name, score, round(100 * max(score, 0) / max(top, 1e-9), 1), bool(name) and name == own)
        for name, score in found
    ]


def sources_page(moment: Moment, here: Here) -> Context:
    """Folders and the cameras that they share."""
    deepest = max(moment.index.deepest, 1)
    depth = max(here.number("depth", min(deepest, 6)), 1)
    return {
        "matrix": source_matrix(moment, depth),
        "depth": depth,
        "levels": range(1, min(deepest, 6) + 1),
    }


def log_page(moment: Moment, here: Here) -> Context:
    """All decisions, the last first."""
    decided = moment.decided
    undoing = {
        d.of: d.number
        for d in decided.decisions
        if d.kind == "undo" and d.number in decided.in_force
    }
    at = here.number("at", len(decided.decisions) - 1)
    some = decided.decisions[::-1][at : at + DECISIONS]
    return {
        "shown": [
            (d, decision_words(moment, d), d.number in decided.in_force, undoing.get(d.number))
            for d in some
        ],
        "placed": int((decided.decision_of > 0).sum()),
        "total": len(decided.decisions),
        "at": at,
        "size": DECISIONS,
    }
