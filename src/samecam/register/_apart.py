"""Photos that persons decided to be of different cameras."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from samecam.arrays import Labels, Rows

# Of a camera: its photos, and the number of the first of them, negative: more comes first.
_Size = tuple[int, int]


class _Pair(NamedTuple):
    """Photos that are apart from others, and how many of both are in each camera."""

    photos: frozenset[int]
    others: frozenset[int]
    photos_in: Counter[int]
    others_in: Counter[int]

    def most(self, sizes: Mapping[int, _Size], without: set[int | None]) -> int | None:
        """The camera that holds most of the others, of several the first; None: no camera does."""
        holders = [c for c, held in self.others_in.items() if held and c not in without]
        return max(holders, key=lambda c: (self.others_in[c], sizes[c]), default=None)


class Apart:
    """Which groups and photos may be one camera, asked as cameras grow.

    For each pair (photos, others): none of `photos` comes into the camera that holds most of
    `others`, of several the largest, then that of the first photo. Photos in no camera do not
    count.

    Parameters
    ----------
    apart : pairs of numbers of photos
    labels : group of each photo, −1: none; at first each group is a camera
    """

    def __init__(self, apart: Sequence[tuple[Rows, Rows]], labels: Labels) -> None:
        given = [(_photos(a, len(labels)), _photos(b, len(labels))) for a, b in apart]
        self._pairs = [_Pair(a, b, _counted(labels, a), _counted(labels, b)) for a, b in given]
        groups, firsts, many = np.unique(labels, return_index=True, return_counts=True)
        rows = zip(groups.tolist(), firsts.tolist(), many.tolist(), strict=True)
        self._sizes = {group: (size, -first) for group, first, size in rows if group >= 0}
        self._camera = {group: group for group in self._sizes}
        self._refused: set[tuple[str, int, int]] = set()

    @property
    def searched(self) -> dict[str, int]:
        """Pairs of groups, or of a photo and a camera, that were not linked; for `Cameras`."""
        return {"forbidden": len(self._refused)} if self._pairs else {}

    def join(self, first: int, second: int) -> bool:
        """Make the cameras of two groups one, unless that is forbidden."""
        a, b = self._camera[first], self._camera[second]
        adding = [(pair.photos_in[b], pair.others_in[b]) for pair in self._pairs]
        if not self._take(a, b, adding, self._sizes[b]):
            self._refused.add(("groups", min(first, second), max(first, second)))
            return False
        del self._sizes[b]
        for pair in self._pairs:
            pair.photos_in.pop(b, None)
            pair.others_in.pop(b, None)
        for group, camera in self._camera.items():
            if camera == b:
                self._camera[group] = a
        return True

    def place(self, photo: int, group: int) -> bool:
        """Put a photo alone into the camera of a group, unless that is forbidden."""
        adding = [(int(photo in pair.photos), int(photo in pair.others)) for pair in self._pairs]
        camera = self._camera[group]
        if self._take(camera, None, adding, (1, -photo)):
            return True
        self._refused.add(("photo", photo, camera))
        return False

    def _take(self, a: int, b: int | None, adding: list[tuple[int, int]], size: _Size) -> bool:
        """Add photos and others of each pair to camera `a`, from camera `b` or from none."""
        grown = self._sizes[a][0] + size[0], max(self._sizes[a][1], size[1])
        for pair, (photos, others) in zip(self._pairs, adding, strict=True):
            if not (pair.photos_in[a] and others) and not (photos and pair.others_in[a]):
                continue  # nobody meets anybody
            rest = pair.most(self._sizes, {a, b})
            held = pair.others_in[a] + others, grown
            if rest is not None and held < (pair.others_in[rest], self._sizes[rest]):
                continue  # most of the others are elsewhere
            before = pair.most(self._sizes, set())
            here = pair.photos_in[a] if before != a else 0
            come = photos if before is None or before != b else 0
            if here or come:
                return False
        for pair, (photos, others) in zip(self._pairs, adding, strict=True):
            pair.photos_in[a] += photos
            pair.others_in[a] += others
        self._sizes[a] = grown
        return True


def _photos(rows: Rows, n: int) -> frozenset[int]:
    """Checked numbers of photos."""
    given = frozenset(int(row) for row in rows)
    if wrong := [row for row in given if not 0 <= row < n]:
        raise ValueError(f"apart has photo {min(wrong)}; give photos from 0 to {n - 1}")
    return given


def _counted(labels: Labels, photos: frozenset[int]) -> Counter[int]:
    """How many of some photos are in each group."""
    groups = labels[np.array(sorted(photos), dtype=np.intp)]
    return Counter(groups[groups >= 0].tolist())
