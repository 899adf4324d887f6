"""Consolidated SSC-NC: no splitting, no eigengap, every threshold an error rate."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin

from samecam import correlate
from samecam.cluster._input import FingerprintInput
from samecam.cluster._labels import numbered
from samecam.cluster.consolidate import _steps
from samecam.cluster.consolidate._sums import GramSums, Sums

Gram = npt.NDArray[np.floating]
Labels = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Progress = Callable[[str, int, int], None]

_ROUNDS = 20
_SWEEPS = 10
_GAMMA = 2.0


class ConsolidatedSSC(FingerprintInput, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Sparse start, then refining and merging until nothing changes.

    1. The scale of chance is measured, σ₀ for all pairs and σ_i for each photo.
    2. Exact non-negative LASSO at γ = 2σ₀; its strongest coefficients make many small groups.
    3. Refine: every photo goes to the group whose fingerprint, without that photo, it
       correlates with best, or to none. Merge: groups that show at least half of what one
       camera would. Repeat until nothing changes.
    4. Groups that chance could have made dissolve.

    Parameters
    ----------
    found_rate : probability that noise alone holds any group at all (family-wise)
    join_rate : probability that a photo of another camera joins any of the groups
    merge_rate : probability that any two groups are joined by chance
    metric, memory, null_scale, n_pixels : as for `SSC`

    Attributes
    ----------
    labels_ : (n,) groups from 0, largest first; −1 is unclustered
    n_clusters_, null_scale_, gamma_, report_ : as for `SSC`
    photo_scales_ : (n,) scale of chance of each photo
    trace_ : one entry a round: groups, clustered photos, photos that changed
    """

    def __init__(
        self,
        *,
        found_rate: float = 0.001,
        join_rate: float = 0.01,
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

    def fit(
        self,
        X: Any,
        y: object = None,  # noqa: ARG002
        *,
        weak: npt.ArrayLike | None = None,
        progress: Progress | None = None,
    ) -> "ConsolidatedSSC":
        """Group the rows of `X`: fingerprints (array or store), or their correlations.

        Parameters
        ----------
        X : (n, d) fingerprints, a store of them, or (n, n) correlations
        weak : (n,) photos that found no group and do not count in any, but may join at the end
        progress : called with a phase, what is done of it, and how much there is
        """
        self.check_parameters()
        gram, n_pixels = self._correlations(X)
        self.null_scale_ = self._null_scale(gram, n_pixels)
        self.gamma_ = _GAMMA * self.null_scale_
        self.photo_scales_ = correlate.photo_scales(gram, self.null_scale_)
        coefficients, self.report_ = self._represented(gram, self.gamma_)
        self.trace_: list[dict[str, int]] = []
        good = _good(weak, len(gram))
        start = np.where(good, _steps.start_groups(coefficients), -1)
        labels = self._consolidate(GramSums(gram, self.photo_scales_), start, good)
        self.labels_ = numbered(labels)
        self.n_clusters_ = int(self.labels_.max(initial=-1)) + 1
        return self

    def check_parameters(self) -> None:
        """Raise a sentence for the first parameter out of range."""
        self._check_input_parameters()
        for name in ("found_rate", "join_rate", "merge_rate"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; give a rate between 0 and 1")

    def _consolidate(self, sums: Sums, labels: Labels, good: Mask) -> Labels:
        groups = _steps.Groups.make(sums, labels)
        n_images = int(good.sum())
        for _ in range(_ROUNDS):
            before = groups.labels
            self._settle(groups, good)
            _steps.merge(groups, self.merge_rate)
            _steps.found(groups, self.found_rate, n_images)
            self._settle(groups, good)
            changed = _changed(before, groups.labels)
            self.trace_.append(
                {
                    "groups": len(groups.products),
                    "clustered": int(np.count_nonzero(groups.labels >= 0)),
                    "changed": changed,
                }
            )
            if changed == 0:
                break
        self._prune(groups)
        return _steps.refine(groups, self.join_rate, ~good)

    def _settle(self, groups: _steps.Groups, good: Mask) -> None:
        """Refine until nobody moves, or for ten sweeps."""
        for _ in range(_SWEEPS):
            refined = _steps.refine(groups, self.join_rate, good)
            if (refined == groups.labels).all():
                return
            groups.move(refined)

    def _prune(self, groups: _steps.Groups) -> None:
        """Let photos leave, and none join, until all are where they belong.

        Two photos that keep each other out of a group go in and out for ever in `_settle`.
        """
        while True:
            _steps.found(groups, self.found_rate, len(groups.labels))
            refined = _steps.refine(groups, self.join_rate)
            stay = refined == groups.labels
            if stay[groups.labels >= 0].all():
                return
            groups.move(np.where(stay, groups.labels, -1))


def _good(weak: npt.ArrayLike | None, n: int) -> Mask:
    """The photos that are not weak."""
    mask = np.zeros(n, dtype=bool) if weak is None else np.asarray(weak, dtype=bool)
    if mask.shape != (n,):
        raise ValueError(f"weak has shape {mask.shape}; give a true or false for each of {n} rows")
    good: Mask = ~mask
    return good


def _changed(before: Labels, after: Labels) -> int:
    """Photos whose group is another one, whatever the groups are called."""
    a, b = numbered(before), numbered(after)
    return int(np.count_nonzero(a != b))
