"""Cameras and photos as the page shows them: what is said, and in which order."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from samecam.case import Camera, CasePhoto, Group, SavedCase
from samecam.compute import format_bytes
from samecam.evidence import one_model_note, rate_text
from samecam.report._correlations import Correlations
from samecam.report._names import marked, shown
from samecam.report._thumbnails import Thumbnail

STRONGEST, WEAKEST = 5, 3
_OFTEN = 0.5
_NAMED = 3
_RATIOS = {
    "log10_lr": "another camera",
    "log10_lr_same_model": "another body of the same model",
}
_OPEN = ("may be one",)
_EXIF = {
    "make": "Make (EXIF)",
    "model": "Model (EXIF)",
    "serial": "Serial number (EXIF)",
    "software": "Software (EXIF)",
    "taken": "Taken (EXIF)",
    "mode": "Mode (EXIF, XMP)",
}


@dataclass(slots=True)
class Figure:
    """One photo: its picture and what is written under it; `rows` is for a closer look."""

    photo: CasePhoto
    name: Markup
    folder: Markup = field(default_factory=Markup)
    role: str = ""
    note: str = ""
    thumbnail: Thumbnail = field(default_factory=Thumbnail)
    rows: list[tuple[str, str]] = field(default_factory=list)
    number: int = -1
    doubtful: bool = False

    @property
    def text(self) -> str:
        """What the filter looks at."""
        image = self.photo.image
        said = (image.get(name) or "" for name in ("make", "model", "serial", "taken"))
        return shown(" ".join([self.photo.path, *said, self.photo.status])).casefold()


@dataclass(frozen=True, slots=True)
class Strip:
    """Photos that see a camera in one way: a group, or photos in none (`group` is None).

    `left_out` of its photos are not on the page. Remarks are for its reader to look into; notes
    are true of most groups.
    """

    group: int | None
    size: int
    frame: str
    words: str
    facts: list[tuple[str, str, str]]
    remarks: list[str]
    notes: list[str]
    figures: list[Figure]
    left_out: int

    @property
    def middle(self) -> int:
        """How many of its figures a folded card hides."""
        return sum(not figure.role for figure in self.figures)


@dataclass(frozen=True, slots=True)
class Card:
    """One camera: a strip for each of its groups, the first first; remarks are of all together."""

    id: int
    size: int
    exif: list[tuple[str, int]]
    remarks: list[str]
    strips: list[Strip]
    first: Group

    @property
    def frame(self) -> str:
        """Width and height of its first group."""
        return self.strips[0].frame

    @property
    def figures(self) -> list[Figure]:
        """All of its photos that are shown."""
        return [figure for strip in self.strips for figure in strip.figures]

    @property
    def middle(self) -> int:
        """How many of its figures a folded card hides."""
        return sum(strip.middle for strip in self.strips)

    @property
    def left_out(self) -> int:
        """Photos that are not on the page."""
        return sum(strip.left_out for strip in self.strips)

    @property
    def n_remarks(self) -> int:
        """Remarks on the camera and on its groups."""
        return len(self.remarks) + sum(len(strip.remarks) for strip in self.strips)

    @property
    def titled(self) -> bool:
        """Whether its groups are to be named: they are several, or have another number."""
        return len(self.strips) > 1 or self.strips[0].group != self.id


def build_cards(content: SavedCase, given: Correlations, most: int) -> list[Card]:
    """One card per camera, the members of its groups from the strongest to the weakest.

    Parameters
    ----------
    most : figures for all groups together; of a group that gets fewer than it has, the
        strongest two thirds and the weakest third are shown. Cameras beyond half as many
        have no card.
    """
    cameras = content.cameras[: most // 2]
    total = sum(camera.size for camera in cameras)
    strips = sum(len(camera.groups) + bool(camera.placed) for camera in cameras)
    each = max(2, most // max(strips, 1)) if total > most else total
    by_path = _ByPath(content, given)
    cards = []
    for camera in cameras:
        made = [_strip(content, group, given, by_path, each) for group in camera.groups]
        if camera.placed:
            made.append(_placed_strip(content, camera, each))
        exif = _exif_cameras(camera.groups, content.placed(camera))
        remarks = [shown(text) for text in camera.warnings]
        cards.append(Card(camera.id, camera.size, exif, remarks, made, camera.groups[0]))
    return cards


class _ByPath:
    """Correlations of the used photos by path."""

    def __init__(self, content: SavedCase, given: Correlations) -> None:
        paths = [photo.path for photo in content.used]
        self.strength = dict(zip(paths, given.strength.tolist(), strict=True))
        self.own = dict(zip(paths, given.own.tolist(), strict=True))
        self.other = dict(zip(paths, given.other.tolist(), strict=True))


def _strip(
    content: SavedCase, group: Group, given: Correlations, by_path: _ByPath, most: int
) -> Strip:
    """The photos of a group, and what is said of it."""
    members = sorted(
        content.members(group), key=lambda photo: (-by_path.strength[photo.path], photo.path)
    )
    kept = _ends(members, most)
    figures = [_figure(p, by_path.own[p.path], by_path.other[p.path], group.words) for p in kept]
    _give_roles(figures)
    own = [by_path.own[photo.path] for photo in members]
    remarks, notes = _remarks(group, members)
    return Strip(
        group=group.id,
        size=group.size,
        frame=_frame(group.frame),
        words=group.words,
        facts=_facts(group, members, own, _scale(group, given)),
        remarks=remarks,
        notes=notes,
        figures=figures,
        left_out=len(members) - len(figures),
    )


def _placed_strip(content: SavedCase, camera: Camera, most: int) -> Strip:
    """Photos of a camera that are in no group, each with a view of its own."""
    nan = float("nan")
    pairs = list(zip(content.placed(camera), camera.placed, strict=True))[:most]
    figures = [_figure(photo, nan, nan, placed.words) for photo, placed in pairs]
    for figure in figures:
        figure.role = "all"
    frames = {placed.frame for placed in camera.placed}
    return Strip(
        group=None,
        size=len(camera.placed),
        frame=_frame(frames.pop()) if len(frames) == 1 else "",
        words="; ".join(dict.fromkeys(placed.words for placed in camera.placed[:_NAMED])),
        facts=[],
        remarks=[],
        notes=[shown(pairs[0][1].why_joined)] if len(pairs) == 1 else [],
        figures=figures,
        left_out=len(camera.placed) - len(figures),
    )


def _frame(name: str | None) -> str:
    return (name or "").replace("x", " × ")


def _scale(group: Group, given: Correlations) -> float:
    """The scale of chance of a group's frame."""
    return given.scales.get(group.frame or "", given.scale)


def alone_figures(photos: Sequence[CasePhoto]) -> list[Figure]:
    """Photos of no camera."""
    nan = float("nan")
    return [_figure(photo, nan, nan) for photo in photos]


def _ends(members: list[CasePhoto], most: int) -> list[CasePhoto]:
    if len(members) <= most:
        return members
    last = most // 3
    return members[: most - last] + (members[-last:] if last else [])


def _give_roles(figures: list[Figure]) -> None:
    if len(figures) <= STRONGEST + WEAKEST + 1:
        for figure in figures:
            figure.role = "all"
        if len(figures) > 2:
            figures[0].role, figures[-1].role = "strongest", "weakest"
        return
    for figure in figures[:STRONGEST]:
        figure.role = "strongest"
    for figure in figures[-WEAKEST:]:
        figure.role = "weakest"


def _figure(photo: CasePhoto, own: float, other: float, words: str = "") -> Figure:
    figure = Figure(photo, marked(photo.path.rsplit("/", 1)[-1]))
    if not math.isnan(own):
        score = photo.figure("score")
        figure.note = f"r {own:.4f}" if score is None else f"score {score:g}"
        figure.doubtful = photo.doubtful
    elif photo.view is not None and photo.view.score is not None:
        figure.note = f"score {photo.view.score:.1f}"
    elif (near := photo.figure("nearest")) is not None:
        like = photo.figure("nearest_correlation") or 0.0
        figure.note = f"nearest: {near:.0f}, {like:.4f}"
    elif photo.status == "weak":
        figure.note = "weak"
    figure.rows = list(photo_rows(photo, own, other, words))
    return figure


def photo_rows(photo: CasePhoto, own: float, other: float, words: str) -> Iterator[tuple[str, str]]:
    """What a closer look at a photo tells; `words`: how it sees its camera."""
    if said := photo.evidence.get("words"):
        yield "In words", shown(said)
    for name, number in (("Camera", photo.cluster), ("Group", photo.group)):
        if number is not None:
            yield name, str(number) if number >= 0 else "none"
    if words:
        yield "Sees its camera", shown(words)
    if not math.isnan(own):
        yield "Correlation with the rest of its group (r)", f"{own:.4f}"
        if not math.isnan(other):
            yield "With the nearest other group", f"{other:.4f}"
            yield "Lead over that group", f"{own - other:.4f}"
    if (score := photo.figure("score")) is not None:
        yield "Score (chance scatters by 1)", f"{score:g}"
    if (without := photo.figure("score_without")) is not None:
        yield "Without a pattern that is no sensor’s", f"{without:g}"
    for column, against in _RATIOS.items():
        if (ratio := photo.figure(column)) is not None:
            yield f"Likelihood ratio, log10, against {against}", f"{ratio:g}"
    if photo.doubtful:
        yield "Doubtful", "its score is low for a member: look at it"
    if (pce := photo.figure("pce")) is not None:
        yield "Peak-to-correlation energy (PCE)", f"{pce:g}"
    if photo.p_value is not None:
        yield "A photo of another camera has such a score in", chance_text(photo.p_value)
    yield "Status", photo.status + (f": {shown(photo.reason)}" if photo.reason else "")
    for column, label in _EXIF.items():
        if value := photo.image.get(column):
            yield label, shown(value)
    if service := photo.image.get("service"):
        yield "Looks like", shown(service_text(service))
    yield "Picture", _picture_text(photo.image)
    for column, label in {"dark": "Dark share", "saturated": "Over-exposed share"}.items():
        if value := photo.image.get(column):
            yield label, f"{float(value):.1%}"
    yield "SHA-256", photo.sha256 or "–"


def service_text(service: str) -> str:
    """In words, what a file looks like that may have come through a service."""
    return f"a copy by {service}"


def _picture_text(image: Mapping[str, str]) -> str:
    size = f"{image['width']} × {image['height']}" if image.get("width") else ""
    weight = format_bytes(int(image["bytes"])) if image.get("bytes") else ""
    return ", ".join(part for part in (image.get("format") or "", size, weight) if part)


def chance_text(p: float) -> str:
    """A rate that chance may have, in words."""
    if not 0 < p <= 1:
        return f"{p:g}"
    return "most cases" if p >= _OFTEN else f"{rate_text(p)} cases"


def _exif_cameras(groups: Sequence[Group], placed: Sequence[CasePhoto]) -> list[tuple[str, int]]:
    """Make and model in one, with the number of photos, most frequent first."""
    counts: Counter[tuple[str, str]] = Counter()
    for group in groups:
        counts.update({(entry.make, entry.model): entry.photos for entry in group.cameras})
    counts.update((photo.image["make"], photo.image["model"]) for photo in placed)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(camera_name(make, model), count) for (make, model), count in ordered]


def camera_name(make: str, model: str) -> str:
    """Make and model in one, as text that a page can show."""
    name = model if model.casefold().startswith(make.casefold()) else f"{make} {model}"
    return shown(name.strip()) or "no camera named"


def _facts(
    group: Group, members: list[CasePhoto], own: list[float], scale: float
) -> list[tuple[str, str, str]]:
    """(label, value, explanation) of a group."""
    facts = []
    if group.correlation is not None:
        times = f"{group.correlation / scale:.1f} × chance" if scale > 0 else ""
        facts.append(("Mean correlation", f"{group.correlation:.4f}", times))
    if group.score is not None:
        facts.append(("All pairs together", f"{group.score:g}", "score"))
    if group.quality is not None:
        facts.append(("Fingerprint quality", f"{group.quality:.2f}", "of 1, see “Meaning”"))
    known = [value for value in own if not math.isnan(value)]
    if len(known) > 1:
        low, high = min(known), max(known)
        facts.append(("Members", f"{low:.4f} – {high:.4f}", "correlation with the rest"))
    leads = [photo.margin for photo in members if photo.margin is not None]
    if leads:
        facts.append(("Smallest lead", f"{min(leads):.4f}", "over any other group"))
    if group.weakest is not None:
        doubtful = sum(photo.doubtful for photo in members)
        said = f"score; {doubtful} doubtful" if doubtful else "score"
        facts.append(("Weakest member", f"{group.weakest:g}", said))
    if group.nearest is not None and group.nearest_correlation is not None:
        like = f"correlates {group.nearest_correlation:.4f}"
        facts.append(("Nearest group", f"{group.nearest}", like))
    return facts


def _remarks(group: Group, members: list[CasePhoto]) -> tuple[list[str], list[str]]:
    """Remarks and notes: why it was not merged with its nearest group, and what its files say.

    That all devices of a model may share something is true of most groups: a note, no warning.
    """
    remarks: list[str] = []
    notes: list[str] = []
    if group.why_joined:
        notes.append(shown(group.why_joined))
    if group.why_apart:
        (remarks if group.apart in _OPEN else notes).append(shown(group.why_apart))
    of_one_model = one_model_note([dict(photo.image) for photo in members])
    for text in group.warnings:
        (notes if text == of_one_model else remarks).append(shown(text))
    return remarks, notes
