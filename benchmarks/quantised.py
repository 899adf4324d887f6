"""How many bits a pixel of a whole-frame fingerprint needs, by accuracy and bytes.

python -m benchmarks.quantised [--shared DIR]

One camera's correlations are given in units of the spread of strangers' ("separation": median of
the first over the root mean square of the second). Photographs are squares of DIR/photos, of which
those are scored whose corner is at most 30 % saturated; whole frames are the phones of
DIR/geometry/phones.csv, of which central parts are taken, too, and only photos with one zoom count
as alike. Without DIR, both are made by a simulator.
"""

import csv
import hashlib
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import photographs
from benchmarks.record import folder_of, parser, write
from samecam import correlate
from samecam.arrays import Floats, Gram, Pixels
from samecam.cluster import ConsolidatedSSC
from samecam.fingerprint import SPINS, FrameRow, fingerprint, frame_row, noise_residual
from samecam.fingerprint._frame import NO_RESIDUAL
from samecam.fingerprint._weigh import weigh
from samecam.metrics import scores
from samecam.photos import frame_exposure, read_frame
from samecam.simulate import simulate_photos
from samecam.store import BitRows

THRESHOLDS = (0.0, 0.01, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3)
THRESHOLD = NO_RESIDUAL["bits"]
MEGAPIXELS = (1, 2, 4, 8, 12)
BITS = {"float": 32, "int8": 8, "2 bits": 2, "1 bit": 1}
Truth = npt.NDArray[Any]


@dataclass(frozen=True)
class Shot:
    """A file, what it is to be like (camera, zoom), and its camera."""

    path: Path
    view: str
    camera: str

    @property
    def key(self) -> str:
        return hashlib.sha256(self.path.read_bytes()).hexdigest()


Row = Callable[[Pixels, str], Floats]


def floats(luma: Pixels, _: str) -> Floats:
    return fingerprint(luma, spins=SPINS, weigh=True)


def int8(luma: Pixels, key: str) -> Floats:
    row = frame_row(luma, key=key, dtype="int8")
    return np.asarray(row.values * np.float32(row.scale), dtype=np.float32)


def one_bit(luma: Pixels, key: str) -> Floats:
    return unpacked(frame_row(luma, key=key, dtype="bits"), luma.size)


def two_bits(luma: Pixels, key: str) -> Floats:
    return unpacked(frame_row(luma, key=key, dtype="2bits"), luma.size)


def unpacked(row: FrameRow, count: int) -> Floats:
    floats: Floats = BitRows(row.values[np.newaxis], count).read()[0]
    return floats


def without(luma: Pixels, threshold: float) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Residual in units of its root mean square, and which pixels have none."""
    residual = noise_residual(luma, spins=SPINS)
    weigh(residual, luma)
    raw = residual.ravel()
    cleaned = floats(luma, "") * np.float32(math.sqrt(luma.size))
    least = threshold * float(np.sqrt(np.mean(np.square(raw, dtype=np.float64))))
    return cleaned, (np.abs(raw) < least) | (np.abs(cleaned) < threshold)


def two_bits_from(threshold: float) -> Row:
    """Two bits, with another threshold."""

    def row(luma: Pixels, key: str) -> Floats:
        cleaned, empty = without(luma, threshold)
        values = np.sign(cleaned) * np.where(np.abs(cleaned) <= 1, 1, 3)
        coins = np.random.default_rng(int(key[:16], 16)).integers(0, 2, luma.size) * 2 - 1
        values = np.where(empty, coins, values).astype(np.float32)
        return np.asarray(values / np.linalg.norm(values), dtype=np.float32)

    return row


def one_bit_from(threshold: float, *, random: bool = True) -> Row:
    """One bit, with another threshold; or with the sign + for every pixel below it."""

    def row(luma: Pixels, key: str) -> Floats:
        cleaned, empty = without(luma, threshold)
        positive = cleaned > 0
        other: Any = True
        if random:
            other = np.random.default_rng(int(key[:16], 16)).integers(0, 2, luma.size) > 0
        step = np.float32(1 / math.sqrt(luma.size))
        return np.where(np.where(empty, other, positive), step, -step)

    return row


KINDS: dict[str, Row] = {"float": floats, "int8": int8, "2 bits": two_bits, "1 bit": one_bit}


def separation(G: Gram, views: Truth, cameras: Truth) -> dict[str, Any]:
    """How far one camera's correlations are from strangers'."""
    above = np.triu(np.ones(G.shape, dtype=bool), 1)
    alike = G[above & (views[:, None] == views)]
    strangers = G[above & (cameras[:, None] != cameras)]
    spread = float(np.sqrt(np.mean(np.square(strangers, dtype=np.float64))))
    return {
        "separation": float(np.median(alike)) / spread,
        "lowest tenth": float(np.quantile(alike, 0.1)) / spread,
        "above all strangers": float(np.mean(alike > strangers.max())),
        "largest stranger": float(strangers.max()) / spread,
        "median": float(np.median(alike)),
        "spread": spread,
        "pairs": len(alike),
        "strangers": len(strangers),
    }


def grouping(G: Gram, cameras: Truth, n_pixels: int) -> dict[str, Any]:
    """F and P of the default method on these correlations."""
    method = ConsolidatedSSC(metric="precomputed", n_pixels=n_pixels).fit(G)
    score = scores(cameras, method.labels_)
    return {
        "F": score.f,
        "P": score.precision,
        "groups": method.n_clusters_,
        "unclustered": score.n_unclustered,
    }


def photograph_rows(folder: Path, quick: bool) -> list[dict[str, Any]]:
    """Squares of photographs in colour, luma, and every number of bits."""
    side = 256 if quick else 1024
    names = [row["path"] for row in csv_rows(folder / "truth.csv")]
    shots = photographs.load(folder, side, min(side, 512))
    used = [
        (Shot(folder / name, shot.camera, shot.camera), shot.pixels)
        for name, shot in zip(names, shots, strict=True)
        if shot.judged
    ]
    lumas = [read_frame(shot.path.read_bytes()).pixels[:side, :side] for shot, _ in used]
    keys = [shot.key for shot, _ in used]
    cameras = np.array([shot.camera for shot, _ in used])
    kinds = KINDS | {
        f"1 bit, threshold {t:g}": one_bit_from(t) for t in THRESHOLDS[:: 6 if quick else 1]
    }
    for threshold in THRESHOLDS[:: 6 if quick else 1]:
        kinds[f"2 bits, threshold {threshold:g}"] = two_bits_from(threshold)
    kinds["1 bit, one sign for all below"] = one_bit_from(THRESHOLD, random=False)
    made = []
    for name in ("colour, float", *kinds):
        if name in kinds:
            rows = [kinds[name](luma, key) for luma, key in zip(lumas, keys, strict=True)]
        else:
            rows = [fingerprint(pixels) for _, pixels in used]
        G = correlate.gram(np.stack(rows))
        made.append(
            {"kind": name, "photos": len(G), "pixels": side**2}
            | separation(G, cameras, cameras)
            | grouping(G, cameras, side**2)
        )
        print(told(made[-1]), flush=True)
    return made


def frame_rows_of(shots: list[Shot], megapixels: float, quick: bool) -> list[dict[str, Any]]:
    """Central parts of whole frames, of so many megapixels."""
    lumas = [centre(read_frame(shot.path.read_bytes()).pixels, megapixels) for shot in shots]
    views, cameras = (np.array([getattr(s, n) for s in shots]) for n in ("view", "camera"))
    made = []
    for name, kind in KINDS.items():
        rows = [kind(luma, shot.key) for luma, shot in zip(lumas, shots, strict=True)]
        G = correlate.gram(np.stack(rows))
        height, width = lumas[0].shape
        row = {"kind": name, "photos": len(G), "width": width, "height": height}
        row["bytes"] = width * height * BITS[name] // 8
        made.append(row | separation(G, views, cameras) | grouping(G, views, width * height))
        print(told(made[-1]), flush=True)
        if quick and name == "int8":
            break
    return made


def centre(luma: Pixels, megapixels: float) -> Pixels:
    """The central part with the shape of the whole, on the JPEG's grid of blocks."""
    height, width = luma.shape
    share = min(1.0, math.sqrt(megapixels * 1e6 / luma.size))
    if share == 1:
        return luma
    down, across = (int(share * length) // 16 * 16 for length in luma.shape)
    top, left = (height - down) // 32 * 16, (width - across) // 32 * 16
    return np.ascontiguousarray(luma[top : top + down, left : left + across])


def told(row: dict[str, Any]) -> str:
    size = f"{row['width']}×{row['height']}" if "width" in row else f"{row['pixels']} pixels"
    text = f"{row['kind']:32} {size:>16} {row['separation']:6.2f} {row['lowest tenth']:6.2f}"
    text += f" {row['above all strangers']:6.3f} {row['largest stranger']:5.2f}"
    return text + (f"  F {row['F']:.4f} P {row['P']:.4f}" if "F" in row else "")


def csv_rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def phones(folder: Path) -> list[Shot]:
    """Whole frames, all of one size."""
    return [
        Shot(folder / row["path"], f"{row['camera']} {row['zoom']}", row["camera"])
        for row in csv_rows(folder / "phones.csv")
    ]


def simulated(folder: Path) -> list[Shot]:
    shots = [
        Shot(folder / row["path"], row["camera"], row["camera"])
        for row in csv_rows(folder / "truth.csv")
    ]
    light = [frame_exposure(read_frame(shot.path.read_bytes()).pixels) for shot in shots]
    return [shot for shot, one in zip(shots, light, strict=True) if one.status == "good"]


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, help="folder with photos/ and geometry/")
    options = asked.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        shared = options.shared
        if shared is None:
            shared = Path(scratch)
            size = (288, 272) if options.quick else (1600, 1200)
            simulate_photos(shared / "photos", cameras=4, images=8, size=size)
        print("kind, size, separation, its lowest tenth, share above all strangers, the largest")
        result = {"photographs": photograph_rows(shared / "photos", options.quick), "frames": []}
        geometry = shared / "geometry"
        real = (geometry / "phones.csv").is_file()
        shots = phones(geometry) if real else simulated(shared / "photos")
        for megapixels in (0.05,) if options.quick else MEGAPIXELS:
            result["frames"] += frame_rows_of(shots, megapixels, options.quick)
    write("quantised", result, folder=folder_of(options), threshold=THRESHOLD, real=real)


if __name__ == "__main__":
    main()
