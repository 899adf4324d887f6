"""The fixed sets that methods are measured on: the same numbers on every machine, or an error."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.datasets._configurations import read_data
from samecam.datasets._twins import Twin
from samecam.errors import SamecamError
from samecam.simulate import SimulatedFingerprints, SimulatedGram

_STEPS = 2**15
_PIXELS = 3  # of the streams of a twin, the one that no other draw takes
_BLOCK = 32


@dataclass(frozen=True, slots=True)
class FixedSet:
    """A simulated collection with a checksum: what is drawn here is what was drawn elsewhere.

    It is the twin drawn in double precision and rounded to steps of 2⁻¹⁵, a hundredth of the
    spread of chance: the last bits, in which machines and libraries differ, are gone, and
    what is left is the same number in any precision.

    Attributes
    ----------
    name : like "weak-002"
    about : what it is, in one line
    model : cameras, photos and strengths
    sha256 : of the number of photos, the camera of each and the correlations of all pairs
        i < j, row by row, in steps; as little-endian int32, int32 and int16

    Examples
    --------
    >>> from samecam.datasets import fixed_sets
    >>> G, cameras = fixed_sets()["few"].gram()  # correlations, and the truth
    """

    name: str
    about: str
    model: Twin
    sha256: str

    kind = "twin"

    @property
    def n_pixels(self) -> int:
        """Length of the fingerprints."""
        return self.model.n_pixels

    @property
    def n_images(self) -> int:
        """All photos, strangers too."""
        return self.model.n_images

    @property
    def cameras(self) -> int:
        """Cameras with two photos or more."""
        return sum(size > 1 for size in self.model.sizes)

    @property
    def strangers(self) -> int:
        """Photos that share a camera with no other."""
        return sum(size == 1 for size in self.model.sizes)

    def gram(self) -> SimulatedGram:
        """Correlations (n, n) float32, and the camera of each row; an error if they are others."""
        drawn = self.model.gram(np.float64)
        steps = np.rint(drawn.gram * _STEPS)
        digest = fixed_digest(steps, drawn.labels)
        if digest != self.sha256:
            raise SamecamError(
                f"The set {self.name!r} comes out different here (SHA-256 {digest[:12]}…, not "
                f"{self.sha256[:12]}…; NumPy {np.__version__}): scores on it could not be compared "
                "with others. Use another version of NumPy."
            )
        correlations = (steps / _STEPS).astype(np.float32)
        np.fill_diagonal(correlations, 1)
        return SimulatedGram(correlations, drawn.labels)

    def fingerprints(self) -> SimulatedFingerprints:
        """Vectors (n, n_pixels) float32 with just these correlations, and the camera of each.

        Rows have mean 0 and norm 1, look like white normal noise, and take n·n_pixels·4 bytes.
        """
        from scipy.fft import idct

        correlations, labels = self.gram()
        n, length = len(labels), self.n_pixels
        rng = np.random.default_rng((self.model.seed, _PIXELS))
        turned, _ = np.linalg.qr(rng.standard_normal((n, n)))
        rows = np.linalg.cholesky(correlations.astype(np.float64)) @ turned
        waves = 1 + rng.choice(length - 1, n, replace=False)  # not the mean
        X = np.empty((n, length), dtype=np.float32)
        for start in range(0, n, _BLOCK):
            part = rows[start : start + _BLOCK]
            spectrum = np.zeros((len(part), length), dtype=np.float32)
            spectrum[:, waves] = part
            X[start : start + _BLOCK] = idct(spectrum, axis=1, norm="ortho", overwrite_x=True)
        return SimulatedFingerprints(X, labels)


def fixed_digest(steps: npt.NDArray[np.floating], labels: npt.NDArray[np.integer]) -> str:
    """SHA-256 of a set, see `FixedSet`; the diagonal, which is 1, is no part of it."""
    digest = hashlib.sha256(np.array([len(labels)], dtype="<i4").tobytes())
    digest.update(labels.astype("<i4").tobytes())
    for i, row in enumerate(steps):
        digest.update(row[i + 1 :].astype("<i2").tobytes())
    return digest.hexdigest()


def fixed_version() -> int:
    """Version of the fixed sets as a whole: results of different ones are not compared."""
    version: int = read_data("benchmark.toml")["version"]
    return version


@cache
def fixed_sets() -> Mapping[str, FixedSet]:
    """The sets of `samecam benchmark`, by name."""
    data = read_data("benchmark.toml")
    rows = [_set(data["every"], row) for row in data["set"]]
    return MappingProxyType({row.name: row for row in rows})


def _set(every: Mapping[str, Any], row: Mapping[str, Any]) -> FixedSet:
    fields = {**every, **row}
    about, digest = fields.pop("about"), fields.pop("sha256")
    sizes = tuple(size for word in fields.pop("sizes").split() for size in _sizes(word))
    models = tuple(fields.pop("models", ()))
    return FixedSet(row["name"], about, Twin(sizes=sizes, models=models, **fields), digest)


def _sizes(word: str) -> list[int]:
    """`10*60`: ten cameras of 60 photos; `60`: one."""
    times, _, each = word.rpartition("*")
    return [int(each)] * int(times or 1)
