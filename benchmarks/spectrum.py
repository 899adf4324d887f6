"""How smooth the patterns of sensors are: real cameras beside simulated ones.

python -m benchmarks.spectrum [--shared DIR]

Half of a camera's photographs against the other half: the power that both sums share, by spatial
frequency. A white pattern has most of it at high frequencies, where a reduced copy keeps nothing.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import photographs
from benchmarks.record import folder_of, parser, write
from samecam.arrays import Doubles, Floats
from samecam.register._pattern import as_pattern
from samecam.simulate import simulate_photos

NAME = "spectrum"
EDGES = (0.02, 0.1, 0.2, 0.3, 0.4, 0.5)  # cycles a pixel
CROSSTALK = (0.0, 0.5, 0.6, 0.7)
LEAST = 6  # photographs of a camera
SIMULATED, QUICK = (6, 14, 1536), (2, 12, 256)


def shares(rows: Sequence[Floats]) -> Doubles:
    """Shares of the power that two halves of a camera's fingerprints have in common, by band."""
    halves = [as_pattern(np.sum(rows[k::2], axis=0)) for k in range(2)]
    first, second = (np.fft.fft2(half) for half in halves)
    common = (first * second.conj()).real
    frequency = np.hypot(*np.meshgrid(*(np.fft.fftfreq(n) for n in common.shape), indexing="ij"))
    inside = (frequency >= EDGES[0]) & (frequency < EDGES[-1])
    at = np.digitize(frequency[inside], EDGES) - 1
    bands = range(len(EDGES) - 1)
    power: Doubles = np.array([common[inside][at == band].sum() for band in bands])
    return np.asarray(power / power.sum())


def by_camera(folder: Path) -> Iterator[list[Floats]]:
    """Fingerprints of the cameras of a folder, as arrays of their frames."""
    photos: dict[str, list[photographs.Photograph]] = {}
    for photo in photographs.load_judged(folder):
        photos.setdefault(photo.camera, []).append(photo)
    for own in photos.values():
        if len(own) >= LEAST:
            rows = photographs.whole_frames(own).rows
            made: Floats = rows.values * rows.scales[:, np.newaxis]
            yield [row.reshape(own[0].luma.shape) for row in made]


def measured(folder: Path) -> dict[str, Any]:
    """Medians over the cameras of a folder."""
    every = np.array([shares(rows) for rows in by_camera(folder)])
    return {"cameras": len(every), "shares": np.median(every, axis=0).round(4).tolist()}


def simulated(crosstalk: float, shape: tuple[int, int, int]) -> dict[str, Any]:
    """The same of simulated photographs."""
    cameras, images, side = shape
    with tempfile.TemporaryDirectory() as folder:
        size = (side, side * 3 // 4)
        how: Mapping[str, Any] = {"cameras": cameras, "images": images, "size": size}
        simulate_photos(folder, crosstalk=crosstalk, **how)
        return {"crosstalk": crosstalk, **measured(Path(folder))}


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, help="folder with photos/")
    options = asked.parse_args(arguments)
    shape = QUICK if options.quick else SIMULATED
    few = CROSSTALK[::2] if options.quick else CROSSTALK
    result: dict[str, Any] = {"edges": EDGES, "simulated": [simulated(c, shape) for c in few]}
    if options.shared is not None:
        result["real"] = measured(options.shared / "photos")
    print(result)
    write(NAME, result, folder=folder_of(options), shape=list(shape))


if __name__ == "__main__":
    main()
