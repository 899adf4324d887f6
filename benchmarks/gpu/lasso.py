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
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Literal

from benchmarks.record import describe, folder_of, parser, write

NULL = 0.00195
PARTS = ("count", "select", "gather", "descend", "check", "_pack")
ROWS = 4096
Tensor = Any
Solver = Literal["exact", "admm"]
SMALL = 1500


def camera_sizes(n: int, rng: Any) -> list[int]:
    """Photographs of each camera, n in all."""
    sizes: list[int] = []
    while sum(sizes) < n:
        sizes.append(min(int(rng.integers(83, 361)), n - sum(sizes)))
    return sizes


def draw(n: int, mean: float, seed: int, device: str) -> Tensor:
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

    def __init__(self, module: ModuleType, names: Sequence[str], wait: Callable[[], None]) -> None:
        self.seconds = dict.fromkeys(names, 0.0)
        self._module, self._wait = module, wait
        self._plain = {name: getattr(module, name) for name in names}

    def __enter__(self) -> dict[str, float]:
        for name in self._plain:
            setattr(self._module, name, self._timed(name))
        return self.seconds

    def __exit__(self, *_: object) -> None:
        for name, function in self._plain.items():
            setattr(self._module, name, function)
        self.seconds["descend"] -= self.seconds["gather"]  # which it calls

    def _timed(self, name: str) -> Callable[..., Any]:
        def timed(*args: Any) -> Any:
            self._wait()
            began = time.perf_counter()
            answer = self._plain[name](*args)
            self._wait()
            self.seconds[name] += time.perf_counter() - began
            return answer

        return timed


def spied(plain: Callable[..., Any], batches: list[dict[str, Any]]) -> Callable[..., Any]:
    """`_descent.descend` that notes down the size and the iterations of each batch."""

    def descend(grams: Any, target: Any, start: Any, valid: Any, rule: Any) -> Any:
        answer = plain(grams, target, start, valid, rule)
        batches.append({
            "kind": type(grams).__name__, "rows": start.shape[0], "width": start.shape[1],
            "tol": rule.tol, "dtype": str(start.dtype).removeprefix("torch."),
            "iterations_mean": float(answer.iterations.mean()),
            "iterations_most": int(answer.iterations.max()),
        })  # fmt: skip
        return answer

    return descend


def by_part(
    gram: Tensor, gamma: float, device: str, memory: int | None, wait: Callable[[], None]
) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Seconds by part, and the batches that were descended on."""
    from unittest.mock import patch

    from samecam.represent import represent
    from samecam.represent.gpu import _descent, _exact

    batches: list[dict[str, Any]] = []
    descend = spied(_descent.descend, batches)
    with patch.object(_descent, "descend", descend), Clock(_exact, PARTS, wait) as seconds:
        represent(gram, gamma, device=device, memory=memory)
    return seconds, batches


def measure(
    gram: Tensor,
    gamma: float,
    device: str,
    memory: int | None,
    solver: Solver,
    repeats: int,
    wait: Callable[[], None],
) -> dict[str, Any]:
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


def asked() -> argparse.ArgumentParser:
    made = parser(__doc__)
    made.add_argument("--n", type=int, default=15677)
    made.add_argument("--device", default="cuda")
    made.add_argument("--gamma", type=float, default=2.0, help="γ in units of σ₀")
    made.add_argument("--mean", type=float, default=0.02)
    made.add_argument("--memory", type=int, help="bytes beside the Gram")
    made.add_argument("--repeats", type=int, default=3)
    made.add_argument("--admm", action="store_true")
    made.add_argument("--seed", type=int, default=0)
    return made


def run(options: argparse.Namespace) -> tuple[list[dict[str, Any]], str]:
    """Figures of each solver, those of the exact one by part; and the device."""
    import torch

    from samecam.compute import choose_device, torch_device

    device = choose_device(options.device)
    on_gpu = device.startswith("cuda")
    where, gamma = torch_device(device), options.gamma * NULL
    wait: Callable[[], None] = torch.cuda.synchronize if on_gpu else (lambda: None)
    solvers: tuple[Solver, ...] = ("exact", "admm") if options.admm else ("exact",)
    small = draw(min(SMALL, options.n), options.mean, options.seed, where)
    gram = draw(options.n, options.mean, options.seed, where)
    results, peak = [], 0
    for solver in solvers:
        measure(small, gamma, device, options.memory, solver, 1, wait)
        results.append(measure(gram, gamma, device, options.memory, solver, options.repeats, wait))
        show(results[-1])
    if on_gpu:
        torch.cuda.reset_peak_memory_stats(device)
        peak = -torch.cuda.memory_allocated(device)
    seconds, batches = by_part(gram, gamma, device, options.memory, wait)
    show({name: f"{value:.3f} s" for name, value in seconds.items()})
    for batch in batches:
        print("  ", *batch.values())
    if on_gpu:
        peak += torch.cuda.max_memory_allocated(device)
        print(f"peak of the exact solver beside the Gram: {peak / 2**30:.2f} GiB")
    results[0] |= {"parts": seconds, "batches": batches, "peak_memory": peak}
    return results, device


def show(figures: dict[str, Any]) -> None:
    for name, value in figures.items():
        print(f"{name:>18}  {value:.6g}" if isinstance(value, float) else f"{name:>18}  {value}")


def main(arguments: Sequence[str] | None = None) -> None:
    options = asked().parse_args(arguments)
    if options.quick:
        options.n, options.repeats = 200, 1
    results, device = run(options)
    names = ("n", "device", "gamma", "mean", "memory", "repeats", "admm", "seed")
    write(
        "gpu.lasso",
        results,
        folder=folder_of(options),
        libraries=("torch",),
        **{name: getattr(options, name) for name in names},
        device_name=describe(device),
        null_scale=NULL,
    )


if __name__ == "__main__":
    main()
