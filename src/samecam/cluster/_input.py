"""What every method takes: fingerprints, a store of them, or their correlations."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from samecam import correlate
from samecam.represent import Representation, represent
from samecam.store import FingerprintStore

Gram = npt.NDArray[np.floating]


class FingerprintInput:
    """Mixin of estimators with `metric`, `memory`, `null_scale` and `n_pixels`.

    It stands before scikit-learn's base classes.
    """

    metric: str
    memory: int
    null_scale: float | None
    n_pixels: int | None

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that precomputed input is pairwise."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def _check_input_parameters(self) -> None:
        """Raise a sentence for the first of these parameters that is out of range."""
        if self.metric not in ("correlation", "precomputed"):
            raise ValueError(f"metric is {self.metric!r}; choose 'correlation' or 'precomputed'")
        if self.null_scale is not None and not 0 < self.null_scale < np.inf:
            raise ValueError(f"null_scale is {self.null_scale}; give a positive number, or None")
        if self.n_pixels is not None and self.n_pixels < 1:
            raise ValueError(f"n_pixels is {self.n_pixels}; give the length of a fingerprint")

    def _correlations(self, X: Any) -> tuple[Gram, int | None]:
        """Correlations of the input, and the length of a fingerprint if it is known."""
        if isinstance(X, FingerprintStore):
            return self._correlations_of_store(X), self.n_pixels or X.n_pixels
        rows = validate_data(self, X, dtype=[np.float32, np.float64], order="C")
        if self.metric == "correlation":
            gram = correlate.gram(correlate.normalised(rows), memory=self.memory)
            return gram, self.n_pixels or rows.shape[1]
        if rows.shape[0] != rows.shape[1]:
            raise ValueError(
                f"X has shape {rows.shape} and metric is 'precomputed'; give the (n, n) "
                "correlations of all images"
            )
        return rows, self.n_pixels

    def _correlations_of_store(self, store: FingerprintStore) -> Gram:
        if self.metric == "precomputed":
            raise ValueError("metric is 'precomputed' but X is a store; use 'correlation'")
        if len(store) == 0:
            raise ValueError("X holds no fingerprint; give at least one")
        self.n_features_in_ = store.n_pixels
        gram = correlate.gram(store, memory=self.memory)
        if not np.isfinite(gram.sum()):
            bad = int(np.argmin(np.isfinite(gram).sum(axis=1)))
            raise ValueError(
                f"the fingerprint of {store.keys[bad]!r} contains NaN or infinite values; leave "
                "it out"
            )
        return gram

    def _represented(self, gram: Gram, gamma: float, **options: Any) -> Representation:
        """Sparse representation of all images; a missed certificate is a warning."""
        answer = represent(gram, gamma, **options)
        if not answer.report.converged:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"the solver stopped with a KKT violation of {answer.report.kkt_violation:.1e}; "
                "raise gamma, or leave out photos that are copies of one another",
                ConvergenceWarning,
                stacklevel=3,
            )
        return answer

    def _null_scale(self, gram: Gram, n_pixels: int | None) -> float:
        if self.null_scale is not None:
            return self.null_scale
        return correlate.null_scale(gram, n_pixels)
