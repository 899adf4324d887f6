"""From the luma of a whole picture to its row: the residual, cleaned and quantised.

A pixel without residual, as where the picture is clipped or flat, would get a sign from the
means that are subtracted, and clipped areas would link strangers. In a row of bits it gets a
random one, which depends on the file and the pixel's place alone, and counts as small where there
are two bits a pixel; in a row of bytes it gets 0.
"""

import math
import re
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from samecam import compute
from samecam.arrays import Floats, Words
from samecam.errors import ParameterValueError
from samecam.fingerprint import _residual
from samecam.fingerprint._colour import colour
from samecam.fingerprint._fingerprint import LEAST_RESIDUAL, NoResidualError
from samecam.fingerprint._rings import BLOCK, residual_rows
from samecam.fingerprint._wavelet import PHASE, SPINS
from samecam.fingerprint._weigh import Mixers, as_luma, brightened, measured, mixed

FrameKind = Literal["2bits", "bits", "int8"]

# Share of the root-mean-square residual under which a pixel counts as one without residual: of
# a small one the sign tells more of JPEG than of the sensor (benchmarks/quantised.py).
NO_RESIDUAL: dict[FrameKind, float] = {"bits": 0.12, "2bits": 0.03, "int8": 0.03}
FLAT_LEVEL = 0.01  # gray levels of the residual under which a pixel is flat
# Of int8 in one root mean square: hot pixels of 16 times that tell a sensor, and are kept.
STEPS = 8
MOST_KEPT = 2**25  # pixels of a residual that is kept between the two ways through it
_local = threading.local()
_KEY = 16  # hexadecimal digits of a key from which random bits are made


class FrameRow(NamedTuple):
    """The fingerprint of a whole picture: `scale` · `values` has unit norm.

    Attributes
    ----------
    values : bits, uint64 (⌈d/64⌉,): bit k of word j is pixel 64j + k in row-major order, 1 for
        positive, beyond the last pixel 0; two bits a pixel, (2⌈d/64⌉,): such words alternate with
        words that are 1 where the value is ±1 and 0 where it is ±3; or int8 (d,)
    scale : what a value of 1 stands for; of one bit 1/√d, for +1 and −1
    flat : share of pixels without residual
    colour : how smooth the values are, see `colour`; of white noise 1
    """

    values: npt.NDArray[Any]
    scale: float
    flat: float
    colour: float = 1.0


def frame_row(
    pixels: npt.ArrayLike,
    *,
    key: str,
    dtype: FrameKind,
    sigma: float = 3.0,
    spins: int = SPINS,
    weigh: bool = True,
) -> FrameRow:
    """Fingerprint of a whole picture, quantised.

    Steps: noise residual of the luma → weighed → row, column and 16×16 phase means subtracted → one
    bit, two bits or one byte a pixel. Two bits are the sign, and whether the residual is above its
    root mean square: ±3, else ±1.

    Parameters
    ----------
    pixels : (h, w) luma on the 0–255 scale
    key : SHA-256 of the file in hexadecimal; decides on the bits of pixels without residual
    dtype : "bits", "2bits" or "int8"
    sigma, spins : see `samecam.fingerprint.noise_residual`
    weigh : see `samecam.fingerprint.fingerprint`

    Raises
    ------
    NoResidualError
        if the picture is flat (root-mean-square residual under 0.001 gray levels)
    """
    seed = checked_key(key, dtype)
    luma = checked_luma(pixels)
    _residual.check_sigma(sigma)
    _residual.check_spins(spins)
    source = Residual(luma, sigma, spins, weigh)
    means = subtracted(source)
    if dtype != "int8":
        words = to_bits(source, means, seed, dtype)
        scale = bit_scale(words, luma.size, dtype)
        return FrameRow(words, scale, source.flat, colour(words, source.shape))
    values, square = to_bytes(source, means)
    if not square:
        raise NoResidualError("the picture is flat: it has no noise residual")
    return FrameRow(values, 1 / math.sqrt(square), source.flat, colour(values, source.shape))


def frame_rows(
    pictures: Sequence[npt.ArrayLike],
    keys: Sequence[str],
    *,
    dtype: FrameKind,
    sigma: float = 3.0,
    spins: int = SPINS,
    weigh: bool = True,
    device: str = "cpu",
    memory: int | None = None,
) -> list[FrameRow | None]:
    """Rows of whole pictures of one shape, on the processor or on a GPU; None for flat ones.

    A GPU adds up in another order: of its bits, those of pixels with hardly any residual may
    differ, of its bytes some by one step. On one device a picture gives the same row whatever
    pictures are beside it.

    Parameters
    ----------
    pictures : (h, w) luma on the 0–255 scale, one or more
    keys : SHA-256 of their files
    device : "cpu", "cuda", "cuda:1", … or "auto", see `samecam.compute.choose_device`
    memory : bytes that work arrays may take on a GPU; None: see `compute.default_memory`
    dtype, sigma, spins, weigh : see `frame_row`
    """
    lumas = [checked_luma(picture) for picture in pictures]
    seeds = [checked_key(key, dtype) for key in keys]
    _residual.check_sigma(sigma)
    _residual.check_spins(spins)
    if not lumas or len(lumas) != len(seeds):
        raise ValueError(f"{len(lumas)} pictures and {len(seeds)} keys; give one key a picture")
    if len({luma.shape for luma in lumas}) > 1:
        raise ValueError("pictures have several shapes; give pictures of one shape")
    chosen = compute.choose_device(device)
    if chosen != "cpu":
        from samecam.fingerprint import _frames_gpu

        return _frames_gpu.frame_rows(lumas, seeds, dtype, sigma, spins, weigh, chosen, memory)
    rows: list[FrameRow | None] = []
    for luma, key in zip(lumas, keys, strict=True):
        try:
            made = frame_row(luma, key=key, dtype=dtype, sigma=sigma, spins=spins, weigh=weigh)
            rows.append(made)
        except NoResidualError:
            rows.append(None)
    return rows


def checked_key(key: str, dtype: str) -> int:
    """Return the number from which random bits are made."""
    if dtype not in NO_RESIDUAL:
        names = "'bits', '2bits' or 'int8'"
        raise ParameterValueError("dtype", f"{{name}} is {dtype!r}; choose {names}")
    if not re.match(f"[0-9a-fA-F]{{{_KEY}}}", key):
        reason = f"{{name}} is {key[:80]!r}; give the SHA-256 of the file in hexadecimal"
        raise ParameterValueError("key", reason)
    return int(key[:_KEY], 16)


def checked_luma(pixels: npt.ArrayLike) -> npt.NDArray[np.generic]:
    """Return the picture, if it is one."""
    luma = _residual.checked_image(pixels)
    if luma.ndim != 2:
        raise ValueError(f"pixels have shape {luma.shape}; give luma of shape (h, w)")
    return luma


class Residual:
    """The residual of a picture, to be gone through twice: kept in between, or made again.

    One that is weighed and not kept is made three times, to know its frequencies first.

    One at a time in a thread: the next one of that shape is kept in the same place.

    Attributes
    ----------
    shape : of the picture
    flat : share of its pixels without residual, after the first way
    """

    def __init__(
        self, luma: npt.NDArray[np.generic], sigma: float, spins: int, weigh: bool
    ) -> None:
        self.shape: tuple[int, int] = (luma.shape[0], luma.shape[1])
        self.flat = 0.0
        self._luma, self._sigma, self._spins, self._weigh = luma, sigma, spins, weigh
        self._mixers: Mixers | None = None
        self._kept: Floats | None = None

    def rows(self) -> Iterator[tuple[int, Floats]]:
        """First row and rows, a block after another."""
        height, width = self.shape
        if self._kept is not None:
            yield from _blocks(self._kept)
            return
        keep = height * width <= MOST_KEPT
        out = _plane(height if keep else BLOCK, width)
        made = self._made(out)
        if self._weigh and self._mixers is None:
            self._mixers = measured(self.shape, made)
            made = _blocks(out) if keep else self._made(out)
        yield from mixed(self._mixers, made) if self._mixers else made
        self._kept = out if keep else None

    def _made(self, out: Floats) -> Iterator[tuple[int, Floats]]:
        """Rows before their frequencies are evened out; what is flat is counted."""
        made = self._counted(residual_rows(self._luma, self._sigma, out, self._spins))
        return brightened(as_luma(self._luma), made) if self._weigh else made

    def _counted(self, rows: Iterator[tuple[int, Floats]]) -> Iterator[tuple[int, Floats]]:
        from samecam.fingerprint import _quantise

        below = 0
        for start, block in rows:
            below += _quantise.count_below(block, np.float32(FLAT_LEVEL))
            yield start, block
        self.flat = below / (self.shape[0] * self.shape[1])


def _blocks(plane: Floats) -> Iterator[tuple[int, Floats]]:
    for start in range(0, len(plane), BLOCK):
        yield start, plane[start : start + BLOCK]


def _plane(height: int, width: int) -> Floats:
    """Return an array for a residual: this thread's last one, where it fits and is not large.

    Memory that is new costs a tenth of the time of a row.
    """
    kept: Floats | None = getattr(_local, "plane", None)
    if kept is None or kept.shape != (height, width):
        kept = _local.plane = None  # let go of the old one first
        kept = np.empty((height, width), dtype=np.float32)
        _local.plane = kept if kept.size <= MOST_KEPT // 2 else None
    return kept


class Means(NamedTuple):
    """What is subtracted from a residual, and what is left.

    Attributes
    ----------
    rows : (h,) means of rows
    shifts : (16, w) means of columns and phases, for each phase of the row
    rms : root mean square of what is left
    """

    rows: Floats
    shifts: Floats
    rms: float


def subtracted(source: Residual) -> Means:
    """Means of rows, of columns after that, and of phases after both, from sums of the residual."""
    from samecam.fingerprint import _quantise

    height, width = source.shape
    sums = np.empty(height, dtype=np.float64)
    phases = np.zeros((PHASE, width), dtype=np.float32)
    squares = np.zeros(width, dtype=np.float32)
    for start, block in source.rows():
        _quantise.add_sums(block, start, sums, phases, squares)
    rows = (sums / width).astype(np.float32)
    by_phase = np.zeros(PHASE)
    np.add.at(by_phase, np.arange(height) % PHASE, rows.astype(np.float64))
    counts = np.bincount(np.arange(height) % PHASE, minlength=PHASE)
    left = phases.astype(np.float64) - by_phase[:, np.newaxis]
    columns = left.sum(axis=0) / height
    left -= counts[:, np.newaxis] * columns
    energy = squares.sum(dtype=np.float64) - width * np.square(rows, dtype=np.float64).sum()
    energy -= height * np.square(columns).sum()
    shifts = np.tile(columns, (PHASE, 1))
    for b in range(min(PHASE, width)):
        part = left[:, b::PHASE]
        total, count = part.sum(axis=1), counts * part.shape[1]
        means = total / np.maximum(count, 1)
        shifts[:, b::PHASE] += means[:, np.newaxis]
        energy -= (count * np.square(means)).sum()
    rms = math.sqrt(max(energy, 0.0) / (height * width))
    if rms < LEAST_RESIDUAL:
        raise NoResidualError("the picture is flat: it has no noise residual")
    return Means(rows, shifts.astype(np.float32), rms)


def to_bits(source: Residual, means: Means, seed: int, dtype: FrameKind = "bits") -> Words:
    """Signs of what is left, and random bits; of two bits a pixel also what is small."""
    from samecam.fingerprint import _quantise

    (height, width), planes = source.shape, 2 if dtype == "2bits" else 1
    words = np.empty(planes * -(-height * width // 64), dtype=np.uint64)
    packed = np.zeros(width // 8 + 16, dtype=np.uint64)
    least, large = np.float32(NO_RESIDUAL[dtype] * means.rms), np.float32(means.rms)
    for start, block in source.rows():
        given = (means.rows, means.shifts, least, large, np.uint64(seed))
        _quantise.to_bits(block, start, *given, packed.view(np.uint8), packed, words, planes)
    return words


def bit_scale(words: Words, n_pixels: int, dtype: FrameKind) -> float:
    """What makes the norm of a row of bits 1."""
    if dtype == "bits":
        return 1 / math.sqrt(n_pixels)
    small = int(np.bitwise_count(words[1::2]).sum(dtype=np.int64))
    return 1 / math.sqrt(9 * n_pixels - 8 * small)


def to_bytes(source: Residual, means: Means) -> tuple[npt.NDArray[np.int8], int]:
    """Values, and the sum of their squares."""
    from samecam.fingerprint import _quantise

    height, width = source.shape
    values = np.empty(height * width, dtype=np.int8)
    least, factor = np.float32(NO_RESIDUAL["int8"] * means.rms), np.float32(STEPS / means.rms)
    square = 0
    for start, block in source.rows():
        given = (means.rows, means.shifts, least, factor)
        square += _quantise.to_bytes(block, start, *given, values)
    return values, square
