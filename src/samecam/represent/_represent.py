"""One door to the three solvers, and the report each of them owes."""

import time
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samecam.errors import ParameterValueError
from samecam.represent import _cpu
from samecam.represent._checks import as_gram, check_gamma, check_gram, check_positive
from samecam.represent._cpu import Task

Solver = Literal["exact", "admm", "authors"]


@dataclass(frozen=True, slots=True)
class SolverReport:
    """What a solver did and how good its answer is.

    Attributes
    ----------
    solver, gamma, nonnegative
        As asked.
    iterations : int
        exact: working-set rounds of the row that needed most; admm, authors: iterations.
    objective : float
        ½‖XZ − X‖²_F + γ‖Z‖₁ at the coefficients returned.
    kkt_violation : float
        Largest over all rows, see `kkt_violation`. For "authors" both this and the
        objective are measured on the stated problem, which that iteration does not solve.
    converged : bool
        exact: the violation is at most `tol` · max|gram| in every row; admm, authors: the
        iteration met its own stopping rule.
    seconds : float
        Time of the solver. For admm and authors without the certificate, which they do not
        need; the exact solver cannot do without.
    tol : float
        Tolerance that was in force.
    n_images, nonzeros, zero_rows : int
        Size of the answer; a row is zero if no correlation of that image exceeds gamma.
    """

    solver: Solver
    gamma: float
    nonnegative: bool
    iterations: int
    objective: float
    kkt_violation: float
    converged: bool
    seconds: float
    tol: float
    n_images: int
    nonzeros: int
    zero_rows: int

    def as_dict(self) -> dict[str, Any]:
        """All fields, ready for JSON."""
        return asdict(self)


class Representation(NamedTuple):
    """`coefficients`, a CSR array (n, n) whose row i represents image i, and the `report`."""

    coefficients: Any
    report: SolverReport


class _Answer(NamedTuple):
    coefficients: Any
    iterations: int
    objective: float
    violation: float
    converged: bool
    seconds: float


def represent(
    gram: ArrayLike,
    gamma: float,
    *,
    nonnegative: bool = True,
    solver: Solver = "exact",
    tol: float | None = None,
    max_iter: int | None = None,
    eta: float = 1.0,
    relaxation: float = 1.0,
    n_threads: int | None = None,
    device: str = "cpu",
    memory: int | None = None,
) -> Representation:
    """Represent every image sparsely by the others.

    Minimises ½‖XZ − X‖²_F + γ‖Z‖₁ with zero diagonal and, if `nonnegative`, Z ≥ 0 (the
    paper's SSC-NC, Eq. 5; both signs: SSC). Row i of the result is column i of Z.

    Parameters
    ----------
    gram : array_like of shape (n, n)
        Correlations, symmetric with unit diagonal, float32 or float64; never modified. A
        C- or Fortran-ordered array is not copied; a memmap may be given.
    gamma : float
        Weight of the ℓ₁ norm. An image whose correlations are all at most gamma gets a
        zero row.
    nonnegative : bool
        Z ≥ 0.
    solver : {"exact", "admm", "authors"}
        exact: working-set coordinate descent to a KKT certificate. admm: the paper's
        Algorithm 1. authors: the released iteration, which equals half the exact solution
        at 2·gamma. The last two need about five more n × n arrays.
    tol : float, optional
        exact: largest KKT violation allowed in units of max|gram| (default 1e-6); admm,
        authors: stop when max|Z − V| is below (default 1e-4).
    max_iter : int, optional
        exact: sweeps a row may take in one round (default 20,000: singular Grams at a tiny
        gamma need thousands); admm, authors: iterations (default 1000).
    eta, relaxation : float
        Penalty η and over-relaxation α in (0, 2) of admm and authors.
    n_threads : int, optional
        Threads; default one a core. Coefficients of the exact solver do not depend on it.
    device : str
        "cpu", "cuda", "cuda:1", … or "auto", see `samecam.compute.choose_device`. On a GPU
        `gram` may also be a PyTorch tensor; the coefficients come back to the host. There
        the exact solver descends by accelerated gradients; same problem, same certificate.
    memory : int, optional
        Bytes the exact solver may take on a GPU beside the Gram; default a quarter of what is
        free, 8 GiB at most.

    Returns
    -------
    Representation
        ``coefficients`` (CSR, dtype of gram) and ``report``. Look at ``report.converged``: a
        matrix that is no Gram (not positive semidefinite) or too small a `max_iter` ends
        without it.
    """
    from samecam.compute import choose_device

    weight = check_gamma(gamma)
    _check_options(solver, tol, max_iter, eta, relaxation, n_threads)
    where = choose_device(device)
    G, scale = _looked_at(gram, where)
    usual = 20_000 if solver == "exact" else 1000
    sweeps = usual if max_iter is None else int(max_iter)
    if solver == "exact":
        limit = 1e-6 if tol is None else float(tol)
        task = Task(G, weight, nonnegative, limit * scale, sweeps)
        answer = _exact(task, n_threads, where, memory)
    else:
        limit = 1e-4 if tol is None else float(tol)
        rule = {"eta": float(eta), "relaxation": float(relaxation), "tol": limit}
        solve = _iterated if where == "cpu" else _iterated_gpu
        answer = solve(G, weight, nonnegative, solver, sweeps, rule, n_threads)
    C = answer.coefficients
    report = SolverReport(
        solver=solver, gamma=weight, nonnegative=nonnegative, iterations=answer.iterations,
        objective=answer.objective, kkt_violation=answer.violation, converged=answer.converged,
        seconds=answer.seconds, tol=limit, n_images=G.shape[0], nonzeros=int(C.nnz),
        zero_rows=int(np.count_nonzero(np.diff(C.indptr) == 0)),
    )  # fmt: skip
    return Representation(C, report)


def _looked_at(gram: Any, device: str) -> tuple[Any, float]:
    """The Gram where it is worked on, checked, and max |gram|."""
    if device == "cpu":
        array = as_gram(gram)
        return array, check_gram(array)
    from samecam.represent import _gram_gpu

    tensor = _gram_gpu.on_device(gram, device)
    return tensor, _gram_gpu.check_gram(tensor)


def _check_options(
    solver: str,
    tol: float | None,
    max_iter: int | None,
    eta: float,
    relaxation: float,
    n_threads: int | None,
) -> None:
    """Refuse the first option out of range."""
    if solver not in get_args(Solver):
        raise ParameterValueError(
            "solver", f"{{name}} is {solver!r}: choose one of {', '.join(get_args(Solver))}"
        )
    if tol is not None:
        check_positive("tol", tol, "give a small positive number")
    if max_iter is not None and max_iter < 1:
        raise ParameterValueError("max_iter", f"{{name}} is {max_iter}: give 1 or more")
    check_positive("eta", eta, "give a positive number, 1 is usual")
    if not 0 < relaxation < 2:
        raise ParameterValueError(
            "relaxation", f"{{name}} is {relaxation!r}: give a number between 0 and 2"
        )
    if n_threads is not None and n_threads < 1:
        raise ParameterValueError(
            "n_threads", f"{{name}} is {n_threads}: give 1 or more, or None for one a core"
        )


def _exact(task: Task, n_threads: int | None, device: str, memory: int | None) -> _Answer:
    start = time.perf_counter()
    if device == "cpu":
        from samecam.compute import machine

        coefficients, rows = _cpu.solve(task, n_threads or machine().cores)
    else:
        from samecam.compute import full_precision
        from samecam.represent import _gpu

        with full_precision():
            coefficients, rows = _gpu.solve(task, device, memory)
    seconds = time.perf_counter() - start
    worst = float(rows.violation.max(initial=0.0))
    return _Answer(
        coefficients, int(rows.rounds.max(initial=0)), float(rows.objective.sum()), worst,
        worst <= task.tol, seconds,
    )  # fmt: skip


def _iterated(
    G: NDArray[np.floating], gamma: float, nonnegative: bool, solver: Solver, max_iter: int,
    rule: dict[str, float], n_threads: int | None,
) -> _Answer:  # fmt: skip
    from threadpoolctl import threadpool_limits

    from samecam.represent import _admm
    from samecam.represent._problem import kkt_violation, objective

    start = time.perf_counter()
    with threadpool_limits(n_threads):
        done = _admm.iterate(
            G, gamma, nonnegative=nonnegative, max_iter=max_iter,
            zero_diagonal=solver == "authors", **rule,
        )  # fmt: skip
    seconds = time.perf_counter() - start
    C = done.coefficients
    violation = kkt_violation(G, C, gamma, nonnegative).max(initial=0.0)
    return _Answer(
        C, done.iterations, objective(G, C, gamma), float(violation), done.converged, seconds
    )


def _iterated_gpu(
    G: Any, gamma: float, nonnegative: bool, solver: Solver, max_iter: int,
    rule: dict[str, float], n_threads: int | None,  # noqa: ARG001 - one signature
) -> _Answer:  # fmt: skip
    from samecam.compute import full_precision
    from samecam.represent import _admm_gpu

    start = time.perf_counter()
    with full_precision():
        done = _admm_gpu.iterate(
            G, gamma, nonnegative=nonnegative, max_iter=max_iter,
            zero_diagonal=solver == "authors", **rule,
        )  # fmt: skip
        seconds = time.perf_counter() - start
        violation, objective = _admm_gpu.certificate(G, done.coefficients, gamma, nonnegative)
    return _Answer(
        done.coefficients, done.iterations, objective, violation, done.converged, seconds
    )
