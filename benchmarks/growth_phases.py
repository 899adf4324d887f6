"""The phases that `benchmarks.growth` times: seconds, operations counted, and the floor.

Cameras of 100 photographs, two of which correlate by .02 on average, are drawn where the work
is done: float32 rows in memory on the processor, int8 rows on a GPU, as a store would hold them.

An operation is a float addition or a multiplication (int8 in correlations on a GPU). They are
counted while the code runs, and what counting takes is not in the seconds:

extraction      by formula, a picture: `extraction_operations`, on a GPU the products of matrices
Gram            n²d: d products and d sums for each pair
LASSO           2 Σ_i s_i w_i² of descent at most, w_i candidates g_ij > γ and s_i sweeps of photo
                i, and 2 Σ_i r_i z_i n of the r_i checks of its z_i coefficients (on a GPU
                2 r_i n²: the product is dense)
consolidation   2n² for the first sums, 2n for a photo that moves, 9 for each pair of photo and
                group in a sweep, 1 for each in merging
LS-SSC          m²d for the correlations of a batch of m, its LASSO, 2mLd for m photos against L
                groups, 2L²d among groups, d for each photo in a sum

Floors: Gram n²d at the rate of products of matrices; LASSO one check of its answer, 2zn with z
coefficients at that rate, or reading the correlations once if that takes longer; consolidation
reading them once; LS-SSC the correlations of its batches.
"""

import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import torch

from benchmarks.gpu import extraction as pictures
from benchmarks.gpu import sets
from samecam import compute, correlate
from samecam.cluster import LargeScaleSSC
from samecam.cluster.consolidate import _steps
from samecam.cluster.consolidate._loop import Loop, Rates
from samecam.cluster.consolidate._sums import gram_sums
from samecam.cluster.large_scale._source import RowSource
from samecam.metrics import scores
from samecam.represent import _cpu as solver_cpu
from samecam.represent import represent
from samecam.store import MemoryStore

CAMERA, MEAN, BATCHES = 100, 0.02, 2
AGAIN = 0.5  # what takes less is timed three times
SIDE = 512


@dataclass
class Place:
    """Where the work is done, and what torch calls it."""

    device: str

    def __post_init__(self):
        self.torch_name = "cpu" if self.device == "cpu" else compute.torch_device(self.device)
        self.cuda = self.device.startswith("cuda")

    def wait(self):
        if self.cuda:
            torch.cuda.synchronize()

    def rows(self, n, d):
        """Simulated fingerprints, and the camera of each."""
        sizes = [CAMERA] * (n // CAMERA) + ([n % CAMERA] if n % CAMERA else [])
        truth = sets.truth_of(sizes)
        if self.device != "cpu":
            return sets.on_device(truth, MEAN, d, self.torch_name, "int8"), truth
        store = MemoryStore(d)
        for first, part, _ in sets.blocks(truth, MEAN, d, "cpu", "float32"):
            for at, row in enumerate(part.numpy(), start=first):
                store.add(f"{at:09d}", row)
        store.commit()
        return store, truth


@dataclass
class Tally:
    """Operations so far, what else was noted, and the seconds that counting took."""

    operations: float = 0.0
    notes: dict = field(default_factory=dict)
    seconds: float = 0.0

    def clear(self):
        self.operations, self.notes, self.seconds = 0.0, {}, 0.0


@contextmanager
def listening(target, name, hear, tally):
    """`hear(answer, arguments)` after each call of `target.name` gives operations to add."""
    plain = getattr(target, name)

    def heard(*args, **options):
        answer = plain(*args, **options)
        began = time.perf_counter()
        tally.operations += hear(answer, args)
        tally.seconds += time.perf_counter() - began
        return answer

    setattr(target, name, heard)
    try:
        yield tally
    finally:
        setattr(target, name, plain)


def timed(function, place, tally=None):
    """Answer and seconds of a call, the median of three if it is short."""
    tally, times = tally or Tally(), []
    while len(times) < 1 or (times[0] < AGAIN and len(times) < 3):
        tally.clear()
        place.wait()
        began = time.perf_counter()
        answer = function()
        place.wait()
        times.append(time.perf_counter() - began - tally.seconds)
    return answer, sorted(times)[len(times) // 2]


def rates(place):
    """Operations a second of products of matrices, and bytes a second read."""
    side = {"cpu": 2048, "torch-cpu": 256}.get(place.device, 8192)
    a = torch.randn((side, side), device=place.torch_name)
    big = torch.ones(2**28, device=place.torch_name)  # 1 GiB
    square = a.numpy() if place.device == "cpu" else a  # NumPy's BLAS is the one that is used
    with compute.full_precision():
        found = {"float32": 2 * side**3 / best(lambda: square @ square, place)}
    found["bytes"] = 4 * len(big) / best(big.sum, place)
    if place.device == "cpu":
        return found | {"gram": found["float32"]}
    c = torch.randint(-127, 128, (side, side), dtype=torch.int8, device=place.torch_name)
    return found | {"gram": 2 * side**3 / best(lambda: torch._int_mm(c, c.t()), place)}


def best(function, place, repeats=3):
    """Least seconds of some calls after one for warming up."""
    function()
    found = []
    for _ in range(repeats):
        place.wait()
        began = time.perf_counter()
        function()
        place.wait()
        found.append(time.perf_counter() - began)
    return min(found)


def extraction_operations(side):
    """Operations of one picture by filters of 8 taps, windows by separate sums.

    For each channel and level of n² pixels 2·8·2n² of analysis, 48 sums and 30 others a detail
    coefficient; one synthesis.
    """
    areas = sum((side / 2**level) ** 2 for level in range(4))
    return 3 * 32 * areas + 3 * 78 * 0.75 * areas + 32 * areas


def extract_some(number, count, device):
    """Seconds of the fingerprints of `count` decoded pictures."""
    from samecam.fingerprint import fingerprints

    images = np.resize(pictures.pictures(8, SIDE, seed=number), (count, SIDE, SIDE, 3))
    fingerprints(images[:2], device=device)
    began = time.perf_counter()
    fingerprints(images, device=device)
    return time.perf_counter() - began


def extraction(place, found, workers):
    """Seconds at two counts; on the processor one process a core, as extraction runs."""
    counts = {"cpu": (16, 48), "torch-cpu": (2, 6)}.get(place.device, (256, 1024))
    if place.device == "cpu":
        seconds = in_processes(counts, workers)
        counts = [workers * count for count in counts]
        work = extraction_operations(SIDE)
        floor = work / found["float32"]
    else:
        seconds = [min(extract_some(0, k, place.device) for _ in "ab") for k in counts]
        moved = sum(pictures.traffic(SIDE).values())
        work = sum(pictures.operations(SIDE).values())
        floor = work / found["float32"] + moved / found["bytes"]
    slope = (seconds[1] - seconds[0]) / (counts[1] - counts[0])
    return {
        "counts": list(counts), "seconds": seconds, "seconds_a_photo": slope,
        "floor_a_photo": floor, "operations_a_photo": work,
        "exponent": float(np.log(seconds[1] / seconds[0]) / np.log(counts[1] / counts[0])),
    }  # fmt: skip


def in_processes(counts, workers):
    """Seconds in which every one of `workers` processes makes so many fingerprints."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        list(pool.map(partial(extract_some, count=4, device="cpu"), range(4 * workers)))
        found = []
        for count in counts:
            work = partial(extract_some, count=count, device="cpu")
            runs = [max(pool.map(work, range(workers))) for _ in "ab"]
            found.append(min(runs))
    return found


def gram(place, rows):
    """Correlations of all rows, where they are worked on, and seconds."""
    n = len(rows)
    room = 4 * n * n + 2**31 if place.device == "cpu" else compute.default_memory(place.device)
    make = partial(correlate.gram_on, rows, memory=room, device=place.device)
    return timed(make, place)


def hear_solver(notes, dense):
    """Operations of the exact solver, and what it reports."""

    def hear(answer, args):
        (_, rows), task = answer, args[0]
        n, sets_ = len(task.gram), candidates(task.gram, task.gamma)
        check = rows.rounds * float(n) * (n if dense else rows.lengths)
        notes.setdefault("candidates", []).append(float(sets_.mean()))
        notes.setdefault("sweeps", []).append(float(rows.sweeps.mean()))
        notes.setdefault("rounds", []).append(float(rows.rounds.mean()))
        notes.setdefault("nonzeros", []).append(float(rows.lengths.mean()))
        return 2 * float(rows.sweeps @ sets_**2) + 2 * float(np.sum(check))

    return hear


def candidates(matrix, gamma):
    """(n,) correlations above γ of each photo, with others."""
    step = max(1, 2**26 // len(matrix))
    parts = [(matrix[a : a + step] > gamma).sum(1) for a in range(0, len(matrix), step)]
    found = [np.asarray(part.cpu() if hasattr(part, "cpu") else part) for part in parts]
    return np.concatenate(found).astype(np.float64) - 1


@contextmanager
def solver_counted(tally, place):
    """Count what the solver does, on whichever device."""
    if place.device == "cpu":
        module, dense = solver_cpu, False
    else:
        from samecam.represent import gpu as module

        dense = True
    notes = {}
    with listening(module, "solve", hear_solver(notes, dense), tally):
        yield notes


def lasso(place, matrix, gamma, found):
    """The representation at γ, and its figures."""
    tally = Tally()
    with solver_counted(tally, place) as notes:
        solve = partial(represent, matrix, gamma, device=place.device)
        (coefficients, report), seconds = timed(solve, place, tally)
    n = len(matrix)
    figures = {
        "seconds": seconds, "operations": tally.operations,
        "floor": max(2 * report.nonzeros * n / found["float32"], 4 * n * n / found["bytes"]),
        "converged": report.converged, **{name: all_[-1] for name, all_ in notes.items()},
    }  # fmt: skip
    return coefficients, figures


@contextmanager
def groups_counted(tally, place):
    """Count what sums over groups take."""
    if place.device == "cpu":
        from samecam.cluster.consolidate import _cpu as module
    else:
        from samecam.cluster.consolidate import _gpu as module

    def cells(each):
        return lambda _, args: each * float(np.prod(args[0].shape))

    def summed(_, args):  # self, labels, count
        return 2.0 * len(args[1]) ** 2

    def moved(_, args):  # self, products, before, after
        return 2.0 * len(args[3]) * np.count_nonzero(args[2] != args[3])

    hears = [
        (module, "best", cells(6)), (module, "spreads", cells(3)), (module, "between", cells(1)),
        (module.GramSums, "products", summed), (module.GramSums, "moved", moved),
    ]  # fmt: skip
    with ExitStack() as stack:
        for target, name, hear in hears:
            stack.enter_context(listening(target, name, hear, tally))
        yield


def consolidation(place, matrix, coefficients, n_pixels, found, truth):
    """All of `ConsolidatedSSC` beside correlations and LASSO: chance, start, groups."""
    n, tally = len(matrix), Tally()

    def run():
        place_diagonal(matrix)
        scales = correlate.photo_scales(matrix, correlate.null_scale(matrix, n_pixels))
        first = _steps.start_groups(coefficients)
        groups = _steps.Groups.make(gram_sums(matrix, scales), first)
        start = len(groups.products)
        loop = Loop(Rates(0.001, 0.01, 0.001), n)
        loop.run(groups, np.ones(n, dtype=bool))
        return groups.labels, start, len(loop.trace)

    with groups_counted(tally, place):
        (labels, start, turns), seconds = timed(run, place, tally)
    return {
        "seconds": seconds, "operations": tally.operations, "floor": 4 * n * n / found["bytes"],
        "start_groups": start, "groups": int(labels.max(initial=-1)) + 1, "rounds": turns,
        "f": float(scores(truth.tolist(), labels).f),
    }  # fmt: skip


def place_diagonal(matrix):
    """Ones: sums over groups on a GPU clear it."""
    if isinstance(matrix, np.ndarray):
        np.fill_diagonal(matrix, 1)
    else:
        matrix.fill_diagonal_(1)


def source_hears(d):
    """Operations of what LS-SSC asks of fingerprints of d numbers."""

    def batch(_, args):  # self, rows
        return float(len(args[1])) ** 2 * d

    def against(_, args):  # self, rows, labels
        groups, inside = args[2].max(initial=-1) + 1, np.count_nonzero(args[2] >= 0)
        return 2.0 * len(args[1]) * groups * d + float(inside) * d

    def among(_, args):  # self, labels
        groups, inside = args[1].max(initial=-1) + 1, np.count_nonzero(args[1] >= 0)
        return 2.0 * float(groups) ** 2 * d + float(inside) * d

    return {"gram": batch, "products": against, "group_products": among}


def large_scale(place, rows, found, truth):
    """LS-SSC of two batches from fingerprints to labels."""
    n, d, tally = len(rows), rows.n_pixels, Tally()
    options = {"n_batches": BATCHES, "n_pixels": d}
    if "device" in LargeScaleSSC().get_params():
        options["device"] = place.device
    if place.device != "cpu":
        options["memory"] = compute.machine().available // 2

    with ExitStack() as stack:
        stack.enter_context(solver_counted(tally, place))
        for name, hear in source_hears(d).items():
            stack.enter_context(listening(RowSource, name, hear, tally))
        model, seconds = timed(lambda: LargeScaleSSC(**options).fit(rows), place, tally)
    return {
        "seconds": seconds, "operations": tally.operations,
        "floor": n * n * d / BATCHES / found["gram"], "groups": model.n_clusters_,
        "f": float(scores(truth.tolist(), model.labels_).f),
    }  # fmt: skip


def whole(place, rows, truth, found):
    """Gram, LASSO and consolidation of one set."""
    n, d = len(rows), rows.n_pixels
    matrix, seconds = gram(place, rows)
    answer = {
        "n": n, "cameras": int(truth.max()) + 1,
        "gram": {"seconds": seconds, "operations": float(n) * n * d,
                 "floor": n * n * d / found["gram"]},
    }  # fmt: skip
    scale = correlate.null_scale(matrix, d)
    coefficients, answer["lasso"] = lasso(place, matrix, 2 * scale, found)
    answer["consolidation"] = consolidation(place, matrix, coefficients, d, found, truth)
    return answer


def warm(place, d):
    """Load libraries and compile what is compiled."""
    rows, truth = place.rows(400, d)
    nothing = {"gram": 1.0, "float32": 1.0, "bytes": 1.0}
    whole(place, rows, truth, nothing)
    large_scale(place, rows, nothing, truth)
