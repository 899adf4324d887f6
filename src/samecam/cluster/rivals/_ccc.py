"""Correlation clustering with consensus (Marra and others 2017)."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from samecam import correlate
from samecam.arrays import Doubles, Gram, Labels
from samecam.cluster.rivals._al_icm import al_icm
from samecam.cluster.rivals._base import Metric, Null, NullRival, Seed, check_at_least
from samecam.cluster.rivals._likelihood import merge_by_likelihood
from samecam.cluster.rivals._silhouette import average_linkage, cut_after, merges
from samecam.cluster.rivals._weac import coassociation
from samecam.errors import ParameterValueError

_FROM, _TO = 1.0, 5.0
_UNANIMOUS = 1e-9
_MAD = 1.482602218505602


class CCC(NullRival):
    """Many correlation clusterings, their consensus, and merging by likelihood ratio.

    Marra, Poggi, Sansone, Verdoliva, "Blind PRNU-based image clustering for source
    identification", 2017. AL-ICM (`_al_icm.al_icm`) at `n_thresholds` thresholds α from σ₀ to
    5σ₀; weighted evidence accumulation and average linkage (`_weac`); the last level that
    still changes the partition, too many groups on purpose; then small groups join large ones
    by their likelihood ratio (`_likelihood.merge_by_likelihood`).

    The paper's text was not at hand beyond its abstract; thresholds, level and refinement
    follow a third party's account. Chosen: agreement is normalised by the larger entropy
    throughout, as the authors of the consensus do; AL-ICM begins with labels all different
    (its reference code begins with one common label, which strong cameras never leave); photos
    that every clustering put together are not parted again.

    Parameters
    ----------
    n_thresholds : correlation clusterings that are combined
    tolerance : a level counts as another partition if its agreement with the one before is
        below 1 − tolerance
    null : σ₀ is 1.4826·MAD of all correlations ("published") or "measured" without what
        cameras add, see `NullRival`; no size is needed
    metric, memory, random_state, null_scale, n_pixels : as for `Rival`

    Attributes
    ----------
    n_consensus_ : groups of the consensus before refinement; not there for a single photo
    """

    def __init__(
        self,
        *,
        n_thresholds: int = 41,
        tolerance: float = 0.01,
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
        self.n_thresholds = n_thresholds
        self.tolerance = tolerance

    def check_parameters(self) -> None:
        """Raise a sentence for the first parameter out of range, before any work."""
        super().check_parameters()
        check_at_least("n_thresholds", self.n_thresholds, 1)
        if not 0 <= self.tolerance < 1:
            raise ParameterValueError(
                "tolerance", f"{{name}} is {self.tolerance}; give a number from 0 to below 1"
            )

    def _published_scale(self, gram: Gram, n_pixels: int | None) -> float:
        values = np.asarray(gram)[np.triu_indices(len(gram), 1)]
        if not len(values):
            return self._null_scale(gram, n_pixels)
        spread = _MAD * float(np.median(np.abs(values - np.median(values))))
        return spread or self._null_scale(gram, n_pixels)

    def _group(self, gram: Gram) -> Labels:
        state = check_random_state(self.random_state)
        alphas = self.null_scale_ * np.linspace(_FROM, _TO, self.n_thresholds)
        partitions = [al_icm(gram, alpha, state) for alpha in alphas]
        together = coassociation(partitions)
        tree = average_linkage(together)
        largest = together[np.triu_indices(len(gram), 1)].max()
        unanimous = np.count_nonzero(tree[:, 2] <= largest - 1 + _UNANIMOUS)
        labels = cut_after(tree, max(stable_level(tree, self.tolerance), int(unanimous)))
        labels = np.unique(labels, return_inverse=True)[1].astype(np.intp)
        self.n_consensus_ = int(labels.max()) + 1
        return merge_by_likelihood(gram, labels)


def stable_level(tree: Doubles, tolerance: float) -> int:
    """Merges after which to cut: the last level whose partition is not that of the one before.

    Level ℓ, with ℓ groups, refines level ℓ−1, so their mutual information is the entropy
    H(ℓ−1) and their agreement H(ℓ−1)/H(ℓ). The largest ℓ with an agreement below
    1 − tolerance is taken.
    """
    n = len(tree) + 1
    size = np.ones(n)
    entropy = np.empty(n)  # after 0, 1, … merges
    entropy[0] = np.log(n)
    for t, (a, b) in enumerate(zip(*merges(tree), strict=True)):
        gone = sum(s / n * np.log(n / s) for s in (size[a], size[b]))
        size[a] += size[b]
        entropy[t + 1] = entropy[t] - gone + size[a] / n * np.log(n / size[a])
    entropy[-1] = 0.0
    changed = entropy[1:] < (1 - tolerance) * entropy[:-1]
    return int(np.argmax(changed))
