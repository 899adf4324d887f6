"""Pixels to fingerprints: one unit-norm vector per photograph."""

from samecam.fingerprint._fingerprint import NoResidualError, Preset, fingerprint
from samecam.fingerprint._residual import noise_residual
from samecam.fingerprint._spectrum import equalise

__all__ = ["NoResidualError", "Preset", "equalise", "fingerprint", "noise_residual"]
