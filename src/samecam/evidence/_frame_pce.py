"""Peak-to-correlation energy of whole frames: the match in place above that at some shifts."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from samecam import correlate
from samecam.arrays import Doubles, Rows
from samecam.frames import Frame
from samecam.store import FingerprintStore

# Shifts are by whole multiples of this down and across, so that blocks of JPEG and what else
# repeats with 8 or 16 pixels lie on themselves, and there are at most so many.
STEP, SHIFTS = 64, 32
_FEWEST = 4


def frame_pce(
    source: FingerprintStore,
    labels: npt.ArrayLike,
    *,
    memory: int = correlate.DEFAULT_MEMORY,
    progress: Callable[[int, int], None] | None = None,
) -> Doubles:
    """PCE of each clustered photo against its group's fingerprint without it; NaN for others.

    C is the inner product of the photo with the sum of the others of its group, shifted by
    multiples of 64 pixels down and across; what leaves the frame comes in again on the other side,
    one row lower. PCE = sign(C₀)·C₀² / mean C² over up to 32 shifts, spread over the frame.
    NaN too where the frame has room for fewer than four.

    Parameters
    ----------
    source : rows of bits or int8, of whole frames
    labels : (n,) groups, −1 for none
    memory : bytes for what is held at a time, but for one row and one group's sum
    progress : called with clustered photos done and all clustered photos
    """
    groups = np.asarray(labels)
    result, offsets = np.full(len(source), np.nan), shifts(source.frame)
    order = np.argsort(groups, kind="stable")
    order = order[groups[order] >= 0]
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    done = 0
    for members in np.split(order, starts[1:]) if len(order) else []:
        if len(members) > 1 and len(offsets) >= _FEWEST:
            result[members] = _group_pce(source, members, offsets, memory)
        done += len(members)
        if progress is not None:
            progress(done, len(order))
    return result


def shifts(frame: Frame, most: int = SHIFTS) -> Rows:
    """Up to so many offsets in pixels by which rows are shifted, spread over the frame.

    Each moves every pixel by 64 or more, down or across.
    """
    down = np.arange(frame.height // STEP)[:, np.newaxis]
    flat = (STEP * (down * frame.width + np.arange(frame.width // STEP))).ravel()[1:]
    if len(flat) > most:
        flat = flat[np.linspace(0, len(flat) - 1, most).round().astype(np.intp)]
    return flat.astype(np.intp)


def _group_pce(source: FingerprintStore, members: Rows, offsets: Rows, memory: int) -> Doubles:
    """PCE of each of a group's photos against the sum of the others."""
    products = correlate.shifted_products(source, members, np.append(0, offsets), memory=memory)
    peak, energy = products[:, 0], np.square(products[:, 1:]).mean(axis=1)
    result: Doubles = np.zeros_like(peak)
    np.divide(np.sign(peak) * peak**2, energy, out=result, where=energy > 0)
    return result
