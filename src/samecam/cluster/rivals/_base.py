"""What all rivals share: input, the scale of chance, and how groups are handed over."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin

from samecam import correlate
from samecam.arrays import Gram, Labels
from samecam.cluster._input import FingerprintInput
from samecam.cluster._labels import numbered
from samecam.errors import ParameterValueError
from samecam.represent import check_gram

Null = Literal["published", "measured"]
Metric = Literal["correlation", "precomputed"]
Seed = int | np.random.RandomState | None


class Rival(FingerprintInput, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """A published method, to compare ours with. Subclasses say how they group a Gram matrix.

    Parameters
    ----------
    metric : "correlation" takes fingerprints, centred and normalised inside;
        "precomputed" takes their correlations
    memory : bytes that forming the correlations may take, the result included
    n_pixels : length of the fingerprints, where only correlations are given

    Attributes
    ----------
    labels_ : (n,) groups from 0, largest first; −1 is unclustered. A group of one photo
        links nothing to anything, so it is −1 too, whatever the publication calls it.
    n_clusters_ : number of groups of two photos or more
    null_scale_ : scale of chance, as used or, where the method uses none, as measured
    """

    def __init__(
        self,
        *,
        metric: Metric = "correlation",
        memory: int = correlate.DEFAULT_MEMORY,
        n_pixels: int | None = None,
    ) -> None:
        self.metric = metric
        self.memory = memory
        self.n_pixels = n_pixels

    def fit(self, X: Any, y: object = None) -> "Rival":  # noqa: ARG002 - the convention
        """Group the rows of `X`: fingerprints (array or store), or their correlations."""
        self.check_parameters()
        gram, n_pixels = self._correlations(X)
        check_gram(gram)
        self.null_scale_ = self._scale(gram, n_pixels)
        return self._finish(self._group(gram) if len(gram) > 1 else np.full(len(gram), -1))

    def check_parameters(self) -> None:
        """Refuse the first parameter out of range, before any work."""
        self._check_input_parameters()

    def _scale(self, gram: Gram, n_pixels: int | None) -> float:
        return self._null_scale(gram, n_pixels)

    def _group(self, gram: Gram) -> Labels:
        """Groups of two photos or more, in any numbering; −1 for no group."""
        raise NotImplementedError

    def _finish(self, labels: Labels) -> "Rival":
        self.labels_ = numbered(without_singles(labels))
        self.n_clusters_ = int(self.labels_.max(initial=-1)) + 1
        return self


class NullRival(Rival):
    """A rival whose thresholds are in units of the scale of chance.

    Parameters
    ----------
    null : "published" assumes what the publication assumes, mostly white noise, 1/√n_pixels;
        "measured" takes what these correlations show
    null_scale : standard deviation of different-camera correlations, if it is known; it
        overrides `null`
    metric, memory, n_pixels : as for `Rival`
    """

    def __init__(
        self,
        *,
        null: Null = "published",
        metric: Metric = "correlation",
        memory: int = correlate.DEFAULT_MEMORY,
        null_scale: float | None = None,
        n_pixels: int | None = None,
    ) -> None:
        super().__init__(metric=metric, memory=memory, n_pixels=n_pixels)
        self.null = null
        self.null_scale = null_scale

    def check_parameters(self) -> None:
        """Refuse the first parameter out of range, before any work."""
        super().check_parameters()
        if self.null not in ("published", "measured"):
            raise ParameterValueError(
                "null", f"{{name}} is {self.null!r}; choose 'published' or 'measured'"
            )

    def _scale(self, gram: Gram, n_pixels: int | None) -> float:
        if self.null == "measured" or self.null_scale is not None:
            return self._null_scale(gram, n_pixels)
        return self._published_scale(gram, n_pixels)

    def _published_scale(self, gram: Gram, n_pixels: int | None) -> float:  # noqa: ARG002
        if n_pixels is None:
            raise ParameterValueError(
                "null",
                "{name} is 'published' but the size is unknown; give n_pixels or null_scale, or "
                "choose null='measured'",
            )
        return float(1 / np.sqrt(n_pixels))


def check_rate(name: str, value: float) -> None:
    """Refuse what cannot be a false-alarm rate."""
    if not 0 < value < 0.5:
        raise ParameterValueError(name, f"{{name}} is {value}; give a rate between 0 and 0.5")


def check_at_least(name: str, value: int, least: int) -> None:
    """Refuse what is not a whole number of at least `least`."""
    if not (isinstance(value, int | np.integer) and value >= least):
        raise ParameterValueError(
            name, f"{{name}} is {value!r}; choose a whole number, {least} or more"
        )


def without_singles(labels: npt.ArrayLike) -> Labels:
    """The same groups, those of one photo dissolved."""
    result = np.array(labels, dtype=np.intp)
    inside = result >= 0
    size = np.bincount(result[inside], minlength=1)
    result[inside] = np.where(size[result[inside]] > 1, result[inside], -1)
    return result


def without_diagonal(gram: Gram) -> npt.NDArray[np.float64]:
    """A float64 copy with a zero diagonal: a photo is no evidence for itself."""
    result = np.array(gram, dtype=np.float64)
    np.fill_diagonal(result, 0)
    return result


def false_alarm_quantile(rate: float) -> float:
    """Q⁻¹(rate): what a standard normal variable exceeds with that probability."""
    from scipy.special import ndtri

    return float(-ndtri(rate))
