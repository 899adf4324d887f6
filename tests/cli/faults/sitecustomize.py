"""Loaded by every Python process of a test: sorting warns, as a library may at any time."""

import warnings

import numpy as np

_argsort = np.argsort


def _warning(*args, **kwargs):
    warnings.warn("this library is about to change", FutureWarning, stacklevel=2)
    return _argsort(*args, **kwargs)


np.argsort = _warning
