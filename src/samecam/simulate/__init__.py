"""Simulate: photographs, fingerprints and Gram matrices of cameras that do not exist."""

from samecam.simulate._gram import (
    SimulatedFingerprints,
    SimulatedGram,
    SimulatedResiduals,
    fingerprints,
    gram,
    synthetic_residuals,
)
from samecam.simulate._photos import simulate_photos

__all__ = [
    "SimulatedFingerprints",
    "SimulatedGram",
    "SimulatedResiduals",
    "fingerprints",
    "gram",
    "simulate_photos",
    "synthetic_residuals",
]
