"""What counts more in a residual: bright pixels, and frequencies of which it holds little.

A sensor's pattern grows with the light, and shot noise with its root only: each pixel is
multiplied by the root of its brightness. Compression and the denoiser leave some frequencies of
JPEG's 8×8 blocks much stronger than others, in each photo other ones: they are evened out in part.
In the cosine transform C of length 8 a block W becomes A·W·Bᵀ with A = Cᵀ diag(g) C, where
g = (e/ē + .001)^(−1/8), e the energies of the photo's eight vertical frequencies, ē their mean; B
likewise across. Rows and columns beyond the last whole block are evened out along one axis only.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Floats, Pixels

SIDE = 8  # of JPEG's blocks
POWER = 1 / 8  # half of what would make all frequencies alike, along each of two axes
FLOOR = 1e-3  # of the mean energy, so that what is empty stays small
# Energies are measured on one block of so many; on all where these are fewer than `_ENOUGH`.
_ONE_OF, _ENOUGH = 11, 4096


class Mixers(NamedTuple):
    """A and B of a photo, (8, 8) float32; both are symmetric."""

    down: Floats
    across: Floats


def one_of(shape: tuple[int, int]) -> int:
    """On one of how many blocks energies are measured: those with (row + column) mod it = 0."""
    blocks = (shape[0] // SIDE) * (shape[1] // SIDE)
    return max(1, min(_ONE_OF, blocks // _ENOUGH))


def cosines() -> Doubles:
    """The cosine transform C of length 8, a frequency a row."""
    k, x = np.arange(SIDE)[:, np.newaxis], np.arange(SIDE)
    rows: Doubles = np.cos(np.pi * k * (2 * x + 1) / (2 * SIDE)) * np.sqrt(2 / SIDE)
    rows[0] *= np.sqrt(0.5)
    return rows


def mixers(down: Doubles, across: Doubles) -> Mixers:
    """A and B from the energies of eight frequencies along both axes."""

    def mixer(energy: Doubles) -> Floats:
        mean = energy.mean()
        gain = (energy / mean + FLOOR) ** -POWER if mean > 0 else np.ones(SIDE)
        C = cosines()
        return ((C.T * gain) @ C).astype(np.float32)

    return Mixers(mixer(down), mixer(across))


def as_luma(pixels: npt.NDArray[np.generic]) -> Pixels | Floats:
    """A picture (h, w) whose brightness counts: bytes as they are, all else as float32."""
    kind = np.uint8 if pixels.dtype == np.uint8 else np.float32
    return np.ascontiguousarray(pixels, dtype=kind)


def brightened(
    luma: Pixels | Floats, blocks: Iterable[tuple[int, Floats]]
) -> Iterator[tuple[int, Floats]]:
    """Blocks of rows of a residual, each pixel times the root of its brightness, in place."""
    from samecam.fingerprint import _weigh_kernels

    for start, block in blocks:
        _weigh_kernels.brighten(block, luma[start : start + len(block)])
        yield start, block


def measured(shape: tuple[int, int], blocks: Iterable[tuple[int, Floats]]) -> Mixers:
    """What evens out the frequencies of a residual that comes in blocks of rows.

    A block of rows begins at a multiple of eight.
    """
    from samecam.fingerprint import _weigh_kernels

    down, across = np.zeros((2, SIDE, SIDE))
    C = cosines().astype(np.float32)
    for start, block in blocks:
        _weigh_kernels.add_energies(block, start // SIDE, one_of(shape), C, down, across)
    return mixers(down.sum(axis=1), across.sum(axis=1))


def mixed(found: Mixers, blocks: Iterable[tuple[int, Floats]]) -> Iterator[tuple[int, Floats]]:
    """Blocks of rows with their frequencies evened out, in place."""
    from samecam.fingerprint import _weigh_kernels

    for start, block in blocks:
        _weigh_kernels.mix(block, *found)
        yield start, block


def weigh(residual: Floats, luma: npt.NDArray[np.generic]) -> None:
    """Weigh a whole residual (h, w) by the brightness of its picture and by frequency, in place."""
    from samecam.fingerprint import _weigh_kernels

    height, width = residual.shape
    _weigh_kernels.brighten(residual, as_luma(luma))
    _weigh_kernels.mix(residual, *measured((height, width), [(0, residual)]))
