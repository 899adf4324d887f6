"""Where a picture shows its sensor: against `samecam.register.View`, which defines it."""

import io
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter, map_coordinates

from samecam.errors import SamecamError
from samecam.frames import Frame
from samecam.register import View
from samecam.simulate import MESSENGERS, Look, Messenger, crop_photo, messenger_copy, show

SIZE = (640, 480)
LOOKS = {
    "plain": Look(SIZE),
    "zoom": Look(SIZE).zoomed(1.7),
    "more zoom": Look(SIZE).zoomed(4),
    "wide": Look(SIZE).cut((0, 60, 640, 420)),
    "lens": replace(Look(SIZE), scale=0.987, radial=0.003),
    "other lens": replace(Look(SIZE), scale=1.003, radial=-0.003),
    "lens and zoom": replace(Look(SIZE), scale=0.99, radial=0.003).zoomed(1.5),
    "lens and wide": replace(Look(SIZE), scale=0.99, radial=-0.003).cut((0, 60, 640, 420)),
    "turned": Look(SIZE).turned(90),
    "upside down": Look(SIZE).turned(180),
    "turned back": Look(SIZE).turned(270),
    "mirrored": replace(Look(SIZE), mirrored=True),
    "everything": replace(Look(SIZE), scale=0.99, radial=0.002, mirrored=True)
    .zoomed(1.4)
    .turned(270),
}


@cache
def planted(size, seed=0):
    """A pattern without noise or scene, as pixels (height, width, 3); a little beyond the frame."""
    width, height = (length + 24 for length in size)
    noise = gaussian_filter(np.random.default_rng(seed).normal(size=(height, width)), 1.2)
    plane = np.clip(128 + 25 * noise / noise.std(), 0, 255).astype(np.uint8)
    return np.repeat(plane[..., None], 3, axis=2)


def seen(look, points, size=SIZE):
    """Where points, from the picture's centre, lie on the sensor."""
    view = View(look.turn, look.mirrored, look.scale, shift=look.shift)
    half = (np.array(look.size) - 1) / 2
    factor = 1 + look.radial * (np.array(points) ** 2).sum(axis=1) / (half**2).sum()
    return view.points(points * factor[:, None] + half, Frame(*look.size), Frame(*size))


def agreement(picture, sensor, look, size=SIZE):
    """Correlation of a picture with the sensor where the view says that it lies.

    Of every third pixel each way, which are enough.
    """
    height, width = picture.shape[:2]
    assert (width, height) == look.size
    y, x = np.mgrid[:height:3, :width:3]
    at = seen(look, np.stack([x.ravel(), y.ravel()], axis=1) - (np.array(look.size) - 1) / 2, size)
    margin = np.array([sensor.shape[1] - size[0], sensor.shape[0] - size[1]]) / 2
    there = map_coordinates(sensor[..., 0].astype(float), (at + margin).T[::-1], order=3)
    return np.corrcoef(there, picture[::3, ::3, 0].ravel())[0, 1]


@pytest.mark.parametrize("name", LOOKS)
def test_the_pattern_lies_where_the_view_says(name):
    sensor, look = planted(SIZE), LOOKS[name]
    picture = show(sensor, look)
    assert agreement(picture, sensor, look) > 0.99
    for wrong in (
        replace(look, scale=look.scale * 1.1),
        replace(look, mirrored=not look.mirrored),
        replace(look, shift=(9.0, 9.0)),
        replace(look, turn=(look.turn + 180) % 360),
    ):
        assert abs(agreement(picture, sensor, wrong)) < 0.15


def test_a_lens_correction_is_more_than_a_scale():
    """Its term in r² shows: with the opposite one, the corners do not agree."""
    sensor, look = planted(SIZE), LOOKS["lens"]
    picture = show(sensor, look)
    assert agreement(picture, sensor, replace(look, radial=-look.radial)) < 0.95


def test_what_is_made_of_a_corrected_picture_shows_the_same_of_the_sensor():
    look = replace(Look(SIZE), scale=0.99, radial=0.003)
    points = np.array([(0.0, 0.0), (-300.0, 170.0), (120.0, -40.0)])
    for made, at in (
        (look.zoomed(1.6), points * 1.6),
        (look.cut((0, 60, 640, 420)), points),
        (look.cut((40, 60, 600, 420)), points),
        (look.resized((1280, 960)), points * 2),
        (look.turned(90), np.stack([-points[:, 1], points[:, 0]], axis=1)),
    ):
        assert np.abs(seen(made, at) - seen(look, points)).max() < 2e-3


def jpeg(pixels, orientation=1):
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = "Aldine"
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=98, subsampling=0, exif=exif)
    return buffer.getvalue()


def pixels_of(data):
    with Image.open(io.BytesIO(data)) as picture:
        return np.asarray(picture.convert("RGB"))


@cache
def soft(size):
    """A pattern that is still there when it is reduced."""
    return gaussian_filter(planted(size), (2, 2, 0))[12:-12, 12:-12]


@pytest.mark.parametrize("orientation", [1, 6, 3, 8])
@pytest.mark.parametrize("reduction", ["lanczos", "bicubic", "halves"])
def test_messengers_reduce_about_the_centre_and_turn_upright(reduction, orientation):
    size = (1280, 960)
    sensor = soft(size)
    data = messenger_copy(jpeg(sensor, orientation), Messenger(500, 95, reduction))
    turn = {1: 0, 6: 90, 3: 180, 8: 270}[orientation]
    look = Look(size).turned(turn)
    look = look.resized((375, 500) if turn % 180 else (500, 375))
    assert agreement(pixels_of(data), sensor, look, size) > 0.97
    wrong = replace(look, scale=look.scale * 1.05)
    assert abs(agreement(pixels_of(data), sensor, wrong, size)) < 0.2


@pytest.mark.parametrize("name", MESSENGERS)
def test_messengers_copies_are_as_the_services_make_them(name):
    data = messenger_copy(jpeg(planted((2400, 1800))[12:-12, 12:-12]), name)
    with Image.open(io.BytesIO(data)) as picture:
        assert max(picture.size) == MESSENGERS[name].edge
        assert picture.size[0] * 3 == picture.size[1] * 4
        assert not picture.getexif()
        assert picture.layer[0][1:3] == (2, 2)
        assert bool(picture.info.get("progressive")) == name.startswith("whatsapp")
        first = list(picture.quantization[0][:4])
    # the table of mozjpeg at 80, and that of IJG at 80 and 70
    assert first == {"telegram": [6, 4, 4, 6], "signal": [10, 7, 6, 10]}.get(name, [6, 6, 6, 7])


def test_small_photos_keep_their_size():
    with Image.open(io.BytesIO(messenger_copy(jpeg(planted(SIZE)), "signal"))) as picture:
        assert picture.size == (SIZE[0] + 24, SIZE[1] + 24)


def test_an_unknown_messenger_is_named():
    with pytest.raises(SamecamError, match=r"'fax': choose from whatsapp, .*signal\.$"):
        messenger_copy(b"", "fax")


@pytest.mark.parametrize("look", [Look(SIZE).zoomed(1.3), LOOKS["everything"], Look(SIZE)])
@pytest.mark.parametrize("orientation", [1, 8])
def test_crops_lie_where_the_view_says(look, orientation):
    look = replace(look, radial=0.0)
    sensor = planted(SIZE)
    data = jpeg(show(sensor, look), orientation)
    upright = look.turned({1: 0, 8: 270}[orientation])
    box = (37, 120, 311, 400)
    cut = upright.cut(box)
    pixels = pixels_of(crop_photo(data, box))
    assert agreement(pixels, sensor, cut) > 0.98
    assert abs(agreement(pixels, sensor, replace(cut, shift=upright.shift))) < 0.15


def test_crops_keep_or_lose_their_exif():
    data = jpeg(planted(SIZE), 6)
    with Image.open(io.BytesIO(crop_photo(data, (0, 0, 99, 80)))) as kept:
        assert kept.getexif()[0x010F] == "Aldine"
        assert kept.getexif()[0x0112] == 1
    with Image.open(io.BytesIO(crop_photo(data, (0, 0, 99, 80), exif=False))) as removed:
        assert not removed.getexif()
