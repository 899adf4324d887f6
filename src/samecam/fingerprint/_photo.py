"""The fingerprint of a photo, which may be a file."""

from __future__ import annotations

import os
from typing import Unpack

import numpy.typing as npt

from samecam.arrays import Floats
from samecam.errors import SamecamError
from samecam.fingerprint._fingerprint import Steps, fingerprint
from samecam.fingerprint._wavelet import SPINS
from samecam.inputs import PathLike, read_input
from samecam.photos import PhotoError, Portrait, read_frame, read_photo


def fingerprint_photo(
    photo: PathLike | npt.ArrayLike,
    *,
    size: int | None = None,
    offset: tuple[int, int] = (0, 0),
    portrait: Portrait = "keep",
    **steps: Unpack[Steps],
) -> Floats:
    """Fingerprint of a photo: float32 vector, zero mean, unit norm.

    The correlation of two photos of one width and height is the scalar product of their
    fingerprints.

    Parameters
    ----------
    photo : a file, or an array (h, w, 3), (h, w, 1) or (h, w) on the 0–255 scale
    size : None: the whole of a file's picture, in luma, as a case compares it but for the
        rounding of what is kept; a number: a square in colour, as the paper has it, where
        `offset` and `portrait` say, see `samecam.photos.read_photo`. An array is taken whole.
    **steps : see `samecam.fingerprint.fingerprint`

    Raises
    ------
    SamecamError
        if the file cannot be read, or is no photo that can be used
    NoResidualError
        if the picture is flat

    Examples
    --------
    >>> one, other = samecam.fingerprint("a.jpg"), samecam.fingerprint("b.jpg")
    >>> correlation = one @ other  # of two photos of one width and height
    >>> square = samecam.fingerprint("a.jpg", size=512)  # as the paper has it
    """
    if not isinstance(photo, str | os.PathLike):
        if (size, offset, portrait) != (None, (0, 0), "keep"):
            raise ValueError("size, offset and portrait are for files; cut the array yourself")
        return fingerprint(photo, **steps)
    name = os.fspath(photo)
    try:
        data = read_input(name)
        if size is None:
            if (offset, portrait) != ((0, 0), "keep"):
                raise ValueError("offset and portrait are for squares; give a size")
            used = read_frame(data)
            if steps.get("preset") != "paper":
                steps.setdefault("spins", SPINS)
                steps.setdefault("weigh", True)
        else:
            used = read_photo(data, size=size, offset=offset, portrait=portrait)
    except OSError as error:
        raise SamecamError(f"{name!r} cannot be read: {error.strerror}.") from None
    except PhotoError as error:
        raise SamecamError(f"{name!r} cannot be used: {error.reason}.") from error
    return fingerprint(used.pixels, **steps)
