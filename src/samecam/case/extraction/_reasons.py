"""Why files were not used, in a word or two."""

from collections import Counter
from collections.abc import Iterable

from samecam.store import Record

# Codes whose own word would not tell a reader enough.
_SHORT = {
    "not-a-picture": "no photo",
    "not-a-file": "not a regular file",
    "gone": "no longer there",
    "unreadable": "cannot be read",
    "memory": "needs more memory than a worker may use",
    "too-large": "too large",
    "too-small": "too small",
    "timeout": "took too long",
    "crash": "its decoder crashed",
    "over-exposed": "over-exposed",
    "internal": "internal error",
    "not-finite": "contains NaN or infinite numbers",
}


def count_reasons(records: Iterable[Record]) -> dict[str, dict[str, int]]:
    """For `unusable` and `skipped` files: kinds of reason with counts, most frequent first."""
    counts: dict[str, Counter[str]] = {"unusable": Counter(), "skipped": Counter()}
    for record in records:
        if record.meta["status"] in counts:
            counts[record.meta["status"]][_kind(record)] += 1
    return {
        status: dict(sorted(kinds.items(), key=lambda item: (-item[1], item[0])))
        for status, kinds in counts.items()
    }


def _kind(record: Record) -> str:
    code = str(record.meta.get("code") or "other")
    return _SHORT.get(code, code.replace("-", " "))
