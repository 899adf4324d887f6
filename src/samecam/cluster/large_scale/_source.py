"""Where correlations come from: a Gram matrix, or fingerprints read a batch at a time."""

import tempfile
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from samecam import correlate
from samecam.arrays import AnyFloats, Doubles, Labels, Rows
from samecam.cluster._remote import BatchData, batch_data
from samecam.cluster.large_scale._split import batch_bytes, correlating_bytes, usable
from samecam.store import FingerprintStore

_WIDTH = 4096


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
        """A batch that can be sent to another process."""
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
        return correlate.gram_products(self._gram, correlate.Membership(labels), rows)

    def group_products(self, labels: Labels) -> Doubles:
        """See `Source.group_products`."""
        members = correlate.Membership(labels)
        products = correlate.gram_products(self._gram, members, np.arange(self.n))
        return np.asarray(members.sparse() @ products)

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
        members = correlate.Membership(labels)
        width = self._width(len(members.with_members(rows)), 8 * len(rows) * members.count)
        return correlate.row_products(self._rows, members, rows, width)

    def group_products(self, labels: Labels) -> Doubles:
        """See `Source.group_products`."""
        members = correlate.Membership(labels)
        width = self._width(len(members.inside), 8 * members.count**2)
        return correlate.group_products(self._rows, members, width)

    def batch(self, rows: Rows) -> BatchData:
        """See `Source.batch`."""
        return batch_data(self._rows, rows)

    def _width(self, rows: int, taken: int) -> int:
        """Pixels of so many rows that are read at a time: with what is taken half of the memory."""
        room = usable(self._memory) // 2 - taken
        return max(1, min(_WIDTH, room // (16 * max(rows, 1))))


def checked(gram: AnyFloats, rows: Rows) -> AnyFloats:
    """`gram` itself, or an error for the row whose correlations are no numbers."""
    if not np.isfinite(gram.sum(dtype=np.float64)):
        bad = int(rows[np.argmin(np.isfinite(gram).sum(axis=1))])
        raise ValueError(
            f"the fingerprint in row {bad} contains NaN or infinite values; leave it out"
        )
    return gram
