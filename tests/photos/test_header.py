"""Headers of every format: what reading the photo says, without decoding a pixel."""

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageFile

from samecam.photos import PHOTO_CODES, PhotoError, PhotoInfo, read_header, read_photo
from tests.photos import extras
from tests.photos.pictures import encode, jpeg_bomb, scene, set_jpeg_size
from tests.photos.test_extras import needs_heif, needs_raw, without


def exif():
    block = Image.Exif()
    block[0x010F], block[0x0112] = "Maker", 6
    return block


KINDS = {
    "JPEG": lambda: encode(scene(1, 150, 120), exif=exif()),
    "tall JPEG": lambda: encode(scene(1, 120, 1500), exif=exif()),
    "progressive": lambda: encode(scene(1, 150, 700), progressive=True),
    "MPO": lambda: encode(
        Image.fromarray(scene(1, 150, 700)),
        "MPO",
        save_all=True,
        append_images=[Image.fromarray(scene(2, 80, 80))],
    ),
    "PNG": lambda: encode(scene(1, 150, 120), "PNG", exif=exif()),
    "TIFF": lambda: encode(scene(1, 150, 120), "TIFF", tiffinfo={274: 6}),
    "LZW": lambda: encode(scene(1, 150, 120), "TIFF", compression="tiff_lzw"),
    "WEBP": lambda: encode(scene(1, 150, 120), "WEBP", exif=exif()),
    "BMP": lambda: encode(scene(1, 150, 120), "BMP"),
    "HEIC": lambda: extras.heic(scene(1, 150, 120), orientation=6),
    "RAW": lambda: extras.dng(extras.mosaic_of(scene(1, 150, 120)), orientation=6),
}
MARKS = {"HEIC": needs_heif, "RAW": needs_raw}
ALL = [pytest.param(kind, marks=MARKS.get(kind, ())) for kind in KINDS]


@pytest.mark.parametrize("kind", ALL)
def test_a_header_says_what_reading_the_photo_says(kind):
    data = KINDS[kind]()
    info = read_header(data)
    assert info == read_photo(data, size=64).info
    assert info.size is not None


@pytest.mark.parametrize("kind", ALL)
def test_no_pixel_is_decoded(kind, monkeypatch):
    data = KINDS[kind]()

    def decoded(*_, **__):
        pytest.fail("decoded")

    monkeypatch.setattr(ImageFile.ImageFile, "load", decoded)
    monkeypatch.setattr("samecam.photos._raw.RawPicture.crop", decoded)
    monkeypatch.setattr("samecam.photos._heif.HeifPicture.crop", decoded)
    if kind == "HEIC":
        monkeypatch.setattr("pillow_heif.HeifImage.load", decoded, raising=False)
    assert read_header(data).size is not None


@pytest.mark.parametrize(
    ("kind", "share"),
    [("JPEG", 0.3), ("tall JPEG", 0.05), ("progressive", 0.2), ("PNG", 0.1), ("BMP", 0.1)],
)
def test_the_beginning_of_a_file_is_enough(kind, share):
    data = KINDS[kind]()
    assert read_header(data[: int(share * len(data))]) == read_header(data)


def test_large_pictures_cost_nothing():
    assert read_header(jpeg_bomb()[:5000]).size == (30000, 30000)
    with pytest.raises(PhotoError, match="too large") as caught:
        read_header(encode(Image.new("1", (30000, 30000)), "PNG"))
    assert caught.value.code == "too-large"


@needs_heif
def test_a_heic_too_large_to_decode_has_a_header(monkeypatch):
    data = KINDS["HEIC"]()
    monkeypatch.setattr("samecam.photos._header.MOST_PIXELS", 16000)
    assert read_header(data).size == (150, 120)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        (b"no photo", "not-a-picture"),
        (b"\xff\xd8\xff and then nothing", "not-a-picture"),
        (encode(scene(1, 80, 80), "GIF"), "not-a-picture"),
        (set_jpeg_size(encode(scene(1, 80, 80)), 80, 0), "not-a-picture"),
    ],
)
def test_damaged_headers_are_errors(data, code):
    with pytest.raises(PhotoError) as caught:
        read_header(data)
    assert caught.value.code == code
    assert "\n" not in caught.value.reason


def test_a_size_of_nothing_is_an_error(monkeypatch):
    """As a raw photo of one photosite has."""

    class Nothing:
        info = PhotoInfo(0, 5, "RAW")

    monkeypatch.setattr("samecam.photos._header.optional_picture", lambda _: Nothing)
    with pytest.raises(PhotoError, match="claims no size") as caught:
        read_header(extras.dng(np.zeros((2, 10), np.uint16)))
    assert (caught.value.code, caught.value.info.format) == ("damaged", "RAW")


@pytest.mark.parametrize(("module", "extra"), [("pillow_heif", "heif"), ("rawpy", "raw")])
def test_without_the_extra_the_error_names_it(monkeypatch, module, extra):
    data = b"\0\0\0\x18ftypheic" + bytes(200)
    if extra == "raw":
        data = extras.dng(extras.mosaic_of(scene(1, 80, 80)))
    without(monkeypatch, module)
    with pytest.raises(PhotoError, match=f"needs samecam's extra '{extra}'") as caught:
        read_header(data)
    assert caught.value.code == "needs-extra"
    assert caught.value.passing


def tried(function, *arguments, **options):
    """What a function returns, and what it raises."""
    try:
        return function(*arguments, **options), None
    except PhotoError as error:
        return None, error


PLAIN = [KINDS[kind]() for kind in KINDS if kind not in MARKS]


@given(
    data=st.sampled_from(PLAIN),
    flips=st.lists(st.tuples(st.integers(0, 600), st.integers(0, 255)), max_size=8),
    cut=st.none() | st.integers(0, 600),
)
def test_any_header_is_read_or_has_a_code(data, flips, cut):
    mutant = bytearray(data[:cut])
    for at, value in flips:
        if at < len(mutant):
            mutant[at] = value
    header, error = tried(read_header, bytes(mutant))
    if error is not None:
        assert error.code in PHOTO_CODES
        assert error.reason
        return
    assert header.size is not None
    photo, error = tried(read_photo, bytes(mutant), size=64)
    assert (photo or error).info in (header, PhotoInfo() if error else header)


@needs_raw
def test_a_raw_header_needs_no_preview():
    """The first folder of a maker's file is its preview, whose size is another one."""
    raw = extras.dng(extras.mosaic_of(scene(2, 90, 80)))
    data = extras.with_preview(raw, scene(9, 200, 200))
    assert struct.unpack_from("<H", data, 2) == (42,)
    assert read_header(data).size == (90, 80)


def test_the_codes_stand_in_the_docs():
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
    rows = page.split("| code | meaning |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
    assert [row.split("`")[1] for row in rows] == list(PHOTO_CODES)
