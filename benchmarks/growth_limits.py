"""The largest collection that is practical on a machine, from laws and rates that were measured.

A collection of photos of 12 megapixels is read (decoded, whole-frame fingerprints), grouped frame
by frame, weighed and reported. Frames have equally many photos, m = n/F each:

    reading    n / photos a second                          benchmarks.extraction
    grouping   F · (m(m+1)/2 · words / rate                  benchmarks.many_frames
               + LASSO + consolidation, each c·m^e)          benchmarks.growth
    evidence   n · peak + F · comparing · (m/m₀)²            benchmarks.many_frames
    report     c·n^e                                         benchmarks.growth

The correlations of one frame must fit into memory at once. (Larger frames are grouped in batches,
of which nothing is said here.)
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from samecam.pages import duration

WORDS = 12_000_000 / 64  # of a fingerprint
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
    rate : words a second of all correlations of a frame
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
    device : "cpu" or "cuda"
    memory : bytes for correlations
    photos_a_second : read, decoded and made into fingerprints
    """

    name: str
    run: Run
    processor: Run
    frames: Frames
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
        return n / self.photos_a_second + self.grouping(n, frames) + self.after(n, frames)

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


def machines(
    cpu: Run, gpu: Run | None, frames: Mapping[str, Frames], core_rate: float
) -> list[Machine]:
    """Laptop and workstation; `core_rate`: photos a second that one core reads.

    The last only if a GPU was measured.
    """
    laptop = "a laptop, 2 cores and 8 GB"
    machine = Machine(laptop, cpu, cpu, frames["cpu"], "cpu", 4e9, 2 * core_rate)
    if gpu is None or "gpu" not in frames or not gpu["device"].startswith("cuda"):
        return [machine]
    card = gpu["device"].partition("(")[2].rstrip(")")
    name = f"a workstation, 16 cores and one {card}"
    memory = 0.9 * gpu["memory"]
    return [
        machine,
        Machine(name, gpu, cpu, frames["gpu"], "cuda", memory, 16 * core_rate),
    ]


def practical_table(
    cpu: Run, gpu: Run | None, frames: Mapping[str, Frames], core_rate: float
) -> list[str]:
    """Lines of the README's table: how many photos in an hour and in a night."""
    lines = [
        "| on | in an hour | in a night of 12 hours | in a night, all of one size |",
        "|---|---|---|---|",
    ]
    for machine in machines(cpu, gpu, frames, core_rate):
        hour, night = (machine.largest(hours, FRAMES[0]) for hours in HOURS)
        alike = machine.largest(HOURS[1], FRAMES[1])
        took = duration(machine.seconds(alike, FRAMES[1]))
        last = f"{alike:,}" + ("" if machine.seconds(1.1 * alike, 1) < math.inf else f" ({took})")
        lines.append(f"| {machine.name} | {hour:,} | {night:,} | {last} |")
    return lines
