"""How cost grows: seconds of every phase against the number of photos, operations, floors.

    python -m benchmarks.growth --device cpu --threads 2 --out cpu.json
    python -m benchmarks.growth --device cuda --out gpu.json
    python -m benchmarks.growth_page cpu.json gpu.json      # table, plot and sentences

What is counted and what the floors are: `benchmarks.growth_phases`. The file is written after
every size, so a run that is killed keeps what it has. A size is begun only if it is expected to
end within `--limit` seconds; what was left out is told in the file. LS-SSC comes last, so that it
takes no time from the others.
"""

import argparse
import json
import math
import os
import platform
import subprocess
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

SIZES = {
    "cpu": (500, 1000, 2000, 4000, 8000),
    "cuda": (1000, 2000, 4000, 8000, 16000, 32000, 50000),
}
LIMITS = {"cpu": 120.0, "cuda": 100.0}
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "torch")


class Clock:
    """Seconds since the start, and whether the next size will fit.

    The exponent of growth is taken from the last two sizes, between 1.5 and 3 because small
    sizes tell little; 2 where there is one size.
    """

    def __init__(self, limit, now=time.perf_counter):
        self.limit, self._now, self._began = limit, now, now()
        self.past = []

    def gone(self):
        return self._now() - self._began

    def expected(self, n):
        """Seconds that a size is expected to take."""
        if not self.past:
            return 0.0
        size, seconds = self.past[-1]
        power = 2.0
        if len(self.past) > 1:
            before, less = self.past[-2]
            power = math.log(seconds / less) / math.log(size / before)
        return seconds * (n / size) ** min(3.0, max(1.5, power))

    def fits(self, n):
        """Whether a size will end in time; the first is always tried."""
        return not self.past or self.gone() + self.expected(n) <= self.limit

    def note(self, n, seconds):
        self.past.append((n, max(seconds, 1e-6)))


def pin(threads):
    """Let this process and all it starts use so many cores; before any library is loaded."""
    if threads and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def versions():
    from samecam._version import __version__

    found = {"samecam": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def commit():
    """Of the checkout, or unknown where there is none."""
    git = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(git, capture_output=True, text=True).stdout.strip() or "unknown"
    except OSError:
        return "unknown"


def processor():
    """Name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def write(path, document):
    """At once, or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(document, indent=2) + "\n")
    part.replace(path)


def run(options, document):
    """Fill the document, size by size, and write it after each."""
    from benchmarks import growth_phases as phases

    place = phases.Place(options.device)
    clock = Clock(options.limit)
    phases.warm(place, options.pixels)
    document["rates"] = rates = phases.rates(place)
    document["extraction"] = phases.extraction(place, rates, document["threads"])
    rows, left = document["rows"], document["left_out"]
    kept = {}
    for n in options.sizes:
        if not clock.fits(n):
            left.append(f"n = {n}: {clock.expected(n):.0f} s expected, {clock.gone():.0f} s gone")
            break
        began = clock.gone()
        kept[n] = place.rows(n, options.pixels)
        rows.append(phases.whole(place, *kept[n], rates))
        clock.note(n, clock.gone() - began)
        finish(options, document, clock)
    clock.past = []
    for row in rows:
        n = row["n"]
        if clock.gone() > clock.limit or not clock.fits(n):
            left.append(
                f"LS-SSC, n = {n}: {clock.expected(n):.0f} s expected, {clock.gone():.0f} s gone"
            )
            break
        began = clock.gone()
        row["ls_ssc"] = phases.large_scale(place, kept[n][0], rates, kept.pop(n)[1])
        clock.note(n, clock.gone() - began)
        finish(options, document, clock)
    finish(options, document, clock)


def finish(options, document, clock):
    """Write what there is, and show the last size."""
    document["seconds"] = clock.gone()
    write(Path(options.out), document)
    for row in document["rows"][-1:]:
        parts = {k: round(v["seconds"], 3) for k, v in row.items() if isinstance(v, dict)}
        print(f"{clock.gone():7.1f} s", row["n"], parts, flush=True)


def asked(words=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, help="cores to use; default all there are")
    parser.add_argument("--sizes", help="numbers of photos, by commas")
    parser.add_argument("--pixels", type=int, default=65536)
    parser.add_argument("--limit", type=float, help="seconds in all")
    parser.add_argument("--commit", help="if this is no checkout")
    parser.add_argument("--out", required=True)
    options = parser.parse_args(words)
    kind = "cuda" if options.device.startswith("cuda") else "cpu"
    options.sizes = (
        sorted(int(word) for word in options.sizes.split(",")) if options.sizes else SIZES[kind]
    )
    options.limit = options.limit or LIMITS[kind]
    return options


def main():
    options = asked()
    pin(options.threads)
    from samecam import compute

    options.device = compute.choose_device(options.device)
    document = {
        "benchmark": "growth",
        "command": f"python -m benchmarks.growth --device {options.device.partition(':')[0]}",
        "commit": options.commit or commit(),
        "versions": versions(),
        "device": compute.describe_device(options.device),
        "processor": processor(),
        "threads": compute.machine().cores,
        "memory": compute.device_memory(options.device),
        "seed": 0,
        "settings": {"pixels": options.pixels, "limit": options.limit, "sizes": options.sizes},
        "rows": [],
        "left_out": [],
    }
    run(options, document)
    for line in document["left_out"]:
        print("left out:", line)
    print(f"written: {options.out}")


if __name__ == "__main__":
    main()
