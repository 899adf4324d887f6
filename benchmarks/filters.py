"""What other residuals than the default's would gain, on real photographs.

python -m benchmarks.filters --shared DIR

Photographs are squares of DIR/photos, of which those are scored whose corner is at most 30 %
saturated; the same rows are grouped and compared as floats, whichever filter made them. *Above*:
pairs of one camera above the 99.9 % point of strangers, the mean over cameras. *Cllr at best*:
what the best monotone calibration leaves of groups of two or three photos, the mean of eight
draws. *Five*: mean F of ten draws of five photos a camera. A filter that gains must gain on all
of it, and also after a second compression.
"""

import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from scipy.fft import dctn, idctn
from scipy.ndimage import uniform_filter

from benchmarks import photographs
from benchmarks.record import folder_of, parser, write
from samecam.arrays import Doubles, Floats, Gram, Labels, Pixels
from samecam.cluster import ConsolidatedSSC
from samecam.fingerprint import fingerprint, noise_residual
from samecam.fingerprint._wavelet import LEVELS, PHASE
from samecam.fingerprint._weigh_kernels import brighten
from samecam.metrics import cllr_min, scores

QUALITIES = (None, 80, 50)
DRAWS, FEW = 8, 12
Filter = Callable[[Pixels], Floats]


def spun(spins: int, sigma: float = 3.0, *, weigh: bool = False) -> Filter:
    return lambda luma: fingerprint(luma, spins=spins, sigma=sigma, weigh=weigh)


def lit(luma: Pixels) -> Floats:
    """Each pixel times the root of its brightness, the frequencies as they are."""
    residual = noise_residual(luma, spins=2)
    brighten(residual, luma)
    return cleaned(residual)


def cut_off(most: float) -> Filter:
    """The default, but no pixel above so many times the root mean square."""

    def row(luma: Pixels) -> Floats:
        return unit((fingerprint(luma, spins=2, weigh=True) * luma.size**0.5).clip(-most, most))

    return row


def guided(radius: int, floor: float) -> Filter:
    """What a guided filter finds of the picture in the residual is taken away."""

    def row(luma: Pixels) -> Floats:
        picture, residual = luma.astype(np.float32), noise_residual(luma, spins=2)

        def mean(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return np.asarray(uniform_filter(values, 2 * radius + 1))

        middle, level = mean(picture), mean(residual)
        variance = mean(picture * picture) - middle * middle
        slope = (mean(picture * residual) - middle * level) / (variance + np.float32(floor))
        return cleaned(residual - mean(slope) * picture - mean(level - slope * middle))

    return row


def evened(power: float, spins: int = 2) -> Filter:
    """Each of the 64 frequencies of JPEG's blocks divided by a power of its own energy."""

    def row(luma: Pixels) -> Floats:
        residual = fingerprint(luma, spins=spins).reshape(luma.shape)
        h, w = (side // 8 * 8 for side in luma.shape)
        blocks = residual[:h, :w].reshape(h // 8, 8, w // 8, 8).transpose(0, 2, 1, 3)
        bands = dctn(blocks, axes=(2, 3), norm="ortho")
        energy = np.square(bands).mean(axis=(0, 1))
        bands = bands / (energy + 1e-3 * energy.mean()) ** power
        back = idctn(bands, axes=(2, 3), norm="ortho").transpose(0, 2, 1, 3).reshape(h, w)
        return cleaned(back.astype(np.float32))

    return row


def wavelets(power: float) -> Filter:
    """Details of the transform as they are, no inverse; each band divided by a power of its energy.

    As arXiv 2507.01712 has it: the transform keeps scalar products, so that what differs is the
    border, and that rows, columns and the grid of JPEG are not subtracted.
    """

    def row(luma: Pixels) -> Floats:
        import pywt

        residual = noise_residual(luma)
        _, *levels = pywt.wavedec2(residual, "db4", mode="periodization", level=LEVELS)
        bands = [band.ravel() for level in levels for band in level]
        parts = [band / max(float(np.square(band).mean()), 1e-9) ** power for band in bands]
        return unit(np.concatenate(parts).astype(np.float32))

    return row


def cleaned(residual: Floats) -> Floats:
    """Rows, columns and phases of the grid without their means, unit norm."""
    left = residual - residual.mean(axis=1, keepdims=True)
    left -= left.mean(axis=0, keepdims=True)
    for a in range(PHASE):
        for b in range(PHASE):
            left[a::PHASE, b::PHASE] -= left[a::PHASE, b::PHASE].mean()
    return unit(left.ravel())


def unit(row: Floats) -> Floats:
    return row / np.float32(np.linalg.norm(row))


DEFAULT = "two grids, weighed (default)"
FILTERS: Mapping[str, Filter] = {
    "as published, one grid": spun(1),
    "one grid, σ = 2": spun(1, 2.0),
    "one grid, σ = 4": spun(1, 4.0),
    "two grids": spun(2),
    DEFAULT: spun(2, weigh=True),
    "two grids, weighed by light alone": lit,
    "two grids, weighed, cut off at 8": cut_off(8.0),
    "two grids, weighed, cut off at 16 (as in bytes)": cut_off(16.0),
    "four grids": spun(4),
    "eight grids": spun(8),
    "two grids, σ = 2": spun(2, 2.0),
    "two grids, guided filter, radius 8": guided(8, 4.0),
    "two grids, guided filter, radius 3": guided(3, 1.0),
    "two grids, frequencies half evened": evened(0.25),
    "two grids, frequencies evened": evened(0.5),
    "wavelet domain, one grid": wavelets(0.0),
    "wavelet domain, bands half evened": wavelets(0.25),
}
# What else is done to the correlations of the default's rows.
SHARED = "two grids, without what other cameras share"
AGAIN = ("as published, one grid", "two grids", DEFAULT, "two grids, frequencies half evened")


def compressed(luma: Pixels, quality: int | None) -> Pixels:
    if quality is None:
        return luma
    stream = io.BytesIO()
    Image.fromarray(luma).save(stream, "JPEG", quality=quality)
    return np.asarray(Image.open(stream))


def without_shared(G: Gram, cameras: Labels) -> Gram:
    """Correlations after the mean pattern of all other cameras is projected out of each photo."""
    count = int(cameras.max()) + 1
    member = (cameras[:, np.newaxis] == np.arange(count)) / np.bincount(cameras)
    inner = member.T @ G @ member
    means = member / np.sqrt(np.diag(inner))
    products = G @ means  # of photos with cameras' mean patterns
    among = means.T @ G @ means
    others = (1 - np.eye(count)) / (count - 1)
    norm = np.sqrt(np.diag(others @ among @ others.T))
    with_others = products @ others.T / norm  # (n, k) with the mean of all cameras but k
    own = with_others[np.arange(len(G)), cameras]
    cross = others @ among @ others.T / np.outer(norm, norm)
    left = G - own[:, np.newaxis] * with_others[:, cameras].T
    left -= own * with_others[:, cameras]
    left += np.outer(own, own) * cross[np.ix_(cameras, cameras)]
    scale = np.sqrt(np.diag(left))
    return np.asarray(left / np.outer(scale, scale))


def figures(G: Gram, cameras: Labels, n_pixels: int) -> dict[str, Any]:
    """How far one camera's photos are from strangers, and what grouping makes of it."""
    same = (cameras[:, np.newaxis] == cameras) & ~np.eye(len(G), dtype=bool)
    strangers = G[cameras[:, np.newaxis] != cameras]
    spread, point = math.sqrt(np.mean(np.square(strangers))), np.quantile(strangers, 0.999)
    kinds = [k for k in range(cameras.max() + 1) if same[cameras == k].any()]
    pairs = [G[same & (cameras == k)] for k in kinds]
    method = ConsolidatedSSC(metric="precomputed", n_pixels=n_pixels).fit(G.astype(np.float32))
    score = scores(cameras, method.labels_)
    return {
        "above": float(np.mean([np.mean(some > point) for some in pairs])),
        "separation": float(np.mean([np.median(some) for some in pairs])) / spread,
        "largest_stranger": float(strangers.max()) / spread,
        "cllr_min": small_groups(G, cameras),
        "F": score.f,
        "P": score.precision,
        "F_five": five_each(G, cameras, n_pixels),
        "groups": method.n_clusters_,
        "unclustered": score.n_unclustered,
    }


def five_each(G: Gram, cameras: Labels, n_pixels: int) -> float:
    """Mean F of ten draws of five photos a camera, or all it has."""
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        each = [rng.permutation(np.flatnonzero(cameras == k))[:5] for k in range(cameras.max() + 1)]
        some = np.concatenate(each)
        part = G[np.ix_(some, some)].astype(np.float32)
        method = ConsolidatedSSC(metric="precomputed", n_pixels=n_pixels).fit(part)
        found.append(scores(cameras[some], method.labels_).f)
    return float(np.mean(found))


def small_groups(G: Gram, cameras: Labels) -> float:
    """Cost of the best calibration of photos with groups of two or three, the photo left out."""
    costs = []
    for seed in range(DRAWS):
        same, different = list[Doubles](), list[Doubles]()
        for camera, members in drawn(cameras, np.random.default_rng(seed)):
            inside = np.isin(np.arange(len(G)), members)
            total = G[:, members].sum(axis=1) - inside
            energy = G[np.ix_(members, members)].sum() - inside * (2 * total + 1)
            score = total / np.sqrt(np.maximum(energy, 0.5 * (len(members) - inside)))
            same.append(score[cameras == camera])
            different.append(score[cameras != camera])
        costs.append(cllr_min(np.concatenate(same), np.concatenate(different)))
    return float(np.mean(costs))


def drawn(cameras: Labels, rng: np.random.Generator) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
    for camera in range(cameras.max() + 1):
        mine = rng.permutation(np.flatnonzero(cameras == camera))
        if len(mine) > 2:
            yield camera, mine[: rng.integers(2, min(3, len(mine) - 1) + 1)]


def correlations(rows: Floats) -> Gram:
    return np.asarray(rows @ rows.T, dtype=np.float64)


def measured(shots: Sequence[photographs.Photograph], quick: bool) -> list[dict[str, Any]]:
    cameras = np.unique([shot.camera for shot in shots], return_inverse=True)[1]
    result: list[dict[str, Any]] = []

    def note(name: str, quality: int | None, G: Gram, n_pixels: int) -> None:
        facts = figures(G, cameras, n_pixels)
        result.append({"filter": name, "quality": quality, "photos": len(shots), **facts})
        print(result[-1], flush=True)

    for quality in QUALITIES[:2] if quick else QUALITIES:
        lumas = [compressed(shot.luma, quality) for shot in shots]
        for name in FILTERS if quality is None else AGAIN:
            if quick and name not in AGAIN:
                continue
            rows = np.stack([FILTERS[name](luma) for luma in lumas])
            G = correlations(rows)
            note(name, quality, G, rows.shape[1])
            if name == "two grids":
                note(SHARED, quality, without_shared(G, cameras), rows.shape[1])
    return result


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, required=True, help="folder with photos/")
    options = asked.parse_args(arguments)
    shots = photographs.load_judged(options.shared / "photos", most=FEW if options.quick else None)
    used = [shot for shot in shots if photographs.frame_fingerprint(shot)]
    write("filters", measured(used, options.quick), folder=folder_of(options), photographs=True)


if __name__ == "__main__":
    main()
