"""Clustering on one GPU: a Dresden-sized store, 50,000 and a million fingerprints.

    python -m benchmarks.gpu.large                      # --only rates,store,fifty,million

Parts are added to gpu.large.json in benchmarks/results (or --out) as they are done. Everything is
timed after a small run that loads PyTorch's libraries and compiles what is compiled. The floor of
the first is reading the store and its Gram at the matrix rate.
"""

import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch

from benchmarks.gpu import sets
from benchmarks.record import about, describe, folder_of, load, parser, save
from samecam import correlate
from samecam.arrays import Labels
from samecam.cluster import ConsolidatedSSC
from samecam.compute import choose_device, default_memory, torch_device
from samecam.metrics import scores

NAME = "gpu.large"
DTYPES: tuple[Literal["int8", "float16"], ...] = ("int8", "float16")


class Sizes(NamedTuple):
    """Photos of each part, pixels of each, and photos of a batch."""

    rates: tuple[int, int] = (15_680, 65_536)
    gram: tuple[int, int] = (15_677, 262_144)
    store: tuple[int, int] = (15_677, 262_144)
    fifty: tuple[int, ...] = (5_000, 50_000)
    fifty_pixels: int = 65_536
    million: tuple[int, int] = (1_000_000, 16_384)
    batch: int = 20_480
    warm: tuple[int, int] = (20, 16_384)  # cameras of 50 photos
    cameras: int = 74
    repeats: int = 3


QUICK = Sizes(
    *((64, 64), (130, 256), (370, 256), (200,), 256, (2_000, 256), 800, (4, 256), 3),
    repeats=1,
)


class Place:
    """A device; `wait` ends when all that was sent to it is done."""

    def __init__(self, name: str) -> None:
        self.device = choose_device(name)
        self.torch_name = torch_device(self.device)
        self.cuda = self.device.startswith("cuda")

    def wait(self) -> None:
        if self.cuda:
            torch.cuda.synchronize()

    def forget(self) -> None:
        """Give back memory that is held for nothing."""
        if self.cuda:
            torch.cuda.empty_cache()

    def peak(self) -> int:
        return torch.cuda.max_memory_allocated() if self.cuda else 0


class Phases:
    """Seconds of each phase as `progress` tells of them."""

    def __init__(self, place: Place) -> None:
        self.place, self.seconds = place, dict[str, float]()
        self.last: str | None = None
        self.since = 0.0

    def __call__(self, phase: str, done: int, total: int) -> None:
        self.place.wait()
        now = time.perf_counter()
        if self.last is not None:
            self.seconds[self.last] = self.seconds.get(self.last, 0) + now - self.since
        self.last, self.since = (None if done == total else phase), now


def fitted(source: Any, truth: Labels, place: Place, **options: Any) -> dict[str, Any]:
    """One run: seconds, phases, memory, scores."""
    phases = Phases(place)
    if place.cuda:
        torch.cuda.reset_peak_memory_stats()
    place.wait()
    began = time.perf_counter()
    options.setdefault("memory", default_memory(place.device))
    model = ConsolidatedSSC(device=place.device, **options).fit(source, progress=phases)
    place.wait()
    seconds = time.perf_counter() - began
    phases("End", 1, 1)
    score = scores(truth.tolist(), model.labels_)
    report = model.report_
    return {
        "seconds": seconds,
        "phases": phases.seconds,
        "device_bytes": place.peak(),
        "f": score.f,
        "precision": score.precision,
        "recall": score.recall,
        "groups": model.n_clusters_,
        "cameras": len(set(truth.tolist())),
        "unclustered": int((model.labels_ < 0).sum()),
        "lasso": {"seconds": report.seconds, "kkt": report.kkt_violation,
                  "converged": report.converged, "rounds": report.iterations,
                  "nonzeros": report.nonzeros},
        "rounds": len(model.trace_),
    }  # fmt: skip


def timed(function: Callable[[], object], place: Place, repeats: int) -> float:
    """Median seconds of some calls after one for warming up."""
    function()
    place.wait()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        place.wait()
        times.append(time.perf_counter() - began)
    return sorted(times)[len(times) // 2]


def rates(place: Place, sizes: Sizes) -> dict[str, Any]:
    """Matrix rates of int8, float16 (float32 sums) and float32, and the Gram's share of them."""
    n, d = sizes.rates
    a = torch.randint(-127, 128, (n, d), dtype=torch.int8, device=place.torch_name)
    h, b = a.half(), a.to(torch.bfloat16)
    f = torch.randn((n, n), device=place.torch_name)

    def product(half: Any) -> Any:
        # Sums in float32, which PyTorch offers on a GPU alone.
        return torch.mm(half, half.t(), torch.float32) if place.cuda else half @ half.t()

    products: dict[str, Callable[[], Any]] = {
        "int8": lambda: torch._int_mm(a, a.t()),
        "float16": lambda: product(h),
        "bfloat16": lambda: product(b),
        "float32": lambda: f @ f,
    }
    operations = dict.fromkeys(products, 2 * n * n * d) | {"float32": 2 * n**3}
    reached = {
        name: operations[name] / timed(multiply, place, sizes.repeats)
        for name, multiply in products.items()
    }
    return {"operations_per_second": reached, "gram": gram_rate(place, sizes, reached)}


def gram_rate(place: Place, sizes: Sizes, reached: Mapping[str, float]) -> dict[str, Any]:
    """The Gram of 15,677 × 262,144 from rows on the device, as int8 and float16."""
    n, d = sizes.gram
    truth = sets.truth_of([100] * (n // 100) + [n % 100])
    figures: dict[str, Any] = {}
    for dtype in DTYPES:
        rows = sets.on_device(truth, 0.02, d, place.torch_name, dtype)

        def form(rows: Any = rows) -> Any:
            return correlate.gram_on(rows, device=place.device)

        seconds = timed(form, place, sizes.repeats)
        figures[dtype] = {
            "seconds": seconds,
            # Every pair twice, as the rate is counted; the triangle alone is computed.
            "share_of_rate": 2 * n * n * d / seconds / reached[dtype],
            "share_computed": n * n * d / seconds / reached[dtype],
        }
        del rows
        place.forget()
    return figures


def store(place: Place, sizes: Sizes) -> dict[str, Any]:
    """A Dresden-sized store in page cache to labels."""
    (n, d), count = sizes.store, sizes.cameras
    rng = np.random.default_rng(0)
    photos = rng.integers(83, 361, count)
    while photos.sum() != n:
        photos[rng.integers(count)] += np.sign(n - photos.sum())
    truth = sets.truth_of(photos.tolist())
    figures: dict[str, Any] = {}
    for dtype in DTYPES:
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            made = sets.on_disk(Path(folder) / dtype, truth, 0.02, d, place.torch_name, dtype)
            wrote = time.perf_counter() - began
            began = time.perf_counter()
            held = correlate.rows_on(made.rows(), place.device, 2**40)
            place.wait()
            reading = time.perf_counter() - began
            del held
            place.forget()
            runs = [fitted(made.rows(), truth, place) for _ in range(sizes.repeats)]
            made.close()
        figures[dtype] = {"wrote_seconds": wrote, "reading_seconds": reading, "runs": runs}
        print(dtype, json.dumps(figures[dtype]), flush=True)
    return figures


def fifty(place: Place, sizes: Sizes) -> dict[str, Any]:
    """50,000 photos of 500 cameras, and 5,000 of 50, whole."""
    figures = {}
    for n in sizes.fifty:
        truth = sets.truth_of([100] * (n // 100))
        rows = sets.on_device(truth, 0.02, sizes.fifty_pixels, place.torch_name)
        figures[str(n)] = fitted(rows, truth, place)
        print(n, json.dumps(figures[str(n)]), flush=True)
        del rows
        place.forget()
    return figures


def million(place: Place, sizes: Sizes) -> dict[str, Any]:
    """A million photos of 1,000 cameras (or fewer, of as many photos each) in batches."""
    n, d = sizes.million
    truth = sets.truth_of([1000] * (n // 1000))
    began = time.perf_counter()
    rows = sets.on_device(truth, 0.02, d, place.torch_name)
    place.wait()
    made = time.perf_counter() - began
    figures = fitted(rows, truth, place, batch_size=sizes.batch)
    return {"making_seconds": made, "batch_size": sizes.batch, **figures}


PARTS: dict[str, Callable[[Place, Sizes], dict[str, Any]]] = {
    "rates": rates,
    "store": store,
    "fifty": fifty,
    "million": million,
}


def warm(place: Place, sizes: Sizes) -> None:
    """Load libraries and compile what is compiled."""
    cameras, d = sizes.warm
    small = sets.truth_of([50] * cameras)
    for options in ({"batch_size": 20 * cameras}, {}):
        rows = sets.on_device(small, 0.02, d, place.torch_name)
        run = fitted(rows, small, place, **options)
        print("warm", run["seconds"], run["f"], flush=True)


def parts_before(folder: Path) -> dict[str, Any]:
    """Parts that were measured before; older files hold nothing else."""
    if not (folder / f"{NAME}.json").exists():
        return {}
    document = load(NAME, folder)
    return dict(document.get("result", document))


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--only", default=",".join(PARTS))
    asked.add_argument("--commit", help="of the tree, where git is missing")
    asked.add_argument("--device", default="cuda")
    asked.add_argument("--million", type=int, default=1_000_000)
    asked.add_argument("--n", type=int, default=15_677)
    options = asked.parse_args(arguments)
    sizes = QUICK if options.quick else Sizes()
    if not options.quick:
        sizes = sizes._replace(
            store=(options.n, sizes.store[1]), million=(options.million, sizes.million[1])
        )
    place, folder = Place(options.device), folder_of(options)
    warm(place, sizes)
    document = about(NAME, sizes._asdict(), commit=options.commit, libraries=("torch",))
    document["result"] = {} if folder is None else parts_before(folder)
    for name in options.only.split(","):
        began = time.perf_counter()
        figures = PARTS[name](place, sizes)
        document["result"][name] = {
            "device": describe(place.device),
            "torch": torch.__version__,
            "commit": document["commit"],
            "seconds": time.perf_counter() - began,
            "result": figures,
        }
        print(name, json.dumps(document["result"][name]), flush=True)
        if folder is not None:
            save(folder / f"{NAME}.json", document)


if __name__ == "__main__":
    main()
