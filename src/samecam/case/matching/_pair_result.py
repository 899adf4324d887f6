"""What can be said of two photos: one camera, or not shown."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from samecam import evidence
from samecam.case.folder import SearchChoice, view_object
from samecam.case.matching._result import Candidate
from samecam.case.matching._words import without_words
from samecam.notebook import data_frame, figure, table
from samecam.register import View

if TYPE_CHECKING:
    import pandas

PairVerdict = Literal["match", "none", "alike", "same", "unusable"]
# Smaller rates say no more to a reader.
_SMALLEST = 1e-12
# Pairs that a summary names.
_NAMED = 3
_NOT_SHOWN = "Not shown to be of one camera"
_BY_VIEW = "One camera, by a view"
_UNIT = "(chance scatters by 1)"
_ALIKE = (
    "The two look like one picture, or one scene from one standpoint (a copy, a burst, a tripod): "
    "what they have in common may be the picture itself, which is no evidence of a sensor."
)


@dataclass(frozen=True, slots=True)
class ComparedPhoto:
    """One of the photos: `path`, `sha256`, `status` and `reason` as in `images.csv`.

    `frame` is its width and height, "4000x3000"; None if that is not known.
    """

    path: str
    sha256: str
    status: str
    reason: str
    frame: str | None


@dataclass(frozen=True, slots=True)
class PairView:
    """How the first of two photos sees the frame of the second, also in words."""

    view: View
    words: str


@dataclass(frozen=True, slots=True, repr=False)
class PhotoPair:
    """What can be said of two photos.

    Attributes
    ----------
    first, second : their paths
    verdict : "match" (one camera), "none" (not shown), "alike" (they show one picture or scene,
        which may be what they have in common), "same" (the same bytes), or "unusable"
    reason : why they were not compared; "" if they were
    best : what pixels show, the first turned; None if the two have not one width and height
    comparisons : orientations that were compared so
    adjusted : probability that chance does that in any comparison of all pairs
    frame : width and height of what was compared, "4000x3000"
    seen : the view by which they match; None if it is none
    by_views : whether views were searched
    """

    first: str
    second: str
    verdict: PairVerdict
    reason: str = ""
    best: Candidate | None = None
    comparisons: int = 0
    adjusted: float = 1.0
    frame: str | None = None
    seen: PairView | None = None
    by_views: bool = False

    def __repr__(self) -> str:
        return f"<PhotoPair {self.first!r}, {self.second!r}: {self.verdict}>"

    @property
    def score(self) -> float | None:
        """How far what they have in common is above chance: by the view, else by pixels."""
        if self.seen is not None:
            return self.seen.view.score
        return None if self.best is None else self.best.score

    @property
    def support(self) -> str:
        """How strongly that supports which of the two, in words."""
        if self.reason:
            return "not compared"
        if self.verdict == "alike":
            return "one picture or scene"
        if self.seen is not None:
            return "one camera, by a view"
        if self.best is None:
            return "no view fits" if self.by_views else "not compared"
        return evidence.support(self.best.log10_lr, self.best.cap)

    @property
    def sentence(self) -> str:
        """The answer to whether one camera took both, and the figures it rests on."""
        if self.reason:
            return f"Not compared: {self.reason}."
        views = " No view of one in the other was found." if self.by_views else ""
        if self.seen is None and self.best is None:
            return f"{_NOT_SHOWN}: their widths and heights differ.{views}"
        if self.verdict == "alike":
            return f"{_ALIKE} {self._figures()}."
        if self.seen is not None:
            rate = evidence.rate_text(max(self.adjusted, _SMALLEST))
            return (
                f"{_BY_VIEW}: chance gives such a score anywhere in all that was searched in at "
                f"most {rate} cases. {self._figures()}. No likelihood ratio is stated for a view."
            )
        return f"{self._ratio()} {self._figures()}; {self._chance()}.{views}"

    def _figures(self) -> str:
        """Correlation and score, or view and score."""
        if self.seen is not None:
            view = self.seen.view
            start = f"The first sees the frame of the second so: {self.seen.words} "
            return f"{start}({view.scale:.2f}×), a score of {view.score or 0.0:z.1f} {_UNIT}"
        if self.best is None:
            return "There are none"
        turned = f", the first turned by {self.best.turned}°," if self.best.turned else ""
        start = f"Their correlation on {(self.frame or '').replace('x', '×')} pixels{turned} is "
        score = f"a score of {self.best.score:z.1f}{without_words(self.best)}"
        return f"{start}{self.best.correlation:.4f}, {score} {_UNIT}"

    def _chance(self) -> str:
        often = "more often than not"
        if self.adjusted < 0.5:
            often = f"in {evidence.rate_text(max(self.adjusted, _SMALLEST))} cases"
        return f"chance does that in any comparison made here {often}"

    def _ratio(self) -> str:
        """What the likelihood ratio says of the two propositions."""
        best = self.best
        if best is None:
            return "No likelihood ratio can be given."
        one, two = "one camera took both photos", "two cameras did"
        if best.log10_lr < 0:
            one, two = "two cameras took them", "one took both and neither was edited or resized"
        end = "; larger values are not supported" if best.log10_lr >= best.cap else ""
        size, words = evidence.ratio_text(best.log10_lr, best.cap), self.support
        if self.verdict == "none":
            words = f"{_NOT_SHOWN} ({words})"
        start = f"{words[0].upper()}{words[1:]}"
        return f"{start}: such a score is {size} more probable if {one} than if {two}{end}."

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        values = asdict(self)
        if self.seen is not None:
            values["seen"] = {"view": view_object(self.seen.view), "words": self.seen.words}
        return {**values, "support": self.support, "sentence": self.sentence}


@dataclass(frozen=True, slots=True)
class PairMatches:
    """What can be said of every two of some photos.

    Attributes
    ----------
    photos : one entry a photo, by path
    pairs : one entry for every two of them
    rate : nominal probability that chance makes a match of any pair
    measured : what the error rates rest on, a sentence
    interrupted : whether it was asked to stop before the end
    search : how far views were looked for
    files : where the photos are on disk, by path
    """

    photos: list[ComparedPhoto]
    pairs: list[PhotoPair]
    rate: float
    measured: str
    interrupted: bool = False
    search: SearchChoice = "off"
    files: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<PairMatches of {len(self.photos)} photos: {self.summary}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: one row a pair."""
        head = ("first", "second", "verdict", "score", "log10 LR", "by chance", "in words")
        rows = [
            (p.first, p.second, p.verdict, figure(p.score),
             figure(None if p.best is None else p.best.log10_lr), figure(p.adjusted), p.sentence)
            for p in self.pairs
        ]  # fmt: skip
        return table(f"{self.summary}.", head, rows, notes=[self.measured])

    def to_frame(self) -> pandas.DataFrame:
        """One row a pair, for pandas: verdict, score, likelihood ratio, in words.

        Examples
        --------
        >>> samecam.match_pairs(["a.jpg", "b.jpg", "c.jpg"]).to_frame()
        """
        pairs, best = self.pairs, [pair.best for pair in self.pairs]
        return data_frame(
            {
                "first": [p.first for p in pairs],
                "second": [p.second for p in pairs],
                "verdict": [p.verdict for p in pairs],
                "score": [p.score for p in pairs],
                "log10_lr": [None if b is None else b.log10_lr for b in best],
                "correlation": [None if b is None else b.correlation for b in best],
                "adjusted": [p.adjusted for p in pairs],
                "view": [None if p.seen is None else p.seen.words for p in pairs],
                "frame": [p.frame for p in pairs],
                "reason": [p.reason for p in pairs],
                "sentence": [p.sentence for p in pairs],
            }
        )

    @property
    def comparisons(self) -> int:
        """Orientations of pairs that were compared pixel by pixel."""
        return sum(pair.comparisons for pair in self.pairs)

    @property
    def summary(self) -> str:
        """The answer for two photos; how many pairs match, and which, for more."""
        if len(self.pairs) == 1:
            pair = self.pairs[0]
            return _NOT_SHOWN.lower() if pair.verdict == "none" else pair.support
        matched = [pair for pair in self.pairs if pair.verdict == "match"]
        text = f"{len(matched)} of {len(self.pairs)} pairs match"
        named = [f"{pair.first} and {pair.second}" for pair in matched[:_NAMED]]
        named += ["…"] * (len(matched) > _NAMED)
        return f"{text}: {'; '.join(named)}" if matched else text

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "photos": [asdict(photo) for photo in self.photos],
            "pairs": [pair.as_dict() for pair in self.pairs],
            "rate": self.rate,
            "measured": self.measured,
            "interrupted": self.interrupted,
            "search": self.search,
            "comparisons": self.comparisons,
            "summary": self.summary,
        }
