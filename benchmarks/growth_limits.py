"""The largest collection that is practical on a machine, from the laws that were fitted.

A collection is read (decoded, fingerprints), grouped, weighed and reported. Up to p photos, as many
as the correlations of all pairs fit for, it is grouped whole:

    T(n) = Gram + LASSO + consolidation, each c·n^e; the Gram times d/d₀ for d pixels instead of d₀.

Beyond, in batches of p, and then against all groups:

    n/p · T(p) · REPEATED + PASSES · max(2nLd / rate, nd·bytes / DISK)

with L = n / `CAMERA` groups; sums of every photo with every group must fit, `SUM_BYTES`·nL.
Evidence (times d/d₀, and 2nLd operations of its sums, which small sets hardly show) and the report
are added by the laws of the processor, where they were measured, divided among its cores.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from samecam.pages import duration

CAMERA = 100  # photos a camera
PIXELS = 512**2
HOURS = 12.0  # a night
PASSES = 12  # over all fingerprints, in refining against all groups
REPEATED = 1.2  # photos in no group go into batches again
DISK = 1e9  # bytes a second
SUM_BYTES = 12
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


def larger(run: Run) -> float:
    """How many times as many pixels a fingerprint of 512² has as one that was measured."""
    return float(PIXELS / run["settings"]["pixels"])


@dataclass(frozen=True)
class Machine:
    """A machine that was not measured, from one that was.

    Attributes
    ----------
    name : what it is
    run : measurement that its laws of grouping are from
    processor : measurement that its laws of evidence and report are from
    device : "cpu" or "cuda"
    memory : bytes for correlations, or for sums
    photos_a_second : read, decoded and made into fingerprints
    rate : operations a second of products of matrices
    row_bytes : of one number of a fingerprint
    cores : of its processor, which weighs the evidence
    """

    name: str
    run: Run
    processor: Run
    device: str
    memory: float
    photos_a_second: float
    rate: float
    row_bytes: int = 2
    cores: int = 2

    def together(self) -> int:
        """Photos that are grouped whole."""
        from samecam.cluster.consolidate._batches import largest_batch

        return largest_batch(int(self.memory), self.device)

    def grouping(self, n: float) -> float:
        """Seconds of grouping n photos whole."""
        fitted = laws(self.run)
        gram, lasso, consolidation = (seconds_by(fitted[phase], n) for phase in PHASES)
        return gram * larger(self.run) + lasso + consolidation

    def after(self, n: float) -> float:
        """Seconds of evidence and report; 0 where they were not measured."""
        fitted = laws(self.processor)
        times = {phase: seconds_by(fitted[phase], n) for phase in AFTER if phase in fitted}
        if "evidence" not in times:
            return times.get("report", 0.0)
        sums = 2 * n * (n / CAMERA) * PIXELS / self.processor["rates"]["float32"]
        weighing = times["evidence"] * larger(self.processor) + sums
        share = float(self.processor["threads"]) / self.cores
        return float(weighing) * share + times.get("report", 0.0)

    def seconds(self, n: float) -> float:
        """Seconds from photos to the report; infinite if memory does not suffice."""
        beside, most = n / self.photos_a_second + self.after(n), self.together()
        if n <= most:
            return beside + self.grouping(n)
        groups = n / CAMERA
        if SUM_BYTES * n * groups > self.memory:
            return math.inf
        batches = n / most * self.grouping(most) * REPEATED
        one = max(2 * n * groups * PIXELS / self.rate, n * PIXELS * self.row_bytes / DISK)
        return beside + batches + PASSES * one

    def largest(self, hours: float = HOURS) -> int:
        """Photos within so many hours, to two figures."""
        low, high = 2.0, 1e10
        while high / low > 1.001:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self.seconds(middle) <= 3600 * hours else (low, middle)
        return rounded(low)


def rounded(n: float) -> int:
    """Down to two figures."""
    unit = 10 ** (math.floor(math.log10(n)) - 1)
    return int(n // unit * unit)


def machines(cpu: Run, gpu: Run | None, core_rate: float) -> list[Machine]:
    """Laptop, workstation and cluster; `core_rate`: photos a second that one core reads.

    The last two only if a GPU was measured.
    """
    per_core = cpu["rates"]["float32"] / cpu["threads"]
    laptop = "a laptop (2 cores, 8 GB, half of it free)"
    machine = Machine(laptop, cpu, cpu, "cpu", 4e9, 2 * core_rate, 2 * per_core)
    if gpu is None or not gpu["device"].startswith("cuda"):
        return [machine]
    card = gpu["device"].partition("(")[2].rstrip(")")
    memory, rate = 0.9 * gpu["memory"], gpu["rates"]["float32"]
    station = f"a workstation (16 cores, one {card})"
    cluster = f"a cluster (256 cores that read, one {card} that groups)"
    return [
        machine,
        Machine(station, gpu, cpu, "cuda", memory, 16 * core_rate, rate, cores=16),
        Machine(cluster, gpu, cpu, "cuda", memory, 256 * core_rate, rate, cores=16),
    ]


def sentences(cpu: Run, gpu: Run | None, core_rate: float) -> list[str]:
    """What the README says, one sentence a machine."""
    said = []
    for machine in machines(cpu, gpu, core_rate):
        most = machine.largest()
        whole = min(rounded(machine.together()), most)
        text = (
            f"On {machine.name}: {whole:,} photos at once, in {duration(machine.seconds(whole))}, "
            f"of which reading takes {duration(whole / machine.photos_a_second)}"
        )
        if most > whole:
            text += f"; in batches up to {most:,}, in {duration(machine.seconds(most))}"
        said.append(text + ".")
    return said
