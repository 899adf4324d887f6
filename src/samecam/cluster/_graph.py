"""From representations to a graph of photographs."""

from typing import Any, Literal

import numpy as np

Scaling = Literal["max", "l1", "none"]
SCALINGS = ("max", "l1", "none")


def affinity(coefficients: Any, scaling: Scaling = "max") -> Any:
    """Symmetric non-negative weights S = (|C| + |C|ᵀ)/2 of the scaled coefficients, CSR.

    Parameters
    ----------
    coefficients : (n, n) sparse, row i represents image i (a column of the paper's V)
    scaling : "max" divides each representation by its largest coefficient, as the
        released code does; "l1" by its sum, as Phan 2017 prints; "none" takes it as it
        is, as the paper prints. Zero rows stay zero.
    """
    from scipy import sparse

    weights = sparse.csr_array(abs(coefficients))
    if scaling != "none":
        if scaling == "max":
            scale = np.asarray(weights.max(axis=1).todense()).ravel()
        else:
            scale = np.asarray(weights.sum(axis=1)).ravel()
        scale = np.where(scale > 0, scale, 1).astype(np.float64)
        weights = sparse.diags_array(1 / scale) @ weights
    result = sparse.csr_array((weights + weights.T) / 2)
    result.eliminate_zeros()  # a stored zero would count as an edge
    return result
