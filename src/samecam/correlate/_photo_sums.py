"""Every photo's inner product with the sum of every group, within a memory budget."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Floats, Rows
from samecam.compute import format_bytes, side_by_side
from samecam.correlate import _bit_sums
from samecam.correlate._kept import KeptGram, fill_from_gram
from samecam.correlate._matrix import DoubleMatrix
from samecam.correlate._membership import Membership, checked_labels, even_blocks
from samecam.correlate._progress import PhotoCount, Progress
from samecam.correlate._strips import (
    DEFAULT_MEMORY,
    Source,
    are_bits,
    pixels,
    strip_bytes,
    strips,
)
from samecam.errors import SamecamError
from samecam.store import FingerprintStore

# Pixels whose products are added in float32 before they go into a double: the same whatever
# the budget, so that the last digits are too.
_STRIP = 1024
# Groups and photos that are multiplied at a time, counted from the first of all, whatever the
# budget: BLAS adds in an order that depends on the shape, and on the place in it.
_TILE_GROUPS, _TILE_PHOTOS = 32, 64
# Tiles of photos that a thread takes at a time.
_TILES_AT_A_TIME = 32
# What is held of them at least.
_FEWEST_GROUPS, _FEWEST_PHOTOS, _FEWEST_PIXELS = 2, 16, 16
# Bytes a photo takes in any case: its results, and what reading its row needs.
_PHOTO_BYTES = 256
LEAST_MEMORY = 16 * 2**20
# Buffers of BLAS, and what the allocator keeps.
_RESERVE = 32 * 2**20


@dataclass(frozen=True, slots=True)
class PhotoSums:
    """Every photo's inner product with the sum of every group.

    Attributes
    ----------
    products : (k, n) s_ci = Σ_{j∈c} g_ij, the photo itself included where it is a member
    norms : (n,) what of it is the photo's product with itself, 1 but for rounding
    memory : bytes of the budget that are left beside these
    """

    products: DoubleMatrix
    norms: Doubles
    memory: int


def photo_sums(
    source: Source,
    labels: npt.NDArray[np.integer],
    *,
    memory: int = DEFAULT_MEMORY,
    folder: Path | None = None,
    progress: Progress | None = None,
    gram: KeptGram | None = None,
) -> PhotoSums:
    """Every photo's inner product with the sum of every group, within `memory` bytes.

    If the products and a strip of all rows fit, each byte of a store is read once: the sums
    of a strip are made and used while it is there. Else the sums of as many groups as fit are
    made first, then the photos are compared with them block by block, and the next groups
    follow; products that do not fit lie in a temporary file. The numbers are the same.

    Parameters
    ----------
    source : a store, or an (n, d) array; rows of zero mean and unit norm
    labels : (n,) groups from 0, −1 for none
    memory : bytes for everything held at a time, the result included; under 16 MiB counts as that
    folder : for a temporary file
    progress : called with photos done and all photos
    gram : correlations of all photos, if they are kept. Of rows of bits these give the same numbers
        to the last digit, and the rows are not read; of others they are not used
    """
    n = len(source)
    members = Membership(checked_labels(labels, n))
    if are_bits(source):
        return _sums_of_bits(source, members, memory, folder, progress, gram)
    plan = _plan(members, pixels(source), memory)
    out = DoubleMatrix((members.count, n), in_memory=plan.in_memory, folder=folder)
    work = _Work(source, members, plan, out, np.zeros(n), progress)
    if plan.one_pass:
        work.in_one_pass()
    else:
        work.by_blocks()
    return PhotoSums(out, work.norms, plan.left)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How the products are made.

    Attributes
    ----------
    in_memory : whether they are an array
    one_pass : whether strips of all rows are read once
    groups, photos : of a block that is multiplied, if not
    width : pixels of a strip that sums are made of, if not
    left : bytes beside the products and what belongs to each photo
    """

    in_memory: bool
    one_pass: bool
    groups: int
    photos: int
    width: int
    left: int


def _sums_of_bits(
    source: FingerprintStore,
    members: Membership,
    memory: int,
    folder: Path | None,
    progress: Progress | None,
    gram: KeptGram | None,
) -> PhotoSums:
    """Of rows of bits: all groups at a time, or as many as fit where the products do not."""
    n, count = len(members), members.count
    in_memory, left = _room(n, count, memory)
    out = DoubleMatrix((count, n), in_memory=in_memory, folder=folder)
    given, groups = _bit_sums.BitMembers(source, members), np.arange(count)
    if gram is not None:
        groups = fill_from_gram(gram, given, out, left // 2, PhotoCount(n, n, progress))
    whole = in_memory and len(groups) == count
    blocks = even_blocks(len(groups), count if whole else max(1, left // 2 // (8 * n)))
    told = PhotoCount(n, n * source.n_words * len(blocks), progress)
    for first, last in blocks:
        some = given.only(groups[first:last])
        target = out.read(first, last) if whole else np.empty((last - first, n))
        target[:] = 0
        width = some.width(n, left - (0 if whole else target.nbytes))
        _bit_sums.fill_products(source, some, target, width, count=told)
        for group, line in zip(groups[first:last].tolist(), target, strict=True):
            out.write(group, line[np.newaxis])
        del target  # before the next is made
    return PhotoSums(out, np.where(members.labels >= 0, given.parts, 1.0), left)


def _room(n: int, count: int, memory: int) -> tuple[bool, int]:
    """Whether the products are an array, and bytes beside them and what belongs to each photo."""
    budget = max(memory, LEAST_MEMORY)
    room = budget - min(_RESERVE, budget // 8) - _PHOTO_BYTES * n
    held = 8 * n * count
    in_memory = held <= room * 5 // 8
    return in_memory, room - (held if in_memory else 0)


def _plan(members: Membership, d: int, memory: int) -> _Plan:
    n, count, strip = len(members), members.count, min(_STRIP, d)
    in_memory, left = _room(n, count, memory)
    held = 8 * n * count
    tile = 4 * (_TILE_GROUPS + _TILE_PHOTOS) * strip + 8 * _TILE_GROUPS * _TILE_PHOTOS
    matrix = 16 * n  # who is in which group
    once = strip_bytes(n, strip) + 4 * count * strip + tile + matrix
    if in_memory and once <= left:
        return _Plan(True, True, count, n, strip, left)
    few, pixel_step = min(count, _FEWEST_GROUPS), min(d, _FEWEST_PIXELS)
    photo = strip_bytes(1, strip) + (0 if in_memory else 8 * few)
    need = 2 * max(
        4 * d * few, matrix + strip_bytes(n, pixel_step), photo * min(n, _FEWEST_PHOTOS) + tile
    )
    if need > left:
        need += _PHOTO_BYTES * n + (held if in_memory else 0)
        raise SamecamError(
            f"Comparing {n} photos with {count} groups takes {format_bytes(need)} and the memory "
            f"budget is {format_bytes(memory)}: raise it."
        )
    groups = max(b - a for a, b in even_blocks(count, left // 2 // (4 * d)))
    rest = left - 4 * d * groups
    photos = (rest - tile) // (strip_bytes(1, strip) + (0 if in_memory else 8 * groups))
    width = _even_width(d, max((rest - matrix) // 2 // strip_bytes(n, 1), pixel_step))
    return _Plan(in_memory, False, groups, photos, width, left)


def _even_width(d: int, largest: int) -> int:
    """Pixels of a strip, such that the last one is not much smaller than the others."""
    width = min(d, largest)
    while 0 < d % width < width // 2:
        width -= 1
    return width


class _Work:
    """The products on their way; `norms` are added up on the way."""

    def __init__(
        self,
        source: Source,
        members: Membership,
        plan: _Plan,
        out: DoubleMatrix,
        norms: Doubles,
        progress: Progress | None,
    ) -> None:
        self._source, self._members, self._plan, self._out = source, members, plan, out
        self.norms = norms
        self._progress = progress
        self._count = PhotoCount(0, 0, None)

    def in_one_pass(self) -> None:
        """Make the sums of each strip and use them while it is there."""
        members, d = self._members, pixels(self._source)
        self._count = PhotoCount(len(members), len(members) * d, self._progress)
        matrix, target = members.sparse(), self._out.read(0, members.count)
        for _, part in strips(self._source, _STRIP):
            self._add_products(_Lines(matrix @ part, 0), _Lines(part, 0), target)
            self.norms += np.einsum("ij,ij->i", part, part)
            self._count.add(part.size)

    def by_blocks(self) -> None:
        """Make the sums of some groups, compare all photos with them, go on to the next."""
        members, plan, d = self._members, self._plan, pixels(self._source)
        n, inside = len(members), len(members.inside)
        blocks = even_blocks(members.count, plan.groups)
        self._count = PhotoCount(n, (inside + n * len(blocks)) * d, self._progress)
        for first, last in blocks:
            sums = self._sums(first, last)
            for a, b in even_blocks(n, plan.photos):
                rows = np.arange(a, b, dtype=np.intp)
                target = self._target(first, last, a, b)
                self._compare(rows, sums, first, target)
                self._out.write(first, target, column=a)
                del target  # before the next is made

    def _sums(self, first: int, last: int) -> Floats:
        """(last − first, d) sums of some groups, each added up in the order of its photos."""
        members, rows = self._members.part(first, last)
        matrix = members.of(np.arange(len(rows))).sparse()
        sums = np.empty((last - first, pixels(self._source)), dtype=np.float32)
        for start, part in strips(self._source, self._plan.width, rows):
            sums[:, start : start + part.shape[1]] = matrix @ part
            self._count.add(part.size)
        return sums

    def _target(self, first: int, last: int, a: int, b: int) -> Doubles:
        if self._out.in_memory:
            return self._out.read(first, last, columns=slice(a, b))
        return np.zeros((last - first, b - a))

    def _compare(self, rows: Rows, sums: Floats, first: int, target: Doubles) -> None:
        """Add the products of some photos with the sums of groups from `first` on to `target`."""
        at = int(rows[0])
        for start, part in strips(self._source, _STRIP, rows):
            some = sums[:, start : start + part.shape[1]]
            self._add_products(_Lines(some, first), _Lines(part, at), target)
            if first == 0:
                self.norms[rows] += np.einsum("ij,ij->i", part, part)
            self._count.add(part.size)

    def _add_products(self, sums: "_Lines", part: "_Lines", target: Doubles) -> None:
        """Add products of groups and photos to `target`, tile by tile of all there are."""
        members = self._members
        every = list(sums.tiles(_TILE_GROUPS, members.count))

        def add(photos: "_Lines") -> None:
            columns = target[:, photos.first - part.first :]
            for tile, of_photos, to_photos in photos.tiles(_TILE_PHOTOS, len(members)):
                for groups, of_groups, to_groups in every:
                    columns[to_groups, to_photos] += (groups @ tile.T)[of_groups, of_photos]

        side_by_side(add, part.runs(_TILES_AT_A_TIME * _TILE_PHOTOS))


@dataclass(frozen=True, slots=True)
class _Lines:
    """Some of many lines: from `first` on."""

    values: Floats
    first: int

    def runs(self, size: int) -> list["_Lines"]:
        """The same lines in runs that end at multiples of `size`, counted from the first of all."""
        edges = range(self.first // size * size, self.first + len(self.values), size)
        starts = [max(edge, self.first) - self.first for edge in edges]
        parts = np.split(self.values, starts[1:]) if starts else []
        return [_Lines(some, self.first + a) for some, a in zip(parts, starts, strict=True)]

    def tiles(self, size: int, count: int) -> Iterator[tuple[Floats, slice, slice]]:
        """Tiles of all `count` lines in which some of these are, zeros where others would be.

        With which lines of the tile they are, and which of these.
        """
        first, last = self.first, self.first + len(self.values)
        for a in range(first // size * size, last, size):
            b = min(a + size, count)
            low, high = max(a, first), min(b, last)
            tile = self.values[low - first : high - first]
            if high - low < b - a:
                whole = np.zeros((b - a, tile.shape[1]), dtype=np.float32)
                whole[low - a : high - a] = tile
                tile = whole
            yield tile, slice(low - a, high - a), slice(low - first, high - first)
