"""What a page of a match holds, whatever was compared."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from samecam import evidence, provenance
from samecam.report._names import marked, shown
from samecam.report._thumbnails import Thumbnail
from samecam.report.matching._chart import Chart, Kind

# Strongest members of a camera that are shown; photos in question that are, on the whole page.
STRONGEST, SHOWN = 6, 600
_LIMITS = (
    "A likelihood ratio is no probability that a camera took a photo: that depends on all other "
    "evidence as well.",
    "Ratios speak of photos that are as the camera made them. Of a photo that was edited, resized "
    "or sent by a messenger the pattern is weaker, and a ratio for another camera means little.",
)


@dataclass(slots=True)
class Picture:
    """A photo that is shown: in question, or a member of a camera (`tag` is "").

    `key` is its name among all pictures of the page, `file` where it is, if that is known.
    """

    key: str
    file: str | None
    sha256: str
    name: Markup
    note: str
    tag: str = ""
    kind: Kind = "none"
    thumbnail: Thumbnail = field(default_factory=Thumbnail)

    @property
    def path(self) -> str:
        """Its name for `make_thumbnails`."""
        return self.key


@dataclass(frozen=True, slots=True)
class Part:
    """Photos that belong together: of one camera, of none, or all of them.

    `left_out` of the photos in question are not shown; remarks are for the reader to look into.
    """

    title: str
    about: str
    charts: list[Chart]
    pictures: list[Picture]
    members: list[Picture] = field(default_factory=list)
    of_members: str = ""
    left_out: int = 0
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table of all photos, or pairs: figures are text, "–" where there is none."""

    tag: str
    names: list[Markup]
    verdict: str
    kind: Kind
    score: str
    ratio: str
    words: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Content:
    """The page, before thumbnails. `hashes` are (tag, name, status, SHA-256) of the photos."""

    question: str
    about: str
    summary: str
    parts: list[Part]
    rows: list[Row]
    hashes: list[tuple[str, Markup, str, str]]
    sheets: list[tuple[str, list[tuple[str, str]]]]
    limits: list[str]

    @property
    def pictures(self) -> list[Picture]:
        """Every photo that is shown."""
        return [each for part in self.parts for each in (*part.pictures, *part.members)]


def counted(number: int, noun: str) -> str:
    """'1 photo', '2 photos'."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def in_question(
    tag: str, path: str, sha256: str, file: str | None, note: str, kind: Kind
) -> Picture:
    """A photo in question as a picture of the page."""
    name = marked(path.rpartition("/")[2])
    return Picture(f"in question/{path}", file, sha256, name, note, tag, kind)


def members(
    scored: Iterable[tuple[str, str, float]], files: Mapping[str, str]
) -> tuple[list[Picture], int]:
    """The strongest of a camera's members, (path, SHA-256, score), and how many there are."""
    ordered = sorted(scored, key=lambda each: (-each[2], each[0]))
    pictures = [
        Picture(
            f"member/{path}",
            files.get(path),
            sha256,
            marked(path.rpartition("/")[2]),
            "" if math.isnan(score) else f"score {score:z.1f}",
        )
        for path, sha256, score in ordered[:STRONGEST]
    ]
    return pictures, len(ordered)


def few(pictures: Sequence[Picture], used: int) -> tuple[list[Picture], int]:
    """As many as the page has room for after `used` others, and how many are left out."""
    kept = list(pictures[: max(SHOWN - used, 0)])
    return kept, len(pictures) - len(kept)


def figure(score: float | None) -> str:
    """A score as text."""
    return "–" if score is None else f"{score:z.1f}"


def limits(measured: str) -> list[str]:
    """What the figures rest on, and what they do not say."""
    return [measured, *_LIMITS, evidence.SENSOR, evidence.ABSENCE, evidence.MODEL]


def software() -> tuple[str, list[tuple[str, str]]]:
    """What made the page."""
    return "Software", [*provenance.versions().items(), ("law", str(evidence.LAW_VERSION))]


def text(value: Any) -> str:
    """A value of a table."""
    if value is None or value == "":
        return "–"
    if isinstance(value, list | tuple):
        return ", ".join(map(text, value)) or "–"
    return shown(str(value))
