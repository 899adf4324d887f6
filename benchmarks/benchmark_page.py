"""The tables of docs/benchmark.md, from results/benchmark/benchmark.json."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from samecam.pages import Page, fill, read_json, share, table, with_spread

ROOT = Path(__file__).parent.parent
RESULT = ROOT / "results" / "benchmark" / "benchmark.json"
# Sets that the page does not show; all are in the JSON, and in the means.
LEFT_OUT = ("dresden-10", "same-model", "weak-005")


def load() -> Mapping[str, Any]:
    content: Mapping[str, Any] = read_json(RESULT, "samecam benchmark all")
    return content


def ranking(content: Mapping[str, Any]) -> str:
    """Means over the sets, the best first."""
    head = ["method", "F", "precision", "recall", "seconds"]
    rows = []
    for one in content["ranking"]:
        rows.append(
            [
                f"**{one['label']}**" if one["whose"] == "ours" else one["label"],
                with_spread(one, digits=3),
                *(share(one[name], 3) for name in ("precision", "recall")),
                f"{one['seconds']:.2g}",
            ]
        )
    return table(head, rows)


def by_set(content: Mapping[str, Any]) -> str:
    """F of every method on the sets that are shown."""
    names = [name for name in content["result"]["configurations"] if name not in LEFT_OUT]
    found = {(row["configuration"], row["method"]): row for row in content["result"]["rows"]}
    rows = []
    for one in content["ranking"]:
        cells = [found[name, one["method"]] for name in names]
        words = [share(row["f"]) if row["runs"] else "–" for row in cells]
        rows.append([f"**{one['label']}**" if one["whose"] == "ours" else one["label"], *words])
    return table(["F on", *names], rows)


def generated(content: Mapping[str, Any]) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    return {"ranking": ranking(content), "sets": by_set(content)}


PAGE = Page(
    ROOT / "docs" / "benchmark.md",
    "python -m benchmarks.pages",
    lambda text: fill(text, generated(load())),
)
