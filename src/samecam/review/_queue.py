"""What most deserves a look, best first: questions, each with its evidence in one sentence."""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from samecam.case import Decided, Decision
from samecam.report import shown
from samecam.review._index import Index

# Photos that speak for a group in a decision: the strongest ones.
SPOKESMEN = 200
# Rows that are asked where a group stands now.
_ASKED = 5
# Photos in no camera are asked about above this score with the nearest group.
_ALONE = 2.5
# Groups of two cameras are asked about above this likelihood ratio (log10) of one and two, groups
# that see one camera in two ways below this score.
_UNSURE = -1.0
_BARELY = 15.0
KINDS = {
    "pair": "One camera or two?",
    "part": "One camera, or two in one?",
    "weak": "Does this photo belong here?",
    "alone": "Is this photo by this camera?",
}
_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z])")
_ANSWERS = ("same", "different", "cannot tell", "merge", "split", "reject", "move")


@dataclass(frozen=True, slots=True)
class Question:
    """Something to decide: are these photos by the camera of those?

    Attributes
    ----------
    key : names it in addresses, and stays
    kind : of `KINDS`
    first, second : rows of the two sides, the strongest of each first
    worth : how much it deserves a look
    words : the evidence in one sentence
    score : that of the two sides with each other; None if it is not known
    """

    key: str
    kind: str
    first: tuple[int, ...]
    second: tuple[int, ...]
    worth: float
    words: str
    score: float | None


class Queue:
    """All questions that a case gives rise to, the best first; made once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        questions = [*_pairs(index), *_parts(index), *_weak(index), *_alone(index)]
        self.all = sorted(questions, key=lambda question: (-question.worth, question.key))
        self.by_key = {question.key: question for question in self.all}
        self.place_of = {question.key: place for place, question in enumerate(self.all)}

    def open(self, decided: Decided) -> list[Question]:
        """Those that no decision in force has answered."""
        where: list[int] = decided.camera_of.tolist()
        settled = _Settled(self._index, decided, where)
        return [question for question in self.all if not settled.answers(question)]


class _Settled:
    """What decisions in force have answered."""

    def __init__(self, index: Index, decided: Decided, where: list[int]) -> None:
        self._index, self._where = index, where
        self._confirmed = {k for k, c in enumerate(decided.cameras) if c.confirmed}
        self._pairs: set[frozenset[int]] = set()
        self._subjects: set[tuple[int, str]] = set()
        for decision in decided.decisions:
            if decision.number in decided.in_force and decision.kind in _ANSWERS:
                self._note(decision)

    def _note(self, decision: Decision) -> None:
        self._subjects.add(_subject(decision.photos))
        if decision.kind in ("different", "cannot tell"):
            sides = (self._rows(decision.photos), self._rows(decision.others))
            self._pairs.add(frozenset(_camera(self._where, rows) for rows in sides))

    def _rows(self, hashes: Collection[str]) -> list[int]:
        rows = self._index.row_of
        return [rows[h] for h in list(hashes)[:_ASKED] if h in rows]

    def answers(self, question: Question) -> bool:
        where, kind = self._where, question.kind
        if kind in ("weak", "alone"):
            row = question.first[0]
            if (1, self._index.photos[row].sha256) in self._subjects:
                return True
            if kind == "alone":
                return where[row] >= 0
            return where[row] != _camera(where, question.second) or where[row] in self._confirmed
        one, two = _camera(where, question.first), _camera(where, question.second)
        if one < 0 or two < 0 or one in self._confirmed or two in self._confirmed:
            return True
        if kind == "pair":
            return one == two or frozenset((one, two)) in self._pairs
        return one != two or _subject(self._index.hashes(question.first)) in self._subjects


def _subject(hashes: Sequence[str]) -> tuple[int, str]:
    """Tells the photos of one question from those of another."""
    return len(hashes), min(hashes)


def _camera(where: list[int], rows: Collection[int]) -> int:
    """The camera that holds most of some photos, asked of the first few; −1: none."""
    some = [where[row] for row in list(rows)[:_ASKED] if where[row] >= 0]
    return max(set(some), key=some.count) if some else -1


def _one(log_ratio: float | None) -> float:
    """How likely one camera is, by the likelihood ratio (log10) alone; one half without."""
    return 0.5 if log_ratio is None else 1 / (1 + 10 ** -min(max(log_ratio, -9), 9))


def _worth(wrong: float, moved: int) -> float:
    """How much a question deserves a look.

    Parameters
    ----------
    wrong : how likely it is that photos do not stand where they should
    moved : how many would move
    """
    return wrong * math.log2(2 + moved)


def _pairs(index: Index) -> Iterator[Question]:
    """Groups of two cameras that may be one."""
    asked: set[tuple[int, int]] = set()
    for group in index.groups:
        unsure = (group.nearest_log10_lr or -math.inf) > _UNSURE and group.apart == "not shown"
        if group.nearest is None or not (unsure or group.apart == "may be one"):
            continue
        if not 0 <= group.nearest < len(index.groups):
            continue
        one, two = sorted((group.id, group.nearest))
        if (one, two) in asked or index.groups[two].camera == index.groups[one].camera:
            continue
        asked.add((one, two))
        first, second = index.by_group[one], index.by_group[two]
        moved = min(len(first), len(second))
        yield Question(
            f"pair-{one}-{two}",
            "pair",
            tuple(first[:SPOKESMEN]),
            tuple(second[:SPOKESMEN]),
            _worth(_one(group.nearest_log10_lr), moved),
            shown(group.why_apart),
            group.nearest_score,
        )


def _parts(index: Index) -> Iterator[Question]:
    """Groups that may be two, with the part that would come off."""
    for group in index.groups:
        division = group.division
        if division is None or not division.falls_apart:
            continue
        names = set(division.paths)
        first = [row for row in index.by_group[group.id] if index.photos[row].path in names]
        second = [row for row in index.by_group[group.id] if index.photos[row].path not in names]
        if not first or not second:
            continue
        share = (division.correlation or 0.0) / division.expected if division.expected else 0.0
        said = f"a score of {division.score:g}, " if division.score is not None else ""
        words = (
            f"Divided into {len(first)} and {len(second)} photos, the fingerprints of the two "
            f"parts correlate with {said}{max(share, 0):.0%} of what one camera would show."
        )
        yield _part(f"part-{group.id}", first, second, words, division.score, share)
    for camera in index.saved.cameras:
        for group in camera.groups[1:]:
            score = None if group.view is None else group.view.score
            if score is not None and score < _BARELY:
                first = index.by_group[group.id]
                others = (g.id for g in camera.groups if g.id != group.id)
                second = index.strongest([row for g in others for row in index.by_group[g]])
                shared = group.view.share if group.view is not None else None
                words = shown(group.why_joined)
                yield _part(f"view-{group.id}", first, second, words, score, shared)


def _part(
    key: str,
    first: Sequence[int],
    second: Sequence[int],
    words: str,
    score: float | None,
    share: float | None,
) -> Question:
    """A question about a part; `share`: what it shows of what one camera would."""
    wrong = 0.5 if share is None else 1 - min(max(share, 0.0), 1.0)
    worth = _worth(wrong, min(len(first), len(second)))
    return Question(key, "part", tuple(first), tuple(second), worth, words, score)


def _weak(index: Index) -> Iterator[Question]:
    """Members whose place is weak."""
    for row, photo in enumerate(index.photos):
        if not photo.doubtful or index.group_of[row] < 0:
            continue
        members = index.by_group[index.group_of[row]]
        second = tuple(other for other in members[: SPOKESMEN + 1] if other != row)
        if second:
            score = photo.figure("score")
            worth = _worth(1 - _one(photo.figure("log10_lr")), 1)
            yield Question(
                f"weak-{photo.sha256}", "weak", (row,), second, worth, _words(index, row), score
            )


def _alone(index: Index) -> Iterator[Question]:
    """Photos of no camera, with the group that is nearest."""
    for row, photo in enumerate(index.photos):
        score = float(index.near_score[row])
        if photo.cluster != -1 or index.near[row] < 0 or not score > _ALONE:
            continue
        second = tuple(index.by_group[index.near[row]][:SPOKESMEN])
        worth = _worth(_one(photo.figure("nearest_log10_lr")), 1)
        yield Question(
            f"alone-{photo.sha256}", "alone", (row,), second, worth, _words(index, row), score
        )


def _words(index: Index, row: int) -> str:
    """Of what the case says of a photo: its score, and what that says of the two propositions."""
    said = _SENTENCE.split(index.photos[row].evidence.get("words") or "")
    told = [sentence for sentence in said if sentence and sentence != "In no group."]
    ratio = [sentence for sentence in told[1:] if sentence.startswith("Such a score")][:1]
    return shown(" ".join([*told[:1], *ratio])) or "Its place rests on few photos."
