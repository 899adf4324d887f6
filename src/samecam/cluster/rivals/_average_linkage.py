"""Average linkage cut at a mean PCE, as analysts' tools do."""

from typing import Any

import numpy as np

from samecam import correlate
from samecam.arrays import Gram, Labels
from samecam.cluster.rivals._base import Metric, Null, NullRival, Seed
from samecam.cluster.rivals._silhouette import average_linkage, cut_after
from samecam.errors import ParameterValueError


class AverageLinkage(NullRival):
    """Average linkage on PCE; two groups are one while their mean PCE is `pce` or more.

    What a user would reach for today. Without a search for shifts and with white residuals
    the peak-to-correlation energy is sign(ρ)·ρ²/σ₀², d·ρ² with the published scale.

    Parameters
    ----------
    pce : mean peak-to-correlation energy that a merge needs; 60 is common practice
    null : σ₀ is 1/√n_pixels ("published") or "measured", see `NullRival`
    metric, memory, random_state, null_scale, n_pixels : as for `Rival`; there is no chance
        in it
    """

    def __init__(
        self,
        *,
        pce: float = 60.0,
        null: Null = "published",
        metric: Metric = "correlation",
        memory: int = correlate.DEFAULT_MEMORY,
        random_state: Seed = 0,
        null_scale: float | None = None,
        n_pixels: int | None = None,
    ) -> None:
        common: dict[str, Any] = {"memory": memory, "random_state": random_state}
        super().__init__(
            null=null, metric=metric, null_scale=null_scale, n_pixels=n_pixels, **common
        )
        self.pce = pce

    def check_parameters(self) -> None:
        """Raise a sentence for the first parameter out of range, before any work."""
        super().check_parameters()
        if not 0 < self.pce < np.inf:
            raise ParameterValueError(
                "pce", f"{{name}} is {self.pce}; give a positive number, 60 for instance"
            )

    def _group(self, gram: Gram) -> Labels:
        z = np.asarray(gram, dtype=np.float64) / self.null_scale_
        energy = np.sign(z) * z**2
        tree = average_linkage(energy)
        largest = energy[np.triu_indices(len(energy), 1)].max()
        return cut_after(tree, int(np.count_nonzero(tree[:, 2] <= largest - self.pce)))
