"""How strong the sparsity should be: three ways to choose γ."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from samecam.cluster._graph import affinity
from samecam.cluster._spectral import eigengap, spectral_groups, spectrum
from samecam.represent import Solver, represent

# Published for side 256, 512, 768, 1024, tuned with the released iteration.
PUBLISHED = {256: 0.0045, 512: 0.0018, 768: 0.0012, 1024: 0.0008}
_ELSEWHERE = 0.92
_SCALES = 2.0
_CANDIDATES = tuple(np.geomspace(1e-4, 0.02, 25))


class GammaChoice(NamedTuple):
    """The chosen γ, and the cost of each candidate."""

    gamma: float
    costs: dict[float, float]


def paper_gamma(n_pixels: int, solver: Solver = "exact") -> float:
    """γ as published: .0045, .0018, .0012, .0008 at 256² to 1024², else 0.92/√d.

    The released iteration solves the problem at 2γ, so other solvers get twice that.
    """
    side = round(n_pixels**0.5)
    known = side * side == n_pixels and side in PUBLISHED
    gamma = PUBLISHED[side] if known else _ELSEWHERE / n_pixels**0.5
    return gamma if solver == "authors" else 2 * gamma


def null_gamma(null_scale: float, solver: Solver = "exact") -> float:
    """γ = 2σ₀, in units of the measured scale of chance: links under it are mostly chance."""
    return _SCALES * null_scale / (2 if solver == "authors" else 1)


def cost_gamma(
    gram: npt.NDArray[np.floating],
    *,
    candidates: Sequence[float] = _CANDIDATES,
    nonnegative: bool = True,
    solver: Solver = "exact",
    random_state: int | np.random.RandomState | None = 0,
) -> GammaChoice:
    """γ with the smallest cost of Phan 2017 (Eq. 8–9), as published.

    J = Ncuts_K + 1/Δ_K + Δ_{K+1} + Δ_{K−1}, with Δ_K = λ_{K+1} − λ_K, K by the eigengap and

        Ncuts_K = (1/K) Σ_c W(A_c, Ā_c) / (W(A_c, Ā_c) + W(A_c, A_c)).

    The grid is not given there; 25 values between 1e-4 and .02, evenly on a log scale.
    """
    costs = {
        float(gamma): _cost(gram, float(gamma), nonnegative, solver, random_state)
        for gamma in candidates
    }
    return GammaChoice(min(costs, key=lambda gamma: (costs[gamma], gamma)), costs)


def _cost(
    gram: npt.NDArray[np.floating],
    gamma: float,
    nonnegative: bool,
    solver: Solver,
    random_state: int | np.random.RandomState | None,
) -> float:
    coefficients = represent(gram, gamma, nonnegative=nonnegative, solver=solver).coefficients
    weights = affinity(coefficients)
    eigen = spectrum(weights)
    count = eigengap(eigen.values, "authors")
    gaps = np.diff(eigen.values)
    if count < 2 or count > len(gaps) or gaps[count - 1] <= 0:
        return float("inf")
    labels = spectral_groups(weights, eigen, count, random_state)
    after = gaps[count] if count < len(gaps) else 0.0
    cost = normalised_cut(weights, labels) + 1 / gaps[count - 1] + after + gaps[count - 2]
    return float(cost)


def normalised_cut(weights: Any, labels: npt.NDArray[np.intp]) -> float:
    """Mean over groups of the weight of edges that leave, over the weight of all edges."""
    from scipy import sparse

    inside = np.flatnonzero(labels >= 0)
    count = int(labels.max(initial=-1)) + 1
    members = sparse.csr_array(
        (np.ones(len(inside)), (labels[inside], inside)), shape=(count, len(labels))
    )
    between = (members @ weights @ members.T).toarray()
    total = np.asarray(members @ np.asarray(weights.sum(axis=1)).ravel())
    stays = np.diag(between)
    return float(np.mean((total - stays) / np.maximum(total, 1e-300))) if count else 0.0
