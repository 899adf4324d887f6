"""A damaged PNG is noticed, and its EXIF is read without decoding it."""

import struct
import zlib

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from samecam.photos import PhotoError, read_photo
from samecam.photos import _vips as fast
from tests.photos.pictures import encode, scene


@pytest.mark.parametrize("quick", [True, False])
def test_changed_bytes_are_noticed_or_harmless(quick, monkeypatch):
    if not quick:
        monkeypatch.setattr(fast, "crop", lambda *_: None)
    pixels = scene(1, 100, 300)
    data = encode(pixels, "PNG")
    wrong, noticed = 0, 0
    for at in range(60, len(data) - 60, 97):
        mutant = bytearray(data)
        mutant[at] ^= 8
        try:
            wrong += int((read_photo(bytes(mutant), size=64).pixels != pixels[:64, :64]).any())
        except PhotoError as error:
            noticed += "damaged" in error.reason
    assert wrong == 0
    assert noticed > 600


def test_inserted_bytes_are_noticed_where_the_decoder_does_not():
    """Now and then the coded data still give all rows, and only the checksum tells."""
    gray = scene(11, 104, 97)[..., 0].astype(np.uint16) * 257
    data = encode(gray, "PNG")
    right = gray[:64, :64] * np.float32(255 / 65535)
    for at in range(60, len(data) - 60, 7):
        try:
            photo = read_photo(data[:at] + b"\xff\xc4" + data[at:], size=64)
        except PhotoError:
            continue
        np.testing.assert_allclose(photo.pixels[..., 0], right, atol=1e-3)


def part(kind, content):
    return (
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
    )


@pytest.mark.parametrize("late", [False, True])
def test_exif_before_and_behind_the_pixels_is_read_and_nothing_decoded(late, monkeypatch):
    exif = Image.Exif()
    exif[0x010F] = "Maker"
    data = encode(scene(2, 90, 90), "PNG")
    at = len(data) - 12 if late else 33
    data = data[:at] + part(b"eXIf", exif.tobytes().removeprefix(b"Exif\0\0")) + data[at:]
    monkeypatch.setattr(PngImagePlugin.PngImageFile, "load", lambda _: pytest.fail("decoded"))
    with pytest.raises(PhotoError, match="too small") as caught:
        read_photo(data, size=128)
    assert caught.value.info.exif.make == "Maker"


def test_a_header_is_read_without_decoding_whatever_the_exif_says(monkeypatch):
    monkeypatch.setattr(PngImagePlugin.PngImageFile, "load", lambda _: pytest.fail("decoded"))
    data = encode(scene(2, 90, 90), "PNG", exif=b"Exif\0\0nonsense")
    with pytest.raises(PhotoError, match="too small: 90×90"):
        read_photo(data, size=128)
