"""Registration of groups: seconds of the coarse search and of fits, by the number of groups.

python -m benchmarks.views [--frame 4000x3000] [--groups 4,10] [--search normal]

Simulated patterns of whole frames, two groups of each sensor: one sees all of it, the other at a
shift, a lens correction or a zoom. All pairs are searched as `samecam cluster` searches groups,
and every place that stands out is fitted. The coarse search takes a·G + b·G² seconds of G groups
(each pattern at all scales; each pair); fits are of true pairs, and of places where strangers look
alike by chance, which are bounded. So the seconds of 500 groups are reckoned. Seconds are of the
clock on the wall and of the processor, which other work on the machine does not lengthen.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.record import folder_of, numbers, parser, write
from samecam import compute
from samecam.frames import Frame
from samecam.register import Search, View
from samecam.register._fit import fit_view
from samecam.register._pattern import as_pattern
from samecam.register._peaks import MOST, OFTEN, Peak, Scales, peaks
from samecam.register._pieces import Piece
from samecam.register._resample import warped
from samecam.register._searches import Part, searches

FRAME, GROUPS, MANY = "4000x3000", "4,10", 500
QUICK = ("400x304", "2,4")
NOISE = 2.5  # of a group of 20 photos that correlate by .009
MEMORY = 2**32
VIEWS = (View(shift=(1.0, -1.0)), View(scale=0.995, radial=0.01), View(scale=1.5), View(scale=2.4))
# Score from which a fit counts as a link here; chance gives about 5.
LINKED = 8.0
# Of a quick run: every so many scales, and the middle that is compared.
THIN, SIDE = 60, 256

Pieces = list[tuple[int, Piece]]
Seconds = dict[str, float]


class Clock(NamedTuple):
    """Seconds of the clock on the wall and of the processor."""

    wall: float
    processor: float

    @classmethod
    def now(cls) -> "Clock":
        return cls(time.perf_counter(), time.process_time())

    def since(self) -> "Clock":
        now = Clock.now()
        return Clock(now.wall - self.wall, now.processor - self.processor)


def sensors(frame: Frame, groups: int) -> Iterator[tuple[int, npt.NDArray[np.int8]]]:
    """(group, pattern) of so many groups; 2k and 2k + 1 are of one sensor."""
    for k in range(groups // 2):
        rng = np.random.default_rng(k)
        pattern = rng.standard_normal(frame.shape, dtype=np.float32)
        seen = warped(pattern, VIEWS[k % len(VIEWS)].inverse(frame, frame), frame)
        for group, some in ((2 * k, pattern), (2 * k + 1, seen)):
            noise = rng.standard_normal(frame.shape, dtype=np.float32)
            yield group, as_pattern(some + NOISE * noise)


def pieces(frame: Frame, groups: int) -> Pieces:
    """The groups, all in memory."""
    return [(group, _piece(frame, pattern)) for group, pattern in sensors(frame, groups)]


def _piece(frame: Frame, pattern: npt.NDArray[np.int8]) -> Piece:
    return Piece(frame, lambda: pattern, photos=20, reliable=1 / (1 + NOISE**2))


def fitted(peak: Peak, some: Pieces, radius: float) -> float:
    """Score of a place after it is fitted; 0: none."""
    picture, camera = (some[k][1].pattern() for k in peak[:2])
    made = fit_view(picture, camera, replace(peak.view, score=None), radius=radius)
    return 0.0 if made is None else made.view.score or 0.0


def thinned(scales: Scales) -> Scales:
    """As a quick run takes them."""
    return replace(scales, values=scales.values[::THIN], side=min(scales.side, SIDE))


def searched(some: Pieces, search: Search, device: str, *, quick: bool) -> dict[str, Any]:
    """Seconds of one run over all pairs, by search and part."""
    rows, linked = [], set[tuple[int, int]]()
    memory = MEMORY if device == "cpu" else compute.default_memory(device)
    for part in searches(some, some, search):
        tried = thinned(part.scales) if quick else part.scales
        wanted = partial(_wanted, part)
        began = Clock.now()
        standing = list(peaks(part.pictures, part.cameras, tried, wanted, memory, device=device))
        coarse, began = began.since(), Clock.now()
        scores = [fitted(peak, some, part.radius) for peak in standing]
        fits = began.since()
        good = [peak for peak, score in zip(standing, scores, strict=True) if score > LINKED]
        linked |= {(min(peak[:2]), max(peak[:2])) for peak in good}
        rows.append(
            {
                "scales": [float(tried.values[0]), float(tried.values[-1]), len(tried.values)],
                "side": tried.side,
                "places": tried.positions,
                "pairs": sum(wanted(a, b) for a, _ in part.pictures for b, _ in part.cameras),
                "coarse": coarse._asdict(),
                "fits": len(standing),
                "fit": fits._asdict(),
                "links": len(good),
            }
        )
    true = {(2 * k, 2 * k + 1) for k in range(len(some) // 2)}
    return {
        "groups": len(some),
        "searches": rows,
        "joined": len(linked & true),
        "wrongly_joined": len(linked - true),
        **totals(rows),
    }


def _wanted(part: Part, a: int, b: int) -> bool:
    """Whether a pair is compared; of two groups near scale 1 either may be the picture."""
    asked = part.pairs is None or (a, b) in part.pairs
    return asked and (a < b if part.scales.values[0] < 1 else a != b)


def totals(rows: Sequence[dict[str, Any]]) -> dict[str, Seconds]:
    """Seconds of each part, over all searches."""
    return {
        part: {clock: sum(row[part][clock] for row in rows) for clock in Clock._fields}
        for part in ("coarse", "fit")
    }


def reckoned(runs: Sequence[dict[str, Any]], groups: int) -> dict[str, Seconds]:
    """Seconds of more groups: of the search from the last two runs, of fits by their number."""
    sizes = [run["groups"] for run in runs[-2:]]
    more = fits_of(runs[-1], groups) / max(sum(row["fits"] for row in runs[-1]["searches"]), 1)
    return {
        "coarse": {
            clock: _grown(sizes, [run["coarse"][clock] for run in runs[-2:]], groups)
            for clock in Clock._fields
        },
        "fit": {clock: runs[-1]["fit"][clock] * more for clock in Clock._fields},
    }


def fits_of(run: Mapping[str, Any], groups: int) -> float:
    """Places that are fitted of more groups: true ones, and those of chance, which are bounded."""
    total = 0.0
    for row in run["searches"]:
        pairs = row["pairs"] * groups * (groups - 1) / (run["groups"] * (run["groups"] - 1))
        total += row["links"] * groups / run["groups"] + min(OFTEN * pairs, MOST)
    return total


def _grown(sizes: Sequence[int], seconds: Sequence[float], groups: int) -> float:
    """a·G + b·G² through the last two, neither below 0; through the last if there is but one."""
    if len(sizes) < 2 or sizes[0] == sizes[1]:
        return seconds[-1] * (groups / sizes[-1]) ** 2
    from scipy.optimize import nnls

    shape = np.array([[n, n * n] for n in sizes], dtype=np.float64)
    factors, _ = nnls(shape, np.asarray(seconds))
    return float(factors @ [groups, groups**2])


def words(run: Mapping[str, Any]) -> str:
    """Seconds of a run."""
    coarse, fit = run["coarse"], run["fit"]
    return (
        f"coarse {coarse['wall']:.1f} s ({coarse['processor']:.1f} of the processor), "
        f"fits {fit['wall']:.1f} s ({fit['processor']:.1f})"
    )


def measure(
    frame: Frame,
    groups: Sequence[int],
    search: Search,
    device: str,
    *,
    quick: bool,
    told: Callable[[str], None] = print,
) -> dict[str, Any]:
    """All figures."""
    began = Clock.now()
    some = pieces(frame, max(groups))
    per_pattern = began.since().processor / len(some)
    searched(some[:2], search, device, quick=True)  # loads libraries, compiles
    runs = []
    for count in groups:
        runs.append(searched(some[:count], search, device, quick=quick))
        told(f"{count} groups: {words(runs[-1])}")
    many = reckoned(runs, MANY)
    told(f"{MANY} groups, reckoned: {words(many)}")
    return {
        "device": compute.describe_device(device),
        "simulated_pattern_processor_seconds": per_pattern,
        "runs": runs,
        "reckoned": {"groups": MANY, **many},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--frame", default=FRAME)
    asked.add_argument("--groups", default=GROUPS)
    asked.add_argument("--search", choices=("quick", "normal", "deep"), default="normal")
    options = asked.parse_args(arguments)
    name, groups = QUICK if options.quick else (options.frame, options.groups)
    settings = {"frame": name, "groups": numbers(groups), "search": options.search}
    result = measure(Frame.named(name), numbers(groups), options.search, "cpu", quick=options.quick)
    write("views", result, folder=folder_of(options), threads=compute.thread_count(), **settings)


if __name__ == "__main__":
    main()
