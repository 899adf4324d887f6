"""Alternating directions on a GPU: the iteration of `_admm`, with the Gram a tensor there."""

from typing import Any

import torch

from samecam.errors import SamecamError
from samecam.represent._admm import Iterated
from samecam.represent._cpu import Task

_ROWS = 1024


def iterate(
    gram: Any,
    gamma: float,
    *,
    nonnegative: bool,
    tol: float,
    max_iter: int,
    eta: float,
    relaxation: float,
    zero_diagonal: bool,
) -> Iterated:
    """As `_admm.iterate`; about five more n × n arrays on the device, V comes to the host."""
    try:
        return _iterate(gram, gamma, nonnegative, tol, max_iter, eta, relaxation, zero_diagonal)
    except torch.OutOfMemoryError:
        raise SamecamError(
            f"The device has no room for five arrays of {len(gram)} × {len(gram)} numbers: use "
            "the exact solver, or the device cpu."
        ) from None


def _iterate(
    gram: Any, gamma: float, nonnegative: bool, tol: float, max_iter: int, eta: float,
    relaxation: float, zero_diagonal: bool,
) -> Iterated:  # fmt: skip
    n = len(gram)
    inverse = _inverse(gram, eta)
    V, multiplier, product = (torch.zeros_like(gram) for _ in range(3))
    converged, iterations = n == 0, 0
    while not converged and iterations < max_iter:
        iterations += 1
        torch.matmul(V.mul_(eta).sub_(multiplier), inverse, out=product)
        V.add_(multiplier).div_(eta)
        product.sub_(inverse, alpha=eta)
        diagonal = product.diagonal()
        diagonal.copy_(torch.zeros_like(diagonal) if zero_diagonal else diagonal + 1)
        multiplier.div_(eta).add_(product, alpha=relaxation).add_(V, alpha=1 - relaxation)
        torch.sub(multiplier, _clipped(multiplier, gamma / eta, nonnegative), out=V)
        V.fill_diagonal_(0)
        converged = bool(product.sub_(V).abs_().max() < tol)
        multiplier.sub_(V).mul_(eta)
    return Iterated(_rows(V), iterations, converged)


def _clipped(u: Any, threshold: float, nonnegative: bool) -> Any:
    """What the soft threshold takes away."""
    return u.clamp_max(threshold) if nonnegative else u.clamp(-threshold, threshold)


def _inverse(gram: Any, eta: float) -> Any:
    """(G + ηI)⁻¹, (n, n)."""
    if len(gram) == 0:
        return gram
    shifted = gram.clone()
    shifted.diagonal().add_(eta)
    factor, failed = torch.linalg.cholesky_ex(shifted)
    if int(failed):
        raise ValueError("gram + eta·I is not positive definite: raise eta or check gram")
    return torch.cholesky_inverse(factor)


def _rows(values: Any) -> Any:
    """A dense tensor as a CSR array on the host."""
    from scipy.sparse import csr_array, vstack

    parts = [csr_array(part.cpu().numpy()) for part in values.split(_ROWS)]
    return csr_array(vstack(parts, format="csr")) if parts else csr_array(values.cpu().numpy())


def certificate(
    gram: Any, coefficients: Any, gamma: float, nonnegative: bool
) -> tuple[float, float]:
    """Largest KKT violation of CSR coefficients, and their objective."""
    from samecam.represent._gpu import judge

    task = Task(gram, gamma, nonnegative, 0.0, 0)
    worst, total = 0.0, 0.0
    for a in range(0, len(gram), _ROWS):
        dense = coefficients[a : a + _ROWS].toarray()
        values = torch.from_numpy(dense).to(gram.device)
        own = gram[a : a + _ROWS]
        residual = torch.addmm(own, values, gram, alpha=-1)
        rows = torch.arange(a, a + len(dense), device=gram.device)
        violation, objective = judge(task, own, values, residual, rows)
        worst = max(worst, float(violation.max()))
        total += float(objective.sum())
    return worst, total
