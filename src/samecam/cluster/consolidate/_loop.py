"""Refining and merging until nothing changes."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from samecam.arrays import Labels, Mask
from samecam.cluster._labels import numbered
from samecam.cluster.consolidate import _steps
from samecam.cluster.consolidate._steps import Groups

_ROUNDS = 20
_SWEEPS = 10
# Strangers that may be in groups, on average, if all photos in none are strangers: a part of the
# photos in groups, and not less than so many.
_PART, _STRANGERS = 0.001, 0.5


@dataclass(frozen=True, slots=True)
class Rates:
    """Error rates, see `ConsolidatedSSC`."""

    found: float
    join: float
    merge: float


@dataclass
class Loop:
    """The loop.

    Attributes
    ----------
    rates : error rates
    n_images : photos that may found groups
    progress : called after each round with the photos that stayed where they were, and all
    trace : what each round did
    """

    rates: Rates
    n_images: int
    progress: Callable[[int, int], None] | None = None
    trace: list[dict[str, int]] = field(default_factory=list)

    def run(self, groups: Groups, good: Mask, *, founding: bool = True) -> None:
        """Refine, merge, dissolve what chance could have made, refine, until nothing changes.

        Only `good` photos move. Without `founding` groups are candidates: nothing is
        dissolved.
        """
        n = len(groups.labels)
        for _ in range(_ROUNDS):
            before = groups.labels
            self._refine(groups, good)
            _steps.merge(groups, self.rates.merge)
            if founding:
                _steps.dissolve(groups, self.rates.found, self.n_images)
            self._refine(groups, good)
            changed = _changed(before, groups.labels)
            self.trace.append(
                {
                    "groups": len(groups.products),
                    "clustered": int(np.count_nonzero(groups.labels >= 0)),
                    "changed": changed,
                }
            )
            if self.progress is not None:
                self.progress(n - changed, n)
            if changed == 0:
                break
        if founding:
            self._prune(groups, good)

    def let_late(self, groups: Groups, good: Mask) -> None:
        """Once all is done, let in whom weighted fingerprints know: half as many by chance."""
        come = _steps.late(groups, self._shared_rate(groups, good) / 2, good)
        if (come != groups.labels).any():
            groups.move(come)

    def _refine(self, groups: Groups, good: Mask) -> None:
        """Refine until nobody moves, or for ten sweeps."""
        for _ in range(_SWEEPS):
            refined = _steps.refine(groups, self.rates.join, good)
            if (refined == groups.labels).all():
                return
            groups.move(refined)

    def _prune(self, groups: Groups, good: Mask) -> None:
        """Let photos leave, and none join, until all are where they belong.

        Two photos that keep each other out of a group go in and out for ever in `_refine`. And
        photos of cameras of one model have a little in common: many of them bear each other up in
        a group with which each by itself has too little. So all are compared with those alone who
        carry the group. Where many photos are in no group, the rate is shared among them.
        """
        rate = self._shared_rate(groups, good)
        while True:
            _steps.dissolve(groups, self.rates.found, self.n_images)
            labels = groups.labels
            groups.narrow(_steps.core(groups))
            stay = _steps.best_places(groups, rate, labels) == labels
            groups.narrow(labels)
            if stay[labels >= 0].all():
                return
            groups.move(np.where(stay, labels, -1))

    def _shared_rate(self, groups: Groups, good: Mask) -> float:
        """The rate of joining, less where so many are in no group that strangers would be many."""
        alone = int(np.count_nonzero(good & (groups.labels < 0)))
        members = int(np.count_nonzero(groups.labels >= 0))
        strangers = max(_STRANGERS, _PART * members)
        return min(self.rates.join, strangers / max(alone, 1))


def _changed(before: Labels, after: Labels) -> int:
    """Photos whose group is another one, whatever the groups are called."""
    return int(np.count_nonzero(numbered(before) != numbered(after)))
