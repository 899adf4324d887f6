"""Consolidated SSC-NC: no splitting, no eigengap, every threshold an error rate."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin

from samecam import correlate
from samecam.cluster._input import FingerprintInput
from samecam.cluster._labels import numbered
from samecam.cluster.consolidate._batches import Batch, group_in_batches, largest_batch
from samecam.cluster.consolidate._loop import Loop, Rates
from samecam.cluster.consolidate._steps import Groups, refine, start_groups
from samecam.cluster.consolidate._sums import GramSums

Gram = npt.NDArray[np.floating]
Labels = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Progress = Callable[[str, int, int], None]

_GAMMA = 2.0


class ConsolidatedSSC(FingerprintInput, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Sparse start, then refining and merging until nothing changes.

    1. The scale of chance is measured, σ₀ for all pairs and σ_i for each photo.
    2. Exact non-negative LASSO at γ = 2σ₀; its strongest coefficients make many small groups.
    3. Refine: every photo goes to the group whose fingerprint, without that photo, it
       correlates with best, or to none. Merge: groups that show at least half of what one
       camera would. Repeat until nothing changes.
    4. Groups that chance could have made dissolve.

    Where the correlations of all photos do not fit into `memory`, batches as large as do are
    grouped, and meet in a merging and refining of all.

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
        start: npt.ArrayLike | None = None,
        progress: Progress | None = None,
    ) -> "ConsolidatedSSC":
        """Group the rows of `X`: fingerprints (array or store), or their correlations.

        Parameters
        ----------
        X : (n, d) fingerprints, a store of them, or (n, n) correlations
        weak : (n,) photos that found no group and do not count in any, but may join at the end
        start : (n,) groups of an earlier answer to begin with, −1 for photos that had none; only
            these are represented. In batches, beyond `memory`, it is not used
        progress : called with a phase, what is done of it, and how much there is
        """
        self.check_parameters()
        say = progress or _silent
        source, n_pixels = self._validated(X)
        n = len(source)
        good = _good(weak, n)
        begun = _begun(start, n)
        rates = Rates(self.found_rate, self.join_rate, self.merge_rate)
        if self.metric == "precomputed" or n <= largest_batch(self.memory):
            labels = self._whole(source, n_pixels, rates, good, begun, say)
        else:
            labels = self._in_batches(source, n_pixels, rates, good, say)
        self.labels_ = numbered(labels)
        self.n_clusters_ = int(self.labels_.max(initial=-1)) + 1
        return self

    def check_parameters(self) -> None:
        """Raise a sentence for the first parameter out of range."""
        self._check_input_parameters()
        for name in ("found_rate", "join_rate", "merge_rate"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; give a rate between 0 and 1")

    def _whole(
        self,
        source: Any,
        n_pixels: int | None,
        rates: Rates,
        good: Mask,
        begun: Labels,
        say: Progress,
    ) -> Labels:
        """All photos at once, from the correlations of all pairs."""
        say("Correlating", 0, 1)
        gram = self._gram(source)
        say("Correlating", 1, 1)
        start = self._start(gram, n_pixels, say, begun)
        self.null_scale_, self.photo_scales_, self.report_ = (
            start.null_scale,
            start.scales,
            start.report,
        )
        self.gamma_ = _GAMMA * self.null_scale_
        say("Grouping", 0, 1)
        loop = Loop(rates, int(good.sum()))
        groups = Groups.make(GramSums(gram, start.scales), np.where(good, start.labels, -1))
        loop.run(groups, good)
        self.trace_ = loop.trace
        labels = refine(groups, rates.join, ~good)
        say("Grouping", 1, 1)
        return labels

    def _in_batches(
        self, source: Any, n_pixels: int | None, rates: Rates, good: Mask, say: Progress
    ) -> Labels:
        """Batches as large as memory allows; see `_batches`."""

        def one_batch(rows: Labels) -> Batch:
            gram = self._gram(source, rows)
            start = self._start(gram, n_pixels, _silent)
            groups = Groups.make(
                GramSums(gram, start.scales), np.where(good[rows], start.labels, -1)
            )
            Loop(rates, len(rows)).run(groups, good[rows], founding=False)
            return replace(start, labels=groups.labels)

        whole = group_in_batches(source, self.memory, rates, good, one_batch, say)
        worst = max(whole.batches, key=lambda batch: batch.report.kkt_violation)
        self.null_scale_ = float(np.median([batch.null_scale for batch in whole.batches]))
        self.gamma_ = _GAMMA * self.null_scale_
        self.photo_scales_, self.report_, self.trace_ = whole.scales, worst.report, whole.trace
        return whole.labels

    def _start(
        self, gram: Gram, n_pixels: int | None, say: Progress, begun: Labels | None = None
    ) -> Batch:
        """Scales of chance, and many small groups beside those that are `begun`."""
        scale = self._null_scale(gram, n_pixels)
        scales = correlate.photo_scales(gram, scale)
        say("Representing", 0, 1)
        labels = np.full(len(gram), -1, dtype=np.intp) if begun is None else begun.copy()
        free = np.flatnonzero(labels < 0)
        part = gram if len(free) == len(gram) else gram[np.ix_(free, free)]
        coefficients, report = self._represented(part, _GAMMA * scale)
        found = start_groups(coefficients)
        labels[free] = np.where(found >= 0, found + labels.max(initial=-1) + 1, -1)
        say("Representing", 1, 1)
        return Batch(labels, scales, scale, report)


def _silent(phase: str, done: int, total: int) -> None:
    """Show nothing."""


def _good(weak: npt.ArrayLike | None, n: int) -> Mask:
    """The photos that are not weak."""
    mask = np.zeros(n, dtype=bool) if weak is None else np.asarray(weak, dtype=bool)
    if mask.shape != (n,):
        raise ValueError(f"weak has shape {mask.shape}; give a true or false for each of {n} rows")
    good: Mask = ~mask
    return good


def _begun(start: npt.ArrayLike | None, n: int) -> Labels:
    """Groups to begin with; −1 for all if none are given."""
    if start is None:
        return np.full(n, -1, dtype=np.intp)
    labels = np.asarray(start)
    if labels.shape != (n,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"start has shape {labels.shape} and dtype {labels.dtype}; give a whole number for "
            f"each of {n} rows"
        )
    return numbered(labels)
