"""Photographs with something printed into them: are cameras joined by it, and do strangers match?

    python -m benchmarks.stamps --shared DIR

The same words, white or as a date, are written into a corner of the photographs of DIR/photos
before they are saved again at quality 95; some cameras are kept as strangers. `samecam cluster`
groups the others, without views, as it is by default and with everything in the frame; then
`samecam match` is asked about the strangers' photographs, as it is and without taking anything out,
with the case and every two of some.
"""

import argparse
import csv
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from benchmarks.record import folder_of, parser, write
from samecam import cluster_photos, match_photos
from samecam.case import match_pairs
from samecam.metrics import scores

# Photographs of each camera, and cameras that are strangers.
EACH, STRANGERS = 12, 5
QUALITY = 95
WHITE, AMBER = (255, 255, 255), (255, 150, 40)


class Stamp(NamedTuple):
    """What is printed: words, their colour and height in pixels; one of so many cameras has it."""

    name: str
    words: str
    colour: tuple[int, int, int]
    height: int
    every: int = 1


STAMPS = (
    Stamp("nothing", "", WHITE, 24),
    Stamp("words, 24 pixels high", "SHOT ON PHONE 9", WHITE, 24),
    Stamp("words, 48 pixels high", "SHOT ON PHONE 9", WHITE, 48),
    Stamp("a date, every other camera", "2026 11 19", AMBER, 24, 2),
)


def chosen(folder: Path, options: argparse.Namespace) -> dict[str, list[Path]]:
    """The first photographs of each camera."""
    cameras: dict[str, list[Path]] = {}
    with open(folder / "truth.csv", newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            cameras.setdefault(row["camera"], []).append(folder / row["path"])
    names = sorted(cameras)[: 3 if options.quick else None]
    return {name: cameras[name][: 4 if options.quick else EACH] for name in names}


def print_into(path: Path, stamp: Stamp, target: Path) -> None:
    """A photograph with the stamp in its lower left corner, saved again."""
    with Image.open(path) as opened:
        picture = opened.convert("RGB")
    draw = ImageDraw.Draw(picture)
    place = (40, picture.height - 40 - stamp.height)
    font = ImageFont.load_default(size=stamp.height)
    draw.text(place, stamp.words, fill=stamp.colour, font=font)
    picture.save(target, "JPEG", quality=QUALITY, subsampling=0)


@contextmanager
def as_before() -> Iterator[None]:
    """Nothing is left out of frames, nor of what photos in question are compared with."""
    with (
        patch("samecam.evidence.left_out", lambda *_, **__: []),
        patch("samecam.evidence.misled", lambda *_, **__: np.zeros(0, dtype=np.intp)),
        patch("samecam.evidence.standing_out", lambda *_: []),
        patch("samecam.case.matching._match.case_patterns", lambda _: {}),
    ):
        yield


def measure(
    cameras: dict[str, list[Path]], strangers: int, stamp: Stamp, work: Path
) -> dict[str, Any]:
    """Grouping and matching with one stamp, as it is and with everything in the frame."""
    truth: dict[str, str] = {}
    for number, (camera, paths) in enumerate(cameras.items()):
        known = number >= strangers
        folder = work / ("photos" if known else "strangers")
        folder.mkdir(parents=True, exist_ok=True)
        stamped = stamp if number % stamp.every == 0 else stamp._replace(words="")
        # Strangers all have it.
        for k, path in enumerate(paths):
            name = f"{number:02d}-{k:02d}.jpg"
            print_into(path, stamped if known else stamp, folder / name)
            truth[name] = camera
    asked = sorted(work.glob("strangers/*-0[01].jpg"))
    told: dict[str, Any] = {"stamp": stamp.name, "cameras": len(cameras) - strangers}
    for way, how in (("everything", as_before()), ("default", nullcontext())):
        with how:
            case = work / way
            result = cluster_photos(work / "photos", case, search="off")
            score = scores([truth[Path(path).name] for path in result.paths], result.labels)
            found = match_photos(case, work / "strangers", search="off").photos
            pairs = match_pairs(asked, search="off").pairs
        told[way] = {
            "F": score.f,
            "P": score.precision,
            "R": score.recall,
            "photos": len(result.paths),
            "groups": len(result.groups),
            "alone": result.n_unclustered,
            "strangers": sum(match.comparisons > 0 for match in found),
            "matched": sum(match.verdict == "match" for match in found),
        }
        for kind, same in (("one camera", True), ("two cameras", False)):
            both = [
                pair
                for pair in pairs
                if (truth[Path(pair.first).name] == truth[Path(pair.second).name]) is same
            ]
            told[way][f"pairs of {kind}"] = sum(pair.comparisons > 0 for pair in both)
            told[way][f"matched of {kind}"] = sum(pair.verdict == "match" for pair in both)
        print(stamp.name, way, told[way], flush=True)
    return told


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, required=True, help="folder with photos/")
    options = asked.parse_args(arguments)
    cameras = chosen(options.shared / "photos", options)
    strangers = 1 if options.quick else STRANGERS
    result = []
    for stamp in STAMPS[1:2] if options.quick else STAMPS:
        with tempfile.TemporaryDirectory() as scratch:
            result.append(measure(cameras, strangers, stamp, Path(scratch)))
    out = folder_of(options)
    write("stamps", result, folder=out, each=EACH, strangers=strangers, quality=QUALITY)


if __name__ == "__main__":
    main()
