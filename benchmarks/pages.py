"""All pages of docs/ that are made from JSON, written again.

python -m benchmarks.pages [--check]
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import (
    benchmark_page,
    calibration_page,
    consolidated_page,
    copies_page,
    dask_page,
    growth_page,
    method_page,
    recompressed_page,
    review_page,
    rivals_page,
    soak_page,
    views_page,
)
from samecam.experiments import results_page
from samecam.pages import Page

ROOT = Path(__file__).parent.parent
RESULTS = Page(
    ROOT / "docs" / "results.md",
    "samecam experiment page",
    lambda _: results_page(ROOT / "results", ROOT / "docs"),
)
PAGES: dict[str, Page] = {
    "benchmark": benchmark_page.PAGE,
    "calibration": calibration_page.PAGE,
    "consolidated": consolidated_page.PAGE,
    "copies": copies_page.PAGE,
    "cost": growth_page.PAGE,
    "readme": growth_page.README,
    "frames": recompressed_page.PAGE,
    "method": method_page.PAGE,
    "reliability": soak_page.PAGE,
    "results": RESULTS,
    "review": review_page.PAGE,
    "rivals": rivals_page.PAGE,
    "scaling": dask_page.PAGE,
    "views": views_page.PAGE,
}


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or with --check say which are not what their JSON makes."""
    stale = [page for page in PAGES.values() if page.differences()]
    for page in stale:
        if "--check" in arguments:
            print(f"{page.path} is not what its JSON makes: {page.command}\n{page.differences()}")
        else:
            page.write()
            print(f"written: {page.path}")
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
