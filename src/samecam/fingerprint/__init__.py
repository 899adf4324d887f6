"""Pixels to fingerprints: one unit-norm vector per photograph."""

from samecam.fingerprint._fingerprint import NoResidualError, Preset, fingerprint
from samecam.fingerprint._residual import noise_residual

__all__ = ["NoResidualError", "Preset", "fingerprint", "noise_residual"]
