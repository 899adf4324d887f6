"""The law of strangers: how large the scores of photos by other cameras are.

It was measured on cameras that are known, not on the case at hand, so that it says the same of a
case of two cameras and of one of two hundred: `benchmarks/results/calibration.json`,
made by ``python -m benchmarks.calibration``.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles

# Of the constants below; a case says which it was weighed by.
LAW_VERSION = 1
SMALLEST_RATE = 1e-7
# Where the tail of a case is looked at, and how sure it must be that it is a longer one.
_LOOKED_AT = (0.05, 0.01)
_CONFIDENCE = 0.99


@dataclass(frozen=True, slots=True)
class Law:
    """Student's t of scores: (z − mean) / scale has so many degrees of freedom.

    Attributes
    ----------
    freedom, scale, mean : of the law
    """

    freedom: float
    scale: float
    mean: float = 0.0

    def rate(self, score: npt.ArrayLike) -> Doubles:
        """Probability that one photo of another camera has such a score or a higher one.

        Not below 10⁻⁷, to which shifts of real photographs were counted.
        """
        from scipy.special import stdtr

        z = (np.asarray(score, dtype=np.float64) - self.mean) / self.scale
        return np.asarray(np.maximum(stdtr(self.freedom, -z), SMALLEST_RATE))

    def score(self, rate: float) -> float:
        """The score that has this rate."""
        from scipy.special import stdtrit

        return self.mean - self.scale * float(stdtrit(self.freedom, rate))

    def log_density(self, score: npt.ArrayLike) -> Doubles:
        """Natural logarithm of the density."""
        z = (np.asarray(score, dtype=np.float64) - self.mean) / self.scale
        return np.asarray(log_t(z, self.freedom) - np.log(self.scale))

    def widened(self, factor: float) -> "Law":
        """The same with scores that scatter by a factor more."""
        return replace(self, scale=self.scale * factor)

    def measured_on(self, shifts: int) -> "Law":
        """The law of scores whose scatter was measured on so many shifts, if they are few."""
        return replace(self, freedom=min(self.freedom, max(shifts - 1.0, 1.0)))


# Photos of cameras of other models; and of another body of the same model, whose processing is the
# same and leaves a little that both have.
STRANGERS = Law(40.0, 0.98)
SAME_MODEL = Law(15.0, 1.08, 0.58)


def log_t(z: npt.ArrayLike, freedom: npt.ArrayLike) -> Doubles:
    """Natural logarithm of the density of Student's t."""
    from scipy.special import gammaln

    values, nu = np.asarray(z, dtype=np.float64), np.asarray(freedom, dtype=np.float64)
    start = gammaln((nu + 1) / 2) - gammaln(nu / 2) - np.log(nu * np.pi) / 2
    return np.asarray(start - (nu + 1) / 2 * np.log1p(np.square(values) / nu))


def law_of_case(nearest: npt.ArrayLike, groups: npt.ArrayLike, law: Law = STRANGERS) -> Law:
    """The law, widened where this very case has larger scores of strangers than it allows.

    The highest of a stranger's scores with k groups is beyond that of a rate p with a probability
    of 1 − (1 − p)^k. Scores are taken to scatter by the smallest factor with which no more of them
    are than chance allows (99 %).

    Parameters
    ----------
    nearest : (n,) each photo's score with the other group that it is most like
    groups : (n,) how many it was compared with
    law : to begin with
    """
    from scipy.special import bdtr

    scores, many = np.asarray(nearest, dtype=np.float64), np.asarray(groups, dtype=np.float64)
    known = ~np.isnan(scores) & (many > 0)
    scores, many = scores[known], many[known]
    factor = 1.0
    for share in _LOOKED_AT if len(scores) else ():
        allowed = int(
            np.argmax(bdtr(np.arange(len(scores) + 1), len(scores), share) >= _CONFIDENCE)
        )
        if allowed >= len(scores):
            continue
        # The factor with which each would lie just at the edge: the next one may not be beyond.
        edges = np.array([law.score(-np.expm1(np.log1p(-share) / k)) for k in many])
        factors = np.sort((scores - law.mean) / (edges - law.mean))[::-1]
        factor = max(factor, float(factors[allowed]))
    return law.widened(factor) if factor > 1 else law
