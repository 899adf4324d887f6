"""Simulate: photographs, fingerprints and Gram matrices of cameras that do not exist."""

from samecam.simulate._copies import (
    MESSENGERS,
    Messenger,
    crop_photo,
    messenger_copy,
    view_photo,
)
from samecam.simulate._gram import (
    SimulatedFingerprints,
    SimulatedGram,
    SimulatedResiduals,
    fingerprints,
    gram,
    synthetic_residuals,
)
from samecam.simulate._look import Look, show
from samecam.simulate._photos import simulate_photos
from samecam.simulate._views import Views, wide_size

__all__ = [
    "MESSENGERS",
    "Look",
    "Messenger",
    "SimulatedFingerprints",
    "SimulatedGram",
    "SimulatedResiduals",
    "Views",
    "crop_photo",
    "fingerprints",
    "gram",
    "messenger_copy",
    "show",
    "simulate_photos",
    "synthetic_residuals",
    "view_photo",
    "wide_size",
]
