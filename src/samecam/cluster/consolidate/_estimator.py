"""Consolidated SSC-NC: no splitting, no eigengap, every threshold an error rate."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin

from samecam import compute, correlate
from samecam.arrays import Doubles, Labels, Mask
from samecam.cluster._input import FingerprintInput
from samecam.cluster._labels import numbered
from samecam.cluster._remote import batch_data, run_remote
from samecam.cluster.consolidate._batches import (
    RemoteBatch,
    group_in_batches,
    group_remote_batch,
    largest_batch,
    names_of,
)
from samecam.cluster.consolidate._constraints import Bonds, Constraints, bonds
from samecam.cluster.consolidate._loop import Loop, Rates
from samecam.cluster.consolidate._start import GAMMA, BatchResult, Rules, begin, group_batch
from samecam.cluster.consolidate._steps import Groups, let_in
from samecam.cluster.consolidate._sums import gram_sums
from samecam.compute import Executor
from samecam.errors import ParameterValueError

Progress = Callable[[str, int, int], None]


class ConsolidatedSSC(FingerprintInput, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Sparse start, then refining and merging until nothing changes.

    1. The scale of chance is measured, σ₀ for all pairs and σ_i for each photo.
    2. Non-negative LASSO of each photo on the 32 most correlated others at γ = 2σ₀; its
       strongest coefficients make many small groups.
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
    metric, null_scale, n_pixels : as for `SSC`
    usual_scale : what the scale of chance leans on where photos are few: that of other photos,
        in units of 1/√d; None: 1.4, as on real photographs, where there are fewer than 8
    memory : bytes for everything held at a time, on the GPU if that computes
    batch_size : photos a batch at most; None: as many as `memory` holds
    device : "cpu", "cuda", "cuda:1", … or "auto"; labels agree to what rounding may move

    Attributes
    ----------
    labels_ : (n,) groups from 0, largest first; −1 is unclustered
    n_clusters_, null_scale_, gamma_, report_ : as for `SSC`
    photo_scales_ : (n,) scale of chance of each photo
    memory_ : bytes that were taken for the budget: `memory`, or less if a GPU had not as much
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
        batch_size: int | None = None,
        device: str = "cpu",
        usual_scale: float | None = None,
    ) -> None:
        self.found_rate = found_rate
        self.join_rate = join_rate
        self.merge_rate = merge_rate
        self.metric = metric
        self.memory = memory
        self.null_scale = null_scale
        self.n_pixels = n_pixels
        self.batch_size = batch_size
        self.device = device
        self.usual_scale = usual_scale

    def fit(
        self,
        X: Any,
        y: object = None,  # noqa: ARG002
        *,
        weak: npt.ArrayLike | None = None,
        colour: npt.ArrayLike | None = None,
        start: npt.ArrayLike | None = None,
        progress: Progress | None = None,
        executor: Executor | None = None,
        constraints: Constraints | None = None,
        keep: Callable[[Any], None] | None = None,
    ) -> "ConsolidatedSSC":
        """Group the rows of `X`: fingerprints (array or store), or their correlations.

        Parameters
        ----------
        X : (n, d) fingerprints, a store of them, or (n, n) correlations
        weak : (n,) photos that found no group and do not count in any, but may join at the end
        colour : (n,) how smooth each fingerprint is (`FrameRow.colour`): a photo's scale of chance
            is not below √(colour/√d); None: unknown
        start : (n,) groups of an earlier answer to begin with, −1 for photos that had none; only
            these are represented. In batches, beyond `memory`, it is not used
        progress : called with a phase, what is done of it, and how much there is
        executor : groups batches, if its workers have memory of their own and no GPU is used
            here; the result is the same
        constraints : what persons decided about rows; None: nothing
        keep : called with the correlations of all photos, an array or a tensor on the GPU, where
            they are in memory at once
        """
        self.check_parameters()
        report = progress or _silent
        source, n_pixels = self._validated(X)
        n = len(source)
        good, smooth = _good(weak, n), _colours(colour, n, n_pixels)
        start_labels, decided = _start_labels(start, n), bonds(constraints, n)
        device = compute.choose_device(self.device)
        rates = Rates(self.found_rate, self.join_rate, self.merge_rate)

        def group(memory: int) -> Labels:
            self.memory_ = memory
            rules = Rules(rates, self.null_scale, n_pixels, memory, device, self.usual_scale)
            largest = min(largest_batch(memory, device), self.batch_size or n)
            if self.metric == "precomputed" or n <= largest:
                return self._whole(source, rules, good, start_labels, smooth, decided, report, keep)
            return self._in_batches(source, rules, good, smooth, decided, executor, report)

        labels = compute.retry_with_less_memory(group, self.memory, device)
        self.gamma_ = GAMMA * self.null_scale_
        self._warn(self.report_)
        self.labels_ = numbered(labels) if decided is None else decided.settled(labels)
        self.n_clusters_ = int(self.labels_.max(initial=-1)) + 1
        return self

    def check_parameters(self) -> None:
        """Raise an error for the first parameter out of range."""
        self._check_input_parameters()
        for name in ("found_rate", "join_rate", "merge_rate"):
            if not 0 < getattr(self, name) < 1:
                raise ParameterValueError(
                    name, f"{{name}} is {getattr(self, name)}; give a rate between 0 and 1"
                )
        if self.batch_size is not None and self.batch_size < 2:
            raise ParameterValueError(
                "batch_size", f"{{name}} is {self.batch_size}; give 2 or more, or leave it out"
            )

    def _whole(
        self,
        source: Any,
        rules: Rules,
        good: Mask,
        start: Labels,
        colour: Doubles | None,
        decided: Bonds | None,
        progress: Progress,
        keep: Callable[[Any], None] | None,
    ) -> Labels:
        """All photos at once, from the correlations of all pairs."""
        n = len(good)
        progress("Correlating", 0, n)
        gram = self._gram_on_device(source, None, rules, partial(progress, "Correlating"))
        if keep is not None:
            keep(gram)
        progress("Correlating", n, n)
        progress("Representing", 0, n)
        begun = begin(gram, rules, start, colour, decided)
        progress("Representing", n, n)
        self.null_scale_, self.photo_scales_, self.report_ = (
            begun.null_scale,
            begun.scales,
            begun.report,
        )
        progress("Grouping", 0, n)
        count = good if decided is None else good | decided.pinned
        loop = Loop(rules.rates, int(count.sum()), partial(progress, "Grouping"))
        sums = gram_sums(gram, begun.scales, bounded=colour is not None)
        groups = Groups.make(sums, np.where(count, begun.labels, -1), decided)
        loop.run(groups, good)
        loop.let_late(groups, good)
        self.trace_ = loop.trace
        labels = let_in(groups, rules.rates.join, ~good)
        progress("Grouping", n, n)
        return labels

    def _in_batches(
        self,
        source: Any,
        rules: Rules,
        good: Mask,
        colour: Doubles | None,
        decided: Bonds | None,
        executor: Executor | None,
        progress: Progress,
    ) -> Labels:
        """Batches as large as memory allows; see `_batches`."""
        names = names_of(source)  # in memory, rows of a store have none of their own
        stored, n = source, len(source)
        source = correlate.rows_on(stored, rules.device, rules.memory // 4)
        if source is not stored:  # the rows, and a copy of those of a batch
            values = source if isinstance(source, np.ndarray) else source.values
            rules = replace(rules, memory=rules.memory - 2 * values.nbytes)
        largest = min(largest_batch(rules.memory, rules.device), self.batch_size or n)

        def given(rows: Labels) -> tuple[Mask, Rules, Doubles | None, Bonds | None]:
            smooth = None if colour is None else colour[rows]
            return good[rows], rules, smooth, None if decided is None else decided.among(rows)

        def here(batches: list[Labels]) -> Iterator[BatchResult]:
            for rows in batches:
                yield group_batch(self._gram_on_device(source, rows, rules), *given(rows))

        def in_workers(batches: list[Labels]) -> Iterator[BatchResult]:
            sent = (RemoteBatch(batch_data(stored, rows), *given(rows)) for rows in batches)
            return run_remote(cast(Executor, executor), group_remote_batch, sent)

        remote = executor is not None and executor.remote and rules.device == "cpu"
        run = in_workers if remote else here
        whole = group_in_batches(
            source, names, rules, good, decided, largest, run, progress, bounded=colour is not None
        )
        worst = max(whole.batches, key=lambda batch: batch.report.kkt_violation)
        self.null_scale_ = float(np.median([batch.null_scale for batch in whole.batches]))
        self.photo_scales_, self.report_, self.trace_ = whole.scales, worst.report, whole.trace
        return whole.labels

    def _gram_on_device(
        self,
        source: Any,
        rows: Labels | None,
        rules: Rules,
        progress: Callable[[int, int], None] | None = None,
    ) -> Any:
        """Correlations where they are worked on: an array, or a tensor on the GPU."""
        if self.metric == "precomputed":
            return correlate.gram_to(np.asarray(source), rules.device)
        gram = correlate.gram_on(
            source, rows=rows, memory=rules.memory, device=rules.device, progress=progress
        )
        self._check_finite(gram, source, rows)
        return gram


def _silent(phase: str, done: int, total: int) -> None:
    """Show nothing."""


def _good(weak: npt.ArrayLike | None, n: int) -> Mask:
    """The photos that are not weak."""
    mask = np.zeros(n, dtype=bool) if weak is None else np.asarray(weak, dtype=bool)
    if mask.shape != (n,):
        raise ValueError(f"weak has shape {mask.shape}; give a true or false for each of {n} rows")
    good: Mask = ~mask
    return good


def _colours(colour: npt.ArrayLike | None, n: int, n_pixels: int | None) -> Doubles | None:
    """How smooth the rows are, if that can be used."""
    if colour is None:
        return None
    values = np.asarray(colour, dtype=np.float64)
    if values.shape != (n,) or not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(f"colour has shape {values.shape}; give a positive number for each row")
    if n_pixels is None:
        raise ValueError("colour needs n_pixels; give the length of the fingerprints")
    return values


def _start_labels(start: npt.ArrayLike | None, n: int) -> Labels:
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
