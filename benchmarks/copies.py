"""Copies of one picture: which kinds are recognised, and whether different photos ever are.

python -m benchmarks.copies [--shared DIR]

All originals stand in a case; then, for one kind of copy after another, copies of some of them
come in, and the case says of what they are copies. Sizes are shares of the original's: 1600 pixels
are .4 of the long edge of 12 megapixels. Without DIR originals are simulated.
"""

import csv
import io
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageEnhance, ImageOps

from benchmarks.record import folder_of, parser, timed, write
from samecam import evidence
from samecam.case import extract_photos, open_store
from samecam.case.extraction import kept_scene
from samecam.photos import frame_exposure, read_frame
from samecam.simulate import simulate_photos

Edit = Callable[[Image.Image], Image.Image]
EVERY, QUICK_EVERY = 3, 4  # of so many originals one is copied
QUICK_PHOTOS = 12
NUMBERS, QUICK_NUMBERS = (5_000, 20_000, 80_000), (200,)
SEED = 0
_CELLS = 12  # of the random pictures whose look-up is timed
SCREENSHOTS, QUICK_SCREENSHOTS = 40, 4


@dataclass(frozen=True)
class Kind:
    """A kind of copy: what is done, the size, the quality."""

    name: str
    scale: float
    quality: int
    edit: Edit = Image.Image.copy

    def made(self, data: bytes) -> bytes:
        """Such a copy, without EXIF."""
        with Image.open(io.BytesIO(data)) as picture:
            edited = self.edit(picture.convert("RGB"))
        size = [max(64, round(self.scale * length)) for length in edited.size]
        if self.scale != 1:
            edited = edited.resize((size[0], size[1]), Image.Resampling.LANCZOS)
        buffer = io.BytesIO()
        edited.save(buffer, "JPEG", quality=self.quality)
        return buffer.getvalue()


def _cropped(area: float) -> Edit:
    def edit(picture: Image.Image) -> Image.Image:
        width, height = (round(length * area**0.5) for length in picture.size)
        left, top = (picture.width - width) // 3, (picture.height - height) // 2
        return picture.crop((left, top, left + width, top + height))

    return edit


def _turned(picture: Image.Image) -> Image.Image:
    return picture.transpose(Image.Transpose.ROTATE_90)


def _brighter(picture: Image.Image) -> Image.Image:
    return ImageEnhance.Brightness(picture).enhance(1.2)


KINDS = (
    Kind("saved again", 1, 80),
    Kind("saved again", 1, 70),
    Kind("saved again", 1, 50),
    Kind("smaller", 0.7, 80),
    Kind("smaller", 0.5, 75),
    Kind("smaller", 0.4, 80),
    Kind("smaller", 0.4, 70),
    Kind("smaller", 0.32, 80),
    Kind("smaller", 0.25, 50),
    Kind("turned", 0.4, 80, _turned),
    Kind("mirrored", 0.4, 80, ImageOps.mirror),
    Kind("gray", 0.4, 80, ImageOps.grayscale),
    Kind("20 % brighter", 0.7, 80, _brighter),
    Kind("90 % of it cut out", 1, 80, _cropped(0.9)),
    Kind("75 % of it cut out", 1, 80, _cropped(0.75)),
    Kind("50 % of it cut out", 1, 80, _cropped(0.5)),
)
QUICK_KINDS = (KINDS[0], KINDS[9])


def gather(folder: Path, shared: Path | None, quick: bool) -> None:
    """Put all originals into a folder."""
    folder.mkdir(parents=True)
    if shared is None:
        simulate_photos(folder, cameras=3, images=QUICK_PHOTOS // 3, size=(640, 480), workers=1)
        return
    for name, place in (("a", "photos/images"), ("b", "geometry/phones")):
        files = sorted((shared / place).glob("*.jpg"))
        for file in files[:QUICK_PHOTOS] if quick else files:
            shutil.copy(file, folder / f"{name} {file.name}")


def table(case: Path) -> dict[str, dict[str, str]]:
    with open(case / "images.csv", newline="") as stream:
        return {row["path"]: row for row in csv.DictReader(stream)}


def originals_of(case: Path) -> dict[str, str]:
    """Every used photo or copy with its original, which may be itself."""
    rows = table(case).values()
    return {r["path"]: r["copy_of"] or r["path"] for r in rows if r["status"] not in ("skipped",)}


def recognised(photos: Path, base: Path, work: Path, kind: Kind, every: int) -> dict[str, Any]:
    """Let copies of a kind come into a copy of the case, and count."""
    used = [path for path, row in table(base).items() if row["status"] in ("good", "weak")]
    chosen, telling = used[::every], with_contrast(base)
    for path in chosen:
        target = photos / "copies" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(kind.made((photos / path).read_bytes()))
    case = work / "case"
    shutil.copytree(base, case)
    extract_photos(photos, case)
    of, rows = originals_of(case), table(case)
    shutil.rmtree(case)
    shutil.rmtree(photos / "copies")
    roots = {path: of.get(path, path) for path in chosen}
    named = {path: of.get(f"copies/{path}", "") for path in chosen}
    right = [path for path in chosen if named[path] == roots[path]]
    other = [p for p in chosen if p not in right and named[p] != f"copies/{p}" and named[p]]
    believed = {path: of[path] for path in used}
    return {
        "kind": kind.name,
        "scale": kind.scale,
        "quality": kind.quality,
        "copies": len(chosen),
        "recognised": len(right),
        "another original": len(other),
        "without contrast": sum(path not in telling for path in chosen),
        "recognised without contrast": sum(path not in telling for path in right),
        "different photos as copies": _joined(believed),
        "unusable": sum(rows[f"copies/{p}"]["status"] in ("unusable", "skipped") for p in chosen),
    }


def _joined(of: dict[str, str]) -> int:
    """Originals that have a root in common with another original."""
    roots = sorted(of.values())
    return sum(a == b for a, b in pairwise(roots))


def with_contrast(case: Path) -> set[str]:
    """Photos that have enough contrast to be told from others."""
    with open_store(case) as store:
        scenes = {record.key: kept_scene(record.meta) for record in store.records()}
    some = {key: scene[np.newaxis] for key, scene in scenes.items() if scene is not None}
    return {key for key, scene in some.items() if evidence.common_look(scene, scene)[0] > 0}


def different(case: Path) -> dict[str, Any]:
    """Different photos that look alike, and how much noise they have in common."""
    with open_store(case) as store:
        records = [r for r in store.records() if r.has_row and kept_scene(r.meta) is not None]
        pictures = np.array([kept_scene(r.meta) for r in records], dtype=np.uint8)
        looks, noises = [], []
        for told in evidence.alike_pictures(pictures):
            for alike in told:
                pair = [records[k] for k in (alike.picture, alike.copy)]
                one, other = (_residual(store, record) for record in pair)
                looks.append(alike.look)
                noises.append(evidence.common_noise(one, evidence.seen(other, alike.view)))
    same = [noise for look, noise in zip(looks, noises, strict=True) if look >= 0.98]
    return {
        "photos": len(records),
        "pairs": len(records) * (len(records) - 1) // 2,
        "alike": len(looks),
        "looking the same": len(same),
        "most noise in common": round(max(noises, default=0.0), 4),
        "most noise in common, looking the same": round(max(same, default=0.0), 4),
        "as copies": _joined(originals_of(case)),
    }


def _residual(store: Any, record: Any) -> Any:
    rows = store.all_rows(record.frame)
    at = rows.index(record.key)
    residual = rows.read(slice(at, at + 1)).reshape(record.frame.height, record.frame.width)
    rows.close()
    return residual


def drawn(case: Path, work: Path, count: int) -> dict[str, Any]:
    """How many photos, and how many simulated screenshots, look like graphics."""
    simulate_photos(
        work / "drawn", cameras=1, images=2, size=(640, 480), screenshots=count, letterbox=2,
        seed=SEED, workers=1,
    )  # fmt: skip
    extract_photos(work / "drawn/images", work / "drawn case")
    shots, photos = table(work / "drawn case"), table(case)
    graphic = [path for path, row in shots.items() if row["reason"].startswith("looks like")]
    even = [
        frame_exposure(read_frame((work / "drawn/images" / path).read_bytes()).pixels).even
        for path in shots
        if path.endswith(".png")
    ]
    return {
        "screenshots": count,
        "screenshots that look drawn": sum(path.endswith(".png") for path in graphic),
        "least even share of screenshots": round(min(even), 3),
        "simulated photos that look drawn": sum(not path.endswith(".png") for path in graphic),
        "photos": len(photos),
        "photos that look drawn": sum(
            row["reason"].startswith("looks like") for row in photos.values()
        ),
    }


def look_up(number: int) -> dict[str, Any]:
    """Seconds in which so many different pictures are looked up."""
    rng = np.random.default_rng(SEED)
    cells = rng.normal(0, 1, (number, _CELLS, _CELLS))
    at = np.linspace(0, _CELLS - 1, 32)
    low = np.minimum(at.astype(int), _CELLS - 2)
    weights = np.zeros((32, _CELLS))
    weights[np.arange(32), low] = 1 - (at - low)
    weights[np.arange(32), low + 1] += at - low
    pictures = np.empty((number, 32, 32), dtype=np.uint8)
    for k in range(number):
        pictures[k] = np.clip(120 + 40 * (weights @ cells[k] @ weights.T), 0, 255)
    told, seconds = timed(lambda: sum(map(len, evidence.alike_pictures(pictures))))
    return {"pictures": number, "seconds": round(seconds, 1), "alike": told}


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, help="folder with photos/ and geometry/phones/")
    options = asked.parse_args(arguments)
    every = QUICK_EVERY if options.quick else EVERY
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        photos, base = work / "photos", work / "base"
        gather(photos / "originals", options.shared, options.quick)
        extract_photos(photos, base)
        result: dict[str, Any] = {"different": different(base), "kinds": []}
        print(result["different"])
        for kind in QUICK_KINDS if options.quick else KINDS:
            row = recognised(photos, base, work, kind, every)
            print(row)
            result["kinds"].append(row)
        count = QUICK_SCREENSHOTS if options.quick else SCREENSHOTS
        result["drawn"] = drawn(base, work, count)
        print(result["drawn"])
    result["look up"] = [look_up(n) for n in (QUICK_NUMBERS if options.quick else NUMBERS)]
    print(result["look up"])
    write(
        "copies",
        result,
        folder=folder_of(options),
        quick=options.quick,
        photographs=options.shared is not None,
        every=every,
        seed=SEED,
    )


if __name__ == "__main__":
    main()
