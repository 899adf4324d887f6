"""Where correlations come from: a Gram matrix, or fingerprints read a batch at a time."""

import tempfile
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from samecam import correlate
from samecam.arrays import AnyFloats, Doubles, Labels, Rows
from samecam.cluster._remote import BatchData, batch_data
from samecam.cluster.large_scale._split import batch_bytes, correlating_bytes, usable
from samecam.store import FingerprintStore

_WIDTH = 4096
_BLOCK_BYTES = 2**26


class Source(Protocol):
    """Correlations, and sums of them over groups, of n photos."""

    n: int

    def gram(self, rows: Rows) -> AnyFloats:
        """Correlations of some photos; larger than the budget, they lie in a temporary file."""
        ...

    def products(self, rows: Rows, labels: Labels) -> Doubles:
        """x_i·s_c of some photos with the sums of all groups, (len(rows), L)."""
        ...

    def group_products(self, labels: Labels) -> Doubles:
        """s_a·s_b of the sums of all groups, (L, L)."""
        ...

    def batch(self, rows: Rows) -> BatchData:
        """A batch that can be sent elsewhere."""
        ...


class GramSource:
    """All correlations are there."""

    def __init__(self, gram: AnyFloats) -> None:
        self._gram = gram
        self.n = len(gram)

    def gram(self, rows: Rows) -> AnyFloats:
        """See `Source.gram`."""
        return checked(np.ascontiguousarray(self._gram[np.ix_(rows, rows)]), rows)

    def products(self, rows: Rows, labels: Labels) -> Doubles:
        """See `Source.products`."""
        members = _members(labels)
        result = np.empty((len(rows), members.shape[0]))
        step = max(1, _BLOCK_BYTES // (8 * self.n))
        for start in range(0, len(rows), step):
            part = self._gram[rows[start : start + step]].astype(np.float64)
            result[start : start + step] = (members @ part.T).T
        return result

    def group_products(self, labels: Labels) -> Doubles:
        """See `Source.group_products`."""
        members = _members(labels)
        return np.asarray(members @ self.products(np.arange(self.n), labels))

    def batch(self, rows: Rows) -> BatchData:
        """See `Source.batch`."""
        return BatchData(rows, gram=self.gram(rows))


class RowSource:
    """Fingerprints in a store or an array; what is read at a time stays within `memory`.

    The correlations of a batch are computed on the `device`.
    """

    def __init__(
        self,
        rows: FingerprintStore | npt.NDArray[np.float32],
        memory: int,
        device: str = "cpu",
    ) -> None:
        self._rows = rows
        self._memory = memory
        self._device = device
        self.n = len(rows)

    def gram(self, rows: Rows) -> AnyFloats:
        """See `Source.gram`."""
        if batch_bytes(len(rows)) <= self._memory:
            if isinstance(self._rows, FingerprintStore):
                memory = correlating_bytes(len(rows), self._device)
                gram = correlate.gram(self._rows, rows=rows, memory=memory, device=self._device)
                return checked(gram, rows)
            # As a worker does it, so that every bit is the same.
            memory = correlating_bytes(len(rows), self._device)
            return checked(self.batch(rows).correlations(memory, self._device), rows)
        with tempfile.TemporaryFile() as file:
            shape = (len(rows), len(rows))
            out: Any = np.memmap(file, dtype=np.float32, mode="w+", shape=shape)
        return correlate.gram(self._rows, rows=rows, memory=self._memory // 2, out=out)

    def products(self, rows: Rows, labels: Labels) -> Doubles:
        """See `Source.products`."""
        wanted = np.union1d(rows, np.flatnonzero(labels >= 0))
        members = _members(labels[wanted], int(labels.max(initial=-1)) + 1)
        at = np.searchsorted(wanted, rows)
        result = np.zeros((len(rows), members.shape[0]))
        for part in self._parts(wanted, result.nbytes):
            result += part[at] @ (members @ part).T
        return result

    def group_products(self, labels: Labels) -> Doubles:
        """See `Source.group_products`."""
        wanted = np.flatnonzero(labels >= 0)
        members = _members(labels[wanted])
        result = np.zeros((members.shape[0], members.shape[0]))
        for part in self._parts(wanted, result.nbytes):
            sums = members @ part
            result += sums @ sums.T
        return result

    def batch(self, rows: Rows) -> BatchData:
        """See `Source.batch`."""
        return batch_data(self._rows, rows)

    def _parts(self, rows: Rows, taken: int) -> Iterator[AnyFloats]:
        """Some pixels of all rows at a time: with what is taken in half of the memory."""
        room = usable(self._memory) // 2 - taken
        width = max(1, min(_WIDTH, room // (16 * max(len(rows), 1))))
        if isinstance(self._rows, FingerprintStore):
            for _, part in self._rows.columns(width, rows):
                yield part
            return
        for start in range(0, self._rows.shape[1], width):
            yield np.ascontiguousarray(self._rows[rows, start : start + width])


def checked(gram: AnyFloats, rows: Rows) -> AnyFloats:
    """`gram` itself, or a sentence for the row whose correlations are no numbers."""
    if not np.isfinite(gram.sum(dtype=np.float64)):
        bad = int(rows[np.argmin(np.isfinite(gram).sum(axis=1))])
        raise ValueError(
            f"the fingerprint in row {bad} contains NaN or infinite values; leave it out"
        )
    return gram


def _members(labels: Labels, count: int | None = None) -> Any:
    """Sparse (L, n) matrix that sums over groups."""
    from scipy.sparse import csr_array

    inside = np.flatnonzero(labels >= 0)
    groups = int(labels.max(initial=-1)) + 1 if count is None else count
    ones = np.ones(len(inside), dtype=np.float32)
    return csr_array((ones, (labels[inside], inside)), shape=(groups, len(labels)))
