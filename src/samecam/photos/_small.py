"""A small gray picture of a photo, by which others of the same scene are known again."""

import numpy as np

from samecam.arrays import Floats, Pixels

SIDE = 32


def low_pass(picture: Pixels, side: int = SIDE) -> Floats:
    """Small gray picture: means over side × side blocks of a decoded crop, (side, side).

    Parameters
    ----------
    picture : (h, w) or (h, w, 3), 0–255, at least `side` pixels each way; colour is averaged
    """
    if picture.ndim not in (2, 3) or min(picture.shape[:2]) < side:
        raise ValueError(
            f"the picture has shape {picture.shape}; give at least {side}×{side} pixels, gray or "
            "colour"
        )
    gray = picture if picture.ndim == 2 else picture.mean(axis=2, dtype=np.float32)
    rows, columns = (np.linspace(0, length, side + 1).astype(np.intp) for length in gray.shape)
    # Row by row: a large picture is not copied.
    sums = np.empty((side, side))
    for k in range(side):
        lines = gray[rows[k] : rows[k + 1]].sum(axis=0, dtype=np.float64)
        sums[k] = np.add.reduceat(lines, columns[:-1])
    return np.asarray(sums / np.outer(np.diff(rows), np.diff(columns)), dtype=np.float32)
