"""Each photo against each group with a likelihood ratio, from correlations alone.

Strangers follow Student's t; what members of a group show of one another foretells what one more
of them shows.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from samecam.arrays import Doubles, Labels
from samecam.evidence import comparisons_from_rows
from samecam.store import FingerprintStore

# Strangers' scores: degrees of freedom and scale of Student's t.
_DEGREES, _SCALE = 40.0, 0.99
# Members' scores scatter by this much on the scale of natural logarithms; worth so many photos.
_SPREAD, _WORTH = 0.55, 4
# The share of a camera's own photos that shows nothing of it, the least score that is looked at,
# and the largest log10 ratio that is told.
_LOST, _LEAST, _CAP = 0.02, 0.1, 4.0


@dataclass(frozen=True, slots=True)
class Every:
    """Every comparison of n photos with k groups.

    Attributes
    ----------
    score : (n, k) in units of chance; NaN where a photo was not compared
    log_ratio : (n, k) log10 likelihood ratio, uncapped; NaN likewise
    p_value : (n, k) probability that a photo of another camera reaches the score; NaN likewise
    cap : log10 of the largest ratio that is supported
    """

    score: Doubles
    log_ratio: Doubles
    p_value: Doubles
    cap: float


def every_comparison(
    rows: FingerprintStore,
    labels: Labels,
    *,
    memory: int,
    progress: Callable[[int, int], None] | None = None,
) -> Every:
    """Compare each photo with each group, itself left out.

    Parameters
    ----------
    rows : fingerprints of one frame
    labels : (n,) their groups from 0 without gaps, −1 for none
    memory : bytes that may be taken
    progress : called with photos done and all photos
    """
    from scipy.stats import t

    given = comparisons_from_rows(rows, labels, memory=memory, progress=progress)
    score = given.array() * np.sqrt(rows.n_pixels)
    ratio = np.full_like(score, np.nan)
    for group in range(given.n_groups):
        ratio[:, group] = _log_ratios(score[:, group], np.flatnonzero(labels == group))
    score[np.isnan(ratio)] = np.nan
    return Every(score, ratio, np.asarray(t.sf(score / _SCALE, _DEGREES)), _CAP)


def _log_ratios(score: Doubles, members: Labels) -> Doubles:
    """Of one group: log10 of the density under its members' law over that of strangers."""
    from scipy.stats import t

    result = np.full_like(score, np.nan)
    if len(members) < 2:
        return result
    known = np.log(np.maximum(score[members], _LEAST))
    n = np.full(len(score), float(len(members)))
    total, squares = np.full_like(n, known.sum()), np.full_like(n, (known**2).sum())
    n[members] -= 1
    total[members] -= known
    squares[members] -= known**2
    mean = total / n
    around = np.maximum(0.0, squares - n * mean**2)
    degrees = n + _WORTH - 1
    spread = np.sqrt((_WORTH * _SPREAD**2 + around) / degrees * (1 + 1 / n))
    strangers = t.logpdf(score / _SCALE, _DEGREES) - np.log(_SCALE)
    place = np.log(np.maximum(score, 1e-300))
    of_camera = t.logpdf((place - mean) / spread, degrees) - np.log(spread) - place
    seen = np.where(score > 0, np.log1p(-_LOST) + of_camera - strangers, -np.inf)
    result[:] = np.logaddexp(np.log(_LOST), seen) / np.log(10)
    return result
