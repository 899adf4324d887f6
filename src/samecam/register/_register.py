"""Registration of two patterns: `register`."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from samecam.errors import ParameterValueError
from samecam.frames import Frame
from samecam.register._fit import fit_view
from samecam.register._links import Judge
from samecam.register._pattern import as_pattern
from samecam.register._peaks import Scales, peaks
from samecam.register._pieces import SMALLEST, Piece
from samecam.register._rows import Turning, places
from samecam.register._searches import turnings
from samecam.register._view import View

_SIDE = 1024
_MEMORY = 2**30


def register(
    picture: npt.ArrayLike,
    camera: npt.ArrayLike,
    *,
    scales: tuple[float, float] = (0.94, 1.06),
    turns: Sequence[int] | None = None,
    mirrored: bool = False,
    reach: int = 3,
) -> View | None:
    """How one fingerprint sees the sensor of another, if it does.

    The middle of both is compared at all scales, turns and small shifts; the best places are
    fitted on all that is common: scale, radial term and shift.

    Parameters
    ----------
    picture, camera : (h, w) fingerprints, or sums of those of several photos
    scales : smallest and largest size of the camera's detail in the picture; those below .94 are
        found as `register(camera, picture)`, of which `View.inverse` is taken
    turns : degrees clockwise by which the picture may be turned, default those that fit its shape
    mirrored : whether it may be mirrored as well
    reach : pixels by which the centres may be apart

    Returns
    -------
    the view with its score, area and the probability (`rate`) that chance gives such a score in
    this search, or None where nothing stands out; whoever searches many pairs multiplies rates
    """
    patterns = [_checked(name, some) for name, some in (("picture", picture), ("camera", camera))]
    if not 0.94 <= scales[0] <= scales[1]:
        raise ParameterValueError("scales", f"{{name}} are {scales}; give two numbers from .94 up")
    if turns is not None and not set(turns) <= {0, 90, 180, 270}:
        raise ParameterValueError("turns", f"{{name}} are {turns}; give some of 0, 90, 180, 270")
    seen, there = (Frame(some.shape[1], some.shape[0]) for some in patterns)
    side = min(_SIDE, 8 * (max(min(seen), min(there)) // 8))
    count = 1 + int(np.log(scales[1] / scales[0]) * side / 1.25)
    ways = turnings(seen, there)
    if turns is not None:
        ways = tuple(Turning(turn, flipped) for flipped in (False, True) for turn in turns)
    ways = tuple(way for way in ways if mirrored or not way.mirrored)
    searched = Scales(np.geomspace(scales[0], scales[1], count), side, places(ways, reach))
    judge = Judge(1.0)
    judge.add(searched, 1)
    pieces = [(0, Piece(seen, lambda: patterns[0]))], [(1, Piece(there, lambda: patterns[1]))]
    best: View | None = None
    for peak in peaks(*pieces, searched, lambda *_: True, _MEMORY):
        start = replace(peak.view, score=None)
        fitted = fit_view(patterns[0], patterns[1], start, radius=side / 2)
        if fitted is not None and (best is None or (fitted.view.score or 0) > (best.score or 0)):
            best = fitted.view
    return None if best is None else replace(best, rate=judge.probability(best.score or 0.0))


def _checked(name: str, values: npt.ArrayLike) -> npt.NDArray[np.int8]:
    some = np.asarray(values, dtype=np.float32)
    if some.ndim != 2 or min(some.shape) < SMALLEST or not np.isfinite(some).all():
        reason = f"{{name}} has shape {some.shape}; give finite numbers, at least 256 each way"
        raise ParameterValueError(name, reason)
    return as_pattern(some)
