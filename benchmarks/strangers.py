"""Registration of strangers: how often chance gives the scores that samecam states.

python -m benchmarks.strangers --shared DIR [--patterns FILE.npz]

Patterns of the cameras in DIR (a folder with truth.csv), cut to several frames: sums over photos
of one camera, two of each camera, and some single photos. Each is searched in all those of other
cameras, as `samecam cluster --search normal` does: scales near 1 with all turns, all zooms up to
6.5. A pair's best score is turned into the probability that samecam states for it; claimed against
counted. Simulated: white patterns of sensors that do not exist. With --patterns the patterns are
kept in a file, or read from it where it is there.
"""

import csv
import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.record import folder_of, parser, write
from samecam import compute
from samecam.frames import Frame
from samecam.register._links import Judge, Searcher, _without_extremes
from samecam.register._pattern import as_pattern
from samecam.register._pieces import Piece

Bytes = npt.NDArray[np.int8]
FRAMES = ((1024, 1024), (1024, 768), (768, 1024), (960, 720))
QUICK_FRAMES = ((400, 400), (400, 320))
ROUNDS, SINGLE = 6, 12  # of simulated patterns, all frames in each; of single photos
RATES = (0.1, 0.01, 0.001, 0.0001)
MEMORY = 2**31
Named = list[tuple[str, Bytes]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Count, and write the results."""
    options = parser(__doc__)
    options.add_argument("--shared", type=Path)
    options.add_argument("--patterns", type=Path)
    options.add_argument("--workers", type=int, default=None)
    options.add_argument("--device", default="cpu")
    given = options.parse_args(arguments)
    sets = {"simulated": simulated(QUICK_FRAMES if given.quick else ROUNDS * FRAMES)}
    if given.shared is not None or given.patterns is not None:
        sets["photographs"] = photographs(given.shared, given.patterns)
    result = {name: counted(some, given.workers, given.device) for name, some in sets.items()}
    write("strangers", result, folder=folder_of(given), quick=given.quick, device=given.device)


def simulated(frames: Sequence[tuple[int, int]]) -> Named:
    """White patterns of sensors that do not exist, one of each width and height."""
    rng = np.random.default_rng(5)
    shapes = [frame[::-1] for frame in frames]
    return [(str(k), as_pattern(rng.normal(size=shape))) for k, shape in enumerate(shapes)]


def photographs(shared: Path | None, kept: Path | None) -> Named:
    """Patterns of photographs, made or read: names begin with the camera."""
    if kept is not None and kept.exists():
        with np.load(kept) as file:
            return [(name.rpartition(" ")[0], file[name]) for name in file.files]
    assert shared is not None
    rows: dict[str, list[Bytes]] = {}
    for path, camera in truth(shared):
        rows.setdefault(camera, []).extend(row(path))
    rng = np.random.default_rng(6)
    made = {}
    for k, name in enumerate(sorted(rows)):
        some = np.stack(rows[name])
        made[f"{name} 0"] = cut(some[::2].sum(axis=0, dtype=np.float32), k)
        made[f"{name} 1"] = cut(some[1::2].sum(axis=0, dtype=np.float32), k + 1)
        if k % 2 == 0 and k < 2 * SINGLE:
            made[f"{name} 2"] = cut(some[int(rng.integers(len(some)))], k + 2)
    if kept is not None:
        np.savez(kept, **made)  # type: ignore[arg-type]
    return [(name.rpartition(" ")[0], pattern) for name, pattern in made.items()]


def truth(shared: Path) -> Iterator[tuple[Path, str]]:
    """Photos and their cameras; of each camera 16."""
    count: dict[str, int] = {}
    with (shared / "truth.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            count[line["camera"]] = count.get(line["camera"], 0) + 1
            if count[line["camera"]] <= 16:
                yield shared / line["path"], line["camera"]


def row(path: Path) -> list[Bytes]:
    """Fingerprint of a whole picture; none of a blank one."""
    from samecam.fingerprint import NoResidualError, frame_row
    from samecam.photos import read_frame

    data = path.read_bytes()
    pixels = read_frame(data).pixels
    try:
        made = frame_row(pixels, key=hashlib.sha256(data).hexdigest(), dtype="int8")
    except NoResidualError:
        return []
    return [np.asarray(made.values, dtype=np.int8).reshape(pixels.shape)]


def cut(values: npt.NDArray[Any], frame: int) -> Bytes:
    """The pattern of a frame's middle."""
    width, height = FRAMES[frame % len(FRAMES)]
    top, left = (values.shape[0] - height) // 2, (values.shape[1] - width) // 2
    return as_pattern(values[top : top + height, left : left + width].astype(np.float32))


def counted(patterns: Named, workers: int | None, device: str) -> dict[str, Any]:
    """Pairs of strangers, the largest scores, and claimed against counted rates."""
    with ProcessPoolExecutor(workers or compute.machine().cores) as pool:
        each = map if device != "cpu" else pool.map
        parts = each(best, patterns, [patterns] * len(patterns), [device] * len(patterns))
        scores = [score for part in parts for score in part]
    claims = np.array([score["probability"] for score in scores])
    return {
        "patterns": len(patterns),
        "registrations": len(scores),
        "places": int(sum(score["places"] for score in scores)),
        "largest_scores": sorted((round(s["score"], 2) for s in scores), reverse=True)[:10],
        "claimed": {str(rate): int((claims <= rate).sum()) for rate in RATES},
        "expected": {str(rate): round(rate * len(scores), 2) for rate in RATES},
    }


def best(picture: tuple[str, Bytes], cameras: Named, device: str) -> list[dict[str, Any]]:
    """The best score of a picture with each pattern of another camera."""
    from threadpoolctl import threadpool_limits

    others = [(k, piece(p)) for k, (name, p) in enumerate(cameras) if name != picture[0]]
    with threadpool_limits(1 if device == "cpu" else None):
        searcher = Searcher("normal", 1.0, MEMORY, device=device)
        pair = [(0, piece(picture[1]))], others
        fits = searcher.exact(*pair, lambda *_: searcher.judge)
        fits += searcher.fits(searcher.plan(*pair), lambda *_: searcher.judge)
    judge = Judge(1.0)  # of one pair
    judge.add_places(searcher.judge.places // max(len(others), 1), 1)
    judge.add_exact(searcher.judge.exact // max(len(others), 1))
    nothing = {"score": 0.0, "places": judge.places, "probability": 1.0}
    found = {k: dict(nothing) for k, _ in others}
    for fit in fits:
        score, there = fit.fitted.view.score or 0.0, found[fit.peak.camera]
        if _without_extremes(fit.fitted.scores) >= 0.5 * score:
            there["score"] = max(there["score"], score)
            rate = judge.probability(score, exact=fit.exact)
            there["probability"] = min(there["probability"], rate)
    return list(found.values())


def piece(pattern: Bytes) -> Piece:
    """What is registered."""
    return Piece(Frame(pattern.shape[1], pattern.shape[0]), lambda: pattern)


if __name__ == "__main__":
    main()
