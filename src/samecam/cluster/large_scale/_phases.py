"""The phases of LS-SSC in turn, on one set of labels."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from samecam.arrays import Doubles, Labels, Rows
from samecam.cluster._thresholds import founding, quantile
from samecam.cluster.large_scale import _attract, _batches, _merge, _reassign, _recycle, _split
from samecam.cluster.large_scale._partition import Partition, Rules
from samecam.cluster.large_scale._source import Source
from samecam.compute import Executor
from samecam.represent import SolverReport

_SWEEPS = 3
_ROUNDS = (4, 40)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is to do.

    Attributes
    ----------
    n_batches : B
    rules : of clustering a batch
    rounds : of recycling; None: until one finds nothing
    fewest : K may fall to this in recycling
    threshold : rule of merging
    false_alarm : P_FA
    shared : P_FA is shared among all comparisons, else it is of each
    memory : bytes
    """

    n_batches: int
    rules: Rules
    rounds: int | None
    fewest: int
    threshold: _merge.Threshold
    false_alarm: float
    shared: bool
    memory: int

    def chance(self, comparisons: float) -> float:
        """What a correlation of strangers may reach: Q⁻¹(P_FA)·σ₀, P_FA shared or not."""
        share = np.log(max(comparisons, 1.0)) if self.shared else 0.0
        return float(quantile(np.log(self.false_alarm) - share)) * self.rules.scale


class Run:
    """Labels on their way through the phases.

    Attributes
    ----------
    labels : (n,) groups, −1 for none, after the phases so far
    trace : what each did
    reports : of the solver, one a batch
    """

    def __init__(
        self,
        source: Source,
        plan: Plan,
        progress: Callable[[str, int, int], None] | None,
        executor: Executor | None,
        streams: np.random.SeedSequence,
    ) -> None:
        self.labels: Labels = np.full(source.n, -1, dtype=np.intp)
        self.trace: list[dict[str, Any]] = []
        self.reports: list[SolverReport] = []
        self._source = source
        self._plan = plan
        self._progress = progress or (lambda *_: None)
        self._executor = executor
        self._streams = streams
        self._pools: list[Rows] = []
        self._size = 0

    def split(self, rng: np.random.Generator) -> None:
        """Split at random and cluster every batch."""
        batches = _split.batches(self._source.n, self._plan.n_batches, rng)
        self._size = max(len(rows) for rows in batches)
        results = self._cluster(batches, self._plan.rules, "partition", 0, len(batches))
        for rows, result in zip(batches, results, strict=True):
            self._take(rows, result, "partition")

    def recycle(self) -> None:
        """Cluster what is left over, for so many rounds or until one finds nothing.

        Every pool gives in proportion; what a round leaves over is a pool of its own. A
        round that takes the only photos that are left, and finds nothing, is the last.
        """
        rules = replace(self._plan.rules, fewest=self._plan.fewest)
        most = self._plan.rounds
        limit = _ROUNDS[0] * len(self._pools) + _ROUNDS[1] if most is None else most
        for done in range(1, limit + 1):
            rng = np.random.default_rng(self._streams.spawn(1)[0])
            rows, self._pools = _recycle.draw(self._pools, self._size, rng)
            if len(rows) < 2:
                self._pools = [rows]
                break
            whole = not any(len(pool) for pool in self._pools)
            result = self._cluster([rows], rules, "recycle", done - 1, most or done)[0]
            self._take(rows, result, "recycle")
            if result.groups == 0 and (most is None or whole):
                break

    def merge(self) -> None:
        """Join groups of one camera."""
        count = self._count()
        if count > 1:
            self._progress("merge", 0, 1)
            products = self._source.group_products(self.labels)
            chance = self._plan.chance(count * (count - 1) / 2)
            new = _merge.merge(products, self._sizes(), chance, self._plan.threshold)
            inside = self.labels >= 0
            self.labels[inside] = new[self.labels[inside]]
        self._progress("merge", 1, 1)
        self.trace.append({"phase": "merge", "before": count, **self._state()})

    def attract(self) -> None:
        """Photos left over go to the groups they are like."""
        left = np.flatnonzero(self.labels < 0)
        count = self._count()
        if len(left) and count:
            self._progress("attract", 0, 1)
            squares = np.diag(self._source.group_products(self.labels))
            least = self._plan.chance(count)
            self.labels[left] = _attract.attract(
                self._source.products(left, self.labels),
                squares,
                self._sizes(),
                self._source.gram(left),
                least,
            )
        self._progress("attract", 1, 1)
        joined = int(np.count_nonzero(self.labels[left] >= 0))
        self.trace.append({"phase": "attract", "joined": joined, **self._state()})

    def reassign(self) -> None:
        """Every photo to the group it is most like, until nobody moves or three times."""
        for sweep in range(_SWEEPS):
            self._progress("reassign", sweep, _SWEEPS)
            moved = self._sweep() if self._count() else 0
            self.trace.append({"phase": "reassign", "moved": moved, **self._state()})
            if moved == 0:
                break
        self._progress("reassign", _SWEEPS, _SWEEPS)

    def _sweep(self) -> int:
        """Move photos, dissolve groups that chance could have made; how many photos changed."""
        squares = np.diag(self._source.group_products(self.labels))
        size, least = self._sizes(), self._plan.chance(self._count())
        after = np.full(self._source.n, -1, dtype=np.intp)
        for rows in self._blocks():
            products = self._source.products(rows, self.labels)
            after[rows] = _reassign.reassign(products, self.labels[rows], squares, size, least)
        before = self.labels.copy()
        self.labels = _compact(after)
        self._dissolve()
        moved = int(np.count_nonzero(before != after))
        return max(moved, int(np.count_nonzero((self.labels < 0) != (before < 0))))

    def _blocks(self) -> list[Rows]:
        """All photos, in blocks whose products with all groups take a quarter of the memory."""
        step = max(1, self._plan.memory // (4 * 40 * max(self._count(), 1)))
        return [
            np.arange(start, min(start + step, self._source.n), dtype=np.intp)
            for start in range(0, self._source.n, step)
        ]

    def _dissolve(self) -> None:
        """Dissolve groups that chance could have made."""
        if not self._count():
            return
        size = self._sizes()
        pairs = size * (size - 1) / 2
        total = (np.diag(self._source.group_products(self.labels)) - size) / 2
        least = founding(self._source.n, self._plan.false_alarm)[size.astype(np.intp)]
        stands = total > least * self._plan.rules.scale * np.sqrt(pairs)
        inside = self.labels >= 0
        self.labels[inside] = np.where(stands[self.labels[inside]], self.labels[inside], -1)
        self.labels = _compact(self.labels)

    def _cluster(
        self, batches: list[Rows], rules: Rules, phase: str, before: int, total: int
    ) -> list[Partition]:
        def done(count: int) -> None:
            self._progress(phase, before + count, total)

        if not before:
            self._progress(phase, 0, total)
        return _batches.run_all(
            self._source, batches, rules, self._plan.memory, self._executor, done
        )

    def _take(self, rows: Rows, result: Partition, phase: str) -> None:
        """Add the groups of a batch; the rest becomes a pool."""
        inside = result.labels >= 0
        self.labels[rows[inside]] = result.labels[inside] + self._count()
        self._pools.append(rows[~inside])
        self.reports.append(result.report)
        entry = {
            "phase": phase,
            "photos": len(rows),
            "outliers": result.outliers,
            "dissolved": result.dissolved,
            "new": result.groups,
        }
        self.trace.append({**entry, **self._state()})

    def _count(self) -> int:
        return int(self.labels.max(initial=-1)) + 1

    def _sizes(self) -> Doubles:
        inside = self.labels[self.labels >= 0]
        return np.bincount(inside, minlength=self._count()).astype(np.float64)

    def _state(self) -> dict[str, int]:
        return {
            "groups": self._count(),
            "clustered": int(np.count_nonzero(self.labels >= 0)),
        }


def _compact(labels: Labels) -> Labels:
    """Number the groups that are left from 0; groups of one dissolve."""
    inside = labels >= 0
    sizes = np.bincount(labels[inside], minlength=1)
    number = np.where(sizes >= 2, np.cumsum(sizes >= 2) - 1, -1)
    result = np.full(labels.shape, -1, dtype=np.intp)
    result[inside] = number[labels[inside]]
    return result
