"""Sparse representation: every photograph as a combination of the others, with a certificate.

The problem, once, in the paper's symbols (one column a photograph)::

    minimise  ½‖XZ − X‖²_F + γ‖Z‖₁   with  diag Z = 0  and, unless both signs are asked, Z ≥ 0

Here rows are photographs: row i of `coefficients` (Zᵀ of the paper) represents image i, and
only the correlations ``gram`` = X Xᵀ (n, n) are needed. Row by row it reads ::

    minimise  ½(g_ii − 2 c·g_i + c G cᵀ) + γ‖c‖₁   with  c_i = 0

`represent` solves it; `objective`, `gradient`, `kkt_violation`, `duality_gap` and `gamma_max`
judge a solution, whoever gave it; `check_gram`, `check_range` and
`check_correlations` refuse what is no Gram.
"""

from samecam.represent._checks import check_correlations, check_gram, check_range
from samecam.represent._problem import (
    duality_gap,
    gamma_max,
    gradient,
    kkt_violation,
    objective,
)
from samecam.represent._represent import Representation, Solver, SolverReport, represent

__all__ = [
    "Representation",
    "Solver",
    "SolverReport",
    "check_correlations",
    "check_gram",
    "check_range",
    "duality_gap",
    "gamma_max",
    "gradient",
    "kkt_violation",
    "objective",
    "represent",
]
