"""What can be said of photos in question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from samecam.case.folder import SearchChoice, view_object
from samecam.case.matching._words import match_sentence
from samecam.errors import SamecamError
from samecam.notebook import data_frame, figure, shown, table
from samecam.register import View

if TYPE_CHECKING:
    import pandas

RATE = 0.01
_SHOWN = ("path", "verdict", "camera", "group", "view", "score", "log10_lr", "adjusted")
Verdict = Literal["match", "none", "unusable", "skipped"]


@dataclass(frozen=True, slots=True, repr=False)
class Candidate:
    """One camera that may have taken a photo.

    Attributes
    ----------
    group : its group's number in the case; None for a reference
    turned : degrees clockwise by which the stored picture had to be turned
    correlation : with the camera's fingerprint
    score : how far that is above chance, which was measured by shifts of the two; without what is
        no sensor's, as what the group shares with groups of other cameras, or a logo
    p_value : probability that one photo of another camera has such a score
    log10_lr : likelihood ratio of the two propositions, this camera and another one, log10; at most
        `cap`
    cap : largest log10_lr that is supported
    camera : number of the group's camera; None for a reference
    view : how the group sees that camera, in words; "" where there are no views
    shared_score : the score with what is no sensor's; None: nothing was found
    """

    group: int | None
    turned: int
    correlation: float
    score: float
    p_value: float
    log10_lr: float
    cap: float
    camera: int | None = None
    view: str = ""
    shared_score: float | None = None

    def __repr__(self) -> str:
        named = "the reference" if self.group is None else f"camera {self.camera}"
        group = "" if self.group is None else f", group {self.group}"
        likely = f"log10 LR {self.log10_lr:.3g}"
        return f"<Candidate {named}{group}: score {self.score:.3g}, {likely}>"


@dataclass(frozen=True, slots=True, repr=False)
class SeenCamera:
    """A camera that a photo sees in a way of its own: turned, zoomed, reduced, corrected, cut.

    Attributes
    ----------
    camera : its number
    group : the group in whose frame the photo sees it
    view : how, with the score in units of chance and the rate of chance in all that was searched
        for this photo
    words : the same in words, "2.0× zoom"
    shares : whether the group shares a pattern with groups of other cameras: it is not taken out
    """

    camera: int
    group: int
    view: View
    words: str
    shares: bool = False

    def __repr__(self) -> str:
        return f"<SeenCamera {self.camera}, group {self.group}: {shown(self.words)}>"

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {**asdict(self), "view": view_object(self.view)}


@dataclass(frozen=True, slots=True, repr=False)
class Match:
    """What can be said of one photo.

    Attributes
    ----------
    path, sha256, status : the photo, as in `images.csv`
    reason : as there; of a photo that was compared with nothing, why not
    verdict : "match", "none", or why it could not be compared
    best : the camera it is most like pixel by pixel; the answer if the verdict is "match" and
        there is nothing `seen`
    other : the next best other camera; None if there is no other
    comparisons : cameras times orientations compared; 0 if none has photos of its width and height
    adjusted : min(1, p_value of the best · comparisons); of what is `seen` its rate
    frame : width and height of what was compared with the best, "4000x3000"
    known : path of the same bytes in the case, or among the reference (of a copy there the
        original): left out there
    known_group : the group that stands in; −1 for none
    known_camera : the camera, likewise
    seen : the camera that it sees in another way; the answer if there is one
    by_views : cameras that it was compared with so
    """

    path: str
    sha256: str
    status: str
    reason: str
    verdict: Verdict
    best: Candidate | None = None
    other: Candidate | None = None
    comparisons: int = 0
    adjusted: float = 1.0
    frame: str | None = None
    known: str | None = None
    known_group: int | None = None
    known_camera: int | None = None
    seen: SeenCamera | None = None
    by_views: int = 0

    def __repr__(self) -> str:
        answer = self._answer
        camera = "" if answer is None or answer.camera is None else f" with camera {answer.camera}"
        return f"<Match {self.path!r}: {self.verdict}{camera}>"

    @property
    def group(self) -> int | None:
        """The group of the verdict, if it is one."""
        answer = self._answer
        return None if answer is None else answer.group

    @property
    def camera(self) -> int | None:
        """The camera of the verdict, if it is one."""
        answer = self._answer
        return None if answer is None else answer.camera

    @property
    def view_words(self) -> str:
        """How it sees the camera of the verdict, in words; "" if there is nothing to say."""
        if self.seen is not None:
            return self.seen.words
        return self.best.view if self.best is not None and self.verdict == "match" else ""

    @property
    def score(self) -> float | None:
        """How far it is above chance with that camera, or with the one it is most like."""
        if self.seen is not None:
            return self.seen.view.score
        return None if self.best is None else self.best.score

    @property
    def sentence(self) -> str:
        """Which camera took it, or none, and how sure that is."""
        return match_sentence(self)

    @property
    def _answer(self) -> SeenCamera | Candidate | None:
        return (self.seen or self.best) if self.verdict == "match" else None

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        seen = None if self.seen is None else self.seen.as_dict()
        return {**asdict(self), "seen": seen, "group": self.group, "camera": self.camera}


@dataclass(frozen=True, slots=True, repr=False)
class Matches:
    """What can be said of some photos.

    Attributes
    ----------
    photos : one entry a photo, by path
    cameras : that there are; 1 for a reference
    rate : nominal probability, for each photo, that chance makes a match
    measured : what the error rates rest on, a sentence
    interrupted : whether it was asked to stop before the end
    search : how far views were looked for
    case : the case folder; None for a reference
    files : where the photos are on disk, by path
    """

    photos: list[Match]
    cameras: int
    rate: float
    measured: str
    interrupted: bool = False
    search: SearchChoice = "off"
    case: Path | None = None
    files: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Matches: {self.summary}>"

    @property
    def summary(self) -> str:
        """How many photos match, and what: "10 of 20 match: 7 camera 3, 3 camera 0"."""
        matched = [photo for photo in self.photos if photo.verdict == "match"]
        text = f"{len(matched)} of {len(self.photos)} match"
        counts = Counter(photo.camera for photo in matched)
        order = sorted(counts, key=lambda camera: (-counts[camera], camera or 0))
        if order == [None]:
            text += " the reference"
        elif order:
            text += ": " + ", ".join(f"{counts[camera]} camera {camera}" for camera in order)
        return text + _not_compared(self.photos)

    def _repr_html_(self) -> str:
        """What a notebook shows: one row a photo."""
        head = ("photo", "verdict", "camera", "group", "view", "score", "log10 LR", "by chance")
        rows = [
            (*row[:2], *(cell if cell is not None else "–" for cell in row[2:5]),
             *(figure(value) for value in row[5:8]))
            for row in zip(*(self._columns()[name] for name in _SHOWN), strict=True)
        ]  # fmt: skip
        return table(f"{self.summary}.", head, rows, notes=[self.measured])

    def to_frame(self) -> pandas.DataFrame:
        """One row a photo, for pandas: verdict, camera, group, view, score, likelihood ratio.

        Examples
        --------
        >>> frame = samecam.match("CASE", ["new/"]).to_frame()
        >>> frame[frame.verdict == "match"]
        """
        return data_frame(self._columns())

    def _columns(self) -> dict[str, list[Any]]:
        """Scores are those of the camera the photo is most like, the answer or not."""
        photos, best = self.photos, [photo.best for photo in self.photos]
        return {
            "path": [p.path for p in photos],
            "verdict": [p.verdict for p in photos],
            "camera": [p.camera for p in photos],
            "group": [p.group for p in photos],
            "view": [p.view_words for p in photos],
            "score": [p.score for p in photos],
            "log10_lr": [None if b is None else b.log10_lr for b in best],
            "adjusted": [p.adjusted if p.comparisons or p.by_views else None for p in photos],
            "correlation": [None if b is None else b.correlation for b in best],
            "turned": [None if b is None else b.turned for b in best],
            "best_camera": [None if b is None else b.camera for b in best],
            "best_group": [None if b is None else b.group for b in best],
            "frame": [p.frame or "" for p in photos],
            "known": [p.known or "" for p in photos],
            "status": [p.status for p in photos],
            "reason": [p.reason for p in photos],
            "sha256": [p.sha256 for p in photos],
        }

    @property
    def comparisons(self) -> int:
        """All comparisons that were made."""
        return sum(photo.comparisons for photo in self.photos)

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "photos": [photo.as_dict() for photo in self.photos],
            "cameras": self.cameras,
            "rate": self.rate,
            "measured": self.measured,
            "interrupted": self.interrupted,
            "search": self.search,
            "comparisons": self.comparisons,
            "summary": self.summary,
        }


def _not_compared(photos: Sequence[Match]) -> str:
    """How many could not be used."""
    count = sum(photo.verdict in ("unusable", "skipped") for photo in photos)
    return f"; {count} could not be used" if count else ""


def check_rate(rate: float) -> None:
    """Refuse what is no probability."""
    if not 0 < rate < 1:
        raise SamecamError(f"rate is {rate}; give a probability between 0 and 1, .01 is usual.")
