"""The page: one template, one style sheet and one script, put together without the network."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from samecam.case import (
    ABOUT,
    DECIDED,
    DECISIONS,
    STATUSES,
    CasePhoto,
    Decided,
    SavedCase,
    SourceTable,
    folders_below,
    read_decided,
    report_marks,
    seal_report,
    source_names,
    sources_by_camera,
)
from samecam.errors import SamecamError
from samecam.evidence import base_rate_sentence
from samecam.files import file_hash
from samecam.report._about import About
from samecam.report._cards import Card, Figure, alone_figures, build_cards, service_text
from samecam.report._correlations import Correlations
from samecam.report._decided import Stands, decided_conclusion, machine_names, stands
from samecam.report._front import LIMITS, QUESTION, conclusion, examined, paragraphs
from samecam.report._heatmap import heat_map
from samecam.report._histogram import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    pair_histogram,
    photo_histogram,
)
from samecam.report._links import weakest_link
from samecam.report._method import REFERENCES
from samecam.report._names import marked, shown
from samecam.report._paper import Paper, on_paper
from samecam.report._parts import fill_template, part
from samecam.report._shared import SharedCameras, shared_cameras
from samecam.report._thumbnails import Thumbnail

LIMIT = 2000
# Files in the table of hashes: a browser shows no million rows.
LISTED = 50_000
SCRIPTS = ("page.js", "page.tables.js", "page.map.js")
_LONG = 200
_STATUS_WORDS = {
    "good": "used",
    "weak": "used with care: 30 to 90 % over-exposed, or like a graphic",
    "unusable": "over-exposed or flat",
    "duplicate": "the same bytes as another file",
    "copy": "the same picture as another photo, whose group it shares",
    "skipped": "could not be read, or no photo",
}


@dataclass(frozen=True, slots=True)
class Page:
    """What is on the page, before thumbnails: cards, photos of no camera, other files."""

    content: SavedCase
    given: Correlations
    cards: list[Card]
    alone: list[Figure]
    others: list[CasePhoto]
    about: About
    decided: Decided
    stood: Stands | None

    @property
    def figures(self) -> list[Figure]:
        """Every photo that is shown."""
        return [figure for card in self.cards for figure in card.figures] + self.alone


def lay_out(content: SavedCase, given: Correlations, about: About) -> Page:
    """Decide what is shown: everything up to 2,000 photos, the ends of each group above."""
    whole = len(content.used) <= LIMIT
    cards = build_cards(content, given, LIMIT)
    alone = alone_figures(content.alone if whole else content.alone[:_LONG])
    order = {"weak": 0, "unusable": 1, "skipped": 2, "copy": 3, "duplicate": 4}
    others = [photo for photo in content.photos if photo.status in order]
    others.sort(key=lambda photo: (order[photo.status], photo.path))
    decided = read_decided(content)
    page = Page(content, given, cards, alone, others, about, decided, stands(content, decided))
    folders = folders_below([photo.path for photo in content.photos])
    below = dict(zip((photo.path for photo in content.photos), folders, strict=True))
    for number, figure in enumerate(page.figures):
        figure.number = number
        parts = below[figure.photo.path]
        figure.folder = marked("/".join(parts)) if parts else Markup("")
    if decided.counts:
        _say_what_stands(page)
    return page


def _say_what_stands(page: Page) -> None:
    """In a closer look at a photo: where it stands after the decisions, and by which."""
    decided = page.decided
    place = {photo.path: k for k, photo in enumerate(decided.photos)}
    for figure in page.figures:
        k = place[figure.photo.path]
        by = int(decided.decision_of[k])
        said = shown(decided.name_of(k)) or "none"
        row = ("After the decisions", f"{said}, by decision {by}" if by else said)
        at = next(k for k, (label, _) in enumerate(figure.rows) if label == "Camera")
        figure.rows.insert(at, row)


def render(
    page: Page,
    thumbnails: Mapping[str, Thumbnail] | None,
    *,
    blur: bool,
    paper: Paper | None = None,
) -> str:
    """The page as HTML; without thumbnails if they are None.

    `paper` : to be printed on, without links to files that lie beside the page
    """
    for figure in page.figures:
        if thumbnails is not None:
            figure.thumbnail = thumbnails.get(figure.photo.path, Thumbnail())
    html = fill_template(
        "page.html",
        part("page.css") + on_paper(page.about, _title(page.content), paper),
        "".join(map(part, SCRIPTS)),
        filters={
            "name": marked,
            "shown": shown,
            "service": service_text,
            "paragraphs": paragraphs,
        },
        **_context(page),
        thumbnails=thumbnails is not None,
        blur=blur,
        linked=paper is None,
        marks=Markup(report_marks(page.content.digest)),
        details=_script_json([_details(figure) for figure in page.figures]),
    )
    return seal_report(html)


def _script_json(value: Any) -> Markup:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for c in "<>&":
        text = text.replace(c, f"\\u{ord(c):04x}")
    return Markup(text)


def _details(figure: Figure) -> list[Any]:
    return [shown(figure.photo.path), figure.rows]


def _context(page: Page) -> dict[str, Any]:
    content, given = page.content, page.given
    counts = Counter(photo.status for photo in content.photos)
    chart = {"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": RIGHT}
    histograms = [pair_histogram(given, content), photo_histogram(given, content)]
    table, shared = _shared(page)
    words = list(conclusion(content, shared, _camera_names(page)))
    if page.stood is not None:
        words.insert(1, decided_conclusion(page.stood))
    return {
        "title": _title(content),
        "about": page.about,
        "exhibits": {what: number for number, what in page.about.exhibits if what in table.names},
        "default_question": QUESTION,
        "conclusion": words,
        "stood": page.stood,
        "counts_decisions": page.decided.counts,
        "stable": machine_names(page.decided),
        "carded": {card.id for card in page.cards},
        "shared": shared,
        "examined": examined(content, table),
        "limits": LIMITS,
        "page": page,
        "content": content,
        "given": given,
        "counts": [(name, counts[name], _STATUS_WORDS[name]) for name in STATUSES],
        "n_files": len(content.photos),
        "n_used": len(content.used),
        "n_alone": len(content.alone),
        "frames": [
            (f.name.replace("x", " × "), f, sorted({content.groups[k].camera for k in f.groups}))
            for f in content.frames
        ],
        "largest": max((camera.size for camera in content.cameras), default=1),
        "views": any(len(card.strips) > 1 for card in page.cards),
        "heat": heat_map(given),
        "pairs": _pairs(page),
        "histograms": [h for h in histograms if h is not None],
        "chart": {**chart, "top": TOP, "bottom": BOTTOM},
        "sentences": list(_sentences(content)),
        "parameters": list(_parameters(content)),
        "groups": {photo.path: photo.cluster for photo in content.used},
        "all_files": _all_files(page),
        "listed": LISTED,
        "method_name": content.clustering_settings.method,
        "whole": content.info["extraction"].get("size") is None,
        "references": REFERENCES,
        "limit": LIMIT,
        "long": _LONG,
    }


def _pairs(page: Page) -> str:
    """Photos of the map in its order, as JSON: their number on the page, or path and group."""
    numbers = {figure.photo.path: figure.number for figure in page.figures}
    used = page.content.used
    some = [used[k] for k in page.given.chosen.tolist()]
    return json.dumps([numbers.get(p.path, [shown(p.path), p.cluster, p.group]) for p in some])


def _title(content: SavedCase) -> str:
    return shown(content.folder.resolve().name or "case")


def _camera_names(page: Page) -> dict[int, Markup]:
    """Cameras as sentences name them, with a link to those that have a card."""
    cards = {card.id for card in page.cards}
    link = Markup('<a href="#camera-{0}">camera {0}</a>')
    plain = Markup("camera {0}")
    return {c.id: (link if c.id in cards else plain).format(c.id) for c in page.content.cameras}


def _shared(page: Page) -> tuple[SourceTable, SharedCameras | None]:
    """Sources and cameras as they stand, and who shares one."""
    photos, decided = page.content.photos, page.decided
    paths = [photo.path for photo in photos]
    names, notes = _camera_names(page), dict[int, Markup]()
    standing = {photo.path: photo.cluster for photo in page.content.used}
    if decided.counts and page.stood is not None:
        names, notes = page.stood.names, page.stood.changes
        used = (photo.path for photo in decided.photos)
        standing = dict(zip(used, decided.camera_of.tolist(), strict=True))
    table = sources_by_camera(paths, [standing.get(path) for path in paths])
    sources = dict(zip(paths, source_names(paths), strict=True))
    each = [sources[photo.path] for photo in page.content.used]
    cameras = np.array([standing[photo.path] for photo in page.content.used], dtype=np.intp)
    links = {k: weakest_link(page.given, each, cameras, k) for k in table.shared}
    return table, shared_cameras(table, names, links, notes)


def _all_files(page: Page) -> Iterator[tuple[Markup, str, str, str, Markup]]:
    """Path, SHA-256, status, the machine's camera and that after decisions, of listed files."""
    decided = page.decided
    place = {photo.path: k for k, photo in enumerate(decided.photos)}
    for photo in page.content.photos[:LISTED]:
        k = place.get(photo.original or photo.path)
        camera = None if k is None else decided.photos[k].cluster
        said = "–" if camera is None else "none" if camera < 0 else str(camera)
        now = "–" if k is None else decided.name_of(k) or "none"
        yield marked(photo.path), photo.sha256 or "–", photo.status, said, marked(now)


def _sentences(content: SavedCase) -> Iterator[str]:
    """What the numbers mean, and what they do not, beside the limits that stand in front."""
    yield from (shown(sentence) for sentence in content.statements if sentence not in LIMITS)
    rate, count = content.detail("parameters", "join_rate"), len(content.groups)
    if isinstance(rate, float) and 0 < rate < 1 and count:
        yield base_rate_sentence(len(content.used), count, rate / count)


def _parameters(content: SavedCase) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Everything `case.json` holds, in sections of names and values."""
    info = content.info
    about = ("samecam", "created", "sources", "seed", "device")
    yield "Case", [(name, _value(info[name])) for name in about if name in info]
    for name in ("extraction", "clustering", "versions", "timings"):
        given = info.get(name, {})
        hidden = ("sha256", "mark", "grouped", "labels") if name == "clustering" else ()
        rows = [(k, v) for k, v in _flat(given) if k not in hidden and not k.startswith("sha256")]
        if rows:
            yield name.capitalize(), rows
    persons = {name: file_hash(content.folder / name) for name in (ABOUT, DECISIONS, DECIDED)}
    hashes = {**content.hashes, **{name: known for name, known in persons.items() if known}}
    files = [(f"{name}, SHA-256", digest) for name, digest in hashes.items()]
    yield "Files of the case", [*files, ("audit log", _log_text(content))]


def _log_text(content: SavedCase) -> str:
    try:
        log = content.check_log()
    except SamecamError:
        return "log.jsonl cannot be read"
    if log.broken is None:
        return f"log.jsonl is an unbroken chain of {log.lines} lines; its head is {log.head}"
    return f"log.jsonl is broken at line {log.broken}: it was changed"


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested entries as 'a › b' and text."""
    for name, entry in value.items() if isinstance(value, Mapping) else ():
        if isinstance(entry, Mapping):
            yield from _flat(entry, f"{prefix}{name} › ")
        else:
            yield prefix + str(name), _value(entry)


def _value(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value)) or "–"
    return shown(str(value))
