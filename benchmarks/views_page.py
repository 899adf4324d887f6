"""The tables of docs/views.md, from `benchmarks.strangers`, `benchmarks.views` and `cameras`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import record
from samecam.pages import Page, fill, percent, share, table


def counted(document: Mapping[str, Any]) -> str:
    """Pairs of strangers, the largest score, and claimed against counted."""
    rows = []
    for name, some in document["result"].items():
        claims = [
            f"{some['claimed'][rate]} ({some['expected'][rate]:g})" for rate in some["claimed"]
        ]
        largest = f"{some['largest_scores'][0]:.1f}"
        rows.append([name, f"{some['registrations']:,}", largest, *claims])
    rates = next(iter(document["result"].values()))["claimed"]
    return table(["patterns", "pairs", "largest score", *(f"stated {r}" for r in rates)], rows)


def cost(documents: Mapping[str, Mapping[str, Any]]) -> str:
    """Seconds of the coarse search and of fits, of the most groups, in words."""
    words = []
    for on, document in documents.items():
        run = document["result"]["runs"][-1]
        fits = sum(part["fits"] for part in run["searches"])
        coarse, fitting = (f"{run[name]['wall']:.1f} s" for name in ("coarse", "fit"))
        words.append(
            f"{run['groups']} groups on {on}: {coarse} of search, {fitting} of {fits} fits"
        )
    return "; ".join(words) + "."


def photographs(document: Mapping[str, Any]) -> str:
    """The same photographs without and with a search for views."""
    rows = []
    for run in document["result"]["runs"]:
        name = f"`{run['search']}`" + (" (default)" if run["search"] == "normal" else "")
        scores = [
            "{} ({}, {})".format(*(share(run[part][key], 3) for key in "FPR"))
            for part in ("used", "all")
        ]
        rows.append([name, f"{run['groups']}, {run['cameras']}", *scores, f"{run['seconds']:.0f}"])
    first = document["result"]["runs"][0]
    used, every = (f"{first[part]['n_images']} {words} photos, F (P, R)"
                   for part, words in (("used", "used"), ("all", "listed")))  # fmt: skip
    return table(["search", "groups, cameras", used, every, "s"], rows)


def unusable(document: Mapping[str, Any]) -> str:
    """How many of the photographs have no fingerprint."""
    first = document["result"]["runs"][0]
    count, total = first["unusable"], first["all"]["n_images"]
    cameras = first["all"]["n_cameras"]
    return (
        f"{total} photographs of {cameras} cameras, of which {count} ({percent(count / total)}) "
        "are white or flat: unusable, and in no group where all are scored."
    )


def generated(document: Mapping[str, Any]) -> dict[str, str]:
    """Every part of the page that is made here, by the name of its marker."""
    machines = {"2 cores": record.load("views"), "NVIDIA H200": record.load("gpu.views")}
    cameras = record.load("cameras")
    return {
        "strangers": counted(document),
        "cost": cost(machines),
        "photographs": photographs(cameras),
        "unusable": unusable(cameras),
    }


PAGE = Page(
    Path(__file__).parent.parent / "docs" / "views.md",
    "python -m benchmarks.pages",
    lambda text: fill(text, generated(record.load("strangers"))),
)
