"""How good the estimate at the beginning of a run is: the whole run, part by part.

    python -m benchmarks.estimates [--shared DIR]

Each set is grouped in a process of its own, as `samecam cluster` does it, with its report. The
simulated photographs are those of `make demo`; with `--shared` also the real ones, and copies
of the originals there (each with its own bytes) up to a count, for the time alone. Grouping
includes looking for views.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.record import folder_of, parser, write

PARTS = ("reading", "grouping", "evidence", "report")
# Cameras, photos of each, width and height of what is simulated.
DEMO, QUICK = (6, 20, (1024, 768)), (2, 3, (288, 272))
CHILD = """
import json, sys, time
began = time.monotonic()
from pathlib import Path
from samecam.case import cluster_photos
from samecam.report import with_report, write_report

def main():
    photos, case = sys.argv[1:]
    plans = []
    result = cluster_photos([photos], case, planned=lambda plan: plans.append(with_report(plan)))
    drawn = time.monotonic()
    write_report(case)
    ended = time.monotonic()
    info = json.loads((Path(case) / "case.json").read_text())
    timings = {name: entry["seconds"] for name, entry in info["timings"].items()}
    measured = {"reading": timings["extract"], "grouping": timings["cluster"],
                "evidence": timings["evidence"], "report": ended - drawn}
    said = dict(plans[0].parts)
    said["grouping"] += said.pop("views", 0.0)
    print(json.dumps({"photos": len(result.paths), "estimated": said,
                      "measured": measured, "seconds": ended - began}))

if __name__ == "__main__":
    main()
"""


def run(photos: Path, scratch: Path) -> dict[str, Any]:
    """Estimate and time of one set, in a process of its own."""
    script = scratch / "child.py"
    script.write_text(CHILD)
    case = scratch / "case"
    shutil.rmtree(case, ignore_errors=True)
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, str(script), str(photos), str(case)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    told["seconds"] = time.monotonic() - began
    told["estimated_seconds"] = sum(told["estimated"].values())
    told["ratio"] = told["estimated_seconds"] / told["seconds"]
    return told


def copies(originals: list[Path], folder: Path, count: int) -> Path:
    """`count` files with the pixels of the originals, no two with the same bytes."""
    folder.mkdir()
    for k in range(count):
        data = originals[k % len(originals)].read_bytes()
        (folder / f"{k:05d}.jpg").write_bytes(data + f"copy {k}".encode())
    return folder


def measure(
    shared: Path | None, count: int, demo: tuple[int, int, tuple[int, int]], scratch: Path
) -> dict[str, Any]:
    """All sets, by name."""
    from samecam.simulate import simulate_photos

    cameras, images, size = demo
    simulate_photos(scratch / "demo", cameras=cameras, images=images, size=size, seed=0)
    result = {"demo": run(scratch / "demo" / "images", scratch)}
    if shared is not None:
        result["photographs"] = run(shared / "photos" / "images", scratch)
        originals = sorted((shared / "geometry" / "phones").glob("*.jpg"))
        result["originals"] = run(copies(originals, scratch / "originals", count), scratch)
    return result


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, help="folder with photos/ and geometry/")
    asked.add_argument("--originals", type=int, default=1200)
    options = asked.parse_args(arguments)
    demo = QUICK if options.quick else DEMO
    with tempfile.TemporaryDirectory() as scratch:
        result = measure(options.shared, options.originals, demo, Path(scratch))
    for name, row in result.items():
        print(f"{name}: said {row['estimated_seconds']:.0f} s, took {row['seconds']:.0f} s")
        for part in PARTS:
            said, took = row["estimated"].get(part, 0.0), row["measured"][part]
            print(f"    {part}: said {said:.1f} s, took {took:.1f} s")
    write("estimates", result, folder=folder_of(options), originals=options.originals)


if __name__ == "__main__":
    main()
