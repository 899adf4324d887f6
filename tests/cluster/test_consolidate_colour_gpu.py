"""Smooth photos among plain ones, on a device: as on the processor."""

import numpy as np
import pytest

pytest.importorskip("torch")

from samecam.cluster.consolidate import ConsolidatedSSC
from tests.cluster.test_consolidate_colour import with_strangers
from tests.devices import DEVICE

pytestmark = pytest.mark.torch


def test_on_a_device_too():
    X, colour = with_strangers(1)
    host = ConsolidatedSSC().fit(X, colour=colour)
    device = ConsolidatedSSC(device=DEVICE).fit(X, colour=colour)
    np.testing.assert_array_equal(device.labels_, host.labels_)
    np.testing.assert_allclose(device.photo_scales_, host.photo_scales_, rtol=1e-4)
