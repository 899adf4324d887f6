"""Shares of dark and saturated pixels, and the status that follows, at their borders."""

from dataclasses import replace

import numpy as np
import pytest

from samecam.fingerprint import frame_row
from samecam.photos import Exposure, exposure, frame_exposure, read_frame
from samecam.simulate import simulate_photos


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


@pytest.mark.parametrize("band", [1, 50, 2**20])
def test_even_pixels_equal_those_beside_and_below_black_and_white_aside(band, monkeypatch):
    monkeypatch.setattr("samecam.photos._screen._BAND", band)
    pixels = np.random.default_rng(0).integers(0, 4, (40, 30)).astype(np.uint8) * 85
    even = lit = 0
    for y in range(39):
        for x in range(29):
            if pixels[y, x] not in (0, 255):
                lit += 1
                even += pixels[y, x] == pixels[y, x + 1] == pixels[y + 1, x]
    assert frame_exposure(pixels).even == even / lit
    assert frame_exposure(np.zeros((40, 30), np.uint8)).even == 0


def test_what_looks_drawn_is_weak():
    drawn = Exposure(0.0, 0.1, flat=0.25, even=0.8, whole=True)
    assert (drawn.status, drawn.code) == ("weak", "graphic")
    assert drawn.reason == "looks like a graphic: 80.0% of the picture is even"
    assert Exposure(0.0, 0.2, flat=0.25, even=0.8, whole=True).status == "good"
    assert Exposure(0.0, 0.1, flat=0.25, even=0.6, whole=True).status == "good"
    assert Exposure(0.0, 0.35, flat=0.5, even=0.8, whole=True).code == "over-exposed"


def test_screenshots_look_drawn_and_photos_with_bars_do_not(tmp_path):
    given = {"cameras": 1, "images": 2, "letterbox": 4, "screenshots": 6}
    simulate_photos(tmp_path, size=(640, 480), workers=1, seed=3, **given)
    drawn = {}
    for path in (tmp_path / "images").iterdir():
        pixels = read_frame(path.read_bytes()).pixels
        shares = frame_exposure(pixels)
        row = frame_row(pixels, key="0" * 64, dtype="int8")
        drawn[path.name] = replace(shares, flat=row.flat).is_drawn
    assert {name for name, is_drawn in drawn.items() if is_drawn} == {
        name for name in drawn if name.endswith(".png")
    }
    assert sum(drawn.values()) == 6
