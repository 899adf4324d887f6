"""Pixels to fingerprints: one unit-norm vector per photograph."""

from samecam.fingerprint._fingerprint import (
    Fingerprints,
    NoResidualError,
    Preset,
    Steps,
    fingerprint,
    fingerprints,
)
from samecam.fingerprint._residual import noise_residual
from samecam.fingerprint._spectrum import equalise

__all__ = [
    "Fingerprints",
    "NoResidualError",
    "Preset",
    "Steps",
    "equalise",
    "fingerprint",
    "fingerprints",
    "noise_residual",
]
