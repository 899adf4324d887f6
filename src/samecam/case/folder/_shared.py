"""What a group shares with groups of other cameras, as it stands in `clusters.json`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from samecam.documents import Span
from samecam.notebook import counted

_COUNT = Span(int, 0, 2**53)
_FIGURES = ("score", "median", "median_without", "weakest_without", "log10_lr", "log10_lr_without")
SHARED_SHAPE = {
    "groups": [_COUNT],
    "everywhere": [_COUNT],
    "where": str,
    "boxes": [[_COUNT]],
    **dict.fromkeys(_FIGURES, (float, None)),
    "doubtful": _COUNT,
}


@dataclass(frozen=True, slots=True, repr=False)
class Shared:
    """A pattern that a group shares with groups of other cameras, and evidence without it.

    Attributes
    ----------
    groups : the other groups
    everywhere : those of them that have it all over the frame
    where : where in the frame it lies, in words
    boxes : top, bottom, left and right of the tiles in which it stands out, in pixels
    score : how far what they share is above chance
    median, median_without : of the members' scores
    weakest_without : the lowest of these
    log10_lr, log10_lr_without : median of the members' likelihood ratios
    doubtful : members whose score without it is below 5
    """

    groups: list[int]
    everywhere: list[int]
    where: str
    boxes: list[list[int]]
    score: float | None
    median: float | None
    median_without: float | None
    weakest_without: float | None
    log10_lr: float | None
    log10_lr_without: float | None
    doubtful: int

    @property
    def places(self) -> tuple[tuple[int, int, int, int], ...]:
        """The tiles."""
        return tuple((top, bottom, left, right) for top, bottom, left, right in self.boxes)

    def __repr__(self) -> str:
        return f"<Shared pattern {self.where}, with {counted(len(self.groups), 'other group')}>"


def read_shared(entry: Mapping[str, Any]) -> Shared:
    """What stands in `clusters.json`; `ValueError` where a tile has not four edges."""
    if any(len(box) != 4 for box in entry["boxes"]):
        raise ValueError("a tile has not four edges")
    return Shared(**entry)
