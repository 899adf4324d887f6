"""Splitting: how many photos a batch holds, and who is in which."""

import math

import numpy as np

from samecam.arrays import Rows
from samecam.compute import default_memory, format_bytes
from samecam.errors import SamecamError

# A batch holds its correlations, the solver's work (0.4 of them) and room; of each photo
# two parts of some pixels, one in use and one being read.
_SQUARE_BYTES = 8
_ROW_BYTES = 2 * 4 * 1024
_FEWEST = 8
# Buffers of BLAS, the sample that chance is measured on, what the allocator keeps.
_RESERVE = 16 * 2**20


def usable(memory: int) -> int:
    """What of a budget is for photos: all but 16 MiB, or two thirds of a small one."""
    return memory - min(_RESERVE, memory // 3)


def batch_bytes(size: int) -> int:
    """Memory that clustering a batch of so many photos takes."""
    return _SQUARE_BYTES * size * size + _ROW_BYTES * size


def gram_bytes(size: int) -> int:
    """Memory for forming the correlations of a batch: before the solver's work.

    It depends on the size alone, so that the same parts are added in the same order
    whatever the budget, here and in workers.
    """
    return batch_bytes(size) - 4 * size * size


def correlating_bytes(size: int, device: str) -> int:
    """Memory that correlating a batch may take: on a GPU nearly all that is free of its own."""
    return gram_bytes(size) if device == "cpu" else default_memory(device)


def largest_batch(memory: int) -> int:
    """Photos of the largest batch that fits into `memory` bytes."""
    half = _ROW_BYTES / (2 * _SQUARE_BYTES)
    size = int(math.sqrt(half * half + usable(memory) / _SQUARE_BYTES) - half)
    if size < _FEWEST:
        raise SamecamError(
            f"The memory budget of {format_bytes(memory)} holds no batch of {_FEWEST} photos: "
            "raise it."
        )
    return size


def batches(n: int, count: int, rng: np.random.Generator) -> list[Rows]:
    """Split 0 … n−1 at random into `count` batches whose sizes differ by at most one.

    Each is sorted, so that a store is read in its order. There are fewer batches than
    asked where there are fewer photos.
    """
    order = rng.permutation(n)
    return [np.sort(part) for part in np.array_split(order, max(1, min(count, n)))]
