"""Shares of dark and saturated pixels, and the status that follows, at their borders."""

import numpy as np
import pytest

from samecam.photos import Exposure, exposure


def test_gray_is_the_mean_of_the_three_channels():
    pixels = np.zeros((10, 10, 3), dtype=np.uint8)
    pixels[:5] = [240, 0, 0]  # mean exactly 80: still dark
    pixels[5:] = [241, 0, 0]  # just above
    assert exposure(pixels).dark == 0.5
    pixels[:2] = [255, 255, 240]  # mean exactly 250: saturated
    pixels[2:4] = [255, 255, 239]
    assert exposure(pixels).saturated == 0.2
    assert exposure(pixels.astype(np.float32)) == exposure(pixels)


@pytest.mark.parametrize(
    ("saturated", "status"),
    [(0.0, "good"), (0.2999, "good"), (0.30, "weak"), (0.90, "weak"), (0.9001, "unusable")],
)
def test_status(saturated, status):
    shares = Exposure(0.0, saturated)
    assert shares.status == status
    assert shares.code == ("" if status == "good" else "over-exposed")
    wanted = "" if status == "good" else f"{saturated:.1%} of the crop is over-exposed"
    assert shares.reason == wanted


def test_what_is_flat_is_not_told_as_over_exposed():
    shares = Exposure(0.0, 0.35, 0.95, whole=True)
    assert (shares.status, shares.code) == ("unusable", "flat")
    assert shares.reason == "95.0% of the picture is flat"
    shares = Exposure(0.0, 0.35, 0.85, whole=True)
    assert (shares.status, shares.code) == ("weak", "over-exposed")


def test_dark_flag_is_above_three_quarters():
    assert not Exposure(0.75, 0.0).is_dark
    assert Exposure(0.7501, 0.0).is_dark


def test_real_photographs_hold_the_documented_numbers(photos_dir):
    from PIL import Image

    shares = [
        exposure(np.asarray(Image.open(f).crop((0, 0, 512, 512))))
        for f in sorted((photos_dir / "images").glob("*.jpg"))
    ]
    assert sum(s.saturated > 0.3 for s in shares) == 28
    assert sum(s.is_dark for s in shares) == 84
