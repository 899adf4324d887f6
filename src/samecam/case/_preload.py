"""Imported once by the server that worker processes are forked from.

Loads the compiled kernels, so that each worker starts ready.
"""

import contextlib

import numpy as np

import samecam.case._worker  # noqa: F401
from samecam.fingerprint import fingerprint

with contextlib.suppress(Exception):  # a worker will meet it again, and say so
    _picture = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    fingerprint(_picture)
    fingerprint(_picture.astype(np.float32))
