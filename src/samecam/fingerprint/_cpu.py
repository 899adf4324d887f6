"""Fingerprints of a stack of pictures on the processor: one after another."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from samecam.fingerprint._fingerprint import Fingerprints, NoResidualError, Steps, fingerprint


def fingerprints(pictures: Sequence[npt.NDArray[np.generic]], steps: Steps) -> Fingerprints:
    """Rows of pictures of one size, as `fingerprint` gives them; zeros for flat ones."""
    height, width = pictures[0].shape[:2]
    rows = np.zeros((len(pictures), height * width), dtype=np.float32)
    flat = np.zeros(len(pictures), dtype=np.bool_)
    for number, picture in enumerate(pictures):
        try:
            rows[number] = fingerprint(picture, **steps)
        except NoResidualError:
            flat[number] = True
    return Fingerprints(rows, flat)
