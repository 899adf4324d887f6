"""Peak-to-correlation energy: how far the match at zero shift stands above all other shifts."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from samecam import correlate
from samecam.arrays import Doubles, Floats, Rows
from samecam.store import FingerprintStore

RADIUS = 5
# Bytes a pixel of the spectra, their product and the correlation of one photo.
_TRANSFORM_BYTES = 48


def pce(
    fingerprint: npt.ArrayLike, reference: npt.ArrayLike, shape: tuple[int, int] | None = None
) -> float:
    """PCE of two fingerprints at zero shift.

    C is their circular cross-correlation over all shifts. PCE = sign(C₀)·C₀² / mean C²
    outside the 11×11 shifts round zero. No shift is searched for. For white noise about
    d·ρ², so 60 stands for ρ = .015 at 512². Scale does not matter.

    Parameters
    ----------
    fingerprint, reference : planes (h, w), or vectors of h·w with `shape`
    shape : (h, w); a square if not given
    """
    a, b = np.asarray(fingerprint, dtype=np.float32), np.asarray(reference, dtype=np.float32)
    plane = _shape(a, shape)
    if a.size != plane[0] * plane[1] or a.size != b.size:
        raise ValueError(
            f"fingerprints have {a.size} and {b.size} numbers and shape is {plane}; give two of "
            "one size and its height and width"
        )
    return _at_zero(_spectrum(a, plane), _spectrum(b, plane), plane)


def least_memory(n_pixels: int, dtype: str = "float16") -> int:
    """Bytes that weighing takes at least: comparisons, and then the peak of one photo.

    Parameters
    ----------
    n_pixels : length of a fingerprint
    dtype : how it is kept; whole frames, of bits and of int8, need no transforms
    """
    each = {"bits": 4, "2bits": 8, "int8": 16}.get(dtype, _TRANSFORM_BYTES + 4)
    return max(correlate.LEAST_MEMORY, each * n_pixels)


def photo_pce(
    source: correlate.Source,
    labels: npt.ArrayLike,
    shape: tuple[int, int] | None = None,
    *,
    memory: int = correlate.DEFAULT_MEMORY,
    progress: Callable[[int, int], None] | None = None,
) -> Doubles:
    """PCE of each clustered photo against its group's fingerprint without it; NaN for others.

    Rows are read group by group: once if those of a group fit in memory, else once for the
    sum and once for their own values.

    Parameters
    ----------
    source : a store, or an (n, d) array
    labels : (n,) groups, −1 for none
    shape : (h, w) of a fingerprint; a square if not given
    memory : bytes for everything held at a time, but for one row and its transforms
    progress : called with clustered photos done and all clustered photos
    """
    groups = np.asarray(labels)
    if groups.shape != (len(source),):
        raise ValueError(f"labels have shape {groups.shape}; give one for each of {len(source)}")
    result = np.full(len(source), np.nan)
    done = 0
    order = np.argsort(groups, kind="stable")
    order = order[groups[order] >= 0]
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    for members in np.split(order, starts[1:]) if len(order) else []:
        if len(members) > 1:
            result[members] = _group_pce(source, members, shape, memory)
        done += len(members)
        if progress is not None:
            progress(done, len(order))
    return result


def _group_pce(
    source: correlate.Source, members: Rows, shape: tuple[int, int] | None, memory: int
) -> Doubles:
    """PCE of each of a group's photos against the sum of the others."""
    blocks = _blocks(source, members, memory)
    total = np.zeros(correlate.pixels(source), dtype=np.float32)
    kept = None
    for rows in blocks:
        kept = None  # before the next are read
        kept = _rows(source, rows)
        for vector in kept:
            total += vector
    plane = _shape(total, shape)
    spectrum = _spectrum(total, plane)
    values = []
    for rows in blocks:
        for vector in kept if kept is not None and len(blocks) == 1 else _rows(source, rows):
            own = _spectrum(vector, plane)
            values.append(_at_zero(own, spectrum - own, plane))
    return np.array(values)


def _at_zero(
    a: npt.NDArray[np.complexfloating], b: npt.NDArray[np.complexfloating], plane: tuple[int, int]
) -> float:
    from scipy.fft import irfft2

    c = irfft2(a * np.conj(b), s=plane)
    peak = float(c[0, 0])
    total, count = float(np.einsum("ij,ij->", c, c, dtype=np.float64)), c.size
    h, w = plane
    near_rows = np.unique(np.arange(-RADIUS, RADIUS + 1) % h)
    near_columns = np.unique(np.arange(-RADIUS, RADIUS + 1) % w)
    near = c[np.ix_(near_rows, near_columns)].astype(np.float64)
    rest = count - near.size
    energy = (total - float((near**2).sum())) / rest if rest > 0 else 0.0
    return float(np.sign(peak)) * peak**2 / energy if energy > 0 else 0.0


def _spectrum(vector: Floats, plane: tuple[int, int]) -> npt.NDArray[np.complexfloating]:
    from scipy.fft import rfft2

    return np.asarray(rfft2(np.asarray(vector, dtype=np.float32).reshape(plane)))


def _shape(vector: npt.NDArray[np.floating], shape: tuple[int, int] | None) -> tuple[int, int]:
    if shape is not None:
        return shape
    if vector.ndim == 2:
        return vector.shape[0], vector.shape[1]
    side = round(vector.size**0.5)
    if side * side != vector.size:
        raise ValueError(f"a fingerprint of {vector.size} numbers is no square; give its shape")
    return side, side


def _blocks(source: correlate.Source, members: Rows, memory: int) -> list[Rows]:
    """Members whose rows fit in what memory the transforms of one leave."""
    d = correlate.pixels(source)
    row = source.row_bytes if isinstance(source, FingerprintStore) else 4 * d
    step = max(1, (memory - _TRANSFORM_BYTES * d) // row)
    return [members[start : start + step] for start in range(0, len(members), step)]


def _rows(source: correlate.Source, rows: Rows) -> Floats:
    if isinstance(source, FingerprintStore):
        return source.read(rows)
    return np.asarray(source[rows], dtype=np.float32)
