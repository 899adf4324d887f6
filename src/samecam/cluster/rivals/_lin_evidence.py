"""Where Lin-LS takes its correlations from: a Gram matrix, or fingerprints of two sizes."""

from math import isqrt
from typing import Protocol

import numpy as np

from samecam import correlate
from samecam.arrays import Doubles, Floats, Gram, Labels
from samecam.store import FingerprintStore

REDUCED = 256
_SAMPLE = 500


class Evidence(Protocol):
    """What Lin-LS asks of a collection."""

    def coarse(self, rows: Labels, columns: Labels) -> Gram:
        """Correlations of reduced fingerprints."""

    def fine(self, rows: Labels) -> Gram:
        """Correlations of full fingerprints among `rows`."""

    def group_products(self, labels: Labels) -> Doubles:
        """Inner products of the groups' summed fingerprints, (L, L)."""

    def attraction(self, labels: Labels) -> Doubles:
        """Correlation of each photo with each group's fingerprint, (n, L)."""


class GramEvidence:
    """Everything from one Gram matrix: no reduction, no equalisation."""

    def __init__(self, gram: Gram) -> None:
        self.gram = gram

    def coarse(self, rows: Labels, columns: Labels) -> Gram:
        """Correlations of rows with columns."""
        return self.gram[np.ix_(rows, columns)]

    def fine(self, rows: Labels) -> Gram:
        """Correlations among rows."""
        return self.gram[np.ix_(rows, rows)]

    def group_products(self, labels: Labels) -> Doubles:
        """Sums of correlations between groups, with themselves included."""
        members = _membership(labels)
        return np.asarray(members @ self.gram @ members.T, dtype=np.float64)

    def attraction(self, labels: Labels) -> Doubles:
        """Correlations with group fingerprints, the photo's own part left out."""
        return correlate.centroid_correlations(self.gram, labels)


class FingerprintEvidence:
    """Reduced fingerprints for the coarse step, full ones, group by group, for the rest."""

    def __init__(self, source: FingerprintStore | Floats, memory: int) -> None:
        self.source, self.memory = source, memory
        self.n_pixels = source.n_pixels if isinstance(source, FingerprintStore) else len(source[0])
        self.reduced = reduced_rows(source, memory)

    def coarse(self, rows: Labels, columns: Labels) -> Gram:
        """Correlations of reduced fingerprints."""
        return np.asarray(self.reduced[rows] @ self.reduced[columns].T)

    def fine(self, rows: Labels) -> Gram:
        """Correlations of full fingerprints."""
        return correlate.gram(self.source, rows=rows, memory=self.memory)

    def group_products(self, labels: Labels) -> Doubles:
        """Inner products of summed fingerprints."""
        sums = correlate.group_sums(self.source, labels, memory=self.memory)
        return np.asarray(sums @ sums.T, dtype=np.float64)

    def attraction(self, labels: Labels) -> Doubles:
        """Correlations with equalised group fingerprints; only photos without a group are asked."""
        from samecam.fingerprint import equalise

        patterns = correlate.centroids(self.source, labels, memory=self.memory)
        side = isqrt(self.n_pixels)
        if side * side == self.n_pixels:
            for pattern in patterns:
                pattern[:] = equalise(pattern.reshape(side, side)).ravel()
            patterns = correlate.normalised(patterns)
        products = correlate.cross(self.source, patterns, memory=self.memory)
        return np.asarray(products, dtype=np.float64)

    def scales(self) -> tuple[float, float]:
        """Measured scale of chance of full and of reduced fingerprints, from 500 photos."""
        n = len(self.reduced)
        rows = np.unique(np.linspace(0, n - 1, min(n, _SAMPLE)).round().astype(np.intp))
        full = correlate.null_scale(self.fine(rows), self.n_pixels)
        return full, correlate.null_scale(self.coarse(rows, rows), self.reduced.shape[1])


def reduced_rows(source: FingerprintStore | Floats, memory: int) -> Floats:
    """Fingerprints scaled down to 256×256 by area, zero mean and unit norm.

    Those that are no larger, or no square, stay as they are.
    """
    is_store = isinstance(source, FingerprintStore)
    d = source.n_pixels if isinstance(source, FingerprintStore) else source.shape[1]
    side = isqrt(d)
    shrink = side * side == d and side > REDUCED
    area = area_weights(side, REDUCED) if shrink else np.zeros((0, 0), dtype=np.float32)
    blocks = source.blocks(memory) if isinstance(source, FingerprintStore) else [(0, source)]
    result = np.empty((len(source), REDUCED**2 if shrink else d), dtype=np.float32)
    for start, block in blocks:
        for i, row in enumerate(block, start):
            if is_store and not np.isfinite(row.sum()):
                name = source.keys[i] if isinstance(source, FingerprintStore) else i
                raise ValueError(
                    f"the fingerprint of {name!r} contains NaN or infinite values; leave it out"
                )
            small = area @ row.reshape(side, side) @ area.T if shrink else row
            result[i] = small.ravel()
    return correlate.normalised(result)


def area_weights(side: int, small: int) -> Floats:
    """(small, side) weights of scaling down by area: each row is the mean over side/small cells."""
    edges = np.linspace(0, side, small + 1)
    cells = np.arange(side)
    overlap = np.minimum(edges[1:, np.newaxis], cells + 1) - np.maximum(
        edges[:-1, np.newaxis], cells
    )
    return np.asarray(np.maximum(overlap, 0) * small / side, dtype=np.float32)


def _membership(labels: Labels) -> Floats:
    count = int(labels.max(initial=-1)) + 1
    members = np.zeros((count, len(labels)), dtype=np.float32)
    inside = np.flatnonzero(labels >= 0)
    members[labels[inside], inside] = 1
    return members
