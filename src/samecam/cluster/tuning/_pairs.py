"""Pairs of groups drawn from photos of known cameras: what merging has to judge."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Gram, Labels
from samecam.errors import ParameterValueError

FEWEST = 2


@dataclass(frozen=True, slots=True)
class GroupPairs:
    """Pairs of groups (A, B), one entry each, all of length m.

    Attributes
    ----------
    n_a, n_b : photos in each
    rho_a, rho_b : mean correlation of two different photos of the group
    correlation : of the groups' fingerprints (means of their photos)
    """

    n_a: Doubles
    n_b: Doubles
    rho_a: Doubles
    rho_b: Doubles
    correlation: Doubles

    def __len__(self) -> int:
        return len(self.correlation)

    @property
    def expected(self) -> Doubles:
        """H₁, what the groups of one camera would show; 0 where a ρ is not positive.

        √(n_A ρ_A / (1 + (n_A−1)ρ_A)) · √(n_B ρ_B / (1 + (n_B−1)ρ_B))
        """
        rho_a, rho_b = np.maximum(self.rho_a, 0), np.maximum(self.rho_b, 0)
        a = self.n_a * rho_a / (1 + (self.n_a - 1) * rho_a)
        b = self.n_b * rho_b / (1 + (self.n_b - 1) * rho_b)
        return np.sqrt(a * b)


def draw_pairs(
    gram: Gram,
    cameras: npt.ArrayLike,
    count: int,
    *,
    same: bool = True,
    sizes: tuple[int, int] | None = None,
    limit: int = 50,
    random_state: int | np.random.Generator = 0,
) -> GroupPairs:
    """Draw pairs of groups that share no photo: of one camera, or of two.

    A camera (two for `same=False`) is drawn for every pair, each as likely as another, then
    the sizes of both groups, then their photos.

    Parameters
    ----------
    gram : (n, n) correlations
    cameras : (n,) camera of each photo, by number
    count : pairs to draw
    same : both groups are of one camera
    sizes : photos in A and B; None: at random, from 2 to `limit` each, or to as many as the
        camera has (half of that if both are of one)
    limit : most photos a group gets
    random_state : seed, or generator
    """
    rng = np.random.default_rng(random_state)
    photos = _photos(np.asarray(cameras), len(gram), same, sizes)
    drawn = np.empty((5, count))
    for k in range(count):
        chosen = rng.choice(len(photos), 1 if same else 2, replace=False)
        a, b = photos[chosen[0]], photos[chosen[-1]]
        share = 2 if same else 1
        n_a, n_b = sizes or (
            int(rng.integers(FEWEST, min(limit, len(group) // share), endpoint=True))
            for group in (a, b)
        )
        rows = rng.permutation(a)[:n_a], rng.permutation(b)[:n_b]
        if same:
            both = rng.permutation(a)[: n_a + n_b]
            rows = both[:n_a], both[n_a:]
        drawn[:, k] = _pair(gram, *rows)
    return GroupPairs(*drawn)


def _photos(
    cameras: npt.NDArray[np.generic], n: int, same: bool, sizes: tuple[int, int] | None
) -> list[Labels]:
    """Photos of every camera that has enough, or an error that too few have."""
    if cameras.shape != (n,):
        raise ValueError(f"cameras has shape {cameras.shape}; give one for each of {n} photos")
    wanted = sizes or (FEWEST, FEWEST)
    if min(wanted) < FEWEST:
        raise ParameterValueError("sizes", f"{{name}} is {sizes}; give 2 or more for each group")
    least = sum(wanted) if same else max(wanted)
    groups = [np.flatnonzero(cameras == name) for name in np.unique(cameras)]
    groups = [group for group in groups if len(group) >= least]
    if len(groups) < (1 if same else 2):
        raise ValueError(
            f"{len(groups)} cameras have {least} photos or more; give photos of "
            f"{'one such camera' if same else 'two such cameras'} at least"
        )
    return groups


def _pair(gram: Gram, a: Labels, b: Labels) -> tuple[float, float, float, float, float]:
    """Sizes, mean correlation within each, correlation of the fingerprints."""
    n_a, n_b = len(a), len(b)
    within_a, within_b = gram[np.ix_(a, a)], gram[np.ix_(b, b)]
    square_a = float(within_a.sum(dtype=np.float64))
    square_b = float(within_b.sum(dtype=np.float64))
    rho_a = (square_a - float(np.trace(within_a, dtype=np.float64))) / (n_a * (n_a - 1))
    rho_b = (square_b - float(np.trace(within_b, dtype=np.float64))) / (n_b * (n_b - 1))
    between = float(gram[np.ix_(a, b)].sum(dtype=np.float64))
    norms = square_a * square_b
    return n_a, n_b, rho_a, rho_b, between / norms**0.5 if norms > 0 else 0.0
