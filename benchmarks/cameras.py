"""Photographs to cameras by the default: what looking for views adds to grouping, and its time.

    python -m benchmarks.cameras [--shared DIR]

`cluster_photos` with everything as it is by default, once without a search for views ("off") and
once with the usual one ("normal"), each into a case of its own. Scored are the used photos, those
with a fingerprint, and all photos of the truth, of which unusable ones count as unclustered
(`samecam evaluate`). DIR/photos holds photographs and truth.csv; without DIR they are simulated,
one in four enlarged by a digital zoom.
"""

import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.record import folder_of, parser, timed, write
from samecam.case import Clustering, SearchChoice, cluster_photos
from samecam.metrics import Scores, scores
from samecam.simulate import Views, simulate_photos

SEARCHES: tuple[SearchChoice, ...] = ("off", "normal")
# Cameras, photos of each, width and height of what is simulated.
SIMULATED, QUICK = (6, 20, (1024, 768)), (2, 10, (400, 304))
ZOOMED = Views(zoom=0.25)


def read_truth(folder: Path) -> dict[str, str]:
    """The camera of each photograph, by the name of its file."""
    with open(folder / "truth.csv", newline="", encoding="utf-8") as stream:
        return {Path(row["path"]).name: row["camera"] for row in csv.DictReader(stream)}


def evaluated(case: Path, truth: Path) -> dict[str, Any]:
    """What `samecam evaluate` says."""
    command = [sys.executable, "-m", "samecam", "evaluate", str(case), "--truth", str(truth)]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def figures(score: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of some scores."""
    names = {"F": "f", "P": "precision", "R": "recall"}
    counts = ("n_images", "n_cameras", "n_unclustered")
    return {short: score[name] for short, name in names.items()} | {n: score[n] for n in counts}


def used_score(result: Clustering, cameras: Mapping[str, str]) -> Scores:
    """Scores over the photos that have a fingerprint."""
    return scores([cameras[Path(path).name] for path in result.paths], result.labels)


def measure(folder: Path, search: SearchChoice, case: Path) -> dict[str, Any]:
    """One run, from the files to the evidence."""
    result, seconds = timed(cluster_photos, [folder / "images"], case, search=search)
    told = evaluated(case, folder / "truth.csv")
    timings = json.loads((case / "case.json").read_text(encoding="utf-8"))["timings"]
    return {
        "search": search,
        "groups": len(result.groups),
        "cameras": len(result.cameras),
        "used": figures(used_score(result, read_truth(folder)).as_dict()),
        "all": figures(told["scores"]),
        "unusable": told["photos"]["unclustered"].get("unusable", 0),
        "seconds": seconds,
        "parts": {name: entry["seconds"] for name, entry in timings.items()},
    }


def words(row: Mapping[str, Any]) -> str:
    """A run, in a line."""
    score = "F {F:.4f} P {P:.4f} R {R:.4f} of {n_images}"
    return (
        f"{row['search']}: {row['groups']} groups, {row['cameras']} cameras, "
        f"{score.format(**row['used'])} used photos, {score.format(**row['all'])} in all, "
        f"{row['seconds']:.1f} s"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, help="folder with photos/")
    options = asked.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "photos" if options.shared is None else options.shared / "photos"
        if options.shared is None:
            cameras, images, size = QUICK if options.quick else SIMULATED
            simulate_photos(folder, cameras=cameras, images=images, size=size, views=ZOOMED)
        rows = []
        for search in SEARCHES:
            rows.append(measure(folder, search, Path(scratch) / search))
            print(words(rows[-1]), flush=True)
    name = "simulated" if options.shared is None else "photographs"
    write("cameras", {"set": name, "runs": rows}, folder=folder_of(options))


if __name__ == "__main__":
    main()
