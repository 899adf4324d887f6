"""How often `samecam match` is right, on real photographs: three folds over the cameras.

python -m benchmarks.matching --shared DIR

In each fold a third of the cameras is unknown to the case; of the others four photos each are
kept out of it. All of these are matched at --rate .01.
"""

import argparse
import csv
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from benchmarks.record import write
from samecam.case import ExtractionSettings, cluster_photos, match_photos

SIZE = 512
KEPT_OUT = 4


def fold(cameras, which, scratch):
    """Counts of (known or stranger, outcome), and the false matches."""
    names = sorted(cameras)
    unknown = set(names[which::3])
    camera_of = {path.name: name for name in names for path in cameras[name]}
    inside = [p for n in names if n not in unknown for p in cameras[n][KEPT_OUT:]]
    asked = [p for n in names for p in (cameras[n] if n in unknown else cameras[n][:KEPT_OUT])]
    lists = [scratch / "inside.txt", scratch / "asked.txt"]
    for file, paths in zip(lists, (inside, asked), strict=True):
        file.write_text("\n".join(map(str, paths)))
    case = scratch / f"case{which}"
    groups = cluster_photos(f"@{lists[0]}", case, ExtractionSettings(size=SIZE)).groups
    named = {
        g.id: Counter(camera_of[Path(p).name] for p in g.paths).most_common(1)[0][0] for g in groups
    }
    counts, false = Counter(), []
    for photo in match_photos(case, f"@{lists[1]}").photos:
        camera = camera_of[Path(photo.path).name]
        who = "stranger" if camera in unknown else "known"
        outcome = photo.verdict
        if outcome == "match":
            outcome = "right" if named[photo.group] == camera else "wrong"
        if outcome == "wrong":
            false.append({"who": who, "z": photo.best.z, "adjusted": photo.adjusted})
        counts[f"{who}: {outcome}"] += 1
    return counts, false


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, required=True, help="folder with photos/")
    folder = parser.parse_args().shared / "photos"
    cameras = defaultdict(list)
    with open(folder / "truth.csv", newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            cameras[row["camera"]].append((folder / row["path"]).resolve())
    total, false = Counter(), []
    with tempfile.TemporaryDirectory() as scratch:
        for which in range(3):
            counts, some = fold(cameras, which, Path(scratch))
            total += counts
            false += some
            print(dict(counts), flush=True)
    write("matching", {"counts": dict(sorted(total.items())), "false": false}, size=SIZE, rate=0.01)


if __name__ == "__main__":
    main()
