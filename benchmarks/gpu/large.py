"""Clustering on one GPU: a Dresden-sized store, 50,000 and a million fingerprints.

    python -m benchmarks.gpu.large                      # --only rates,store,fifty,million

Parts are added to benchmarks/results/gpu.large.json (--out: the folder) as they are done.
Everything is timed after a small run that loads PyTorch's libraries and compiles what is
compiled. The floor of the first is reading the store and its Gram at the matrix rate.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from benchmarks.gpu import sets
from samecam import correlate
from samecam.cluster import ConsolidatedSSC
from samecam.compute import choose_device, default_memory, describe_device
from samecam.metrics import scores


class Phases:
    """Seconds of each phase as `progress` tells of them."""

    def __init__(self):
        self.last, self.since, self.seconds = None, 0.0, {}

    def __call__(self, phase, done, total):
        torch.cuda.synchronize()
        now = time.perf_counter()
        if self.last is not None:
            self.seconds[self.last] = self.seconds.get(self.last, 0) + now - self.since
        self.last, self.since = (None if done == total else phase), now


def fitted(source, truth, device, **options):
    """One run: seconds, phases, memory, scores."""
    phases = Phases()
    torch.cuda.reset_peak_memory_stats()
    torch.cuda.synchronize()
    began = time.perf_counter()
    options.setdefault("memory", default_memory(device))
    model = ConsolidatedSSC(device=device, **options).fit(source, progress=phases)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - began
    phases("End", 1, 1)
    found = scores(truth.tolist(), model.labels_)
    report = model.report_
    return {
        "seconds": seconds,
        "phases": phases.seconds,
        "device_bytes": torch.cuda.max_memory_allocated(),
        "f": found.f,
        "precision": found.precision,
        "recall": found.recall,
        "groups": model.n_clusters_,
        "cameras": len(set(truth.tolist())),
        "unclustered": int((model.labels_ < 0).sum()),
        "lasso": {"seconds": report.seconds, "kkt": report.kkt_violation,
                  "converged": report.converged, "rounds": report.iterations,
                  "nonzeros": report.nonzeros},
        "rounds": len(model.trace_),
    }, model.labels_  # fmt: skip


def timed(function, repeats=3):
    function()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    return sorted(times)[len(times) // 2]


def rates(device):
    """Matrix rates of int8, float16 (float32 sums) and float32, and the Gram's share of them."""
    n, d = 15_680, 65_536
    a = torch.randint(-127, 128, (n, d), dtype=torch.int8, device=device)
    h, b = a.half(), a.to(torch.bfloat16)
    f = torch.randn((n, n), device=device)
    products = {
        "int8": lambda: torch._int_mm(a, a.t()),
        "float16": lambda: torch.mm(h, h.t(), out_dtype=torch.float32),
        "bfloat16": lambda: torch.mm(b, b.t(), out_dtype=torch.float32),
        "float32": lambda: f @ f,
    }
    operations = dict.fromkeys(products, 2 * n * n * d) | {"float32": 2 * n**3}
    found = {name: operations[name] / timed(product) for name, product in products.items()}
    return {"operations_per_second": found, "gram": gram_rate(device, found)}


def gram_rate(device, rates_found):
    """The Gram of 15,677 × 262,144 from rows on the device, as int8 and float16."""
    truth = sets.truth_of([100] * 156 + [77])
    found = {}
    for dtype in ("int8", "float16"):
        rows = sets.on_device(truth, 0.02, 262_144, device, dtype)
        seconds = timed(lambda rows=rows: correlate.gram_on(rows, device=device))
        n, d = len(truth), 262_144
        found[dtype] = {
            "seconds": seconds,
            # Every pair twice, as the rate is counted; the triangle alone is computed.
            "share_of_rate": 2 * n * n * d / seconds / rates_found[dtype],
            "share_computed": n * n * d / seconds / rates_found[dtype],
        }
        del rows
        torch.cuda.empty_cache()
    return found


def store(device, folder, n=15_677, d=262_144):
    """A Dresden-sized store in page cache to labels."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(83, 361, 74)
    while sizes.sum() != n:
        sizes[rng.integers(74)] += np.sign(n - sizes.sum())
    truth = sets.truth_of(sizes)
    found = {}
    for dtype in ("int8", "float16"):
        began = time.perf_counter()
        made = sets.on_disk(Path(folder) / dtype, truth, 0.02, d, device, dtype)
        wrote = time.perf_counter() - began
        began = time.perf_counter()
        held = correlate.rows_on(made, device, 2**40)
        torch.cuda.synchronize()
        reading = time.perf_counter() - began
        del held
        torch.cuda.empty_cache()
        runs = [fitted(made, truth, device)[0] for _ in range(3)]
        if os.environ.get("PROFILE"):
            import cProfile
            import pstats

            profile = cProfile.Profile()
            profile.runcall(fitted, made, truth, device)
            pstats.Stats(profile).sort_stats("cumulative").print_stats(28)
        found[dtype] = {"wrote_seconds": wrote, "reading_seconds": reading, "runs": runs}
        print(dtype, json.dumps(found[dtype]), flush=True)
        made.close()
    return found


def fifty(device, d=65_536):
    """50,000 photos of 500 cameras, and 5,000 of 50, whole."""
    found = {}
    for n in (5_000, 50_000):
        truth = sets.truth_of([100] * (n // 100))
        rows = sets.on_device(truth, 0.02, d, device)
        found[n], _ = fitted(rows, truth, device)
        print(n, json.dumps(found[n]), flush=True)
        del rows
        torch.cuda.empty_cache()
    return found


def million(device, n=1_000_000, d=16_384, batch=20_480):
    """A million photos of 1,000 cameras (or fewer, of as many photos each) in batches."""
    truth = sets.truth_of([1000] * (n // 1000))
    began = time.perf_counter()
    rows = sets.on_device(truth, 0.02, d, device)
    torch.cuda.synchronize()
    made = time.perf_counter() - began
    found, _ = fitted(rows, truth, device, batch_size=batch)
    return {"making_seconds": made, "batch_size": batch, **found}


def commit():
    """Of the tree that is measured."""
    git = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(git, capture_output=True, text=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="rates,store,fifty,million")
    parser.add_argument("--out", default=str(Path(__file__).parent.parent / "results"))
    parser.add_argument("--commit", help="of the tree, where git is missing")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--million", type=int, default=1_000_000)
    parser.add_argument("--n", type=int, default=15_677)
    options = parser.parse_args()
    device = choose_device(options.device)
    small = sets.truth_of([50] * 20)
    warm, _ = fitted(sets.on_device(small, 0.02, 16_384, device), small, device, batch_size=400)
    warm, _ = fitted(sets.on_device(small, 0.02, 16_384, device), small, device)
    print("warm", warm["seconds"], warm["f"], flush=True)
    path = Path(options.out, "gpu.large.json")
    result = json.loads(path.read_text()) if path.exists() else {}
    for name in options.only.split(","):
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            found = {
                "rates": lambda: rates(device),
                "store": lambda folder=folder: store(device, folder, options.n),
                "fifty": lambda: fifty(device),
                "million": lambda: million(device, options.million),
            }[name]()
        result[name] = {
            "device": describe_device(device),
            "torch": torch.__version__,
            "commit": options.commit or commit(),
            "seconds": time.perf_counter() - began,
            "result": found,
        }
        print(name, json.dumps(result[name]), flush=True)
        path.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
