"""The whole picture in gray: every format, every size, or a reason."""

import hashlib
import io
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from samecam.photos import PHOTO_CODES, Exposure, PhotoError, frame_exposure, read_frame, read_photo
from tests.photos import damage, extras
from tests.photos.damage import MAKERS, TAILS, blanked, photo, sky
from tests.photos.pictures import encode, scene, set_jpeg_size

WEIGHTS = np.array([0.299, 0.587, 0.114])


def luma(pixels):
    return pixels @ WEIGHTS


@given(
    width=st.integers(64, 200),
    height=st.integers(64, 200),
    subsampling=st.sampled_from(["4:4:4", "4:2:2", "4:2:0"]),
    progressive=st.booleans(),
    kind=st.sampled_from(["JPEG", "MPO"]),
)
def test_the_luma_of_a_jpeg_is_the_decoders_own(width, height, subsampling, progressive, kind):
    image = Image.fromarray(scene(width, width, height))
    options = {"save_all": True, "append_images": [image]} if kind == "MPO" else {}
    data = encode(image, kind, subsampling=subsampling, progressive=progressive, **options)
    got = read_frame(data)
    opened = Image.open(io.BytesIO(data))
    opened.draft("YCbCr", None)
    np.testing.assert_array_equal(got.pixels, np.asarray(opened)[..., 0])
    assert got.pixels.dtype == np.uint8
    assert got.info.size == (width, height)


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("size", [(64, 64), (127, 65), (333, 101)])
def test_every_format_gives_the_gray_of_its_colours(kind, size):
    data = photo(kind, scene(3, *size))
    got = read_frame(data)
    assert got.pixels.shape == size[::-1]
    assert got.note == ""
    assert got.pixels.flags.c_contiguous
    side = min(size)
    expected = luma(read_photo(data, size=side).pixels.astype(float))
    # A gray of clipped colours is not the coded luma: at most places it is.
    close = np.abs(got.pixels[:side, :side] - expected) <= 1.5
    assert close.mean() > 0.98


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "WEBP", "BMP"])
def test_lossless_formats_are_rounded_to_half_a_level(kind):
    pixels = scene(3, 150, 120)
    options = {"lossless": True} if kind == "WEBP" else {}
    got = read_frame(encode(pixels, kind, **options)).pixels
    assert np.abs(got - luma(pixels)).max() <= 0.51


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_sixteen_bit_gray_is_scaled(kind):
    values = np.linspace(0, 65535, 80 * 90).astype(np.uint16).reshape(80, 90)
    pixels = read_frame(encode(values, kind)).pixels
    assert pixels.dtype == np.float32
    np.testing.assert_allclose(pixels, values * (255 / 65535), atol=1e-3)


def test_heic_with_ten_bits_keeps_its_levels():
    pytest.importorskip("pillow_heif")
    pixels = np.random.default_rng(0).integers(0, 1024, (70, 90, 3)).astype(np.uint16) * 64
    got = read_frame(extras.heic(pixels)).pixels
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, luma(pixels / (1023 * 64) * 255), atol=1e-2)


def test_raw_cells_become_gray():
    pytest.importorskip("rawpy")
    data = extras.dng(extras.mosaic_of(scene(1, 100, 80)))
    got = read_frame(data)
    assert got.pixels.dtype == np.float32
    assert got.pixels.shape == (80, 100)
    cells = read_photo(data, size=80, offset=(20, 0)).pixels
    np.testing.assert_allclose(got.pixels[:, 20:], luma(cells), atol=1e-3)
    assert "raw" in got.note


@pytest.mark.parametrize("mode", ["L", "LA", "RGBA", "P", "1"])
def test_gray_alpha_and_palette(mode):
    image = Image.fromarray(scene(4, 100, 90)).convert(mode)
    if mode in ("LA", "RGBA"):
        image.putalpha(7)  # nearly transparent: alpha must not darken the pixels
    opaque = image.convert("RGB") if mode != "LA" else image.getchannel("L").convert("RGB")
    got = read_frame(encode(image, "PNG")).pixels
    np.testing.assert_array_equal(got, np.asarray(opaque.convert("L")))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF"])
@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_orientation_is_never_applied(kind, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"tiffinfo": {274: orientation}} if kind == "TIFF" else {"exif": exif}
    got = read_frame(encode(scene(5, 200, 120), kind, **options))
    assert got.pixels.shape == (120, 200)
    assert got.info.exif.orientation == str(orientation)
    assert np.abs(got.pixels - luma(scene(5, 200, 120))).mean() < 4


def test_wide_bands_are_put_together_rightly(monkeypatch):
    monkeypatch.setattr("samecam.photos._frame._BAND", 700)
    pixels = scene(6, 300, 97)
    got = read_frame(encode(pixels, "PNG")).pixels
    np.testing.assert_array_equal(got, np.asarray(Image.fromarray(pixels).convert("L")))


# What cannot be used, and why.


@pytest.mark.parametrize("size", [(63, 64), (64, 63), (1, 1), (5000, 63)])
def test_too_small(size):
    with pytest.raises(PhotoError, match="too small: .*, at least 64×64") as caught:
        read_frame(encode(scene(0, *size)))
    assert caught.value.code == "too-small"
    assert caught.value.info.size == size


def test_a_narrow_picture_is_used():
    assert read_frame(encode(scene(0, 4000, 64))).pixels.shape == (64, 4000)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_one_limit_of_pixels_for_both_ways_of_reading(monkeypatch, kind):
    data = encode(scene(0, 100, 90), kind)
    before = Image.MAX_IMAGE_PIXELS
    monkeypatch.setattr("samecam.photos._header.MOST_PIXELS", 9000)
    assert read_frame(data).pixels.shape == (90, 100)
    monkeypatch.setattr("samecam.photos._header.MOST_PIXELS", 8998)
    with pytest.raises(PhotoError, match="too large to decode whole: over 8998 pixels") as caught:
        read_frame(data)
    assert caught.value.code == "too-large"
    if kind == "PNG":
        with pytest.raises(PhotoError, match="too large"):
            read_photo(data, size=64)
    assert before == Image.MAX_IMAGE_PIXELS


def test_the_limit_of_pillow_is_back_when_the_last_thread_has_left(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 12345)
    data = encode(scene(0, 300, 200))
    with ThreadPoolExecutor(4) as pool:
        shapes = set(pool.map(lambda _: read_frame(data).pixels.shape, range(40)))
    assert shapes == {(200, 300)}
    assert Image.MAX_IMAGE_PIXELS == 12345


def test_the_limit_holds_the_largest_sensors_of_phones():
    from samecam.photos import _header

    assert 16320 * 12240 <= _header.MOST_PIXELS < 16320 * 12300
    claim = set_jpeg_size(encode(scene(0, 80, 80)), 16320, 12240)
    with pytest.raises(PhotoError, match="too little data"):  # not too large
        read_frame(claim)
    with pytest.raises(PhotoError, match="too large"):
        read_frame(set_jpeg_size(claim, 16320, 12300))


@pytest.mark.parametrize("kind", [k for k in MAKERS if k.startswith("JPEG")])
def test_no_lost_end_or_sector_gives_wrong_pixels(kind):
    for pixels in (scene(9, 300, 200), sky(3, 300, 200)):
        data = photo(kind, pixels)
        right = read_frame(data).pixels
        first = 64 if data[:2] not in (b"II", b"MM") else len(data) // 2
        places = np.random.default_rng(1).integers(first, len(data) - 8, 8)
        refused = 0
        for lose in (*TAILS, blanked):
            for at in places:
                try:
                    got = read_frame(lose(data, int(at))).pixels
                except PhotoError:
                    refused += 1
                else:
                    np.testing.assert_array_equal(got, right)
        assert refused > 20


def test_reasons_are_those_of_a_crop():
    data = photo("JPEG 4:2:0", scene(9, 200, 200))
    for change in (damage.closed, blanked):
        changed = change(data, len(data) // 3)
        answers = []
        for read in (read_frame, lambda d: read_photo(d, size=200)):
            with pytest.raises(PhotoError) as caught:
                read(changed)
            answers.append((caught.value.code, caught.value.reason, caught.value.info))
        assert answers[0] == answers[1]


def test_gray_at_the_end_of_data_that_cannot_be_followed_is_truncation(monkeypatch):
    monkeypatch.setattr("samecam.photos._intact._check_scans", lambda *_: False)
    data = encode(scene(9, 300, 200), quality=90)
    with pytest.raises(PhotoError, match="truncated"):
        read_frame(damage.closed(data, len(data) // 2))
    assert read_frame(encode(np.full((80, 80, 3), 128, np.uint8))).pixels.max() == 128


@pytest.mark.parametrize("seed", range(40))
def test_mutated_files_give_pixels_or_a_reason(seed):
    rng = np.random.default_rng(seed)
    kinds = ["JPEG", "PNG", "TIFF", "WEBP", "BMP"]
    data = bytearray(encode(scene(seed, 120, 160), kinds[seed % 5]))
    if seed % 3 == 0:
        for at in rng.integers(0, len(data), 20):
            data[at] ^= 1 << rng.integers(8)
    elif seed % 3 == 1:
        del data[rng.integers(len(data)) :]
    else:
        at = rng.integers(len(data))
        data[at:at] = bytes(rng.integers(0, 256, 30, dtype=np.uint8))
    try:
        outcome = read_frame(bytes(data)).pixels.ndim
    except PhotoError as error:
        outcome = error
    assert outcome == 2 or (outcome.code in PHOTO_CODES and outcome.reason)


@pytest.mark.parametrize("data", [b"", b"hello" * 99, encode(Image.new("F", (99, 99)), "TIFF")])
def test_other_bytes_have_the_reasons_of_a_crop(data):
    answers = []
    for read in (read_frame, lambda d: read_photo(d, size=64)):
        with pytest.raises(PhotoError) as caught:
            read(data)
        answers.append((caught.value.code, caught.value.reason))
    assert answers[0] == answers[1]


def test_the_same_bytes_give_the_same_pixels():
    data = encode(scene(1, 640, 480))
    hashes = {hashlib.sha256(read_frame(data).pixels.tobytes()).hexdigest() for _ in range(3)}
    assert len(hashes) == 1


# Exposure of the whole picture.


@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_exposure_counts_luma_of_the_whole_picture(kind, monkeypatch):
    monkeypatch.setattr("samecam.photos._screen._BAND", 64)
    pixels = np.full((20, 50), 81, dtype=kind)
    pixels[:5], pixels[5:7], pixels[7:15] = 80, 253, 254
    got = frame_exposure(pixels)
    assert (got.dark, got.saturated) == (0.25, 0.4)
    assert got.status == "weak"
    assert got.reason == "40.0% of the picture is over-exposed"
    assert Exposure(0.2, 0.1, flat=0.91, whole=True).status == "unusable"
    assert Exposure(0.2, 0.1, flat=0.91, whole=True).reason == "91.0% of the picture is flat"
    assert Exposure(0.2, 0.1, flat=0.9, whole=True).status == "good"
