"""Figures of the soak: each test that has passed notes its part in `results/soak.json`."""

import json

from benchmarks import record

FILE = record.RESULTS / "soak.json"


def read():
    """Parts noted so far, by test."""
    try:
        return json.loads(FILE.read_text())["result"]["parts"]
    except (FileNotFoundError, KeyError):
        return {}


def note(part, **figures):
    """Put a part in the place of the one noted before, and add up the whole."""
    parts = {**read(), part: figures}
    record.write("soak", {"total": total(parts), "parts": dict(sorted(parts.items()))})


def total(parts):
    """Files, kills and disk faults over all parts."""
    names = ("mutated files", "kills of the parent", "kills of workers", "disk faults")
    added = {
        name: sum(part.get(name.replace(" ", "_"), 0) for part in parts.values()) for name in names
    }
    return {**added, "kills": added["kills of the parent"] + added["kills of workers"]}
