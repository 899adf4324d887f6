"""The exact solver on a GPU, on a Gram drawn there: seconds in all and by part, certificate.

    python -m benchmarks.gpu.lasso --n 15677 --device cuda
    python -m benchmarks.gpu.lasso --n 2000 --device torch-cpu      # the same code without a GPU
    python -m benchmarks.gpu.lasso --n 15677 --admm                 # the paper's iteration as well

Cameras of 83 to 360 photographs; two photographs of a camera correlate by a_i·a_j + N(0, s²),
others by N(0, s²). A small Gram is solved first; `seconds` is the best of three, without and
then with the waiting that telling the parts apart needs.
"""

import argparse
import time

from benchmarks.record import write

NULL = 0.00195
PARTS = ("count", "select", "gather", "descend", "check", "_pack")
ROWS = 4096


def camera_sizes(n, rng):
    """Photographs of each camera, n in all."""
    sizes = []
    while sum(sizes) < n:
        sizes.append(min(int(rng.integers(83, 361)), n - sum(sizes)))
    return sizes


def draw(n, mean, seed, device):
    """A simulated Gram (n, n) float32 as a tensor on the device."""
    import numpy as np
    import torch

    rng = np.random.default_rng(seed)
    sizes = camera_sizes(n, rng)
    order = rng.permutation(n)
    camera = np.repeat(np.arange(len(sizes)), sizes)[order]
    photo = rng.gamma(1 / 0.49, 0.49, n)
    strength = np.sqrt(mean) * np.exp(0.4 * rng.standard_normal(len(sizes)))[camera] * photo
    a = torch.tensor(np.minimum(strength, 0.99), dtype=torch.float32, device=device)
    c = torch.tensor(camera, device=device)
    noise = torch.Generator(device=device).manual_seed(seed)
    gram = torch.empty((n, n), dtype=torch.float32, device=device)
    for top in range(0, n, ROWS):
        rows = slice(top, top + ROWS)
        part = gram[rows, top:]
        part.normal_(0, NULL, generator=noise)
        part += a[rows, None] * a[None, top:] * (c[rows, None] == c[None, top:])
        square = gram[rows, rows]
        square.copy_(square.triu() + square.triu(1).T)
        gram[top + ROWS :, rows] = gram[rows, top + ROWS :].T
    return gram.fill_diagonal_(1)


class Clock:
    """Wraps functions of a module and adds up what each takes."""

    def __init__(self, module, names, wait):
        self.seconds = dict.fromkeys(names, 0.0)
        self._module, self._wait = module, wait
        self._plain = {name: getattr(module, name) for name in names}

    def __enter__(self):
        for name in self._plain:
            setattr(self._module, name, self._timed(name))
        return self.seconds

    def __exit__(self, *_):
        for name, function in self._plain.items():
            setattr(self._module, name, function)
        self.seconds["descend"] -= self.seconds["gather"]  # which it calls

    def _timed(self, name):
        def timed(*args):
            self._wait()
            began = time.perf_counter()
            answer = self._plain[name](*args)
            self._wait()
            self.seconds[name] += time.perf_counter() - began
            return answer

        return timed


def spied(batches):
    """`_descent.descend` that notes down the size and the iterations of each batch."""
    from samecam.represent.gpu import _descent

    plain = _descent.descend

    def descend(grams, target, start, valid, rule):
        found = plain(grams, target, start, valid, rule)
        batches.append({
            "kind": type(grams).__name__, "rows": start.shape[0], "width": start.shape[1],
            "tol": rule.tol, "dtype": str(start.dtype).removeprefix("torch."),
            "iterations_mean": float(found.iterations.mean()),
            "iterations_most": int(found.iterations.max()),
        })  # fmt: skip
        return found

    return plain, descend


def by_part(gram, gamma, device, memory, wait):
    """Seconds by part, and the batches that were descended on."""
    from samecam.represent import represent
    from samecam.represent.gpu import _descent, _exact

    batches = []
    plain, _descent.descend = spied(batches)
    with Clock(_exact, PARTS, wait) as seconds:
        represent(gram, gamma, device=device, memory=memory)
    _descent.descend = plain
    return seconds, batches


def measure(gram, gamma, device, memory, solver, repeats, wait):
    """Figures of one solver; the best of `repeats` runs."""
    from samecam.represent import represent

    runs = []
    for _ in range(repeats):
        wait()
        began = time.perf_counter()
        answer = represent(gram, gamma, device=device, memory=memory, solver=solver)
        runs.append((answer.report.seconds, time.perf_counter() - began))
    report, n = answer.report, len(gram)
    seconds, checked = min(runs)
    return {
        "solver": solver, "n": n, "seconds": seconds, "checked": checked,
        "iterations": report.iterations, "kkt_violation": report.kkt_violation,
        "objective": report.objective, "converged": report.converged,
        "nonzeros_per_row": report.nonzeros / n,
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, default=15677)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--gamma", type=float, default=2.0, help="γ in units of σ₀")
    parser.add_argument("--mean", type=float, default=0.02)
    parser.add_argument("--memory", type=int, help="bytes beside the Gram")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--admm", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    import torch

    from samecam.compute import choose_device, describe_device, torch_device

    device = choose_device(args.device)
    where, gamma = torch_device(device), args.gamma * NULL
    wait = torch.cuda.synchronize if device.startswith("cuda") else (lambda: None)
    solvers = ("exact", "admm") if args.admm else ("exact",)
    small = draw(1500, args.mean, args.seed, where)
    gram = draw(args.n, args.mean, args.seed, where)
    results, peak = [], 0
    for solver in solvers:
        measure(small, gamma, device, args.memory, solver, 1, wait)
        results.append(measure(gram, gamma, device, args.memory, solver, args.repeats, wait))
        for name, value in results[-1].items():
            print(
                f"{name:>18}  {value:.6g}" if isinstance(value, float) else f"{name:>18}  {value}"
            )
    if device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats(device)
        peak = -torch.cuda.memory_allocated(device)
    seconds, batches = by_part(gram, gamma, device, args.memory, wait)
    for name, value in seconds.items():
        print(f"{name:>18}  {value:.3f} s")
    for b in batches:
        print("  ", *b.values())
    if device.startswith("cuda"):
        peak += torch.cuda.max_memory_allocated(device)
        print(f"peak of the exact solver beside the Gram: {peak / 2**30:.2f} GiB")
    results[0] |= {"parts": seconds, "batches": batches, "peak_memory": peak}
    write("gpu.lasso", results, **vars(args), device_name=describe_device(device), null_scale=NULL)


if __name__ == "__main__":
    main()
