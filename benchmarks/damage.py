"""Damaged photos of every kind: how many are accepted with wrong pixels; sound ones refused.

python -m benchmarks.damage [--shared DIR]
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.record import folder_of, parser, write
from samecam.photos import PhotoError, read_header, read_photo
from tests.photos import damage
from tests.photos.pictures import scene

COUNT, QUICK_COUNT = 300, 2
WIDTH, HEIGHT = 300, 200
DAMAGES = (*damage.TAILS, damage.blanked, damage.flipped)


def swept(count: int) -> Iterator[dict[str, Any]]:
    """For each kind: of `count` places in each of two pictures, those that gave wrong pixels."""
    pictures = scene(9, WIDTH, HEIGHT), damage.sky(3, WIDTH, HEIGHT)
    for kind in damage.MAKERS:
        row: dict[str, Any] = {"kind": kind}
        files = [damage.photo(kind, pixels) for pixels in pictures]
        for lose in DAMAGES:
            tallies = [damage.sweep(data, lose, count) for data in files]
            row[lose.__name__] = sum(tally.wrong for tally in tallies)
        print(" ".join(f"{value!s:<12}" for value in row.values()), flush=True)
        yield row


def refused(folder: Path, sides: Sequence[int]) -> dict[str, Any]:
    """How many sound photographs of a folder are refused, at any of some sizes of the crop."""
    files = sorted(folder.glob("*.jpg"))
    bad = []
    for file in files:
        data = file.read_bytes()
        width, height = read_header(data).size or (0, 0)
        try:
            for side in {min(side, width, height) for side in sides}:
                read_photo(data, size=side)
        except PhotoError as error:
            bad.append(f"{file.name}: {error.reason}")
    print(f"{folder.name}: {len(bad)} of {len(files)} sound photographs refused")
    return {"photos": len(files), "refused": bad}


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, help="folder with photos/ and geometry/")
    options = asked.parse_args(arguments)
    count = QUICK_COUNT if options.quick else COUNT
    names = [lose.__name__ for lose in DAMAGES]
    print(" ".join(f"{name:<12}" for name in ["kind", *names]))
    result: dict[str, Any] = {"wrong": list(swept(count)), "sound": {}}
    if options.shared:
        sides = [64] if options.quick else [256, 512, 1024, 3024]
        for name in ("photos/images", "geometry/phones"):
            if (options.shared / name).is_dir():
                result["sound"][name] = refused(options.shared / name, sides)
    settings = {"places": 2 * count, "crop": damage.SIZE, "width": WIDTH, "height": HEIGHT}
    write("damage", result, folder=folder_of(options), **settings)


if __name__ == "__main__":
    main()
