"""Views that two frames alone suggest: a picture turned, or reduced to another width.

Such a view is compared as it is, on all that is common, and not searched for: there are few of
them, so that a lower score stands out from chance.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeAlias

import numpy as np

from samecam import correlate
from samecam.arrays import Doubles, Floats, Words
from samecam.compute import thread_count
from samecam.frames import Frame
from samecam.register._peaks import Peak
from samecam.register._pieces import Numbered, Piece
from samecam.register._resample import Pattern, middle, reduced, unturned
from samecam.register._rows import CAMERA, MAD, PICTURE, signs
from samecam.register._view import View
from samecam.store import BitRows

# Score of the whole frame from which a view is looked at more closely.
_LOOKED_AT = 3.0
# Shifts at which a view shows what chance gives, in words of 64 pixels: those cost nothing.
_OTHERS = (-7, -5, -3, -1, 1, 3, 5, 7)
# Sides of the middle of pictures that are only turned.
_MIDDLE = 1024
# Scale up to which a picture counts as one of the same size.
_SAME = 1.06


_Found: TypeAlias = list[tuple[View, int]]


def exact_views(picture: Frame, camera: Frame) -> list[View]:
    """Views in which a picture sees all of a camera's frame: reduced, turned, or its middle.

    Reduced also to the same longer side: a camera that is known by pictures in 16:9 sees the middle
    of copies in 4:3.

    None of a picture that is compared pixel by pixel anyway, or has less pixels each way.
    """
    views = []
    for turn in (0, 90, 180, 270):
        width, height = reversed(picture) if turn % 180 else picture
        if (width - height) * (camera.width - camera.height) < 0:
            continue
        scale = min(width / camera.width, height / camera.height)
        longer = max(width, height) / max(camera)  # of which the picture sees the middle
        scales = {each for each in (scale, longer) if each > _SAME}
        views += [View(turn, scale=each) for each in sorted(scales)]
        if scale == 1:
            half = (width - camera.width) % 2 / 2, (height - camera.height) % 2 / 2
            both = [View(turn, mirrored, shift=half) for mirrored in (False, True)]
            views += both if turn or picture != camera else both[1:]
    return views


def exact_peaks(
    pictures: Numbered,
    cameras: Numbered,
    wanted: Callable[[int, int], bool],
    memory: int,
    told: Callable[[], None],
) -> Iterator[Peak]:
    """Views by pictures of one frame of cameras of one frame, where they stand out.

    Parameters
    ----------
    wanted : whether a picture and a camera, by their numbers, are to be compared
    memory : bytes for the rows of cameras
    told : called after each picture
    """
    frame = cameras[0][1].frame
    views = exact_views(pictures[0][1].frame, frame)
    shape = _compared_shape(frame, views)
    step = max(1, 2 * memory // (shape[0] * shape[1]))
    for start in range(0, len(cameras), step):
        some = cameras[start : start + step]
        there = _rows([partial(_middle_of, piece, shape) for _, piece in some], CAMERA)

        def high(item: tuple[int, Piece], there: BitRows = there, some: Numbered = some) -> _Found:
            """Views, and numbers of cameras, where a picture stands out."""
            asked = [k for k, (camera, _) in enumerate(some) if wanted(item[0], camera)]
            if not asked:
                return []
            pattern = item[1].pattern()
            scores = _scores([_seen(pattern, view, frame, shape) for view in views], there)
            return [
                (view, some[k][0])
                for view, row in zip(views, scores, strict=True)
                for k in asked
                if row[k] >= _LOOKED_AT
            ]

        with ThreadPoolExecutor(thread_count()) as pool:
            for (number, _), found in zip(pictures, pool.map(high, pictures), strict=True):
                if start == 0:
                    told()
                for view, camera in found:
                    yield Peak(number, camera, view)


def _compared_shape(frame: Frame, views: Sequence[View]) -> tuple[int, int]:
    """Height and width of what is compared: all of a copy, the middle of what is only turned.

    Reducing takes most of a pattern away, turning takes nothing.
    """
    if any(view.scale > 1 for view in views):
        return frame.shape
    return min(frame.height, _MIDDLE), min(frame.width, _MIDDLE)


def _middle_of(piece: Piece, shape: tuple[int, int]) -> Pattern:
    return middle(piece.pattern(), shape)


def _seen(picture: Pattern, view: View, camera: Frame, shape: tuple[int, int]) -> Pattern:
    """The middle of what the picture shows of the camera's frame."""
    upright = unturned(picture, view.turn, view.mirrored)
    if view.scale > 1:
        return reduced(upright, view.scale, shape)
    top, left = ((a - b) // 2 for a, b in zip(upright.shape, camera.shape, strict=True))
    there = upright[top : top + camera.height, left : left + camera.width]
    return middle(there, shape)


def _scores(seen: Sequence[Pattern], there: BitRows) -> list[Doubles]:
    """Correlations of each with all rows, in units of what shifts give."""
    rows = _rows([partial(np.asarray, one) for one in seen], PICTURE).values
    shifted = [rows, *(np.roll(rows, 2 * words, axis=1) for words in _OTHERS)]
    products = correlate.cross(BitRows(np.concatenate(shifted), there.n_pixels), there)
    scores = []
    for here, *others in products.reshape(len(shifted), len(seen), -1).swapaxes(0, 1):
        usual = MAD * np.median(np.abs(others), axis=0)  # of each row
        usual = np.maximum(usual, MAD * np.median(np.abs(others)))
        scores.append(here.astype(np.float64) / np.maximum(usual, 1e-30))
    return scores


def _rows(patterns: Sequence[Callable[[], Pattern]], kind: int) -> BitRows:
    """Whole frames, two bits a pixel; the last pixels are left out where they fill no word."""
    from samecam.register._kernels import pack_pairs

    def packed(pattern: Callable[[], Pattern]) -> Words:
        line: Floats = np.ascontiguousarray(pattern(), dtype=np.float32).reshape(1, -1)
        n = line.size // 64 * 64
        words = np.empty(n // 32, dtype=np.uint64)
        pack_pairs(line, n, signs(n // 64, kind), words)
        return words

    with ThreadPoolExecutor(thread_count()) as pool:
        rows = np.stack(list(pool.map(packed, patterns)))
    return BitRows(rows, 32 * rows.shape[1])
