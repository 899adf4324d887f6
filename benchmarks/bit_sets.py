"""Simulated rows of one or two bits a pixel: cameras that do not exist, with truth."""

from collections.abc import Iterator

import numpy as np

from samecam.arrays import Labels, Words
from samecam.store import BitRows, Frame

# A photo's bits are those of its camera in so many parts of 64, and else chance.
PARTS = 64
# Parts of 64 that are small, where there are two bits a pixel: as of normally distributed numbers.
SMALL = 44
CAMERA_SPREAD, PHOTO_SPREAD = 0.3, 0.5


def truth_of(photos: int, seed: int = 0) -> Labels:
    """Camera of each photo in random order; cameras have 10 to 50 photos, one in 20 but one."""
    rng = np.random.default_rng(seed)
    sizes: list[int] = []
    while sum(sizes) < photos:
        many = 1 if rng.random() < 1 / 20 else int(rng.integers(10, 51))
        sizes.append(min(many, photos - sum(sizes)))
    return rng.permutation(np.repeat(np.arange(len(sizes)), sizes)).astype(np.intp)


def shares(cameras: Labels, mean: float, seed: int = 0) -> Labels:
    """Parts of 64 in which each photo is its camera's; two correlate by `mean` or so."""
    rng = np.random.default_rng(seed + 1)
    camera = rng.lognormal(0, CAMERA_SPREAD, int(cameras.max(initial=0)) + 1)[cameras]
    strength = mean**0.5 * camera * rng.lognormal(0, PHOTO_SPREAD, len(cameras))
    return np.asarray(np.clip(np.rint(PARTS * strength), 1, PARTS // 2), dtype=np.intp)


def rows_of(
    cameras: Labels, mean: float, n_pixels: int, seed: int = 0, planes: int = 1
) -> Iterator[Words]:
    """The rows one after another; photos i, j of one camera correlate by s_i s_j / 64².

    Of two bits a pixel by three quarters of that: which are small is left to chance.
    """
    width = -(-n_pixels // 64)
    spare = np.uint64(64 * width - n_pixels)
    parts = shares(cameras, mean, seed)
    for photo, camera in enumerate(cameras):
        pattern = _random([seed, 0, int(camera)]).integers(2**64, size=width, dtype=np.uint64)
        rng = _random([seed, 1, photo])
        own = _bits(rng, int(parts[photo]), width)
        chance = rng.integers(2**64, size=width, dtype=np.uint64)
        row = chance ^ (own & (chance ^ pattern))
        row[-1] &= np.uint64(2**64 - 1) >> spare
        if planes == 2:
            small = _bits(rng, SMALL, width)
            small[-1] &= np.uint64(2**64 - 1) >> spare
            row = np.stack([row, small], axis=1).ravel()
        yield row


def simulated(
    cameras: Labels,
    mean: float,
    n_pixels: int,
    seed: int = 0,
    frame: Frame | None = None,
    planes: int = 1,
) -> BitRows:
    """All rows in memory."""
    values = np.empty((len(cameras), planes * -(-n_pixels // 64)), dtype=np.uint64)
    for target, row in zip(values, rows_of(cameras, mean, n_pixels, seed, planes), strict=True):
        target[:] = row
    return BitRows(values, n_pixels, frame=frame)


def _random(seed: list[int]) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(seed))


def _bits(rng: np.random.Generator, parts: int, width: int) -> Words:
    """Words whose bits are 1 in so many parts of 64: a binary digit of the share at a time."""
    bits = np.zeros(width, dtype=np.uint64)
    for digit in range(PARTS.bit_length() - 1):
        if not bits.any() and not parts >> digit & 1:
            continue
        drawn = rng.integers(2**64, size=width, dtype=np.uint64)
        bits = drawn | bits if parts >> digit & 1 else drawn & bits
    return bits
