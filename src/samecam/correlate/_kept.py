"""Correlations of all pairs that are kept in a file, and sums over groups made of them again."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from samecam.arrays import Doubles, Floats, Rows
from samecam.correlate._bit_sums import LEVELS, BitMembers
from samecam.correlate._matrix import DoubleMatrix
from samecam.correlate._progress import PhotoCount

# Numbers that are written at a time.
_WRITTEN = 2**22
# A whole number of this size or more is not known from a correlation in float32, and sums of this
# size or more not from a double.
_CERTAIN, _EXACT = 2**24 - 2**14, 2**53
# Bytes a correlation takes while it is used.
_WORK_BYTES = 32


class KeptGrams:
    """Correlations of the photos of several frames, in a temporary file without a name.

    They are there to save work: where they cannot be kept, nothing is said and nothing is there.

    Parameters
    ----------
    folder : for that file; default where the system keeps temporary files
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._kept: dict[str, KeptGram] = {}

    def __enter__(self) -> "KeptGrams":
        return self

    def __exit__(self, *_: object) -> None:
        self._kept.clear()
        if self._file is not None:
            self._file.close()

    def put(self, name: str, gram: Any) -> None:
        """Keep the (n, n) correlations of a frame, an array or a tensor on a device."""
        start, n = sum(kept.nbytes for kept in self._kept.values()), len(gram)
        before = self._kept.pop(name, None)
        if before is not None:
            start = before.start
            self._kept = {k: kept for k, kept in self._kept.items() if kept.start < start}
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - see __exit__
            self._file.seek(start)
            step = max(1, _WRITTEN // max(n, 1))
            for first in range(0, n, step):
                part = gram[first : first + step]
                values = part if isinstance(part, np.ndarray) else part.cpu().numpy()
                self._file.write(np.ascontiguousarray(values, dtype=np.float32).data)
            self._file.flush()
        except OSError:
            self._forget(start)
            return
        self._kept[name] = KeptGram(self._file, start, n)

    def get(self, name: str) -> "KeptGram | None":
        """The correlations of a frame, if they are kept."""
        return self._kept.get(name)

    def _forget(self, start: int) -> None:
        """Give back the room of what could not be written."""
        try:
            if self._file is not None:
                self._file.truncate(start)
        except OSError:
            pass


@dataclass(frozen=True, slots=True)
class KeptGram:
    """(n, n) correlations in float32 from some place of a file on."""

    file: IO[bytes]
    start: int
    n: int

    @property
    def nbytes(self) -> int:
        """Bytes in the file."""
        return 4 * self.n * self.n

    def read(self, first: int, last: int) -> Floats:
        """Rows first … last − 1."""
        out = np.empty((last - first, self.n), dtype=np.float32)
        self.file.seek(self.start + 4 * self.n * first)
        if self.file.readinto(out.reshape(-1).view(np.uint8).data) != out.nbytes:  # type: ignore[attr-defined]
            raise RuntimeError("a temporary file ends before its correlations do")
        return out


def fill_from_gram(
    gram: KeptGram, given: BitMembers, out: DoubleMatrix, memory: int, count: PhotoCount
) -> Rows:
    """Inner products of groups with photos as `_bit_sums.fill_products`, to the last digit.

    The whole number that a correlation was made of is found from it: those of two pairs are 2
    apart, and it is known to 1 part in 2²⁴.

    Parameters
    ----------
    gram : correlations of all photos, rows of bits
    given : who is in which group
    out : (groups, photos)
    memory : bytes for what is held at a time
    count : told of photos

    Returns
    -------
    groups with a pair whose number is too large to be found: what is in `out` does not hold
    """
    from scipy.sparse import csr_array

    members, n = given.members, gram.n
    whole = members.whole.astype(np.float64)
    groups = csr_array((whole, (members.groups, members.inside)), shape=(members.count, n))
    own = np.rint(members.row_weights / members.unit) * given.pixels
    unsure = LEVELS * members.sizes >= _EXACT // _CERTAIN
    step = max(1, memory // (_WORK_BYTES * n + 16 * members.count))
    for first in range(0, n, step):
        last = min(first + step, n)
        numbers = _whole_numbers(gram.read(first, last), given, first)
        large = np.abs(numbers).max(axis=0) >= _CERTAIN
        unsure[members.labels[large & (members.labels >= 0)]] = True
        sums = np.asarray(groups @ numbers.T)
        mine = np.flatnonzero(members.labels[first:last] >= 0)
        place = members.labels[first:last][mine], mine
        if given.planes == 1:  # a row with itself
            sums[place] += own[first:last][mine]
        sums *= members.unit
        sums /= given.norms[first:last]
        if given.planes == 2:
            sums[place] += given.parts[first:last][mine]
        out.write(0, sums, column=first)
        count.add(last - first)
    return np.flatnonzero(unsure)


def _whole_numbers(correlations: Floats, given: BitMembers, first: int) -> Doubles:
    """Inner products of some rows, from `first` on, with all others; 0 with themselves."""
    numbers = correlations.astype(np.float64)
    some = np.arange(len(numbers))
    if given.planes == 2:
        numbers *= given.norms[first : first + len(numbers), np.newaxis]
        numbers *= given.norms
    else:
        numbers *= given.pixels
    odd = given.pixels % 2  # as 9d − 2c and d − 2c are
    numbers -= odd
    numbers /= 2
    np.rint(numbers, out=numbers)
    numbers *= 2
    numbers += odd
    numbers[some, some + first] = 0
    return numbers
