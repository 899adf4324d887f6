"""Sparse subspace clustering of fingerprints: SSC and, with Z ≥ 0, SSC-NC."""

import sys
from numbers import Integral, Real
from typing import Any, Literal, get_args

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state

from samecam import compute, correlate
from samecam.arrays import Gram
from samecam.cluster._gamma import cost_gamma, null_gamma, paper_gamma
from samecam.cluster._graph import SCALINGS, Scaling, affinity
from samecam.cluster._input import FingerprintInput
from samecam.cluster._labels import numbered
from samecam.cluster._spectral import Eigengap, eigengap, spectral_groups, spectrum
from samecam.errors import ParameterValueError
from samecam.represent import Solver


class SSC(FingerprintInput, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Sparse subspace clustering (Phan 2017), coefficients of both signs.

    Every fingerprint is represented sparsely by the others, the representations make a
    graph, and its spectrum tells the number of groups and who belongs to which.

    Parameters
    ----------
    gamma : "auto", "paper", "cost" or a number
        Weight of the ℓ₁ norm in ½‖XZ − X‖² + γ‖Z‖₁. "auto": twice the measured scale of
        chance (`null_gamma`). "paper": the published value for this size (`paper_gamma`).
        "cost": the smallest cost of Phan 2017 over a grid (`cost_gamma`), dear.
    n_clusters : number of groups; None reads it off the eigengap
    solver : "exact", "admm" or "authors", see `samecam.represent.represent`
    scaling : of the representations in the graph, see `affinity`
    eigengap : "guarded" or "authors", see `samecam.cluster.eigengap`
    metric : "correlation" takes fingerprints, centred and normalised inside;
        "precomputed" takes their correlations
    memory : bytes that forming the correlations may take, the result included
    random_state : of k-means
    null_scale : standard deviation of different-camera correlations; None measures it
    n_pixels : length of the fingerprints, where only correlations are given
    device : "cpu", "cuda", "cuda:1", … or "auto": correlations, representation and spectrum
        are computed there (the grid of "cost" on the processor); labels agree to what
        rounding may move

    Attributes
    ----------
    labels_ : (n,) groups from 0, largest first; −1 is unclustered (linked to nobody)
    n_clusters_ : number of groups
    coefficients_ : (n, n) CSR, row i represents image i
    affinity_ : (n, n) CSR
    eigenvalues_ : ascending, of the normalised Laplacian without isolated images
    gamma_, null_scale_ : as used
    report_ : of the solver, with its certificate
    """

    _nonnegative = False

    def __init__(
        self,
        *,
        gamma: float | Literal["auto", "paper", "cost"] = "auto",
        n_clusters: int | None = None,
        solver: Solver = "exact",
        scaling: Scaling = "max",
        eigengap: Eigengap = "guarded",
        metric: Literal["correlation", "precomputed"] = "correlation",
        memory: int = correlate.DEFAULT_MEMORY,
        random_state: int | np.random.RandomState | None = 0,
        null_scale: float | None = None,
        n_pixels: int | None = None,
        device: str = "cpu",
    ) -> None:
        self.gamma = gamma
        self.n_clusters = n_clusters
        self.solver = solver
        self.scaling = scaling
        self.eigengap = eigengap
        self.metric = metric
        self.memory = memory
        self.random_state = random_state
        self.null_scale = null_scale
        self.n_pixels = n_pixels
        self.device = device

    def fit(self, X: Any, y: object = None) -> "SSC":  # noqa: ARG002 - the convention
        """Group the rows of `X`: fingerprints (array or store), or their correlations."""
        self.check_parameters()
        device = compute.choose_device(self.device)
        gram, n_pixels = self._correlations(X)
        if self.n_clusters is not None and self.n_clusters > len(gram):
            raise ParameterValueError(
                "n_clusters",
                f"{{name}} is {self.n_clusters} but there are {len(gram)} images; choose fewer, "
                "or leave it out",
            )
        self.null_scale_ = self._null_scale(gram, n_pixels)
        self.gamma_ = self._choose_gamma(gram, n_pixels)
        self.coefficients_, self.report_ = self._represented(
            gram, self.gamma_, nonnegative=self._nonnegative, solver=self.solver, device=device
        )
        self.affinity_ = affinity(self.coefficients_, self.scaling)
        eigen = compute.once(spectrum, self.affinity_, self.n_clusters or 0, device)
        self.eigenvalues_ = eigen.values
        count = self.n_clusters
        if count is None:
            count = eigengap(eigen.values, self.eigengap, n_nodes=eigen.n_nodes)
        state = check_random_state(self.random_state)
        self.labels_ = numbered(spectral_groups(self.affinity_, eigen, count, state))
        self.n_clusters_ = int(self.labels_.max(initial=-1)) + 1
        return self

    def check_parameters(self) -> None:
        """Refuse the first parameter out of range, before any work."""
        self._check_input_parameters()
        count = self.n_clusters
        whole = isinstance(count, Integral) and not isinstance(count, bool)
        if count is not None and not (whole and count >= 1):
            raise ParameterValueError(
                "n_clusters", f"{{name}} is {count!r}; choose 1 or more, or leave it out"
            )
        if self.solver not in get_args(Solver):
            raise ParameterValueError(
                "solver", f"{{name}} is {self.solver!r}; choose from {get_args(Solver)}"
            )
        if self.scaling not in SCALINGS:
            raise ParameterValueError(
                "scaling", f"{{name}} is {self.scaling!r}; choose from {SCALINGS}"
            )
        if self.eigengap not in ("guarded", "authors"):
            raise ParameterValueError(
                "eigengap", f"{{name}} is {self.eigengap!r}; choose 'guarded' or 'authors'"
            )
        number = isinstance(self.gamma, Real) and 0 < self.gamma < sys.float_info.max
        if not number and self.gamma not in ("auto", "paper", "cost"):
            raise ParameterValueError(
                "gamma",
                f"{{name}} is {self.gamma!r}; give a positive number, 'auto', 'paper' or 'cost'",
            )

    def _choose_gamma(self, gram: Gram, n_pixels: int | None) -> float:
        if self.gamma == "auto":
            return null_gamma(self.null_scale_, self.solver)
        if self.gamma == "cost":
            state = check_random_state(self.random_state)
            return cost_gamma(
                gram, nonnegative=self._nonnegative, solver=self.solver, random_state=state
            ).gamma
        if self.gamma == "paper":
            if n_pixels is None:
                raise ParameterValueError(
                    "gamma", "{name} is 'paper' but the size is unknown; give n_pixels"
                )
            return paper_gamma(n_pixels, self.solver)
        return float(self.gamma)


class SSCNC(SSC):
    """SSC with non-negative coefficients (SSC-NC), the paper's method for medium sets.

    Correlations of one camera's photographs are positive, so negative coefficients
    only ever link strangers. Parameters and attributes are those of `SSC`.
    """

    _nonnegative = True
