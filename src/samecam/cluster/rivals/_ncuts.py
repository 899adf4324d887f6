"""Recursive normalised cuts (Amerini 2014)."""

from typing import Any

import numpy as np
import numpy.typing as npt

from samecam import correlate
from samecam.arrays import Doubles, Gram, Labels
from samecam.cluster.rivals._base import Metric, Null, NullRival, Seed, without_diagonal
from samecam.errors import ParameterValueError

PUBLISHED = 0.037
_NULL_SCALES = 3.0
_DENSE = 300


class NCuts(NullRival):
    """Cut the loosest part in two while its mean correlation is below a threshold.

    Amerini, Caldelli, Crescenzi, Del Mastio, Marino, "Blind image clustering based on the
    normalized cuts criterion for camera identification", 2014. The second eigenvector of
    (D − W)y = λDy is divided where the normalised cut is least; the part with the lowest
    aggregation coefficient, the mean correlation of its photos, is cut next, until all
    exceed the threshold, .037 as published.

    That value was tuned on one collection (Phan 2017 took .032 for 512² crops); no single value
    suits weak and strong cameras at once. `null="measured"` takes 3σ₀, which is ours.
    Chosen: negative correlations weigh nothing, the mean is over pairs i ≠ j.

    Parameters
    ----------
    threshold : the coefficient a part must exceed; None is .037, or 3σ₀ where `null` is
        "measured" or `null_scale` is given
    null : see `threshold`; the published value depends on no scale, so no size is needed
    metric, memory, random_state, null_scale, n_pixels : as for `Rival`; there is no chance
        in it

    Attributes
    ----------
    threshold_ : as used; not there for a single photo
    """

    def __init__(
        self,
        *,
        threshold: float | None = None,
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
        self.threshold = threshold

    def check_parameters(self) -> None:
        """Raise a sentence for the first parameter out of range, before any work."""
        super().check_parameters()
        if self.threshold is not None and not -1 < self.threshold < 1:
            raise ParameterValueError(
                "threshold", f"{{name}} is {self.threshold}; give a correlation, or leave it out"
            )

    def _published_scale(self, gram: Gram, n_pixels: int | None) -> float:
        return self._null_scale(gram, n_pixels)

    def _group(self, gram: Gram) -> Labels:
        from_null = self.null == "measured" or self.null_scale is not None
        self.threshold_ = self.threshold
        if self.threshold_ is None:
            self.threshold_ = _NULL_SCALES * self.null_scale_ if from_null else PUBLISHED
        correlations = without_diagonal(gram)
        open_parts = [np.arange(len(gram))]
        labels = np.full(len(gram), -1, dtype=np.intp)
        count = 0
        # A part's coefficient does not depend on the others, so the order of cuts is no matter.
        while open_parts:
            part = open_parts.pop()
            if len(part) == 1:
                continue
            inside = correlations[np.ix_(part, part)]
            if inside.sum() / (len(part) * (len(part) - 1)) > self.threshold_:
                labels[part] = count
                count += 1
                continue
            mask, lone = bisect(np.maximum(inside, 0))
            open_parts += [part[m] for m in (mask & ~lone, ~mask & ~lone) if m.any()]
        return labels


def bisect(weights: Doubles) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """One side of the least normalised cut along the second eigenvector, and lone nodes.

    Ncut(A, B) = cut/assoc(A, V) + cut/assoc(B, V) is evaluated at every division of the
    nodes sorted by the eigenvector. Lone nodes, without any weight, are on no side.
    """
    degree = weights.sum(axis=1)
    lone = degree <= 0
    linked = np.flatnonzero(~lone)
    mask = np.zeros(len(weights), dtype=bool)
    if len(linked) < 2:
        return mask, lone
    part = weights[np.ix_(linked, linked)]
    order = np.argsort(second_vector(part), kind="stable")
    cuts = normalised_cuts(part[np.ix_(order, order)])
    mask[linked[order[: int(np.argmin(cuts)) + 1]]] = True
    return mask, lone


def normalised_cuts(weights: Doubles) -> Doubles:
    """Ncut of the first 1, 2, … n−1 nodes against the rest."""
    degree = weights.sum(axis=1)
    volume = np.cumsum(degree)[:-1]
    inside = 2 * np.cumsum(np.tril(weights, -1).sum(axis=1))[:-1]
    cut = volume - inside
    rest = np.maximum(degree.sum() - volume, np.finfo(float).tiny)
    return np.asarray(cut / volume + cut / rest)


def second_vector(weights: Doubles) -> Doubles:
    """The y of the second smallest λ in (D − W)y = λDy; every degree is positive.

    The first, constant y is taken out by hand, so that a graph in several pieces cannot
    give it back as the second.
    """
    from scipy.linalg import eigh
    from scipy.sparse.linalg import eigsh

    degree = weights.sum(axis=1)
    root = np.sqrt(degree)
    first = root / np.linalg.norm(root)
    matrix = weights / root[:, np.newaxis] / root - np.outer(first, first)
    n = len(weights)
    if n <= _DENSE:
        vector = eigh(matrix, subset_by_index=[n - 1, n - 1])[1][:, 0]
    else:
        start = np.random.default_rng(0).standard_normal(n)
        vector = eigsh(matrix, k=1, which="LA", v0=start, tol=1e-6)[1][:, 0]
    return np.asarray(vector / root)
