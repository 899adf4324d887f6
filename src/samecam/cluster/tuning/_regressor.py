"""The threshold of merging, learnt: a linear function of sizes and correlations within."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from samecam.arrays import Gram
from samecam.cluster.tuning._pairs import GroupPairs, draw_pairs
from samecam.errors import ParameterValueError

_PAIRS = 2000
LIMIT = 50


class MergeRegressor(NamedTuple):
    """R = size·(n_A + n_B) + correlation·(ρ_A + ρ_B) + bias, n at most 50.

    Two groups are merged if their fingerprints correlate by more than R and more than chance.
    """

    size: float
    correlation: float
    bias: float

    def __call__(
        self,
        n_a: npt.ArrayLike,
        n_b: npt.ArrayLike,
        rho_a: npt.ArrayLike,
        rho_b: npt.ArrayLike,
    ) -> npt.NDArray[np.float64]:
        """R of pairs of groups."""
        sizes = np.minimum(n_a, LIMIT) + np.minimum(n_b, LIMIT)
        inner = np.asarray(rho_a, dtype=np.float64) + np.asarray(rho_b, dtype=np.float64)
        return np.asarray(self.size * sizes + self.correlation * inner + self.bias)


PUBLISHED_REGRESSOR = MergeRegressor(0.0016, 2.2474, -0.0474)


class RegressorFit(NamedTuple):
    """The `regressor`, the `pairs` it was learnt from, and what it leaves unexplained.

    `explained` is the share of the variance of the target that it explains; `error` the
    root of the mean squared error.
    """

    regressor: MergeRegressor
    pairs: GroupPairs
    explained: float
    error: float


def fit_merge_regressor(
    gram: Gram,
    cameras: npt.ArrayLike,
    *,
    n_pairs: int = _PAIRS,
    limit: int = LIMIT,
    random_state: int | np.random.Generator = 0,
) -> RegressorFit:
    """Learn the threshold of merging from photos of known cameras, as the paper does.

    Pairs of groups of one camera are drawn, and half of the correlation of their fingerprints,
    the middle between what strangers and what one camera show, is explained by least
    squares as [n_A, n_B, ρ_A, ρ_B]·w + b. Every pair counts twice, the second time with the
    roles of A and B exchanged, so that R does not depend on them.

    Parameters
    ----------
    gram : (n, n) correlations
    cameras : (n,) camera of each photo, by number; at least one has four photos or more
    n_pairs : pairs of groups to draw
    limit : most photos of a group; the published regressor is bounded at 50
    random_state : seed, or generator
    """
    if n_pairs < 3:
        raise ParameterValueError(
            "n_pairs", f"{{name}} is {n_pairs}; three coefficients need 3 pairs or more"
        )
    if not 2 <= limit <= LIMIT:
        raise ParameterValueError("limit", f"{{name}} is {limit}; give 2 to {LIMIT} photos")
    pairs = draw_pairs(gram, cameras, n_pairs, limit=limit, random_state=random_state)
    return fit_pairs(pairs)


def fit_pairs(pairs: GroupPairs) -> RegressorFit:
    """Least squares on given pairs, roles exchanged."""
    one = np.ones(len(pairs))
    direct = np.stack([pairs.n_a, pairs.n_b, pairs.rho_a, pairs.rho_b, one], axis=1)
    exchanged = direct[:, [1, 0, 3, 2, 4]]
    target = np.tile(pairs.correlation / 2, 2)
    features = np.concatenate([direct, exchanged])
    # Columns of like size, so that none is taken for nothing.
    scale = np.maximum(np.abs(features).max(axis=0), np.finfo(float).tiny)
    weights = np.linalg.lstsq(features / scale, target, rcond=None)[0] / scale
    left = target - features @ weights
    spread = float(np.var(target))
    explained = 1 - float(np.mean(left**2)) / spread if spread > 0 else 1.0
    regressor = MergeRegressor(
        float(weights[0] + weights[1]) / 2, float(weights[2] + weights[3]) / 2, float(weights[4])
    )
    return RegressorFit(regressor, pairs, explained, float(np.sqrt(np.mean(left**2))))
