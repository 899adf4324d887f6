"""What the pages ask of a case and its photos, computed once: plain lists, row by row."""

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from samecam.arrays import Doubles, Labels
from samecam.case import CasePhoto, Group, SavedCase
from samecam.evidence import one_model_note
from samecam.report import camera_name, shown

_TAKEN = re.compile(r"(\d{4})[:\-./](\d{2})[:\-./](\d{2})", re.ASCII)
_NO_MODEL = "no camera named"


class Index:
    """The used photos of a case by their row, and how they are found.

    Attributes
    ----------
    saved : the case
    photos : its used photos; a row is a place in this list
    row_of : rows by SHA-256
    strength : (n,) how well each fits its group, a score; −inf where nothing is known
    group_of : (n,) numbers of groups; −1: none
    near, near_score : (n,) the best other group, −1: none, and the score with it
    texts : what a search looks at, in small letters
    models, days, views : camera by EXIF, day taken ("2026-05-17" or ""), view in words
    """

    def __init__(self, saved: SavedCase) -> None:
        self.saved = saved
        self.photos = saved.used
        self.row_of = {photo.sha256: row for row, photo in enumerate(self.photos)}
        self.groups: list[Group] = saved.groups
        self.strength = np.array([_strength(photo) for photo in self.photos])
        self.group_of: Labels = np.array(
            [-1 if photo.group is None else photo.group for photo in self.photos], dtype=np.intp
        )
        self.near: Labels = np.array(
            [_near(photo, len(self.groups)) for photo in self.photos], dtype=np.intp
        )
        scores = (photo.figure("nearest_score") for photo in self.photos)
        self.near_score: Doubles = np.array([np.nan if s is None else s for s in scores])
        self.models = [_model(photo) for photo in self.photos]
        self.days = [_day(photo.image["taken"]) for photo in self.photos]
        self.texts = [
            f"{shown(photo.path)} {model} {day} {photo.image['serial']} {photo.sha256}".casefold()
            for photo, model, day in zip(self.photos, self.models, self.days, strict=True)
        ]
        words = [group.words for group in self.groups]
        placed = {p.path: p.words for c in saved.cameras for p in c.placed}
        self.views = [
            words[photo.group]
            if photo.group is not None and photo.group >= 0
            else placed.get(photo.path, "")
            for photo in self.photos
        ]

    @cached_property
    def files(self) -> dict[str, CasePhoto]:
        """Every file that has a hash, by it; of several with one, that which is used."""
        known = {photo.sha256: photo for photo in reversed(self.saved.photos) if photo.sha256}
        return known | {photo.sha256: photo for photo in self.photos}

    @cached_property
    def copies(self) -> dict[str, list[CasePhoto]]:
        """Copies and duplicates of used photos, by the path of the used one."""
        result: dict[str, list[CasePhoto]] = {}
        for photo in self.saved.photos:
            if photo.original:
                result.setdefault(photo.original, []).append(photo)
        return result

    @cached_property
    def by_group(self) -> list[list[int]]:
        """Rows of each group, the strongest first."""
        members: list[list[int]] = [[] for _ in self.groups]
        for row in self.strongest(range(len(self.photos))):
            if self.group_of[row] >= 0:
                members[self.group_of[row]].append(row)
        return members

    def strongest(self, rows: Sequence[int]) -> list[int]:
        """Rows from the strongest photo to the weakest, equal ones by path."""
        some = np.asarray(rows, dtype=np.intp)
        return [int(row) for row in some[np.argsort(-self.strength[some], kind="stable")]]

    def folder(self, row: int, depth: int = 1) -> str:
        """The first folders of a photo's path; "" for one that lies in none."""
        return folder_of(self.photos[row].path, depth)

    def folders(self, depth: int = 1) -> list[str]:
        """The same of every row."""
        if depth not in self._folders:
            self._folders[depth] = [folder_of(photo.path, depth) for photo in self.photos]
        return self._folders[depth]

    @cached_property
    def remarks(self) -> list[list[str]]:
        """What should make a reader of each group careful.

        That all devices of a model may share something is true of most groups, and left out.
        """
        result = []
        for group, rows in zip(self.groups, self.by_group, strict=True):
            usual = one_model_note([dict(self.photos[row].image) for row in rows])
            result.append([text for text in group.warnings if text != usual])
        return result

    @cached_property
    def _folders(self) -> dict[int, list[str]]:
        return {}

    @cached_property
    def deepest(self) -> int:
        """How many folders stand before a photo at most."""
        return max((photo.path.count("/") for photo in self.photos), default=0)

    def hashes(self, rows: Sequence[int]) -> list[str]:
        """SHA-256 of some photos."""
        return [self.photos[row].sha256 for row in rows]

    def find(self, words: str) -> list[int]:
        """Rows whose text has all of the words."""
        rows = list(range(len(self.photos)))
        for word in words.casefold().split():
            rows = [row for row in rows if word in self.texts[row]]
        return rows

    def folder_codes(self, depth: int) -> tuple[list[str], Labels]:
        """All folders, sorted, and which of them each row is in."""
        if depth not in self._codes:
            names, codes = np.unique(
                np.array(self.folders(depth), dtype=object), return_inverse=True
            )
            self._codes[depth] = names.tolist(), codes
        return self._codes[depth]

    @cached_property
    def _codes(self) -> dict[int, tuple[list[str], Labels]]:
        return {}


def folder_of(path: str, depth: int) -> str:
    """The first `depth` folders of a path, fewer if it has fewer."""
    return "/".join(path.split("/")[:-1][:depth])


def _strength(photo: CasePhoto) -> float:
    """Score with its group, or of its view; else its correlation, which sorts as well."""
    score = photo.figure("score")
    if score is None and photo.view is not None:
        score = photo.view.score
    if score is None:
        score = photo.correlation
    return -np.inf if score is None else score


def _near(photo: CasePhoto, count: int) -> int:
    near = photo.figure("nearest")
    return int(near) if near is not None and 0 <= near < count else -1


def _model(photo: CasePhoto) -> str:
    make, model = photo.image["make"], photo.image["model"]
    return camera_name(make, model) if make or model else _NO_MODEL


def _day(taken: str) -> str:
    found = _TAKEN.match(taken)
    if found is None or not ("01" <= found[2] <= "12" and "01" <= found[3] <= "31"):
        return ""
    return "-".join(found.groups())
