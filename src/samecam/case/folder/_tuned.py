"""Parameters that were chosen on labelled photos, read from the file they were written to."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from samecam.documents import parse
from samecam.errors import SamecamError
from samecam.frames import Frame
from samecam.inputs import read_input

TUNE_FORMAT, TUNE_VERSION = "samecam-tune", 1
# What is chosen, and the method that takes all of it.
OPTIONS = ("gamma", "n_neighbours", "recycling", "threshold")
METHOD = "ls-ssc"
_LARGEST = 2**26


@dataclass(frozen=True, slots=True)
class Tuned:
    """What `samecam tune` chose.

    Attributes
    ----------
    file : where it stands
    n_pixels : length of the fingerprints it was chosen on; it holds for no other
    options : parameters of `samecam.cluster.LargeScaleSSC`
    """

    file: str
    n_pixels: int
    options: Mapping[str, Any]

    def check_method(self, name: str) -> None:
        """Refuse a method that would leave some of it unused."""
        if name == METHOD:
            return
        alone = f", or γ alone, which is {self.options['gamma']!r}"
        raise SamecamError(
            f"{self.file!r} holds parameters of the method {METHOD!r}, and the method is {name!r}: "
            f"choose {METHOD}{alone if name in ('ssc', 'ssc-nc') else ''}, or leave the file out."
        )

    def check_frame(self, frame: Frame) -> None:
        """Refuse fingerprints of another length than those it was chosen on."""
        if frame.n_pixels == self.n_pixels:
            return
        raise SamecamError(
            f"{self.file!r} was chosen on fingerprints of {_square(self.n_pixels)}, and these are "
            f"of {_square(frame.n_pixels)}: γ holds for one size, so give the same size, or tune "
            "on photos at this one."
        )


def read_tuned(file: str | os.PathLike[str]) -> Tuned:
    """Read a `tune.json`, or say in a sentence why it cannot be used."""
    name = os.fspath(file)
    try:
        content = parse(read_input(name, _LARGEST))
    except OSError as error:
        raise SamecamError(
            f"{name!r} cannot be read: {error.strerror}; name a file that samecam tune wrote."
        ) from None
    except ValueError:
        content = None
    if not isinstance(content, dict) or content.get("format") != TUNE_FORMAT:
        raise SamecamError(
            f"{name!r} is no result of samecam tune: name a file that it wrote (CASE/tune.json)."
        )
    if content.get("version") != TUNE_VERSION:
        raise SamecamError(
            f"{name!r} has the version {content.get('version')!r} of its format, and this samecam "
            f"reads {TUNE_VERSION}: tune again with this samecam, or use that which wrote it."
        )
    return _checked(name, content.get("n_pixels"), content.get("options"))


def _checked(name: str, n_pixels: object, options: object) -> Tuned:
    """The parameters, if they are some."""
    from samecam.case.folder._clustering import ClusteringSettings

    sound = isinstance(options, dict) and sorted(options) == sorted(OPTIONS)
    if not (sound and isinstance(n_pixels, int) and n_pixels > 0):
        raise SamecamError(
            f"{name!r} is not as samecam tune writes it: it lacks n_pixels, or some of the options "
            f"{', '.join(OPTIONS)}; tune again."
        )
    assert isinstance(options, dict)
    try:
        ClusteringSettings(METHOD, options).estimator()
    except SamecamError as error:
        raise SamecamError(
            f"{name!r} is not as samecam tune writes it ({str(error).rstrip('.')}): tune again."
        ) from None
    return Tuned(name, n_pixels, options)


def _square(n_pixels: int) -> str:
    side = math.isqrt(n_pixels)
    return f"{side}×{side} pixels" if side**2 == n_pixels else f"{n_pixels} numbers"
