"""Which of the methods compared is best, and what ours lacks where it is not."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from samecam.metrics import Scores

Input = Literal["correlations", "fingerprints"]

_OURS = "consolidated"
# Scores that are the same to so many digits are level; sentences have from four on.
_LEVEL, _DIGITS = 6, 4


@dataclass(frozen=True, slots=True, repr=False)
class ComparedMethod:
    """What became of one method.

    Attributes
    ----------
    method : its name
    input : what it was given
    failure : why there is no answer, a sentence; empty: there is one
    groups, unclustered : groups found, used photos in none; None after a failure
    scores : against the truth, if there is one
    seconds : of the method itself, reading its input not counted
    peak_memory : most bytes its process held, its input included
    """

    method: str
    input: Input
    failure: str = ""
    groups: int | None = None
    unclustered: int | None = None
    scores: Scores | None = None
    seconds: float | None = None
    peak_memory: int | None = None

    def __repr__(self) -> str:
        if self.failure:
            return f"<ComparedMethod {self.method!r}: failed>"
        f = "" if self.scores is None else f"F {self.scores.f:.4f}, "
        return f"<ComparedMethod {self.method!r}: {f}{self.groups} groups, {self.seconds:.3g} s>"

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def best_first(rows: Sequence[ComparedMethod]) -> list[ComparedMethod]:
    """Methods by F, then precision, then time; those without scores come after, as they stand."""

    def rank(row: ComparedMethod) -> tuple[float, float, float]:
        if row.scores is None:
            return 0.0, 0.0, 0.0
        f, precision = round(row.scores.f, _LEVEL), round(row.scores.precision, _LEVEL)
        return -f, -precision, row.seconds or 0.0

    return sorted(rows, key=lambda row: (row.scores is None, rank(row)))


def remark_on_ours(ranked: Sequence[ComparedMethod]) -> str:
    """A sentence on what ours and the first have, where these are not the same; else empty.

    Parameters
    ----------
    ranked : as `best_first` gives them
    """
    ours = next((row for row in ranked if row.method == _OURS), None)
    if ours is None or not ranked or ranked[0].scores is None or ranked[0] is ours:
        return ""
    first, best = ranked[0], ranked[0].scores
    if ours.scores is None:
        return f"{_OURS} is not first, {first.method} is: it gave no answer."
    own = ours.scores
    return (
        f"{_OURS} is not first, {first.method} is: F {_against(own.f, best.f)}, precision "
        f"{_against(own.precision, best.precision)}, recall {_against(own.recall, best.recall)}, "
        f"unclustered {own.n_unclustered} against {best.n_unclustered}, seconds "
        f"{ours.seconds or 0:.2f} against {first.seconds or 0:.2f}."
    )


def _against(ours: float, theirs: float) -> str:
    """Both, with as many digits as it takes to tell them apart."""
    digits = _DIGITS
    while digits < _LEVEL and f"{ours:.{digits}f}" == f"{theirs:.{digits}f}" and ours != theirs:
        digits += 1
    return f"{ours:.{digits}f} against {theirs:.{digits}f}"
