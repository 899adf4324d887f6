"""How good groups are where the cameras are known, as far as choosing parameters needs it."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from samecam.arrays import Labels


class Judgement(NamedTuple):
    """`precision`, `recall`, `f` over pairs of photos, and L_d/L_g, the share `discovered`."""

    precision: float
    recall: float
    f: float
    discovered: float


def numbers(cameras: npt.ArrayLike, n: int) -> Labels:
    """Cameras by number, or a sentence that they do not fit `n` photos."""
    given: npt.NDArray[Any] = np.asarray(cameras)
    if given.shape != (n,):
        raise ValueError(f"cameras has shape {given.shape}; give one for each of {n} photos")
    found = np.unique(given, return_inverse=True)
    if len(found[0]) < 2:
        raise ValueError(f"the photos are of {len(found[0])} camera; give those of two or more")
    return found[1].astype(np.intp)


def judge(cameras: Labels, labels: Labels) -> Judgement:
    """Pairs put together rightly, and cameras with the majority of some group.

    Unclustered photos (−1) are groups of their own, as in `samecam.metrics`, which this room
    cannot ask.
    """
    inside = labels >= 0
    table = np.zeros((int(cameras.max()) + 1, int(labels.max(initial=-1)) + 1), dtype=np.int64)
    np.add.at(table, (cameras[inside], labels[inside]), 1)
    right = _pairs(table)
    together, wanted = _pairs(table.sum(axis=0)), _pairs(np.bincount(cameras))
    most = (2 * table > table.sum(axis=0)).any(axis=1)
    return Judgement(
        right / together if together else 1.0,
        right / wanted if wanted else 1.0,
        2 * right / (together + wanted) if together + wanted else 1.0,
        float(np.mean(most)),
    )


def _pairs(counts: npt.NDArray[np.int64]) -> int:
    return int((counts * (counts - 1) // 2).sum())
