"""Exact solver against ADMM on simulated Grams: time, certificate, peak memory.

    python -m benchmarks.lasso                         # n = 500 … 8000, and exact at 16,000
    python -m benchmarks.lasso --sizes 500,1000 --large 0

Every measurement runs in a fresh process, which draws the Gram, warms up the compiled loops
and BLAS on a small one, and then solves once (best of three below n = 2000). Memory is
the peak of the resident set above what it was with the Gram in memory, in units of n² · 4
bytes, the size of that Gram. `seconds` is the solver's own time; ADMM's does not include
its certificate. `checked` adds the looking over of the argument.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from benchmarks.record import folder_of, numbers, parser, write

SIZES = (500, 1000, 2000, 4000, 8000)
LARGE = 16_000
NULL = 1 / 512
MULTIPLES = (1.0, 2.0)


def camera_sizes(n: int, seed: int) -> list[int]:
    """Cameras of 10 to 50 photographs, n in all."""
    import numpy as np

    rng = np.random.default_rng(seed)
    sizes: list[int] = []
    while sum(sizes) < n:
        sizes.append(min(int(rng.integers(10, 51)), n - sum(sizes)))
    return sizes


def resident(field: str) -> int:
    """`VmRSS` or `VmHWM` (its peak) of this process in bytes."""
    with open("/proc/self/status", encoding="ascii") as stream:
        line = next(line for line in stream if line.startswith(field + ":"))
    return int(line.split()[1]) * 1024


def measure(
    n: int, multiple: float, solver: Any, threads: int, mean: float, seed: int
) -> dict[str, Any]:
    """Solve one problem in this process; a dictionary of figures."""
    from samecam.represent import represent
    from samecam.simulate import gram

    solve = partial(represent, gamma=multiple * NULL, solver=solver, n_threads=threads)
    solve(gram(camera_sizes(300, seed), mean, seed=seed).gram)
    G = gram(camera_sizes(n, seed), mean, seed=seed).gram
    with open("/proc/self/clear_refs", "w", encoding="ascii") as stream:
        stream.write("5")  # sets the peak back to the present size
    before = resident("VmRSS")
    runs = []
    for _ in range(3 if n < 2000 else 1):
        start = time.perf_counter()
        report = solve(G).report
        runs.append((report.seconds, time.perf_counter() - start))
    seconds, checked = min(runs)
    return {
        "n": n, "gamma_over_null": multiple, "solver": solver, "seconds": seconds,
        "checked": checked, "iterations": report.iterations, "objective": report.objective,
        "kkt_violation": report.kkt_violation, "converged": report.converged,
        "nonzeros_per_row": report.nonzeros / n,
        "peak_memory": (resident("VmHWM") - before) / (4 * n * n),
    }  # fmt: skip


def in_fresh_process(**what: Any) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.lasso", "--one", json.dumps(what)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def row(exact: dict[str, Any], admm: dict[str, Any] | None) -> str:
    """One line of the table."""
    text = (
        f"{exact['n']:>6}  {exact['gamma_over_null']:>4.1f}  {exact['nonzeros_per_row']:>6.0f}  "
        f"{exact['seconds']:>8.3f}  {exact['kkt_violation']:>7.1e}  {exact['peak_memory']:>6.2f}"
    )
    if admm:
        text += (
            f"  {admm['seconds']:>8.3f}  {admm['kkt_violation']:>7.1e}  {admm['peak_memory']:>6.2f}"
            f"  {admm['iterations']:>4}  {admm['seconds'] / exact['seconds']:>6.1f}"
        )
    return text


def asked() -> argparse.ArgumentParser:
    made = parser(__doc__)
    made.add_argument("--sizes", type=numbers, default=list(SIZES), help="n, comma-separated")
    made.add_argument("--multiples", default=",".join(map(str, MULTIPLES)), help="γ/σ₀")
    made.add_argument("--large", type=int, default=LARGE, help="n for exact alone at 2σ₀; 0: none")
    made.add_argument("--threads", type=int, default=2)
    made.add_argument("--mean", type=float, default=0.02, help="mean same-camera correlation")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--one", help=argparse.SUPPRESS)
    return made


def main(arguments: Sequence[str] | None = None) -> None:
    options = asked().parse_args(arguments)
    if options.one:
        print(json.dumps(measure(**json.loads(options.one))))
        return
    common = {"threads": options.threads, "mean": options.mean, "seed": options.seed}
    sizes, large = ([100], 0) if options.quick else (options.sizes, options.large)
    multiples = [2.0] if options.quick else [float(m) for m in options.multiples.split(",")]
    print("                          ---------- exact ----------  ------------- admm -------------")
    print(
        "     n  γ/σ₀  nz/row   seconds      KKT  memory   seconds      KKT  memory  iter   ratio"
    )
    results = []
    for n in sizes:
        for multiple in multiples:
            exact, admm = (
                in_fresh_process(n=n, multiple=multiple, solver=solver, **common)
                for solver in ("exact", "admm")
            )
            results += [exact, admm]
            print(row(exact, admm), flush=True)
    if large:
        results.append(in_fresh_process(n=large, multiple=2.0, solver="exact", **common))
        print(row(results[-1], None), flush=True)
    write(
        "lasso",
        results,
        folder=folder_of(options),
        threads=options.threads,
        mean=options.mean,
        seed=options.seed,
        null_scale=NULL,
    )


if __name__ == "__main__":
    main()
