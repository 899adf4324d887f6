"""Correlations of the strongest photos of two cameras, as a small picture and in words."""

import threading
from collections import Counter, OrderedDict
from dataclasses import dataclass

import numpy as np

from samecam import correlate
from samecam.arrays import Doubles, Rows
from samecam.errors import SamecamError
from samecam.report import heat_picture
from samecam.review._index import Index

EACH = 24
_KEPT = 50
_ZOOM = 10
_MEMORY = 2**28
_LEAST = 6.0


@dataclass(frozen=True, slots=True)
class Heat:
    """A picture of some photos of each of two cameras, and what it shows."""

    png: bytes
    first: int
    second: int
    words: str


class HeatMaps:
    """Made when they are asked for, one at a time, the last few kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[tuple[int, ...], tuple[int, ...]], Heat] = OrderedDict()

    def get(self, index: Index, first: list[int], second: list[int]) -> Heat:
        """Of the strongest photos, the strongest first, of one frame; an error if there is none."""
        frame = _common_frame(index, first, second)
        one, two = (
            tuple([row for row in rows if index.photos[row].frame == frame][:EACH])
            for rows in (first, second)
        )
        with self._lock:
            if (one, two) not in self._known:
                self._known[one, two] = _made(index, frame, one, two)
                while len(self._known) > _KEPT:
                    self._known.popitem(last=False)
            return self._known[one, two]


def _common_frame(index: Index, first: list[int], second: list[int]) -> str:
    """The frame that most photos of the smaller side share with the other."""
    counts = [Counter(index.photos[row].frame for row in rows) for rows in (first, second)]
    both = {frame: min(counts[0][frame], counts[1][frame]) for frame in counts[0]}
    frame = max(both, key=lambda name: (both[name], name), default="")
    if not both.get(frame):
        raise SamecamError("They have no width and height in common, so nothing is compared.")
    return frame


def _made(index: Index, frame: str, one: tuple[int, ...], two: tuple[int, ...]) -> Heat:
    at = np.array(
        [k for k, photo in enumerate(index.photos) if photo.frame == frame], dtype=np.intp
    )
    chosen = np.array([*one, *two], dtype=np.intp)
    values, scale = _correlated(index, frame, np.searchsorted(at, chosen), len(at))
    np.fill_diagonal(values, 0)
    units = values / scale
    a, b = len(one), len(two)
    means = [_mean_of_pairs(units[:a, :a]), _mean_of_pairs(units[a:, a:]), _mean(units[:a, a:])]
    strong = max([m for m in means if m is not None], default=0.0)
    picture = np.repeat(np.repeat(units, _ZOOM, axis=0), _ZOOM, axis=1)
    words = (
        f"In units of chance, two photos of the first correlate by {_text(means[0])} on average, "
        f"two of the second by {_text(means[1])}, one of each by {_text(means[2])} "
        f"(the strongest {a} and {b} photos; above and left the first camera)."
    )
    return Heat(heat_picture(picture, max(_LEAST, strong)), a, b, words)


def _correlated(index: Index, frame: str, rows: Rows, count: int) -> tuple[Doubles, float]:
    """Correlations of some rows of a frame, and the scale of chance."""
    with index.saved.open_store() as store:
        frames = [each for each in store.frames if frame in (each.name, "")]
        if len(frames) != 1:
            raise SamecamError("Its fingerprints are not there.")
        source = store.rows(frames[0])
        try:
            if len(source) != count:
                raise SamecamError("Its fingerprints are not those of the tables.")
            values = np.array(correlate.gram(source, rows=rows, memory=_MEMORY), dtype=np.float64)
        finally:
            source.close()
        known = index.saved.detail("frames", frames[0].name, "null_scale")
        if not isinstance(known, float) or not known > 0:
            known = frames[0].n_pixels ** -0.5
    return values, known


def _mean(values: Doubles) -> float | None:
    return float(values.mean()) if values.size else None


def _mean_of_pairs(values: Doubles) -> float | None:
    n = len(values)
    return float(values.sum() / (n * (n - 1))) if n > 1 else None


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
