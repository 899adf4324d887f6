"""Pictures that cost nothing to make: shading, an edge and noise, all different."""

import numpy as np

from samecam.arrays import Pixels


def pictures(count: int, side: int, seed: int = 0) -> Pixels:
    """(count, side, side, 3) bytes."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:side, :side]
    base = 100 + 50 * np.sin(x / 29) + 40 * np.cos(y / 17) + 30 * (x > y)
    noise = rng.normal(0, 4, (2 * side, 2 * side, 3)).astype(np.float32)
    made = np.empty((count, side, side, 3), dtype=np.uint8)
    for k in range(count):
        a, b = rng.integers(0, side, 2)
        shot = base[..., None] + noise[a : a + side, b : b + side]
        made[k] = np.clip(shot, 0, 255)
    return made
