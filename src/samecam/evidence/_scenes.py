"""Members that show one unmoving scene: there the picture itself may correlate."""

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats, Mask

_COARSE = 8
# Of 69,887 pairs of real photographs by different cameras 3 exceed .5 and none .6; most pairs
# of tripod series lie above .8 (benchmarks/results/calibration.json).
ALIKE = 0.7
_CONTRAST = 1.0
_BLOCK = 1024


def still_scenes(pictures: npt.ArrayLike, threshold: float = ALIKE) -> Mask:
    """Which pictures show one scene from one standpoint, (m, m), False on the diagonal.

    Of each low-pass picture the detail is compared, what is left once its 8×8 means
    (smoothly joined) are taken away: vignetting and a bright sky make any two pictures
    alike, and only a camera that does not move repeats the detail. Two pictures are alike
    if their detail correlates by more than `threshold`. Pictures with less than one gray
    level of detail show no scene.

    Parameters
    ----------
    pictures : (m, side, side) from `photos.low_pass`, side a multiple of 8
    """
    given = np.asarray(pictures, dtype=np.float32)
    if given.ndim != 3 or given.shape[1] != given.shape[2] or given.shape[1] % _COARSE:
        raise ValueError(
            f"pictures have shape {given.shape}; give (m, side, side) as `low_pass` makes them"
        )
    m, side = len(given), given.shape[1]
    detail = (given - _coarse(given)).reshape(m, -1)
    detail -= detail.mean(axis=1, keepdims=True)
    norm = np.sqrt(np.einsum("ij,ij->i", detail, detail))
    shows = norm / side >= _CONTRAST
    detail = np.where(shows[:, np.newaxis], detail, 0) / np.where(shows, norm, 1)[:, np.newaxis]
    alike = np.zeros((m, m), dtype=bool)
    for start in range(0, m, _BLOCK):
        alike[start : start + _BLOCK] = detail[start : start + _BLOCK] @ detail.T > threshold
    np.fill_diagonal(alike, False)
    return np.asarray(alike | alike.T)


def scenes(alike: Mask) -> list[npt.NDArray[np.intp]]:
    """Members of each unmoving scene, largest first: connected parts of two or more."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    if len(alike) == 0:
        return []
    count, part = connected_components(csr_array(alike), directed=False)
    parts = [np.flatnonzero(part == p) for p in range(count)]
    return sorted((s for s in parts if len(s) > 1), key=lambda s: (-len(s), int(s[0])))


def _coarse(pictures: Floats) -> Floats:
    """8×8 block means of each picture, joined bilinearly and brought back to its size."""
    side = pictures.shape[1]
    block = side // _COARSE
    means = pictures.reshape(-1, _COARSE, block, _COARSE, block).mean(axis=(2, 4))
    at = (np.arange(side) + 0.5) / block - 0.5
    low = np.clip(np.floor(at).astype(np.intp), 0, _COARSE - 2)
    share = (at - low).astype(np.float32)
    weights = np.zeros((side, _COARSE), dtype=np.float32)
    weights[np.arange(side), low] = 1 - share
    weights[np.arange(side), low + 1] += share
    return np.asarray(weights @ means @ weights.T, dtype=np.float32)
