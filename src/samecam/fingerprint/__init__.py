"""Pixels to fingerprints: one unit-norm vector per photograph."""

from samecam.fingerprint._fingerprint import NoResidualError, fingerprint
from samecam.fingerprint._residual import noise_residual

__all__ = ["NoResidualError", "fingerprint", "noise_residual"]
