"""Peak-to-correlation energy: how far the match at zero shift stands above all other shifts."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from samecam import compute, correlate
from samecam.arrays import Doubles, Floats, Mask, Rows
from samecam.evidence._scores import FEWEST, NEAR, STEP, Chance
from samecam.store import FingerprintStore

Spectrum = npt.NDArray[np.complexfloating]

RADIUS = 5
# Bytes a pixel of the spectra, their product and the correlation of one photo.
_TRANSFORM_BYTES = 48
# Pixels of the photos that are transformed at a time.
_STACK = 2**17
# Work on small rows hardly lets go of the interpreter, and more threads make it slower: so many
# threads, or one for so many pixels.
_FEW_THREADS, _THREAD_PIXELS = 2, 2**14


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


def square_chance(
    source: correlate.Source,
    labels: npt.ArrayLike,
    groups: npt.ArrayLike,
    shape: tuple[int, int] | None = None,
    *,
    memory: int = correlate.DEFAULT_MEMORY,
    progress: Callable[[int, int], None] | None = None,
) -> Chance:
    """What chance does with each photo and the fingerprint of one group, itself left out.

    Mean and spread are those of correlations at shifts by multiples of 8 pixels further than 16,
    the energy that at all but the 11×11 shifts round zero. Rows are read group by group.

    Parameters
    ----------
    source : a store, or an (n, d) array
    labels : (n,) groups, −1 for none
    groups : (n,) the group that each photo is compared with, −1 for none
    shape : (h, w) of a fingerprint; a square if not given
    memory : bytes for everything held at a time, but for one row and its transforms
    progress : called with photos done and all that are compared
    """
    own, wanted = np.asarray(labels), np.asarray(groups)
    for values in (own, wanted):
        if values.shape != (len(source),):
            raise ValueError(
                f"labels have shape {values.shape}; give one for each of {len(source)}"
            )
    result, done, total = Chance.unknown(len(source)), 0, int(np.count_nonzero(wanted >= 0))
    d = correlate.pixels(source)
    need = _transform_bytes(d) + _row_bytes(source) + 3 * 4 * d
    at_a_time = min(max(1, memory // need), max(_FEW_THREADS, d // _THREAD_PIXELS))
    threads = min(compute.thread_count(), at_a_time)

    def group_chance(group: int) -> tuple[int, int]:
        members, photos = np.flatnonzero(own == group), np.flatnonzero(wanted == group)
        if len(np.union1d(members, photos)) < 2:
            return len(photos), 0
        shifts = _group_chance(source, members, photos, shape, memory // threads, result)
        return len(photos), shifts

    def told(answer: tuple[int, int]) -> None:
        nonlocal done
        done += answer[0]
        if progress is not None:
            progress(done, total)

    groups_ = np.unique(wanted[wanted >= 0]).tolist()
    every = compute.side_by_side(group_chance, groups_, most=at_a_time, done=told)
    return replace(result, shifts=max((shifts for _, shifts in every), default=0))


def _group_chance(
    source: correlate.Source,
    members: Rows,
    photos: Rows,
    shape: tuple[int, int] | None,
    memory: int,
    out: Chance,
) -> int:
    """Put in what chance does with some photos and the sum of a group; how many shifts there are.

    Rows that are both are read once if they fit in memory, else once for the sum and once more.
    """
    blocks = _blocks(source, members, memory)
    total = np.zeros(correlate.pixels(source), dtype=np.float32)
    kept = None
    for rows in blocks:
        kept = None  # before the next are read
        kept = _rows(source, rows)
        for vector in kept:
            total += vector
    if not np.array_equal(members, photos) or len(blocks) > 1:
        kept, blocks = None, _blocks(source, photos, memory)
    plane, shifts = _shape(total, shape), 0
    spectrum, at_a_time = _spectrum(total, plane), _at_a_time(total.size)
    for rows in blocks:
        vectors = _rows(source, rows) if kept is None else kept
        for start in range(0, len(rows), at_a_time):
            some = slice(start, start + at_a_time)
            member = np.isin(rows[some], members)
            there = ~member if len(members) == 1 else np.ones(len(member), dtype=bool)
            photos, lines, member = rows[some][there], vectors[some][there], member[there]
            if len(photos):
                shifts = _put(out, photos, lines, member, total, spectrum, plane)
    return shifts


def _put(
    out: Chance,
    photos: Rows,
    vectors: Floats,
    member: Mask,
    total: Floats,
    spectrum: Spectrum,
    plane: tuple[int, int],
) -> int:
    """Put in what correlations of photos with the rest of a group are at shifts, and how many.

    Several photos are transformed at a time; what one has does not depend on the others.
    """
    from scipy.fft import irfft2

    transforms = _spectrum(vectors, (len(vectors), *plane))
    others = spectrum - np.where(member[:, np.newaxis, np.newaxis], transforms, 0)
    planes = irfft2(transforms * np.conj(others), s=plane)
    near = [
        np.minimum(at, side - at) <= NEAR for side in plane for at in [np.arange(0, side, STEP)]
    ]
    far = ~np.outer(*near)
    rest = np.where(member[:, np.newaxis], total - vectors, total)
    norms = np.linalg.norm(vectors, axis=1).astype(np.float64) * np.linalg.norm(rest, axis=1)
    norms = np.maximum(norms, 1e-30)
    # One photo after the other in memory: sums of one do not depend on how many there are.
    values = np.array(planes[:, ::STEP, ::STEP][:, far], dtype=np.float64, order="C")
    values /= norms[:, np.newaxis]
    if values.shape[1] >= FEWEST:
        out.mean[photos], out.spread[photos] = values.mean(axis=1), values.std(axis=1, ddof=1)
    out.energy[photos] = _energies(planes) / norms**2
    return int(np.count_nonzero(far))


def _at_zero(a: Spectrum, b: Spectrum, plane: tuple[int, int]) -> float:
    from scipy.fft import irfft2

    c = irfft2(a * np.conj(b), s=plane)
    peak, energy = float(c[0, 0]), float(_energies(c[np.newaxis])[0])
    return float(np.sign(peak)) * peak**2 / energy if energy > 0 else 0.0


def _energies(planes: Floats) -> Doubles:
    """Mean square of planes (m, h, w) outside the 11×11 shifts round zero."""
    total = np.array([np.einsum("ij,ij->", c, c, dtype=np.float64) for c in planes])
    height, width = planes.shape[1:]
    near = [np.unique(np.arange(-RADIUS, RADIUS + 1) % side) for side in (height, width)]
    middle = np.array(planes[:, near[0][:, np.newaxis], near[1]], dtype=np.float64, order="C")
    rest = height * width - len(near[0]) * len(near[1])
    if rest <= 0:
        return np.zeros(len(planes))
    result: Doubles = (total - (middle**2).sum(axis=(1, 2))) / rest
    return result


def _spectrum(vectors: Floats, shape: tuple[int, ...]) -> Spectrum:
    """Transforms of planes (…, h, w)."""
    from scipy.fft import rfft2

    return np.asarray(rfft2(np.asarray(vectors, dtype=np.float32).reshape(shape)))


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
    """Members whose rows fit in what memory the transforms leave."""
    room = memory - _transform_bytes(correlate.pixels(source))
    step = max(1, room // _row_bytes(source))
    return [members[start : start + step] for start in range(0, len(members), step)]


def _transform_bytes(n_pixels: int) -> int:
    """Of the photos that are transformed together."""
    return _TRANSFORM_BYTES * n_pixels * _at_a_time(n_pixels)


def _row_bytes(source: correlate.Source) -> int:
    if isinstance(source, FingerprintStore):
        return source.row_bytes
    return 4 * correlate.pixels(source)


def _at_a_time(n_pixels: int) -> int:
    """Photos that are transformed together: many small ones, one large one."""
    return max(1, _STACK // n_pixels)


def _rows(source: correlate.Source, rows: Rows) -> Floats:
    if isinstance(source, FingerprintStore):
        return source.read(rows)
    return np.asarray(source[rows], dtype=np.float32)
