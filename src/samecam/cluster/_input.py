"""What every method takes: fingerprints, a store of them, or their correlations."""

import inspect
import math
import warnings
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from samecam import compute, correlate
from samecam.arrays import Gram
from samecam.errors import ParameterError, ParameterValueError
from samecam.represent import Representation, SolverReport, check_correlations, represent
from samecam.store import FingerprintStore

# Parameters that are numbers, or left out.
_NUMBERS = ("null_scale", "usual_scale", "n_pixels", "batch_size")


def _is_number(value: object) -> bool:
    """Whether it is one, and not too large to reckon with."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return not math.isnan(float(value))
    except OverflowError:
        return False


class FingerprintInput:
    """Mixin of estimators with `metric`, `memory` and `n_pixels`; before scikit-learn's classes.

    Those that use the scale of chance have `null_scale` too, and those that can compute on a
    GPU `device`.
    """

    metric: str
    memory: int
    null_scale: float | None = None
    n_pixels: int | None
    device: str = "cpu"

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that precomputed input is pairwise."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def _check_input_parameters(self) -> None:
        """Refuse the first of these parameters that is out of range, or any of a wrong kind."""
        self._check_kinds()
        if self.metric not in ("correlation", "precomputed"):
            raise ParameterValueError(
                "metric", f"{{name}} is {self.metric!r}; choose 'correlation' or 'precomputed'"
            )
        if self.null_scale is not None and not 0 < self.null_scale < np.inf:
            raise ParameterValueError(
                "null_scale",
                f"{{name}} is {self.null_scale}; give a positive number, or leave it out",
            )
        if self.n_pixels is not None and self.n_pixels < 1:
            raise ParameterValueError(
                "n_pixels", f"{{name}} is {self.n_pixels}; give the length of a fingerprint"
            )
        try:
            compute.check_device(self.device)
        except ParameterError as error:
            raise ParameterValueError(error.parameter, error.message.rstrip(".")) from None

    def _check_kinds(self) -> None:
        """Refuse what is no number where one is wanted, by the defaults of all parameters."""
        for name, parameter in inspect.signature(type(self).__init__).parameters.items():
            default = parameter.default
            wanted = name in _NUMBERS or (
                isinstance(default, int | float) and not isinstance(default, bool)
            )
            value = getattr(self, name) if wanted else None
            if wanted and name != "random_state" and value is not default and not _is_number(value):
                raise ParameterValueError(name, f"{{name}} is {value!r:.40}; give a number")

    def _validated(self, X: Any) -> tuple[correlate.Source, int | None]:
        """A store, rows of unit norm, or correlations; and the length of a fingerprint if known."""
        if isinstance(X, FingerprintStore):
            if self.metric == "precomputed":
                raise ParameterValueError(
                    "metric", "{name} is 'precomputed' but X is a store; use 'correlation'"
                )
            if len(X) == 0:
                raise ValueError("X holds no fingerprint; give at least one")
            self.n_features_in_ = X.n_pixels
            return X, self.n_pixels or X.n_pixels
        rows = validate_data(self, X, dtype=[np.float32, np.float64], order="C")
        if self.metric == "correlation":
            return correlate.normalised(rows), self.n_pixels or rows.shape[1]
        if rows.shape[0] != rows.shape[1]:
            raise ValueError(
                f"X has shape {rows.shape} and metric is 'precomputed'; give the (n, n) "
                "correlations of all images"
            )
        check_correlations(rows)
        return rows, self.n_pixels

    def _correlations(self, X: Any) -> tuple[Gram, int | None]:
        """Correlations of the input, and the length of a fingerprint if it is known."""
        source, n_pixels = self._validated(X)
        return self._gram(source), n_pixels

    def _gram(self, source: correlate.Source, rows: npt.NDArray[np.intp] | None = None) -> Gram:
        """Correlations of all rows of a source, or of some, as an array."""
        if self.metric == "precomputed":
            return np.asarray(source)
        device = compute.choose_device(self.device)
        gram = correlate.gram(source, rows=rows, memory=self.memory, device=device)
        self._check_finite(gram, source, rows)
        return gram

    def _check_finite(
        self, gram: Any, source: correlate.Source, rows: npt.NDArray[np.intp] | None
    ) -> None:
        """Refuse a row that holds no number; `gram` is an array or a tensor."""
        if not np.isfinite(float(gram.sum())):
            there = np.isfinite(gram if isinstance(gram, np.ndarray) else gram.cpu().numpy())
            bad = int(np.argmin(there.sum(axis=1)))
            row = bad if rows is None else int(rows[bad])
            name = source.keys[row] if isinstance(source, FingerprintStore) else f"row {row}"
            raise ValueError(
                f"the fingerprint of {name!r} contains NaN or infinite values; leave it out"
            )

    def _represented(self, gram: Gram, gamma: float, **options: Any) -> Representation:
        """Sparse representation of all images; a missed certificate is a warning."""
        representation = compute.once(represent, gram, gamma, **options)
        self._warn(representation.report)
        return representation

    def _warn(self, report: SolverReport) -> None:
        """Warn of a missed certificate."""
        if not report.converged:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"The solver stopped with a KKT violation of {report.kkt_violation:.1e}: "
                "raise gamma, or leave out photos that are copies of one another.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _null_scale(self, gram: Gram, n_pixels: int | None) -> float:
        if self.null_scale is not None:
            return self.null_scale
        return correlate.null_scale(gram, n_pixels)
