"""What a run noticed on the side, for people: photos gone or changed, files changed outside."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samecam.case import Clustering, Extraction

_NAMED = 5


def extraction_notices(result: "Extraction") -> list[str]:
    """Files of the case that are gone, or are others than before."""
    notices = []
    if result.missing:
        count = len(result.missing)
        are = "photo of the case is" if count == 1 else "photos of the case are"
        notices.append(
            f"{count} {are} no longer there; what was taken from {'it' if count == 1 else 'them'} "
            f"stays: {_some(result.missing)}"
        )
    if result.changed:
        count = len(result.changed)
        have = "photo has" if count == 1 else "photos have"
        notices.append(
            f"{count} {have} other bytes than before and {'was' if count == 1 else 'were'} read "
            f"again: {_some(result.changed)}"
        )
    return notices


def clustering_notices(result: "Clustering") -> list[str]:
    """The same, and files of the answer that somebody changed."""
    notices = extraction_notices(result.extraction)
    if result.changed_outside:
        from samecam.case import CHANGED, CLUSTERS

        names = ", ".join(result.changed_outside)
        kept = f" (the changed table is kept as {CHANGED})"
        notices.append(
            f"{names} had been changed outside samecam and "
            f"{'was' if len(result.changed_outside) == 1 else 'were'} made anew"
            f"{kept if CLUSTERS in result.changed_outside else ''}."
        )
    return notices


def _some(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(paths[:_NAMED]) + more
