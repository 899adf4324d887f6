"""The digital zoom that a file names."""

import math

import pytest
from PIL import Image
from PIL.TiffImagePlugin import IFDRational

from samecam.photos._exif import parse_exif


def block(value):
    exif = Image.Exif()
    exif[0x010F] = "Acme"
    exif.get_ifd(0x8769)[0xA404] = value
    return exif


@pytest.mark.parametrize(
    ("written", "zoom"),
    [
        (IFDRational(246, 100), 2.46),
        (IFDRational(1, 1), 1.0),
        (IFDRational(0, 1), 1.0),  # EXIF's word for none
        (IFDRational(1, 3), 0.3333),
        (IFDRational(5000, 1), None),
        (IFDRational(0, 0), None),
        ("two", None),
    ],
)
def test_a_digital_zoom_is_read_if_it_can_be_one(written, zoom):
    exif = parse_exif(block(written).tobytes())
    assert (exif.make, exif.zoom) == ("Acme", zoom)
    assert exif.zoom is None or math.isfinite(exif.zoom)


def test_a_file_without_one_says_nothing():
    assert parse_exif(b"nonsense").zoom is None
    assert parse_exif(Image.Exif().tobytes()).zoom is None
