"""The start of consolidation: scales of chance, the sparse representation, many small groups.

For all photos, or for a batch of them, here or in another process.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from samecam import correlate
from samecam.arrays import Doubles, Labels, Mask
from samecam.cluster.consolidate._constraints import Bonds
from samecam.cluster.consolidate._loop import Loop, Rates
from samecam.cluster.consolidate._steps import Groups, start_groups
from samecam.cluster.consolidate._sums import gram_sums
from samecam.represent import SolverReport, represent

GAMMA = 2.0  # in units of the scale of chance
CANDIDATES = 32  # others that may represent a photo: of these the five strongest are edges
_SOLVER_BYTES = 2**33  # what the solver profits from on a GPU


@dataclass(frozen=True, slots=True)
class Rules:
    """How groups are begun.

    Attributes
    ----------
    rates : error rates
    null_scale, usual_scale, n_pixels : as for `ConsolidatedSSC`, or None
    memory : bytes for everything held at a time
    device : as `compute.choose_device` gave it
    """

    rates: Rates
    null_scale: float | None
    n_pixels: int | None
    memory: int
    device: str = "cpu"
    usual_scale: float | None = None


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What became of some photos: their groups and scales of chance, and the solver's report."""

    labels: Labels
    scales: Doubles
    null_scale: float
    report: SolverReport


def begin(
    gram: Any,
    rules: Rules,
    begun: Labels | None = None,
    colour: Doubles | None = None,
    bonds: Bonds | None = None,
) -> BatchResult:
    """Scales of chance, and many small groups beside those that are `begun` or pinned."""
    scale = rules.null_scale or correlate.null_scale(gram, rules.n_pixels, rules.usual_scale)
    scales = correlate.photo_scales(gram, scale, colour, rules.n_pixels)
    n = len(gram)
    labels = np.full(n, -1, dtype=np.intp) if begun is None else begun.copy()
    if bonds is not None:
        labels = bonds.begun(labels)
    free = np.flatnonzero(labels < 0)
    part = gram if len(free) == n else gram[free[:, None], free]
    options: dict[str, Any] = {}
    if rules.device != "cpu":
        room = min(_SOLVER_BYTES, max(rules.memory - 4 * n * n, 2 * n * n))
        options = {"device": rules.device, "memory": room}
    coefficients, report = represent(part, GAMMA * scale, candidates=CANDIDATES, **options)
    if bonds is not None:
        coefficients = bonds.without_edges(coefficients, free)
    new = start_groups(coefficients)
    labels[free] = np.where(new >= 0, new + labels.max(initial=-1) + 1, -1)
    return BatchResult(labels, scales, scale, report)


def group_batch(
    gram: Any,
    good: Mask,
    rules: Rules,
    colour: Doubles | None = None,
    bonds: Bonds | None = None,
) -> BatchResult:
    """Candidates of one batch: begun, refined and merged, none dissolved."""
    start = begin(gram, rules, colour=colour, bonds=bonds)
    sums = gram_sums(gram, start.scales, bounded=colour is not None)
    count = good if bonds is None else good | bonds.pinned
    groups = Groups.make(sums, np.where(count, start.labels, -1), bonds)
    Loop(rules.rates, len(good)).run(groups, good, founding=False)
    return replace(start, labels=groups.labels)
