"""One function for the three solvers, and the report each of them gives."""

import time
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samecam.errors import ParameterValueError
from samecam.represent import _candidates, _cpu
from samecam.represent._checks import as_gram, check_gamma, check_gram, check_positive
from samecam.represent._lasso import LassoProblem

Solver = Literal["exact", "admm", "authors"]


@dataclass(frozen=True, slots=True)
class SolverReport:
    """What a solver did and how good its solution is.

    Attributes
    ----------
    solver, gamma, nonnegative, candidates
        As asked. With candidates the objective and the violation are of the problem among them.
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
        Size of the solution; a row is zero if no correlation of that image exceeds gamma.
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
    candidates: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """All fields, ready for JSON."""
        return asdict(self)


class Representation(NamedTuple):
    """`coefficients`, a CSR array (n, n) whose row i represents image i, and the `report`."""

    coefficients: Any
    report: SolverReport


class _Solution(NamedTuple):
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
    candidates: int | None = None,
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
    candidates : int, optional
        exact: an image is represented by so many others at most, those that correlate with it
        most, of those above gamma: another problem with much the same largest coefficients,
        solved in a small part of the time. None: by all that it takes.
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
    _check_options(solver, tol, max_iter, eta, relaxation, n_threads, candidates)
    where = choose_device(device)
    G, scale = _checked(gram, where)
    usual = 20_000 if solver == "exact" else 1000
    sweeps = usual if max_iter is None else int(max_iter)
    if solver == "exact":
        limit = 1e-6 if tol is None else float(tol)
        problem = LassoProblem(G, weight, nonnegative, limit * scale, sweeps)
        solution = _exact(problem, candidates, n_threads, where, memory)
    else:
        limit = 1e-4 if tol is None else float(tol)
        rule = {
            "nonnegative": nonnegative, "tol": limit, "max_iter": sweeps, "eta": float(eta),
            "relaxation": float(relaxation), "zero_diagonal": solver == "authors",
        }  # fmt: skip
        if where == "cpu":
            solution = _iterated(G, weight, rule, n_threads)
        else:
            solution = _iterated_gpu(G, weight, rule)
    C = solution.coefficients
    report = SolverReport(
        solver=solver, gamma=weight, nonnegative=nonnegative, iterations=solution.iterations,
        objective=solution.objective, kkt_violation=solution.violation,
        converged=solution.converged, seconds=solution.seconds, tol=limit,
        n_images=G.shape[0], nonzeros=int(C.nnz),
        zero_rows=int(np.count_nonzero(np.diff(C.indptr) == 0)),
        candidates=candidates,
    )  # fmt: skip
    return Representation(C, report)


def _checked(gram: Any, device: str) -> tuple[Any, float]:
    """The Gram where it is worked on, checked, and max |gram|."""
    if device == "cpu":
        array = as_gram(gram)
        return array, check_gram(array)
    from samecam.represent import gpu

    tensor = gpu.on_device(gram, device)
    return tensor, gpu.check_gram(tensor)


def _check_options(
    solver: str,
    tol: float | None,
    max_iter: int | None,
    eta: float,
    relaxation: float,
    n_threads: int | None,
    candidates: int | None,
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
    if candidates is not None and (candidates < 1 or solver != "exact"):
        raise ParameterValueError(
            "candidates",
            f"{{name}} is {candidates} with the solver {solver!r}: give 1 or more, with exact",
        )


def _exact(
    problem: LassoProblem,
    candidates: int | None,
    n_threads: int | None,
    device: str,
    memory: int | None,
) -> _Solution:
    start = time.perf_counter()
    if device == "cpu":
        from samecam.compute import machine

        threads = n_threads or machine().cores
        if candidates is None:
            coefficients, rows = _cpu.solve(problem, threads)
        else:
            coefficients, rows = _candidates.solve(problem, candidates, threads)
    else:
        from samecam.compute import full_precision
        from samecam.represent import gpu

        with full_precision():
            if candidates is None:
                coefficients, rows = gpu.solve(problem, device, memory)
            else:
                coefficients, rows = gpu.solve_candidates(problem, candidates, device, memory)
    seconds = time.perf_counter() - start
    worst = float(rows.violation.max(initial=0.0))
    return _Solution(
        coefficients, int(rows.rounds.max(initial=0)), float(rows.objective.sum()), worst,
        worst <= problem.tol, seconds,
    )  # fmt: skip


def _iterated(
    G: NDArray[np.floating], gamma: float, rule: dict[str, Any], n_threads: int | None
) -> _Solution:
    """By alternating directions on the processor; `rule` is what `_admm.iterate` takes."""
    from threadpoolctl import threadpool_limits

    from samecam.represent import _admm
    from samecam.represent._problem import kkt_violation, objective

    start = time.perf_counter()
    with threadpool_limits(n_threads):
        done = _admm.iterate(G, gamma, **rule)
    seconds = time.perf_counter() - start
    C = done.coefficients
    violation = kkt_violation(G, C, gamma, rule["nonnegative"]).max(initial=0.0)
    return _Solution(
        C, done.iterations, objective(G, C, gamma), float(violation), done.converged, seconds
    )


def _iterated_gpu(G: Any, gamma: float, rule: dict[str, Any]) -> _Solution:
    """The same on a GPU, where `G` is a tensor."""
    from samecam.compute import full_precision
    from samecam.represent import gpu

    start = time.perf_counter()
    with full_precision():
        done = gpu.iterate(G, gamma, **rule)
        seconds = time.perf_counter() - start
        violation, objective = gpu.certificate(G, done.coefficients, gamma, rule["nonnegative"])
    return _Solution(
        done.coefficients, done.iterations, objective, violation, done.converged, seconds
    )
