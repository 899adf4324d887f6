"""How cost grows: seconds of every phase against the number of photos, operations, floors.

    python -m benchmarks.growth --device cpu --threads 2 --out cpu.json
    python -m benchmarks.growth --device cuda --out gpu.json
    python -m benchmarks.growth_page cpu.json gpu.json      # table, plot and sentences

What is counted and what the floors are: `benchmarks.growth_phases`, `benchmarks.growth_after`. The
file is written after every size, so a run that is killed keeps what it has. A size is begun only
if it is expected to end within `--limit` seconds; what was left out is told in the file. LS-SSC and
the report come last, so that they take no time from the others.
"""

import argparse
import math
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# Libraries are loaded in functions: before, `pin` says how many cores they may use.

SIZES = {
    "cpu": (500, 1000, 2000, 4000, 8000),
    "cuda": (1000, 2000, 4000, 8000, 16000, 32000, 50000),
}
LIMITS = {"cpu": 300.0, "cuda": 100.0}
LIBRARIES = ("torch",)
QUICK_SIZES, QUICK_PIXELS = [120, 240], 32**2
NAMES = {"ls_ssc": "LS-SSC", "report": "report"}


class Clock:
    """Seconds since the start, and whether the next size will fit.

    The exponent of growth is taken from the last two sizes, between 1.5 and 3 because small
    sizes tell little; 2 where there is one size.
    """

    def __init__(self, limit: float, now: Callable[[], float] = time.perf_counter) -> None:
        self.limit, self._now, self._began = limit, now, now()
        self.past: list[tuple[int, float]] = []

    def gone(self) -> float:
        return self._now() - self._began

    def expected(self, n: int) -> float:
        """Seconds that a size is expected to take."""
        if not self.past:
            return 0.0
        size, seconds = self.past[-1]
        power = 2.0
        if len(self.past) > 1:
            before, less = self.past[-2]
            power = math.log(seconds / less) / math.log(size / before)
        return float(seconds * (n / size) ** min(3.0, max(1.5, power)))

    def fits(self, n: int) -> bool:
        """Whether a size will end in time; the first is always tried."""
        return not self.past or self.gone() + self.expected(n) <= self.limit

    def note(self, n: int, seconds: float) -> None:
        self.past.append((n, max(seconds, 1e-6)))


class Measurement:
    """A document that is filled size by size, and written after each."""

    def __init__(self, options: argparse.Namespace, document: dict[str, Any]) -> None:
        self.options, self.document = options, document
        self.clock = Clock(options.limit)
        self.result: dict[str, Any] = {"rows": [], "left_out": []}
        document["result"] = self.result

    def each(self, name: str, sizes: Sequence[int], measure: Callable[[int], None]) -> None:
        """Measure sizes while they fit; the first that does not is left out, with those behind."""
        clock, before = self.clock, f"{name}, " if name else ""
        clock.past = []
        for n in sizes:
            if (name and clock.gone() > clock.limit) or not clock.fits(n):
                expected, gone = f"{clock.expected(n):.0f}", f"{clock.gone():.0f}"
                left = f"{before}n = {n}: {expected} s expected, {gone} s gone"
                self.result["left_out"].append(left)
                break
            began = clock.gone()
            measure(n)
            clock.note(n, clock.gone() - began)
            self.save()

    def save(self) -> None:
        """Write what there is, and show the last size."""
        from benchmarks import record

        self.result["seconds"] = self.clock.gone()
        record.save(Path(self.options.out), self.document)
        for row in self.result["rows"][-1:]:
            parts = {k: round(v["seconds"], 3) for k, v in row.items() if isinstance(v, dict)}
            print(f"{self.clock.gone():7.1f} s", row["n"], parts, flush=True)


def run(options: argparse.Namespace, document: dict[str, Any]) -> None:
    """Fill the document, size by size, and write it after each."""
    from benchmarks import growth_after, growth_counting, growth_phases

    place = growth_counting.Place(options.device)
    made = Measurement(options, document)
    growth_phases.warm(place, options.pixels)
    result = made.result
    result["rates"] = rates = growth_phases.rates(place, options.quick)
    workers = 1 if options.quick else document["threads"]
    result["extraction"] = growth_phases.extraction(place, rates, workers, options.quick)
    kept: dict[int, Any] = {}

    def grouping(n: int) -> None:
        rows, truth = kept[n] = place.rows(n, options.pixels)
        result["rows"].append(growth_phases.whole(place, rows, truth, rates))

    made.each("", options.sizes, grouping)
    by_size = {row["n"]: row for row in result["rows"]}

    def large_scale(n: int) -> None:
        rows, truth = kept.pop(n)
        by_size[n]["ls_ssc"] = growth_phases.large_scale(place, rows, rates, truth)

    def report(n: int) -> None:
        by_size[n]["report"] = growth_after.measure_report(place, n)

    made.each(NAMES["ls_ssc"], list(by_size), large_scale)
    kept.clear()
    if place.on_processor:
        made.each(NAMES["report"], list(by_size), report)
    made.save()


def pin(threads: int | None) -> None:
    """Let this process and all it starts use so many cores; before any library is loaded."""
    if threads and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def asked(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, help="cores to use; default all there are")
    parser.add_argument("--sizes", help="numbers of photos, by commas")
    parser.add_argument("--pixels", type=int, default=65536)
    parser.add_argument("--limit", type=float, help="seconds in all")
    parser.add_argument("--commit", help="if this is no checkout")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--out", required=True, metavar="FILE", help="JSON to write")
    options = parser.parse_args(arguments)
    kind = "cuda" if options.device.startswith("cuda") else "cpu"
    options.limit = options.limit or LIMITS[kind]
    if options.quick:
        options.sizes, options.pixels = QUICK_SIZES, QUICK_PIXELS
    elif options.sizes:
        options.sizes = sorted(int(word) for word in options.sizes.split(","))
    else:
        options.sizes = list(SIZES[kind])
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    options = asked(arguments)
    pin(options.threads)
    from benchmarks import record
    from samecam import compute

    options.device = compute.choose_device(options.device)
    settings = {"pixels": options.pixels, "limit": options.limit, "sizes": options.sizes}
    about = record.about("growth", settings, commit=options.commit, libraries=LIBRARIES)
    document = {
        **about,
        "command": f"python -m benchmarks.growth --device {options.device.partition(':')[0]}",
        "device": record.describe(options.device),
        "threads": compute.machine().cores,
        "memory": compute.device_memory(options.device),
        "seed": 0,
    }
    run(options, document)
    for line in document["result"]["left_out"]:
        print("left out:", line)
    print(f"written: {options.out}")


if __name__ == "__main__":
    main()
