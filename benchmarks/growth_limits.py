"""The largest collection that is practical on a machine, from the laws that were fitted.

A collection is read (decoded, fingerprints), and grouped. Up to p photos, as many as the
correlations of all pairs fit for, it is grouped whole:

    T(n) = Gram + LASSO + consolidation, each c·n^e; the Gram times d/d₀ for d pixels instead of d₀.

Beyond, in batches of p, and then against all groups:

    n/p · T(p) · REPEATED + PASSES · max(2nLd / rate, nd·bytes / DISK)

with L = n / `CAMERA` groups; sums of every photo with every group must fit, `SUM_BYTES`·nL.
"""

import math
from dataclasses import dataclass

CAMERA = 100  # photos a camera
PIXELS = 512**2
HOURS = 12.0  # a night
PASSES = 12  # over all fingerprints, in refining against all groups
REPEATED = 1.2  # photos in no group go into batches again
DISK = 1e9  # bytes a second
SUM_BYTES = 12
PHASES = ("gram", "lasso", "consolidation")


def upper_half(n, seconds):
    """The larger half of the sizes, the middle one included, at least two."""
    pairs = sorted(zip(n, seconds, strict=True))
    return pairs[min(len(pairs) // 2, max(len(pairs) - 2, 0)) :]


def law(n, seconds):
    """(c, e) of c·n^e: least squares of the logarithms over the upper half of the sizes."""
    pairs = [(math.log(a), math.log(b)) for a, b in upper_half(n, seconds)]
    if len(pairs) < 2:
        raise ValueError(f"{len(pairs)} size was measured; measure two or more to fit an exponent")
    x = sum(a for a, _ in pairs) / len(pairs)
    y = sum(b for _, b in pairs) / len(pairs)
    slope = sum((a - x) * (b - y) for a, b in pairs) / sum((a - x) ** 2 for a, _ in pairs)
    return math.exp(y - slope * x), slope


def laws(document):
    """(c, e) of the seconds of every phase that was measured twice."""
    found = {}
    for phase in (*PHASES, "ls_ssc"):
        rows = [row for row in document["rows"] if phase in row]
        if len(rows) > 1:
            found[phase] = law([r["n"] for r in rows], [r[phase]["seconds"] for r in rows])
    return found


@dataclass(frozen=True)
class Machine:
    """A machine that was not measured, from one that was.

    Attributes
    ----------
    words : what it is
    document : measurement that its laws are from
    device : "cpu" or "cuda"
    memory : bytes for correlations, or for sums
    photos_a_second : read, decoded and made into fingerprints
    rate : operations a second of products of matrices
    row_bytes : of one number of a fingerprint
    """

    words: str
    document: dict
    device: str
    memory: float
    photos_a_second: float
    rate: float
    row_bytes: int

    def together(self):
        """Photos that are grouped whole."""
        from samecam.cluster.consolidate._batches import largest_batch

        return largest_batch(int(self.memory), self.device)

    def grouping(self, n):
        """Seconds of grouping n photos whole."""
        scale = PIXELS / self.document["settings"]["pixels"]
        found = laws(self.document)
        parts = {phase: found[phase][0] * n ** found[phase][1] for phase in PHASES}
        return parts["gram"] * scale + parts["lasso"] + parts["consolidation"]

    def seconds(self, n):
        """Seconds from photos to groups; infinite if memory does not suffice."""
        reading, most = n / self.photos_a_second, self.together()
        if n <= most:
            return reading + self.grouping(n)
        groups = n / CAMERA
        if SUM_BYTES * n * groups > self.memory:
            return math.inf
        batches = n / most * self.grouping(most) * REPEATED
        one = max(2 * n * groups * PIXELS / self.rate, n * PIXELS * self.row_bytes / DISK)
        return reading + batches + PASSES * one

    def largest(self, hours=HOURS):
        """Photos within so many hours, to two figures."""
        low, high = 2.0, 1e10
        while high / low > 1.001:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self.seconds(middle) <= 3600 * hours else (low, middle)
        return rounded(low)


def rounded(n):
    """Down to two figures."""
    unit = 10 ** (math.floor(math.log10(n)) - 1)
    return int(n // unit * unit)


def machines(cpu, gpu, core_rate):
    """Laptop, workstation and cluster; `core_rate`: photos a second that one core reads.

    The last two only if a GPU was measured.
    """
    per_core = cpu["rates"]["float32"] / cpu["threads"]
    laptop = Machine(
        "a laptop (2 cores, 8 GB, half of it free)",
        *(cpu, "cpu", 4e9, 2 * core_rate, 2 * per_core, 2),
    )
    if gpu is None or not gpu["device"].startswith("cuda"):
        return [laptop]
    card = gpu["device"].partition("(")[2].rstrip(")")
    station = Machine(
        f"a workstation (16 cores, one {card})",
        *(gpu, "cuda", 0.9 * gpu["memory"], 16 * core_rate, gpu["rates"]["float32"], 2),
    )
    cluster = Machine(
        f"a cluster (256 cores that read, one {card} that groups)",
        *(gpu, "cuda", 0.9 * gpu["memory"], 256 * core_rate, gpu["rates"]["float32"], 2),
    )
    return [laptop, station, cluster]


def sentences(cpu, gpu, core_rate):
    """What the README says, one sentence a machine."""
    found = []
    for machine in machines(cpu, gpu, core_rate):
        whole, most = rounded(machine.together()), machine.largest()
        whole = min(whole, most)
        words = (
            f"On {machine.words}: {whole:,} photos at once, in {hours(machine.seconds(whole))}, "
            f"of which reading takes {hours(whole / machine.photos_a_second)}"
        )
        if most > whole:
            words += f"; in batches up to {most:,}, in {hours(machine.seconds(most))}"
        found.append(words + ".")
    return found


def hours(seconds):
    """A time as one would say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"
