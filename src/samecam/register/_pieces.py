"""Patterns of groups, photos and cameras, read from their stores when they are needed."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Floats, Labels, Rows
from samecam.compute import side_by_side
from samecam.frames import Frame
from samecam.register._pattern import as_pattern
from samecam.register._resample import Pattern
from samecam.store import FingerprintStore

# Photos of a group whose sum is its pattern: more of them hardly add to it.
MOST_PHOTOS = 64
# Pixels each way under which a picture is too small to be registered.
SMALLEST = 256
# Bytes a pixel beside a row that is added to a sum: the sum, its squares in double precision.
_SUM_BYTES = 12


class GroupedRows(NamedTuple):
    """The photos of one frame and their groups.

    Attributes
    ----------
    frame : width and height
    rows : their fingerprints
    photos : (n,) number of each row's photo among all photos
    groups : (n,) group of each row, counted over all frames from 0; −1: none
    zoom : (n,) digital zoom that EXIF names; NaN: unknown. Orders the search, is no evidence.
    left_out : top, bottom, left and right of places that are not compared
    """

    frame: Frame
    rows: FingerprintStore
    photos: Rows
    groups: Labels
    zoom: Doubles
    left_out: Sequence[tuple[int, int, int, int]] = ()


class Piece(NamedTuple):
    """What is registered: a group of photos, a camera, or one photo.

    Attributes
    ----------
    frame : width and height
    pattern : gives the pattern, (h, w) int8
    photos : how many it is of
    reliable : share of the pattern's variance that is of the sensor; NaN: unknown
    zoom : that EXIF names; NaN: unknown
    """

    frame: Frame
    pattern: Callable[[], Pattern]
    photos: int = 1
    reliable: float = float("nan")
    zoom: float = float("nan")

    @property
    def of_one(self) -> float:
        """How reliable the pattern of one of its photos is, on average; NaN: unknown."""
        return self.reliable / (self.photos - (self.photos - 1) * self.reliable)

    def reliable_with(self, photos: int) -> float:
        """How reliable the pattern is when it is of so many photos of this kind."""
        return photos * self.of_one / (1 + (photos - 1) * self.of_one)


Numbered = Sequence[tuple[int, Piece]]


class Patterns:
    """Patterns that were made, the latest of them kept within `memory` bytes; for threads too."""

    def __init__(self, memory: int) -> None:
        self._kept: OrderedDict[object, npt.NDArray[np.int8]] = OrderedDict()
        self.memory, self._bytes, self._lock = memory, 0, threading.Lock()

    def get(self, key: object, make: Callable[[], npt.NDArray[np.int8]]) -> npt.NDArray[np.int8]:
        """The pattern of a key, made if it is not there."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        pattern = make()
        with self._lock:
            if key not in self._kept:
                self._kept[key] = pattern
                self._bytes += pattern.nbytes
            while self._bytes > self.memory and len(self._kept) > 2:
                self._bytes -= self._kept.popitem(last=False)[1].nbytes
        return pattern


def pieces(
    frames: Sequence[GroupedRows], patterns: Patterns, *, measured: bool = True
) -> tuple[list[tuple[int, Piece]], list[tuple[int, Piece]]]:
    """Groups, and photos in none, with their numbers; those of small frames are left out.

    Unless how reliable patterns are is to be `measured`, no row is read yet.
    """
    groups: list[tuple[int, Piece]] = []
    alone: list[tuple[int, Piece]] = []
    for given in frames:
        if min(given.frame) < SMALLEST:
            continue
        groups += _groups(given, patterns, measured=measured)
        for row in np.flatnonzero(given.groups < 0):
            photo = int(given.photos[row])
            load = _loader(given, np.array([row]), ("photo", photo), patterns)
            zoom = float(given.zoom[row])
            alone.append((photo, Piece(given.frame, load, zoom=zoom)))
    return sorted(groups), sorted(alone)


def _groups(given: GroupedRows, patterns: Patterns, *, measured: bool) -> list[tuple[int, Piece]]:
    """All groups of a frame, side by side as far as memory goes: rows are read and added up."""
    numbers = np.unique(given.groups[given.groups >= 0]).tolist()
    need = given.rows.row_bytes + _SUM_BYTES * given.rows.n_pixels

    def piece(group: int) -> tuple[int, Piece]:
        members = np.flatnonzero(given.groups == group)
        return group, _group(given, members, group, patterns, measured=measured)

    return side_by_side(piece, numbers, most=max(1, patterns.memory // need))


def _group(
    given: GroupedRows, members: Rows, group: int, patterns: Patterns, *, measured: bool
) -> Piece:
    """A group; how reliable its pattern is follows from the norm of the sum of its rows."""
    some = members
    if len(members) > MOST_PHOTOS:
        some = members[np.linspace(0, len(members) - 1, MOST_PHOTOS).astype(np.intp)]
    load = _loader(given, some, ("group", group), patterns)
    zooms = given.zoom[members]
    known = zooms[np.isfinite(zooms)]
    zoom = float(np.median(known)) if len(known) else float("nan")
    reliable = float("nan")
    if measured:
        total, squares = _sum(given, some)
        square = float(np.square(total, dtype=np.float64).sum())
        reliable = max(0.0, 1 - squares / max(square, 1e-30))
    return Piece(given.frame, load, len(members), reliable, zoom)


def _loader(
    given: GroupedRows, rows: Rows, key: tuple[str, int], patterns: Patterns
) -> Callable[[], Pattern]:
    def make() -> npt.NDArray[np.int8]:
        return as_pattern(_sum(given, rows)[0])

    return lambda: patterns.get(key, make)


def _sum(given: GroupedRows, members: Rows) -> tuple[Floats, float]:
    """(h, w) sum of rows, one read at a time, and the sum of their squared norms.

    Without places that are left out, which are 0.
    """
    row: Floats = np.empty((1, given.rows.n_pixels), dtype=np.float32)
    picture = row.reshape(given.frame.shape)
    total: Floats = np.zeros(given.frame.shape, dtype=np.float32)
    squares = 0.0
    for member in members:
        given.rows.read_into(np.array([member], dtype=np.intp), row)
        for top, bottom, left, right in given.left_out:
            picture[top:bottom, left:right] = 0
        squares += float(np.square(row, dtype=np.float64).sum()) if given.left_out else 1.0
        total += picture
    return total, squares
