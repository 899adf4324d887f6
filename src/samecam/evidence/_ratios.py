"""Likelihood ratios: how much more probable a score is if one camera took the photos.

The propositions are: the photo is of this group's camera; it is of another camera. What the first
predicts is learnt from the scores that the group's members have, each left out of the group; what
the second predicts is the law of strangers.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles
from samecam.evidence._law import SAME_MODEL, STRANGERS, Law, log_t

# The natural logarithm of a camera's scores scatters by this, as far as is known beforehand: as if
# four scores had been seen (three degrees of freedom beside the members').
_SPREAD, _SEEN, _FREEDOM = 0.55, 4, 3
# Score of two photos of one camera at a megapixel, and spread of its natural logarithm.
_PAIR, _PAIR_SPREAD = 10.0, 1.0
# Scores below this tell no more of how strong a camera's pattern is.
_LEAST = 1.0
# Photos of the camera that show nothing of it: processed, blurred, stabilised.
_LOST = 0.02
# What two bodies of one model may share of what each shows with itself.
_MOST_SHARED, _SHARES = 0.4, 8
# Largest ratios that counts on labelled photographs support, log10, by pixels; of photos that show
# little; and where another body of the same model is the alternative.
_CAPS = ((256**2, 2.5), (512**2, 3.5), (1024**2, 4.0))
WEAK_CAP, MODEL_CAP = 2.5, 2.0
_WORDS = (
    (2.0, "no"),
    (10.0, "weak"),
    (100.0, "moderate"),
    (1000.0, "moderately strong"),
    (10000.0, "strong"),
)


class Members(NamedTuple):
    """What is known of the scores that photos of a camera have: a law of their logarithm.

    Attributes
    ----------
    mean, spread, freedom : Student's t with so many degrees of freedom
    """

    mean: Doubles
    spread: Doubles
    freedom: Doubles

    def log_density(self, score: npt.ArrayLike, share: float = 1.0) -> Doubles:
        """Of a score, natural logarithm; −∞ of those that are not above 0.

        `share` : what is seen of the pattern of the camera.
        """
        z = np.asarray(score, dtype=np.float64)
        logarithm = np.log(np.maximum(z, 1e-300))
        scaled = (logarithm - self.mean - np.log(share)) / self.spread
        density = log_t(scaled, self.freedom) - np.log(self.spread) - logarithm
        return np.asarray(np.where(z > 0, density, -np.inf))


def known_members(scores: npt.ArrayLike) -> Members:
    """What the scores of a group's members tell of the next photo's.

    A member is compared with the n − 1 others, the next photo with all n, whose sum has less noise:
    its score is √(n/(n − 1)) times as large.
    """
    values = np.log(np.maximum(np.asarray(scores, dtype=np.float64), _LEAST))
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"scores have shape {values.shape}; give those of one member or more")
    law = _law_of(np.array(len(values)), values.sum(), np.square(values).sum())
    return law._replace(mean=law.mean + np.log(len(values) / max(len(values) - 1, 1)) / 2)


def other_members(scores: npt.ArrayLike) -> Members:
    """The same for each of two or more members, from the scores of the others."""
    values = np.log(np.maximum(np.asarray(scores, dtype=np.float64), _LEAST))
    if values.ndim != 1 or len(values) < 2:
        raise ValueError(f"scores have shape {values.shape}; give those of two members or more")
    squares = np.square(values)
    return _law_of(np.array(len(values) - 1), values.sum() - values, squares.sum() - squares)


def usual_members(n_pixels: int) -> Members:
    """What is known of the score of two photos: no more than what cameras usually show.

    22 cameras had mean scores of two photos from 2.3 to 96 at a megapixel, ten in the middle.
    """
    mean = np.log(max(_PAIR * np.sqrt(n_pixels / 2**20), _LEAST))
    return Members(np.array(mean), np.array(_PAIR_SPREAD), np.array(float(_SEEN + _FREEDOM)))


def expected_scores(expected: npt.ArrayLike) -> Members:
    """What is known of a score of which only what to expect is known, not how it scatters."""
    mean = np.log(np.maximum(np.asarray(expected, dtype=np.float64), _LEAST))
    return Members(mean, np.full_like(mean, _SPREAD), np.full_like(mean, float(_FREEDOM)))


def _law_of(n: Doubles, total: Doubles, squares: Doubles) -> Members:
    mean = np.asarray(total / n)
    about = np.maximum(squares - n * np.square(mean), 0.0)
    variance = (_SEEN * _SPREAD**2 + about) / (n + _FREEDOM) * (1 + 1 / n)
    return Members(mean, np.sqrt(variance), np.broadcast_to(n + float(_FREEDOM), mean.shape))


def log_ratios(score: npt.ArrayLike, members: Members, law: Law = STRANGERS) -> Doubles:
    """log10 of the likelihood ratio: this camera, or another; without a cap. NaN stays NaN."""
    z = np.asarray(score, dtype=np.float64)
    chance = law.log_density(z)
    seen = np.log1p(-_LOST) + members.log_density(z)
    with np.errstate(invalid="ignore"):
        ratio = np.logaddexp(seen, np.log(_LOST) + chance) - chance
    return np.asarray(np.where(np.isnan(z), np.nan, ratio / np.log(10)))


def model_log_ratios(score: npt.ArrayLike, members: Members) -> Doubles:
    """The same against another body of the same model, which may share a part of the pattern.

    As probable as not it shares what bodies of one model were seen to share, hardly anything; or
    up to two fifths of what this camera shows with itself, no part of that more probable than
    another. At most 10², the most that is supported.
    """
    z = np.asarray(score, dtype=np.float64)
    shares = _MOST_SHARED * (np.arange(_SHARES) + 0.5) / _SHARES
    shared = np.stack([members.log_density(z, share) for share in shares])
    top = np.maximum(shared.max(axis=0), -1e300)
    part = top + np.log(np.exp(shared - top).mean(axis=0) + 1e-300)
    other = np.logaddexp(SAME_MODEL.log_density(z), part) - np.log(2)
    seen = np.logaddexp(
        np.log1p(-_LOST) + members.log_density(z), np.log(_LOST) + SAME_MODEL.log_density(z)
    )
    ratio = np.minimum((seen - other) / np.log(10), MODEL_CAP)
    return np.asarray(np.where(np.isnan(z), np.nan, ratio))


def largest_ratio(n_pixels: int) -> float:
    """The largest log10 of a ratio that is supported for fingerprints of so many pixels."""
    pixels, caps = zip(*_CAPS, strict=True)
    return float(np.interp(np.log(n_pixels), np.log(pixels), caps))


def support(log_ratio: float, cap: float) -> str:
    """A ratio in words: how strongly it supports which of the two, and where the scale ends."""
    if np.isnan(log_ratio):
        return "not known"
    size = 10 ** min(abs(log_ratio), cap)
    word = next((word for most, word in _WORDS if size < most), _WORDS[-1][1])
    if word == "no":
        return "no support for either"
    which = "one camera" if log_ratio > 0 else "another camera"
    return f"{word} support for {which}"
