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

from benchmarks.record import write

SIZES = (500, 1000, 2000, 4000, 8000)
LARGE = 16_000
NULL = 1 / 512
MULTIPLES = (1.0, 2.0)


def camera_sizes(n, seed):
    """Cameras of 10 to 50 photographs, n in all."""
    import numpy as np

    rng = np.random.default_rng(seed)
    sizes = []
    while sum(sizes) < n:
        sizes.append(min(int(rng.integers(10, 51)), n - sum(sizes)))
    return sizes


def resident(field):
    """`VmRSS` or `VmHWM` (its peak) of this process in bytes."""
    with open("/proc/self/status", encoding="ascii") as stream:
        line = next(line for line in stream if line.startswith(field + ":"))
    return int(line.split()[1]) * 1024


def measure(n, multiple, solver, threads, mean, seed):
    """Solve one problem in this process; a dictionary of figures."""
    from samecam.represent import represent
    from samecam.simulate import gram

    options = {"solver": solver, "n_threads": threads}
    represent(gram(camera_sizes(300, seed), mean, seed=seed).gram, multiple * NULL, **options)
    G = gram(camera_sizes(n, seed), mean, seed=seed).gram
    with open("/proc/self/clear_refs", "w", encoding="ascii") as stream:
        stream.write("5")  # sets the peak back to the present size
    before = resident("VmRSS")
    runs = []
    for _ in range(3 if n < 2000 else 1):
        start = time.perf_counter()
        report = represent(G, multiple * NULL, **options).report
        runs.append((report.seconds, time.perf_counter() - start))
    seconds, checked = min(runs)
    return {
        "n": n, "gamma_over_null": multiple, "solver": solver, "seconds": seconds,
        "checked": checked, "iterations": report.iterations, "objective": report.objective,
        "kkt_violation": report.kkt_violation, "converged": report.converged,
        "nonzeros_per_row": report.nonzeros / n,
        "peak_memory": (resident("VmHWM") - before) / (4 * n * n),
    }  # fmt: skip


def in_fresh_process(**what):
    command = [sys.executable, "-m", "benchmarks.lasso", "--one", json.dumps(what)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def row(exact, admm):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="n, comma-separated")
    parser.add_argument("--multiples", default=",".join(map(str, MULTIPLES)), help="γ/σ₀")
    parser.add_argument(
        "--large", type=int, default=LARGE, help="n for exact alone at 2σ₀; 0: none"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--mean", type=float, default=0.02, help="mean same-camera correlation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(**json.loads(args.one))))
        return
    common = {"threads": args.threads, "mean": args.mean, "seed": args.seed}
    print("                          ---------- exact ----------  ------------- admm -------------")
    print(
        "     n  γ/σ₀  nz/row   seconds      KKT  memory   seconds      KKT  memory  iter   ratio"
    )
    results = []
    for n in [int(size) for size in args.sizes.split(",") if size]:
        for multiple in [float(m) for m in args.multiples.split(",")]:
            pair = [in_fresh_process(n=n, multiple=multiple, solver=solver, **common)
                    for solver in ("exact", "admm")]  # fmt: skip
            results += pair
            print(row(*pair), flush=True)
    if args.large:
        results.append(in_fresh_process(n=args.large, multiple=2.0, solver="exact", **common))
        print(row(results[-1], None), flush=True)
    write("lasso", results, **common, null_scale=NULL)


if __name__ == "__main__":
    main()
