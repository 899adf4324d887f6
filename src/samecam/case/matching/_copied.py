"""Which photos of a reference are copies of others: the same picture counts once."""

from collections.abc import Sequence

import numpy as np

from samecam import evidence
from samecam.arrays import Floats
from samecam.case.extraction import is_copy, noise_in_common, numbered_moments
from samecam.case.matching._orientations import TurnedPhoto, fingerprint_of


def copies(photos: Sequence[TurnedPhoto]) -> dict[int, int]:
    """Numbers of the photos that are copies, and of their originals.

    As in a case the original is the one with EXIF, then the longest file, then the first.

    Parameters
    ----------
    photos : of one frame, upright, with their scenes; without one a photo is no copy
    """
    shown = [k for k, photo in enumerate(photos) if photo.scene is not None]
    order = sorted(shown, key=lambda k: (*_preference(photos[k]), k))
    found: dict[int, int] = {}
    if len(order) < 2:
        return found
    scenes = np.stack([np.asarray(photos[k].scene) for k in order])
    moments = numbered_moments([photos[k].outcome.info.exif.taken for k in order])
    for alike in evidence.alike_pictures(scenes, moments):
        for each in alike:
            picture, copy = order[each.picture], order[each.copy]
            noise = noise_in_common(_residual(photos[picture]), _residual(photos[copy]), each.view)
            if is_copy(each.look, noise):
                found[copy] = found.get(picture, picture)
                break
    return found


def _preference(photo: TurnedPhoto) -> tuple[bool, int]:
    exif = photo.outcome.info.exif
    return not (exif.make or exif.model or exif.taken), -(photo.outcome.bytes or 0)


def _residual(photo: TurnedPhoto) -> Floats:
    upright = photo.orientations[0]
    return fingerprint_of(upright).reshape(upright.frame.shape)
