"""Why files were not used, in a word or two."""

from collections import Counter
from collections.abc import Iterable

from samecam.store import Record

_SHORT = {"not a picture samecam reads": "no photo", "no noise residual": "flat"}


def count_reasons(records: Iterable[Record]) -> dict[str, dict[str, int]]:
    """For `unusable` and `skipped` files: kinds of reason with counts, most frequent first."""
    counts: dict[str, Counter[str]] = {"unusable": Counter(), "skipped": Counter()}
    for record in records:
        if record.meta["status"] in counts:
            counts[record.meta["status"]][kind_of(record.meta["reason"])] += 1
    return {
        status: dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
        for status, found in counts.items()
    }


def kind_of(reason: str) -> str:
    """A reason without what is special to one file."""
    kind = reason.split(":")[0].split(" (")[0].split(",")[0]
    if kind.endswith("over-exposed"):
        return "over-exposed"
    return _SHORT.get(kind, kind)
