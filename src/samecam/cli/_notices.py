"""What a run noticed on the side, for people: photos gone or changed, files changed outside."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from samecam.cli._text import counted

if TYPE_CHECKING:
    from samecam.case import Clustering, Extraction

_NAMED = 5
_LISTED = 20


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


def shared_text(result: "Clustering") -> list[str]:
    """Which groups have a pattern that is no sensor's, and what is lost without it."""
    given = [(group, group.shared) for group in result.groups if group.shared is not None]
    if not given:
        return []
    doubtful = sum(shared.doubtful for _, shared in given)
    photos = "photo is" if doubtful == 1 else "photos are"
    places = " or ".join(sorted({shared.where for _, shared in given}))
    groups = "1 group has" if len(given) == 1 else f"{len(given)} groups have"
    what = f"{groups} far more in common {places} than elsewhere"
    if any(shared.groups for _, shared in given):
        what = f"{len(given)} groups of different cameras share a pattern {places}"
    return [f"{what}: without it {doubtful} {photos} doubtful; the report says which."]


def settled_text(result: "Clustering") -> list[str]:
    """What became of decisions and of names, for people; nothing where there is nothing to say."""
    settled, lines = result.settled, []
    if settled.decisions:
        count, moved = settled.decisions, settled.moved
        cameras = counted(len(settled.names), "camera")
        lines.append(
            f"{count} {'decision is' if count == 1 else 'decisions are'} honoured: "
            f"{cameras} {'stands' if cameras == '1 camera' else 'stand'}, and {moved} "
            f"{'photo stands' if moved == 1 else 'photos stand'} elsewhere than the machine put "
            f"{'it' if moved == 1 else 'them'} (decided.csv)."
        )
    lines += [
        f"  {name} is no more; most of its photos are of {now}."
        if now
        else f"  {name} is no more; its photos are of no camera."
        for name, now in settled.ended.items()
    ]
    for name, parts in settled.parted.items():
        lines.append(f"  {name} came apart: its photos are of {', '.join(parts)}.")
    lines += [f"  Contradiction: {found.words}" for found in settled.contradictions]
    more = len(lines) - _LISTED
    return lines[:_LISTED] + [f"  … ({more} more; --json has all)"] * (more > 0)


def settled_dict(result: "Clustering") -> dict[str, Any]:
    """The same for `--json`."""
    return asdict(result.settled)


def _some(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(paths[:_NAMED]) + more
