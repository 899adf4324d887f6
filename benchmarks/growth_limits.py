"""The largest collection that is practical on a machine, from laws and rates that were measured.

A collection of photos of 12 megapixels is read (decoded, fingerprints of the whole frame, two bits
a pixel), grouped frame by frame, searched for views of one camera, weighed and reported. F frames
have equally many photos, m = n/F each; groups have PER_GROUP photos, so that there are G groups:

    reading    n / photos a second                          benchmarks.extraction
    grouping   F · (m(m+1)/2 · words / rate                  benchmarks.many_frames
               + LASSO + consolidation, each c·m^e)          benchmarks.growth
    views      a·G + b·G², at most what a run allows, fits  benchmarks.views
    evidence   n · peak + F · comparing · (m/m₀)²            benchmarks.many_frames
    report     c·n^e                                         benchmarks.growth

The correlations of one frame must fit into memory at once. (Larger frames are grouped in batches,
of which nothing is said here.) Photos in no group, which are compared with all cameras as well,
are not counted.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from samecam.frames import Frame
from samecam.pages import duration

FRAME = Frame(4000, 3000)
WORDS = FRAME.n_pixels / 64  # of a fingerprint
PER_GROUP = 30  # photos, assumed
HOURS = (1.0, 12.0)  # an hour, a night
FRAMES = (12, 1)
PHASES = ("gram", "lasso", "consolidation")
# After grouping, on the processor whatever the device.
AFTER = ("evidence", "report")
Run = Mapping[str, Any]
Law = tuple[float, float]


def upper_half(n: Sequence[float], seconds: Sequence[float]) -> list[tuple[float, float]]:
    """The larger half of the sizes, the middle one included, at least two."""
    pairs = sorted(zip(n, seconds, strict=True))
    return pairs[min(len(pairs) // 2, max(len(pairs) - 2, 0)) :]


def law(n: Sequence[float], seconds: Sequence[float]) -> Law:
    """(c, e) of c·n^e: least squares of the logarithms over the upper half of the sizes."""
    pairs = [(math.log(a), math.log(b)) for a, b in upper_half(n, seconds)]
    if len(pairs) < 2:
        raise ValueError(f"{len(pairs)} size was measured; measure two or more to fit an exponent")
    x = sum(a for a, _ in pairs) / len(pairs)
    y = sum(b for _, b in pairs) / len(pairs)
    slope = sum((a - x) * (b - y) for a, b in pairs) / sum((a - x) ** 2 for a, _ in pairs)
    return math.exp(y - slope * x), slope


def laws(run: Run) -> dict[str, Law]:
    """(c, e) of the seconds of every phase that was measured twice."""
    fitted = {}
    for phase in (*PHASES, "ls_ssc", *AFTER):
        rows = [row for row in run["rows"] if phase in row]
        if len(rows) > 1:
            fitted[phase] = law([r["n"] for r in rows], [r[phase]["seconds"] for r in rows])
    return fitted


def seconds_by(known: Law, n: float) -> float:
    return float(known[0] * n ** known[1])


@dataclass(frozen=True)
class Frames:
    """What `benchmarks.many_frames` measured: rates of whole frames on one machine.

    Attributes
    ----------
    rate : words of 64 pixels a second of all correlations of a frame
    peak : seconds a photo for its peak-to-correlation energy
    comparing : seconds for comparing the photos of one frame with its groups
    photos : of that frame
    cores : of the processor that weighed
    """

    rate: float
    peak: float
    comparing: float
    photos: float
    cores: int

    @classmethod
    def of(cls, document: Run) -> "Frames":
        """From the JSON of a run."""
        rows = document["result"]["frames"]
        words = document["settings"]["pixels"] / 64
        photos = sum(row["photos"] for row in rows)
        pairs = sum(row["photos"] * (row["photos"] + 1) / 2 for row in rows)
        return cls(
            pairs * words / sum(row["phases"]["Correlating"] for row in rows),
            sum(row["evidence"]["peaks"] for row in rows) / photos,
            sum(row["evidence"]["comparing"] for row in rows) / len(rows),
            photos / len(rows),
            document["cores"],
        )


@dataclass(frozen=True)
class Machine:
    """A machine, from measurements.

    Attributes
    ----------
    name : what it is
    run : measurement that its laws of LASSO and consolidation are from
    processor : measurement that its law of the report is from
    frames : rates of whole frames
    views : runs of `benchmarks.views`, with so many groups each; none: views are not looked for
    device : "cpu" or "cuda"
    memory : bytes for correlations
    photos_a_second : read, decoded and made into fingerprints
    """

    name: str
    run: Run
    processor: Run
    frames: Frames
    views: Sequence[dict[str, Any]]
    device: str
    memory: float
    photos_a_second: float

    def together(self) -> int:
        """Photos of one frame that are grouped at once."""
        from samecam.cluster.consolidate._batches import largest_batch

        return largest_batch(int(self.memory), self.device)

    def grouping(self, n: float, frames: int) -> float:
        """Seconds of grouping n photos of so many frames."""
        fitted, m = laws(self.run), n / frames
        pairs = m * (m + 1) / 2 * WORDS / self.frames.rate
        return frames * (pairs + sum(seconds_by(fitted[phase], m) for phase in PHASES[1:]))

    def joining(self, n: float) -> float:
        """Seconds of looking for groups that are of one camera."""
        from benchmarks.views import reckoned
        from samecam.register import search_seconds

        if not self.views:
            return 0.0
        groups = math.ceil(n / PER_GROUP)
        allowed = search_seconds({FRAME: int(n)}) / self.frames.cores
        coarse, fit = (reckoned(self.views, groups)[part]["wall"] for part in ("coarse", "fit"))
        return min(coarse, allowed) + fit

    def after(self, n: float, frames: int) -> float:
        """Seconds of evidence and report."""
        fitted, m = laws(self.processor), n / frames
        comparing = frames * self.frames.comparing * (m / self.frames.photos) ** 2
        report = seconds_by(fitted["report"], n) if "report" in fitted else 0.0
        return n * self.frames.peak + comparing + report

    def seconds(self, n: float, frames: int) -> float:
        """Seconds from photos to the report; infinite if memory does not suffice."""
        if n / frames > self.together():
            return math.inf
        grouping = self.grouping(n, frames) + self.joining(n)
        return n / self.photos_a_second + grouping + self.after(n, frames)

    def largest(self, hours: float, frames: int) -> int:
        """Photos within so many hours, to two figures."""
        low, high = 2.0 * frames, 1e10
        while high / low > 1.001:
            middle = math.sqrt(low * high)
            fits = self.seconds(middle, frames) <= 3600 * hours
            low, high = (middle, high) if fits else (low, middle)
        return rounded(low)


def rounded(n: float) -> int:
    """Down to two figures."""
    unit = 10 ** (math.floor(math.log10(n)) - 1)
    return int(n // unit * unit)


@dataclass(frozen=True)
class Measured:
    """What the table is computed from.

    Attributes
    ----------
    cpu, gpu : runs of `benchmarks.growth`; None: no GPU was measured
    frames : rates of whole frames, by "cpu" and "gpu"
    views : runs of `benchmarks.views`, likewise
    core_rate : photos a second that one core reads
    """

    cpu: Run
    gpu: Run | None
    frames: Mapping[str, Frames]
    views: Mapping[str, Sequence[dict[str, Any]]]
    core_rate: float

    def without_views(self) -> "Measured":
        """The same, if views are not looked for."""
        return replace(self, views=dict.fromkeys(self.views, ()))

    def machines(self) -> list[Machine]:
        """Laptop and workstation; the last only if a GPU was measured."""
        cpu, gpu, rate = self.cpu, self.gpu, self.core_rate
        laptop = Machine(
            "a laptop, 2 cores and 8 GB", cpu, cpu,
            self.frames["cpu"], self.views["cpu"], "cpu", 4e9, 2 * rate,
        )  # fmt: skip
        there = "gpu" in self.frames and "gpu" in self.views
        if gpu is None or not there or not gpu["device"].startswith("cuda"):
            return [laptop]
        card = gpu["device"].partition("(")[2].rstrip(")")
        return [
            laptop,
            Machine(
                f"a workstation, 16 cores and one {card}", gpu, cpu,
                self.frames["gpu"], self.views["gpu"], "cuda", 0.9 * gpu["memory"], 16 * rate,
            ),
        ]  # fmt: skip


def practical_table(measured: Measured) -> list[str]:
    """Lines of the README's table: how many photos in an hour and in a night."""
    lines = [
        "| on | in an hour | in a night of 12 hours | in a night, all of one size |",
        "|---|---|---|---|",
    ]
    for machine in measured.machines():
        hour, night = (machine.largest(hours, FRAMES[0]) for hours in HOURS)
        alike = machine.largest(HOURS[1], FRAMES[1])
        took = duration(machine.seconds(alike, FRAMES[1]))
        last = f"{alike:,}" + ("" if machine.seconds(1.1 * alike, 1) < math.inf else f" ({took})")
        lines.append(f"| {machine.name} | {hour:,} | {night:,} | {last} |")
    return lines
