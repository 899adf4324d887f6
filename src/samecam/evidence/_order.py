"""Values at some ranks among more values than fit in memory: exact, in a few passes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Rows

Blocks = Callable[[], Iterator[Doubles]]
Keys = npt.NDArray[np.uint64]

# Counters of one pass, at least, bits of a key that are looked at, at most, and values at a time.
_COUNTERS, _MOST_BITS = 2**17, 16
_CHUNK = 2**18
# Ranks that are looked for one by one; for more, all values are sorted.
_FEW = 4
_SIGN = np.uint64(2**63)


@dataclass(frozen=True, slots=True)
class _Slots:
    """Ranges of values that hold the ranks looked for: keys with the same leading bits.

    Attributes
    ----------
    leading : the bits, rising
    shift : bits behind these
    below : values below each range
    held : values in each range
    """

    leading: Keys
    shift: int
    below: Rows
    held: Rows

    def place(self, keys: Keys) -> tuple[Rows, Keys]:
        """The range of each key, and the keys; those that are in none are left out."""
        if self.shift == 64:
            return np.zeros(len(keys), dtype=np.intp), keys
        leading = keys >> np.uint64(self.shift)
        place = np.searchsorted(self.leading, leading)
        place[place == len(self.leading)] = 0
        inside = self.leading[place] == leading
        return place[inside], keys[inside]


def ranked(blocks: Blocks, ranks: Rows, total: int, capacity: int) -> Doubles:
    """The values at some ranks, 0 the lowest.

    Where the values do not fit, they are counted by their leading bits, then those with the
    leading bits of a value that is looked for by more bits, until what is left fits.

    Parameters
    ----------
    blocks : gives all values, some at a time, each time it is called; no NaN
    ranks : rising
    total : number of values
    capacity : values that may be held
    """
    if total <= capacity:
        return _held(blocks, ranks, total)
    slots = _Slots(np.zeros(1, dtype=np.uint64), 64, np.zeros(1, dtype=np.intp), np.array([total]))
    while slots.shift and slots.held.sum() > capacity:
        slots = _narrowed(blocks, ranks, slots, max(_COUNTERS, capacity // 8))
    return _picked(blocks, ranks, slots)


def median_size(blocks: Blocks, total: int, capacity: int) -> float:
    """Median of the absolute values."""
    middle = np.array([(total - 1) // 2, total // 2])

    def sizes() -> Iterator[Doubles]:
        return (np.abs(values) for values in blocks())

    return float(np.mean(ranked(sizes, middle, total, capacity)))


def _held(blocks: Blocks, ranks: Rows, total: int) -> Doubles:
    """Values at the ranks, all values in memory."""
    values, first = np.empty(total), 0
    for some in blocks():
        values[first : first + len(some)] = some
        first += len(some)
    if len(ranks) > _FEW:
        values.sort()
    else:
        values.partition(ranks)
    return values[ranks]


def _narrowed(blocks: Blocks, ranks: Rows, slots: _Slots, counters: int) -> _Slots:
    """Smaller ranges that hold the ranks."""
    fit = (counters // len(slots.leading)).bit_length() - 1
    bits = max(1, min(fit, _MOST_BITS, slots.shift))
    shift, size = slots.shift - bits, 2**bits
    counts = np.zeros(len(slots.leading) * size, dtype=np.intp)
    for values in _chunks(blocks):
        place, keys = slots.place(_keys(values))
        some = (keys >> np.uint64(shift)) & np.uint64(size - 1)
        counts += np.bincount(place * size + some.astype(np.intp), minlength=len(counts))
    table = counts.reshape(-1, size)
    below = slots.below[:, np.newaxis] + np.cumsum(table, axis=1) - table
    starts = below.ravel()[counts > 0]
    chosen = np.flatnonzero(counts > 0)[np.unique(np.searchsorted(starts, ranks, side="right") - 1)]
    where, what = np.divmod(chosen, size)
    leading = (slots.leading[where] << np.uint64(bits)) | what.astype(np.uint64)
    return _Slots(leading, shift, below.ravel()[chosen], counts[chosen])


def _picked(blocks: Blocks, ranks: Rows, slots: _Slots) -> Doubles:
    """Values at the ranks, from all values in the ranges."""
    place = np.searchsorted(slots.below, ranks, side="right") - 1
    if slots.shift == 0:
        return _values(slots.leading[place])
    kept = np.empty(int(slots.held.sum()), dtype=np.uint64)
    first = 0
    for values in _chunks(blocks):
        _, keys = slots.place(_keys(values))
        kept[first : first + len(keys)] = keys
        first += len(keys)
    kept.sort()
    before = np.cumsum(slots.held) - slots.held
    return _values(kept[before[place] + ranks - slots.below[place]])


def _chunks(blocks: Blocks) -> Iterator[Doubles]:
    """All values in arrays that are not very small."""
    waiting: list[Doubles] = []
    for values in blocks():
        waiting.append(values)
        if sum(map(len, waiting)) >= _CHUNK:
            yield np.concatenate(waiting)
            waiting.clear()
    yield np.concatenate([*waiting, np.empty(0)])


def _keys(values: Doubles) -> Keys:
    """Whole numbers in the order of the values; −0 and 0 are one."""
    bits = (values + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _values(keys: Keys) -> Doubles:
    bits = np.where(keys & _SIGN, keys & ~_SIGN, ~keys)
    return bits.view(np.float64)
