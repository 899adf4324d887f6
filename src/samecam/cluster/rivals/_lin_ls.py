"""Large-scale clustering by coarse partition and refinement (Lin and Li 2017)."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from samecam import correlate
from samecam.arrays import Gram, Labels
from samecam.cluster.rivals import _lin_steps
from samecam.cluster.rivals._base import (
    Metric,
    Null,
    NullRival,
    Rival,
    Seed,
    check_at_least,
    check_rate,
    false_alarm_quantile,
    without_singles,
)
from samecam.cluster.rivals._lin_evidence import Evidence, FingerprintEvidence, GramEvidence
from samecam.cluster.rivals._mcl import markov_clusters
from samecam.compute import once
from samecam.errors import ParameterValueError

# The published thresholds, .008 at 256² and .005 at 1024², in units of 1/√d.
COARSE, FINE = 0.008 * 256, 0.005 * 1024
_ROUNDS = 10


class LinLS(NullRival):
    """Sparse graph of reduced fingerprints, coarse parts, Markov clustering, merging, attraction.

    Lin and Li, "Large-scale image clustering based on camera fingerprints", 2017. The method
    is covered by the patent US 10,460,205; it stands here for research, to compare with.

    1. Correlations of fingerprints reduced to 256×256, in batches, above .008 make a graph.
    2. ⌈n^¼⌉ coarse parts of small normalised cut.
    3. In each part full correlations above .005 make a graph, and Markov clustering small
       pure groups.
    4. Groups merge by a threshold that adapts to their sizes and quality.
    5. Group fingerprints are spectrum-equalised and attract the photos left over.
    6. Groups that stay small are dissolved; what is left goes through it again, until
       no group is added.

    The published thresholds belong to 256² and 1024²; for other sizes they are taken in
    units of 1/√d, 2.05 and 5.12. On correlations (`metric="precomputed"`) there is nothing to
    reduce or equalise and both thresholds apply to the same matrix.

    Not published, and chosen: reduction by area; spectral partition instead of Graclus; inflation
    2; merging above max(Q⁻¹(P_FA)·σ₀, H₁/2); P_FA = .001; groups under 3 photos are small;
    whole-image steps (green channel, centre, rotation, dark images) belong to extraction.

    Parameters
    ----------
    inflation : of Markov clustering
    false_alarm : P_FA of merging and attraction, each comparison
    min_size : photos a group must have to stay
    batch : photos that are compared at a time in step 1
    null : σ₀ is 1/√d ("published") or "measured", see `NullRival`
    random_state : of the coarse partition
    metric, memory, null_scale, n_pixels : as for `NullRival`

    Attributes
    ----------
    rounds_ : times that steps 1 to 6 were gone through; not there for a 1×1 Gram
    """

    def __init__(
        self,
        *,
        inflation: float = 2.0,
        false_alarm: float = 0.001,
        min_size: int = 3,
        batch: int = 4000,
        null: Null = "published",
        metric: Metric = "correlation",
        memory: int = correlate.DEFAULT_MEMORY,
        random_state: Seed = 0,
        null_scale: float | None = None,
        n_pixels: int | None = None,
    ) -> None:
        super().__init__(
            null=null, metric=metric, memory=memory, null_scale=null_scale, n_pixels=n_pixels
        )
        self.random_state = random_state
        self.inflation = inflation
        self.false_alarm = false_alarm
        self.min_size = min_size
        self.batch = batch

    def fit(self, X: Any, y: object = None) -> Rival:
        """Group the rows of `X`: fingerprints (array or store), or their correlations."""
        if self.metric == "precomputed":
            return super().fit(X, y)
        self.check_parameters()
        evidence = FingerprintEvidence(self._validated(X)[0], self.memory)
        coarse = self._set_scales(evidence)
        n = len(evidence.reduced)
        return self._finish(self._rounds(evidence, n, coarse))

    def check_parameters(self) -> None:
        """Refuse the first parameter out of range, before any work."""
        super().check_parameters()
        check_rate("false_alarm", self.false_alarm)
        check_at_least("min_size", self.min_size, 2)
        check_at_least("batch", self.batch, 1)
        if not 1 < self.inflation < np.inf:
            raise ParameterValueError(
                "inflation", f"{{name}} is {self.inflation}; give a number above 1"
            )

    def _set_scales(self, evidence: FingerprintEvidence) -> float:
        """Scale of chance of full fingerprints to `null_scale_`; returns that of reduced ones."""
        full, small = evidence.n_pixels, evidence.reduced.shape[1]
        if self.null_scale is not None:
            self.null_scale_ = self.null_scale
            return float(self.null_scale * np.sqrt(full / small))
        if self.null == "measured":
            self.null_scale_, coarse = evidence.scales()
            return coarse
        self.null_scale_ = float(1 / np.sqrt(full))
        return float(1 / np.sqrt(small))

    def _group(self, gram: Gram) -> Labels:
        return self._rounds(GramEvidence(gram), len(gram), self.null_scale_)

    def _rounds(self, evidence: Evidence, n: int, coarse_scale: float) -> Labels:
        state = check_random_state(self.random_state)
        floor = false_alarm_quantile(self.false_alarm) * self.null_scale_
        labels = np.full(n, -1, dtype=np.intp)
        self.rounds_ = 0
        for _ in range(_ROUNDS):
            self.rounds_ += 1
            before = np.count_nonzero(labels >= 0)
            labels = self._add_groups(evidence, labels, coarse_scale, state)
            if labels.max(initial=-1) < 0:
                break
            size = np.bincount(labels[labels >= 0])
            root = _lin_steps.merge_centroids(evidence.group_products(labels), size, floor)
            labels = _renumbered(np.where(labels >= 0, root[labels], -1))
            labels = _lin_steps.attract(labels, evidence.attraction(labels), floor)
            labels = _renumbered(self._screened(labels))
            if np.count_nonzero(labels >= 0) <= before:
                break
        return labels

    def _add_groups(
        self, evidence: Evidence, labels: Labels, coarse_scale: float, state: Any
    ) -> Labels:
        """Groups of photos that have none, by steps 1 to 3."""
        free = np.flatnonzero(labels < 0)
        result = labels.copy()
        graph = _lin_steps.batched_graph(evidence.coarse, free, self.batch, COARSE * coarse_scale)
        if graph.nnz == 0:
            return result
        count = int(np.ceil(len(free) ** 0.25))
        used = int(labels.max(initial=-1)) + 1
        for part in _lin_steps.coarse_parts(graph, count, state):
            nodes = free[part]
            linked = evidence.fine(nodes) > FINE * self.null_scale_
            np.fill_diagonal(linked, False)
            groups = without_singles(once(markov_clusters, linked, self.inflation))
            result[nodes] = np.where(groups >= 0, groups + used, -1)
            used += int(groups.max(initial=-1)) + 1
        return _renumbered(result)

    def _screened(self, labels: Labels) -> Labels:
        size = np.bincount(labels[labels >= 0], minlength=1)
        return np.where((labels >= 0) & (size[labels] >= self.min_size), labels, -1)


def _renumbered(labels: Labels) -> Labels:
    """The same groups numbered 0 … L−1 without gaps."""
    result = np.full(labels.shape, -1, dtype=np.intp)
    inside = labels >= 0
    result[inside] = np.unique(labels[inside], return_inverse=True)[1]
    return result
