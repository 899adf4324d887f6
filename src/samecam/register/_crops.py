"""Crops: a photo cut out of a picture, looked for at every place of a camera's frame."""

from collections.abc import Callable, Iterator

import numpy as np

from samecam.arrays import Floats
from samecam.compute import thread_count
from samecam.register._peaks import Peak
from samecam.register._pieces import Numbered, Piece
from samecam.register._resample import Pattern
from samecam.register._rows import MAD
from samecam.register._view import View

_LOOKED_AT = 1_000_003  # shifts, of all, from which chance is measured


def crop_places(photo: Piece, camera: Piece) -> int:
    """Places at which the photo may have been cut out; 0 where it does not fit."""
    room = [b - a for a, b in zip(photo.frame, camera.frame, strict=True)]
    return (room[0] + 1) * (room[1] + 1) if min(room) >= 0 and max(room) > 0 else 0


def crop_peaks(
    photos: Numbered, cameras: Numbered, least: float, told: Callable[[], None]
) -> Iterator[Peak]:
    """The best place of every photo in every camera that is larger, where it stands out.

    Parameters
    ----------
    photos, cameras : numbers and pieces
    least : score in units of chance from which a place is worth a fit
    told : called after each camera
    """
    for number, camera in cameras:
        fitting = [(k, photo) for k, photo in photos if crop_places(photo, camera)]
        if fitting:
            whole = _Whole(camera.pattern())
            for k, photo in fitting:
                view = whole.best(photo.pattern())
                if (view.score or 0.0) >= least:
                    yield Peak(k, number, view)
        told()


class _Whole:
    """The pattern of a camera, ready to be compared at every shift."""

    def __init__(self, camera: Pattern) -> None:
        from scipy import fft

        self._shape = camera.shape
        self._size = [fft.next_fast_len(n, real=True) for n in camera.shape]
        self._spectrum = fft.rfft2(camera.astype(np.float32), self._size, workers=thread_count())

    def best(self, photo: Pattern) -> View:
        """The place at which a photo correlates most, and its score."""
        from scipy import fft

        workers = thread_count()
        other = fft.rfft2(photo.astype(np.float32), self._size, workers=workers)
        np.conjugate(other, out=other)
        other *= self._spectrum
        sums: Floats = fft.irfft2(other, self._size, workers=workers)
        height, width = (a - b + 1 for a, b in zip(self._shape, photo.shape, strict=True))
        part = sums[:height, :width]
        y, x = np.unravel_index(int(np.argmax(part)), part.shape)
        some = sums.reshape(-1)[:: max(1, sums.size // _LOOKED_AT)]
        usual = float(np.median(some))
        spread = MAD * float(np.median(np.abs(some - usual)))
        score = (float(part[y, x]) - usual) / max(spread, 1e-30)
        shift = (
            float(x) + (photo.shape[1] - self._shape[1]) / 2,
            float(y) + (photo.shape[0] - self._shape[0]) / 2,
        )
        return View(shift=shift, score=score)
