"""The table of whole runs in docs/cost.md, from those of `benchmarks.scale`."""

from collections.abc import Mapping
from typing import Any

from samecam.pages import duration, table

HEAD = [
    "what",
    "on",
    "to the report",
    "reading",
    "grouping, views",
    "evidence",
    "memory",
    "F (P, R)",
]
PHASES = ("extract", "cluster", "evidence")


def scale_table(document: Mapping[str, Any]) -> str:
    """A line for each run of the command, least photos first."""
    runs = document["result"]
    lines = []
    for name in sorted(runs, key=lambda one: (one.split()[1].rstrip(","), runs[one]["photos"])):
        run = runs[name]
        kind, _, dtype = (part.strip() for part in f"{name},,".split(",", 3)[:3])
        what = f"{run['photos']:,} {kind.split()[1]}" + f", `--dtype {dtype}`" * bool(dtype)
        on = f"{run.get('cores', document['cores'])} cores"
        if run["on"] != "cpu":
            on += ", " + run["on"].partition("(")[2].rstrip(")")
        seconds = (run["seconds"], *(run["phases"][phase] for phase in PHASES))
        right = f"{run['F']:.3f} ({run['P']:.3f}, {run['R']:.3f})"
        memory = f"{run['memory'] / 1e9:.1f} GB"
        if "gpu_memory" in run:
            memory += f", GPU {run['gpu_memory'] / 1e9:.1f} GB"
        lines.append([what, on, *map(duration, seconds), memory, right])
    return table(HEAD, lines)
