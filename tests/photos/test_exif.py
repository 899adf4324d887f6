"""The digital zoom and the mode that a file names."""

import io
import math

import pytest
from PIL import Image
from PIL.TiffImagePlugin import IFDRational

from samecam.photos import read_header
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


@pytest.mark.parametrize(
    ("rendered", "scene", "mode"),
    [
        (0, 0, ""),
        (1, 1, ""),  # custom, a landscape
        (2, 0, "HDR"),
        (3, 0, "HDR"),
        (4, 0, ""),  # the plain exposure beside an HDR one
        (6, 0, "panorama"),
        (7, 0, "portrait HDR"),
        (8, 2, "portrait"),
        (0, 2, "portrait scene"),
        (None, 3, "night scene"),
        ("eight", "two", ""),
        (1e300, None, ""),
    ],
)
def test_modes_are_put_into_words(rendered, scene, mode):
    exif = Image.Exif()
    folder = exif.get_ifd(0x8769)
    for tag, value in ((0xA401, rendered), (0xA406, scene)):
        if value is not None:
            folder[tag] = value
    assert parse_exif(exif.tobytes()).mode == mode


@pytest.mark.parametrize(
    ("xmp", "mode"),
    [
        (b"", ""),
        (b"<x GCamera:MotionPhoto='1'/>", ""),
        (b"<x GDepth:Format='RangeInverse'/>", "portrait"),
        (b"<x GCamera:SpecialTypeID='a.gallery.specialtype.SpecialType-PORTRAIT'/>", "portrait"),
        (b"<x>" + b" " * 2**16 + b"GDepth:", ""),  # not looked at further
    ],
)
def test_xmp_tells_of_artificial_blur(xmp, mode):
    from samecam.photos._exif import _mode

    assert _mode(None, None, xmp) == mode
    if len(xmp) < 2**15:
        file = io.BytesIO()
        Image.new("L", (64, 64)).save(file, "JPEG", xmp=xmp)
        assert read_header(file.getvalue()).exif.mode == mode
