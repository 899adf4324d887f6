"""How often `samecam match` is right, on real photographs: three folds over the cameras.

python -m benchmarks.matching --shared DIR

In each fold a third of the cameras is unknown to the case; of the others four photos each are
kept out of it. All of these are matched at --rate .01, with everything else as it is by default:
pixel by pixel, and by views where that gives nothing.
"""

import csv
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.record import folder_of, parser, write
from samecam.case import ExtractionSettings, Match, cluster_photos, match_photos

KEPT_OUT = 4
FOLDS = 3
Cameras = Mapping[str, Sequence[Path]]


def read_cameras(folder: Path) -> Cameras:
    """Photos of each camera."""
    cameras: dict[str, list[Path]] = defaultdict(list)
    with open(folder / "truth.csv", newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            cameras[row["camera"]].append((folder / row["path"]).resolve())
    return cameras


def fold(
    cameras: Cameras, which: int, scratch: Path, size: int | None
) -> tuple[Counter[str], list[dict[str, Any]]]:
    """Counts of (known or stranger, outcome), and the false matches."""
    names = sorted(cameras)
    unknown = set(names[which::FOLDS])
    camera_of = {path.name: name for name in names for path in cameras[name]}
    inside = [p for n in names if n not in unknown for p in cameras[n][KEPT_OUT:]]
    asked = [p for n in names for p in (cameras[n] if n in unknown else cameras[n][:KEPT_OUT])]
    lists = [scratch / "inside.txt", scratch / "asked.txt"]
    for file, paths in zip(lists, (inside, asked), strict=True):
        file.write_text("\n".join(map(str, paths)))
    case = scratch / f"case{which}"
    answer = cluster_photos(f"@{lists[0]}", case, ExtractionSettings(size=size))
    named = {
        g.id: Counter(camera_of[Path(p).name] for p in g.paths).most_common(1)[0][0]
        for g in answer.groups
    }
    counts: Counter[str] = Counter()
    false = []
    for photo in match_photos(case, f"@{lists[1]}").photos:
        camera = camera_of[Path(photo.path).name]
        who = "stranger" if camera in unknown else "known"
        outcome = outcome_of(photo, camera, named)
        if outcome == "wrong":
            z = None if photo.best is None else photo.best.score
            seen = None if photo.seen is None else photo.seen.view.score
            false.append({"who": who, "z": z, "score": seen, "adjusted": photo.adjusted})
        counts[f"{who}: {outcome}"] += 1
        if outcome in ("right", "wrong") and photo.seen is not None:
            counts[f"{who}: {outcome}, by a view"] += 1
    return counts, false


def outcome_of(photo: Match, camera: str, named: Mapping[int, str]) -> str:
    """The verdict; of a match, whether it is right."""
    if photo.verdict != "match" or photo.group is None:
        return photo.verdict
    return "right" if named[photo.group] == camera else "wrong"


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, required=True, help="folder with photos/")
    asked.add_argument("--size", type=int, help="squares of so many pixels, not whole frames")
    options = asked.parse_args(arguments)
    size = 256 if options.quick else options.size
    cameras = read_cameras(options.shared / "photos")
    total: Counter[str] = Counter()
    false = []
    with tempfile.TemporaryDirectory() as scratch:
        for which in range(1 if options.quick else FOLDS):
            counts, some = fold(cameras, which, Path(scratch), size)
            total += counts
            false += some
            print(dict(counts), flush=True)
    result = {"counts": dict(sorted(total.items())), "false": false}
    write("matching", result, folder=folder_of(options), size=size, rate=0.01)


if __name__ == "__main__":
    main()
