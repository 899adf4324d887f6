"""Our own method: many small groups, refined and merged until nothing changes."""

from samecam.cluster.consolidate._constraints import Constraints
from samecam.cluster.consolidate._estimator import ConsolidatedSSC

__all__ = ["ConsolidatedSSC", "Constraints"]
