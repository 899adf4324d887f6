"""Random streams: one for each thing that is drawn, all from one seed."""

import numpy as np

__all__ = ["stream"]


def stream(seed: int, *key: int) -> np.random.Generator:
    """Return the random stream of one thing, the same whoever asks and in whatever order."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
