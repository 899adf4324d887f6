"""Consolidated SSC-NC: no splitting, no eigengap, every threshold an error rate."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin

from samecam import correlate
from samecam.cluster._input import FingerprintInput
from samecam.cluster._labels import numbered
from samecam.cluster.consolidate import _steps

Gram = npt.NDArray[np.floating]
Labels = npt.NDArray[np.intp]

_ROUNDS = 20
_SWEEPS = 10
_GAMMA = 2.0


class ConsolidatedSSC(FingerprintInput, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Sparse start, then refining and merging until nothing changes.

    1. The scale of chance σ₀ is measured.
    2. Exact non-negative LASSO at γ = 2σ₀; its strongest coefficients make many small groups.
    3. Refine: every photo goes to the group whose fingerprint, without that photo, it
       correlates with best, or to none. Merge: groups that show at least half of what one
       camera would. Repeat until nothing changes.
    4. Groups that chance could have made dissolve.

    Parameters
    ----------
    found_rate : probability that noise alone holds any group at all (family-wise)
    join_rate : probability that a photo of another camera joins any of the groups. On real
        photographs chance has heavier tails than the normal law: at .02 three strangers of
        384 photos joined, at .005 two or none, at .001 none.
    merge_rate : probability that any two groups are joined by chance
    metric, memory, null_scale, n_pixels : as for `SSC`

    Attributes
    ----------
    labels_ : (n,) groups from 0, largest first; −1 is unclustered
    n_clusters_, null_scale_, gamma_, report_ : as for `SSC`
    trace_ : one entry a round: groups, clustered photos, photos that changed
    """

    def __init__(
        self,
        *,
        found_rate: float = 0.001,
        join_rate: float = 0.005,
        merge_rate: float = 0.001,
        metric: Literal["correlation", "precomputed"] = "correlation",
        memory: int = correlate.DEFAULT_MEMORY,
        null_scale: float | None = None,
        n_pixels: int | None = None,
    ) -> None:
        self.found_rate = found_rate
        self.join_rate = join_rate
        self.merge_rate = merge_rate
        self.metric = metric
        self.memory = memory
        self.null_scale = null_scale
        self.n_pixels = n_pixels

    def fit(self, X: Any, y: object = None) -> "ConsolidatedSSC":  # noqa: ARG002
        """Group the rows of `X`: fingerprints (array or store), or their correlations."""
        self.check_parameters()
        gram, n_pixels = self._correlations(X)
        self.null_scale_ = self._null_scale(gram, n_pixels)
        self.gamma_ = _GAMMA * self.null_scale_
        coefficients, self.report_ = self._represented(gram, self.gamma_)
        self.trace_: list[dict[str, int]] = []
        labels = self._consolidate(gram, _steps.start_groups(coefficients))
        self.labels_ = numbered(labels)
        self.n_clusters_ = int(self.labels_.max(initial=-1)) + 1
        return self

    def check_parameters(self) -> None:
        """Raise a sentence for the first parameter out of range."""
        self._check_input_parameters()
        for name in ("found_rate", "join_rate", "merge_rate"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; give a rate between 0 and 1")

    def _consolidate(self, gram: Gram, labels: Labels) -> Labels:
        scale = self.null_scale_
        labels = _steps.compact(labels)
        for _ in range(_ROUNDS):
            before = labels
            labels = self._settle(gram, labels)
            labels = _steps.compact(_steps.merge(gram, labels, scale, self.merge_rate))
            labels = _steps.compact(_steps.found(gram, labels, scale, self.found_rate))
            labels = self._settle(gram, labels)
            changed = _changed(before, labels)
            self.trace_.append(
                {
                    "groups": int(labels.max(initial=-1)) + 1,
                    "clustered": int(np.count_nonzero(labels >= 0)),
                    "changed": changed,
                }
            )
            if changed == 0:
                break
        return _steps.compact(_steps.found(gram, labels, scale, self.found_rate))

    def _settle(self, gram: Gram, labels: Labels) -> Labels:
        """Refine until nobody moves, or for ten sweeps."""
        for _ in range(_SWEEPS):
            refined = _steps.compact(_steps.refine(gram, labels, self.null_scale_, self.join_rate))
            if _changed(labels, refined) == 0:
                return refined
            labels = refined
        return labels


def _changed(before: Labels, after: Labels) -> int:
    """Photos whose group is another one, whatever the groups are called."""
    a, b = numbered(before), numbered(after)
    return int(np.count_nonzero(a != b))
