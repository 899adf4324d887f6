"""The phases of grouping that `benchmarks.growth` times: seconds, operations counted, the floor.

Cameras of 100 photographs, two of which correlate by .02 on average, are drawn where the work
is done: float32 rows in memory on the processor, int8 rows on a GPU, as a store would hold them.
What comes after grouping, evidence and the report, is in `benchmarks.growth_after`.

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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.growth_after import measure_evidence
from benchmarks.growth_counting import Hear, Place, Tally, best, listening, timed
from benchmarks.pictures import pictures
from samecam import compute, correlate
from samecam.arrays import Doubles, Labels
from samecam.cluster import LargeScaleSSC
from samecam.cluster.consolidate import _steps
from samecam.cluster.consolidate._loop import Loop, Rates
from samecam.cluster.consolidate._sums import gram_sums
from samecam.cluster.large_scale._source import RowSource
from samecam.metrics import scores
from samecam.represent import _cpu as solver_cpu
from samecam.represent import represent

BATCHES = 2
SIDE, QUICK_SIDE = 512, 64
Figures = dict[str, Any]
Machine = Mapping[str, float]  # operations a second, and bytes


def rates(place: Place, quick: bool = False) -> dict[str, float]:
    """Operations a second of products of matrices, and bytes a second read."""
    side = 256 if quick else {"cpu": 2048, "torch-cpu": 256}.get(place.device, 8192)
    amount = 2**20 if quick else 2**28  # 1 GiB
    if place.on_processor:
        square = np.random.default_rng(0).standard_normal((side, side), dtype=np.float32)
        rate = 2 * side**3 / best(lambda: square @ square, place)
        big = np.ones(amount, dtype=np.float32)
        return {"float32": rate, "bytes": big.nbytes / best(big.sum, place), "gram": rate}
    import torch

    a = torch.randn((side, side), device=place.torch_name)
    ones = torch.ones(amount, device=place.torch_name)
    c = torch.randint(-127, 128, (side, side), dtype=torch.int8, device=place.torch_name)
    with compute.full_precision():
        rate = 2 * side**3 / best(lambda: a @ a, place)
    return {
        "float32": rate,
        "bytes": 4 * amount / best(ones.sum, place),
        "gram": 2 * side**3 / best(lambda: torch._int_mm(c, c.t()), place),
    }


def extraction_operations(side: int) -> float:
    """Operations of one picture by filters of 8 taps, windows by separate sums.

    For each channel and level of n² pixels 2·8·2n² of analysis, 48 sums and 30 others a detail
    coefficient; one synthesis.
    """
    areas = float(sum((side / 2**level) ** 2 for level in range(4)))
    return 3.0 * 32 * areas + 3 * 78 * 0.75 * areas + 32 * areas


def extract_some(number: int, count: int, device: str, side: int = SIDE) -> float:
    """Seconds of the fingerprints of `count` decoded pictures."""
    from samecam.fingerprint import fingerprints

    images = np.resize(pictures(8, side, seed=number), (count, side, side, 3))
    fingerprints(images[:2], device=device)
    began = time.perf_counter()
    fingerprints(images, device=device)
    return time.perf_counter() - began


def extraction(place: Place, machine: Machine, workers: int, quick: bool = False) -> Figures:
    """Seconds at two counts; on the processor one process a core, as extraction runs."""
    counts = {"cpu": (16, 48), "torch-cpu": (2, 6)}.get(place.device, (256, 1024))
    counts, side = ((1, 3), QUICK_SIDE) if quick else (counts, SIDE)
    if place.on_processor:
        seconds = in_processes(counts, workers, side)
        counts = (workers * counts[0], workers * counts[1])
        work = extraction_operations(side)
        floor = work / machine["float32"]
    else:
        from benchmarks.gpu.extraction import operations, traffic

        seconds = [min(extract_some(0, k, place.device, side) for _ in "ab") for k in counts]
        moved = sum(traffic(side).values())
        work = sum(operations(side).values())
        floor = work / machine["float32"] + moved / machine["bytes"]
    slope = (seconds[1] - seconds[0]) / (counts[1] - counts[0])
    return {
        "counts": list(counts), "seconds": seconds, "seconds_a_photo": slope,
        "floor_a_photo": floor, "operations_a_photo": work,
        "exponent": float(np.log(seconds[1] / seconds[0]) / np.log(counts[1] / counts[0])),
    }  # fmt: skip


def in_processes(counts: Sequence[int], workers: int, side: int) -> list[float]:
    """Seconds in which every one of `workers` processes makes so many fingerprints."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    seconds = []
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        warm = partial(extract_some, count=4, device="cpu", side=side)
        list(pool.map(warm, range(4 * workers)))
        for count in counts:
            work = partial(extract_some, count=count, device="cpu", side=side)
            seconds.append(min(max(pool.map(work, range(workers))) for _ in "ab"))
    return seconds


def gram(place: Place, rows: Any) -> tuple[Any, float]:
    """Correlations of all rows, where they are worked on, and seconds."""
    n = len(rows)
    room = 4 * n * n + 2**31 if place.on_processor else compute.default_memory(place.device)
    make = partial(correlate.gram_on, rows, memory=room, device=place.device)
    return timed(make, place)


def hear_solver(notes: dict[str, list[float]], dense: bool) -> Hear:
    """Operations of the exact solver, and what it reports."""

    def hear(answer: Any, args: tuple[Any, ...]) -> float:
        (_, rows), problem = answer, args[0]
        n, sets_ = len(problem.gram), candidates(problem.gram, problem.gamma)
        check = rows.rounds * float(n) * (n if dense else rows.lengths)
        notes.setdefault("candidates", []).append(float(sets_.mean()))
        notes.setdefault("sweeps", []).append(float(rows.sweeps.mean()))
        notes.setdefault("rounds", []).append(float(rows.rounds.mean()))
        notes.setdefault("nonzeros", []).append(float(rows.lengths.mean()))
        return 2 * float(rows.sweeps @ sets_**2) + 2 * float(np.sum(check))

    return hear


def candidates(matrix: Any, gamma: float) -> Doubles:
    """(n,) correlations above γ of each photo, with others."""
    step = max(1, 2**26 // len(matrix))
    parts = [(matrix[a : a + step] > gamma).sum(1) for a in range(0, len(matrix), step)]
    counts = [np.asarray(part.cpu() if hasattr(part, "cpu") else part) for part in parts]
    return np.asarray(np.concatenate(counts), dtype=np.float64) - 1


@contextmanager
def solver_counted(tally: Tally, place: Place) -> Iterator[dict[str, list[float]]]:
    """Count what the solver does, on whichever device."""
    module: ModuleType = solver_cpu
    if not place.on_processor:
        from samecam.represent import gpu

        module = gpu
    dense = not place.on_processor
    notes: dict[str, list[float]] = {}
    with listening(module, "solve", hear_solver(notes, dense), tally):
        yield notes


def lasso(place: Place, matrix: Any, gamma: float, machine: Machine) -> tuple[Any, Figures]:
    """The representation at γ, and its figures."""
    tally = Tally()
    with solver_counted(tally, place) as notes:
        solve = partial(represent, matrix, gamma, device=place.device)
        (coefficients, report), seconds = timed(solve, place, tally)
    n = len(matrix)
    figures = {
        "seconds": seconds, "operations": tally.operations,
        "floor": max(2 * report.nonzeros * n / machine["float32"], 4 * n * n / machine["bytes"]),
        "converged": report.converged, **{name: all_[-1] for name, all_ in notes.items()},
    }  # fmt: skip
    return coefficients, figures


@contextmanager
def groups_counted(tally: Tally, place: Place) -> Iterator[None]:
    """Count what sums over groups take."""
    from importlib import import_module

    name = "_cpu" if place.on_processor else "_gpu"
    module: Any = import_module(f"samecam.cluster.consolidate.{name}")

    def cells(each: float) -> Hear:
        return lambda _, args: each * float(np.prod(args[0].shape))

    def summed(_: Any, args: tuple[Any, ...]) -> float:  # self, labels, count
        return 2.0 * len(args[1]) ** 2

    def moved(_: Any, args: tuple[Any, ...]) -> float:  # self, products, before, after
        return 2.0 * len(args[3]) * np.count_nonzero(args[2] != args[3])

    hears = [
        (module, "best", cells(6)), (module, "spreads", cells(3)), (module, "between", cells(1)),
        (module.GramSums, "products", summed), (module.GramSums, "moved", moved),
    ]  # fmt: skip
    with ExitStack() as stack:
        for target, name, hear in hears:
            stack.enter_context(listening(target, name, hear, tally))
        yield


def consolidation(
    place: Place, matrix: Any, coefficients: Any, n_pixels: int, machine: Machine, truth: Labels
) -> tuple[Labels, Figures]:
    """All of `ConsolidatedSSC` beside correlations and LASSO: chance, start, groups."""
    n, tally = len(matrix), Tally()

    def run() -> tuple[Labels, int, int]:
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
    return labels, {
        "seconds": seconds, "operations": tally.operations, "floor": 4 * n * n / machine["bytes"],
        "start_groups": start, "groups": int(labels.max(initial=-1)) + 1, "rounds": turns,
        "f": float(scores(truth.tolist(), labels).f),
    }  # fmt: skip


def place_diagonal(matrix: Any) -> None:
    """Ones: sums over groups on a GPU clear it."""
    if isinstance(matrix, np.ndarray):
        np.fill_diagonal(matrix, 1)
    else:
        matrix.fill_diagonal_(1)


def source_hears(d: int) -> dict[str, Hear]:
    """Operations of what LS-SSC asks of fingerprints of d numbers."""

    def batch(_: Any, args: tuple[Any, ...]) -> float:  # self, rows
        return float(len(args[1])) ** 2 * d

    def against(_: Any, args: tuple[Any, ...]) -> float:  # self, rows, labels
        groups, inside = args[2].max(initial=-1) + 1, np.count_nonzero(args[2] >= 0)
        return float(2.0 * len(args[1]) * groups * d + inside * d)

    def among(_: Any, args: tuple[Any, ...]) -> float:  # self, labels
        groups, inside = args[1].max(initial=-1) + 1, np.count_nonzero(args[1] >= 0)
        return float(2.0 * float(groups) ** 2 * d + inside * d)

    return {"gram": batch, "products": against, "group_products": among}


def large_scale(place: Place, rows: Any, machine: Machine, truth: Labels) -> Figures:
    """LS-SSC of two batches from fingerprints to labels."""
    n, d, tally = len(rows), rows.n_pixels, Tally()
    options: dict[str, Any] = {"n_batches": BATCHES, "n_pixels": d}
    if "device" in LargeScaleSSC().get_params():
        options["device"] = place.device
    if not place.on_processor:
        options["memory"] = compute.machine().available // 2

    with ExitStack() as stack:
        stack.enter_context(solver_counted(tally, place))
        for name, hear in source_hears(d).items():
            stack.enter_context(listening(RowSource, name, hear, tally))
        model, seconds = timed(lambda: LargeScaleSSC(**options).fit(rows), place, tally)
    return {
        "seconds": seconds, "operations": tally.operations,
        "floor": n * n * d / BATCHES / machine["gram"], "groups": model.n_clusters_,
        "f": float(scores(truth.tolist(), model.labels_).f),
    }  # fmt: skip


def whole(place: Place, rows: Any, truth: Labels, machine: Machine) -> Figures:
    """Gram, LASSO and consolidation of one set; on the processor also the evidence."""
    n, d = len(rows), rows.n_pixels
    matrix, seconds = gram(place, rows)
    answer = {
        "n": n, "cameras": int(truth.max()) + 1,
        "gram": {"seconds": seconds, "operations": float(n) * n * d,
                 "floor": n * n * d / machine["gram"]},
    }  # fmt: skip
    scale = correlate.null_scale(matrix, d)
    coefficients, answer["lasso"] = lasso(place, matrix, 2 * scale, machine)
    labels, answer["consolidation"] = consolidation(place, matrix, coefficients, d, machine, truth)
    del matrix, coefficients
    if place.on_processor and labels.max(initial=-1) >= 0:
        answer["evidence"] = measure_evidence(place, rows, labels, scale, machine)
    return answer


def warm(place: Place, d: int) -> None:
    """Load libraries and compile what is compiled."""
    rows, truth = place.rows(400, d)
    nothing = {"gram": 1.0, "float32": 1.0, "bytes": 1.0}
    whole(place, rows, truth, nothing)
    large_scale(place, rows, nothing, truth)
