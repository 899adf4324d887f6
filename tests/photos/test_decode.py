"""Only what is needed is decoded, it is exactly what a full decode gives, or there is a reason."""

import contextlib
import io
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from samecam.photos import PHOTO_CODES, PhotoError, PhotoInfo, read_photo
from samecam.photos._jpeg import cut_height
from tests.photos.pictures import encode, jpeg_bomb, scene, set_jpeg_size


def full_decode(data, size, offset=(0, 0)):
    x, y = offset
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow on some MPO files
        image = Image.open(io.BytesIO(data)).convert("RGB")
    return np.asarray(image)[y : y + size, x : x + size]


def no_fallback(monkeypatch):
    """Make a decode of anything but the cut file fail, so that a test sees the cut path alone."""
    from samecam.photos import _header

    opened = []
    real = _header.open_image

    def only_once(data):
        assert not opened, "fell back to the full decode"
        opened.append(len(data))
        return real(data)

    monkeypatch.setattr(_header, "open_image", only_once)


@given(
    seed=st.integers(0, 1000),
    width=st.integers(64, 200),
    height=st.integers(64, 400),
    subsampling=st.sampled_from(["4:4:4", "4:2:2", "4:2:0"]),
    progressive=st.booleans(),
    quality=st.integers(20, 100),
    restart=st.sampled_from([{}, {"restart_marker_rows": 1}, {"restart_marker_blocks": 3}]),
    mode=st.sampled_from(["RGB", "L", "CMYK"]),
    kind=st.sampled_from(["JPEG", "MPO"]),
    y=st.integers(0, 70),
)
def test_the_cut_jpeg_gives_the_pixels_of_the_full_decode(
    seed, width, height, subsampling, progressive, quality, restart, mode, kind, y
):
    options = {"quality": quality, "progressive": progressive, **restart}
    if mode == "RGB":
        options["subsampling"] = subsampling
    image = Image.fromarray(scene(seed, width, height)).convert(mode)
    if kind == "MPO":
        options |= {"save_all": True, "append_images": [image.resize((64, 64))]}
    data = encode(image, kind, **options)
    if y + 64 > height:
        with pytest.raises(PhotoError, match="too small"):
            read_photo(data, size=64, offset=(0, y))
        return
    with pytest.MonkeyPatch.context() as patch:
        no_fallback(patch)
        photo = read_photo(data, size=64, offset=(0, y))
    np.testing.assert_array_equal(photo.pixels, full_decode(data, 64, (0, y)))
    assert (photo.info.width, photo.info.height) == (width, height)


def test_real_photographs_decode_alike(photos_dir):
    files = sorted((photos_dir / "images").glob("*.jpg"))[::40]
    assert files
    for file in files:
        data = file.read_bytes()
        assert cut_height(data, 512) is not None
        np.testing.assert_array_equal(read_photo(data, size=512).pixels, full_decode(data, 512))


def test_the_height_of_an_embedded_thumbnail_is_left_alone():
    thumbnail = encode(scene(1, 160, 400))
    exif = Image.Exif()
    exif[0x010F] = "Maker"
    data = encode(scene(2, 128, 600), exif=exif)
    segment = b"\xff\xe2" + (len(thumbnail) + 2).to_bytes(2, "big") + thumbnail
    data = data[:2] + b"\xff\xff" + segment[1:] + data[2:]  # also a fill byte before the marker
    cut = cut_height(data, 64)
    assert thumbnail in cut
    photo = read_photo(data, size=64)
    assert photo.info.height == 600
    np.testing.assert_array_equal(photo.pixels, full_decode(data, 64))


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xd8", b"\xff\xd8\xff", b"\xff\xd8\xff\xc0\x00\x11\x08"]
)
def test_cut_height_leaves_doubtful_bytes_alone(data):
    assert cut_height(data, 64) is None


def test_height_zero_is_left_alone():
    assert cut_height(set_jpeg_size(encode(scene(0, 80, 300)), 80, 0), 64) is None


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("PNG", {}),
        ("TIFF", {}),
        ("TIFF", {"compression": "tiff_lzw"}),
        ("WEBP", {"lossless": True}),
        ("BMP", {}),
    ],
)
def test_lossless_formats_give_the_very_pixels(kind, options):
    pixels = scene(3, 150, 120)
    photo = read_photo(encode(pixels, kind, **options), size=64, offset=(5, 9))
    np.testing.assert_array_equal(photo.pixels, pixels[9:73, 5:69])
    assert photo.info.format == kind


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_sixteen_bit_gray_is_scaled(kind):
    values = np.linspace(0, 65535, 80 * 90).astype(np.uint16).reshape(80, 90)
    pixels = read_photo(encode(values, kind), size=64).pixels
    assert pixels.dtype == np.float32
    expected = values[:64, :64] * (255 / 65535)
    np.testing.assert_allclose(pixels, np.repeat(expected[..., None], 3, axis=2), atol=1e-3)


@pytest.mark.parametrize("mode", ["L", "LA", "RGBA", "P", "1"])
def test_gray_alpha_and_palette_become_three_channels(mode):
    image = Image.fromarray(scene(4, 100, 100)).convert(mode)
    if mode in ("LA", "RGBA"):
        image.putalpha(7)  # nearly transparent: alpha must not darken the pixels
    photo = read_photo(encode(image, "PNG"), size=64)
    assert photo.pixels.shape == (64, 64, 3)
    opaque = image.convert("RGB") if mode != "LA" else image.getchannel("L").convert("RGB")
    np.testing.assert_array_equal(photo.pixels, np.asarray(opaque)[:64, :64])


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_recorded_and_never_applied(orientation):
    pixels = scene(5, 200, 120)
    exif = Image.Exif()
    exif[0x0112] = orientation
    photo = read_photo(encode(pixels, "PNG", exif=exif), size=64)
    np.testing.assert_array_equal(photo.pixels, pixels[:64, :64])
    assert photo.info.exif.orientation == str(orientation)
    assert (photo.info.width, photo.info.height) == (200, 120)


@pytest.mark.parametrize("compression", [None, "tiff_lzw"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_not_even_tiff_is_turned(orientation, compression):
    pixels = scene(5, 200, 120)
    data = encode(pixels, "TIFF", tiffinfo={274: orientation}, compression=compression)
    photo = read_photo(data, size=64, offset=(30, 20))
    np.testing.assert_array_equal(photo.pixels, pixels[20:84, 30:94])
    assert photo.info.exif.orientation == str(orientation)
    assert (photo.info.width, photo.info.height) == (200, 120)


def test_a_wide_picture_is_cut_whatever_the_portrait_rule(monkeypatch):
    data = encode(scene(6, 400, 300))
    no_fallback(monkeypatch)
    opened = []
    monkeypatch.setattr("samecam.photos._jpeg.MARGIN", 32)
    real = cut_height
    monkeypatch.setattr(
        "samecam.photos._jpeg.cut_height", lambda *a: opened.append(real(*a)) or opened[-1]
    )
    read_photo(data, size=64, portrait="rotate")
    assert opened[0] is not None


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_portrait_rotate_turns_clockwise_then_crops(kind):
    tall = scene(6, 100, 333)
    data = encode(tall, kind)
    whole = np.rot90(full_decode(data, 10**6), k=-1)
    photo = read_photo(data, size=64, offset=(11, 7), portrait="rotate")
    np.testing.assert_array_equal(photo.pixels, whole[7:71, 11:75])
    wide = encode(scene(6, 333, 100), kind)
    np.testing.assert_array_equal(
        read_photo(wide, size=64, portrait="rotate").pixels, read_photo(wide, size=64).pixels
    )


def test_exif_is_read_from_a_cut_file():
    exif = Image.Exif()
    exif[0x010F], exif[0x0110], exif[0x0131] = "Maker\0junk", "Mo\ndel  7", "<b>Soft</b>"
    detail = exif.get_ifd(0x8769)
    detail[0x9003], detail[0xA431] = "2020:01:02 03:04:05", "S-1"
    got = read_photo(encode(scene(7, 80, 400), exif=exif), size=64).info.exif
    assert (got.make, got.model, got.software) == ("Maker", "Mo del 7", "<b>Soft</b>")
    assert (got.taken, got.serial) == ("2020:01:02 03:04:05", "S-1")


@given(st.binary(max_size=300))
def test_any_exif_bytes_are_survived(noise):
    data = encode(scene(8, 80, 80), exif=b"Exif\0\0MM\0*\0\0\0\x08" + noise)
    assert read_photo(data, size=64).pixels.shape == (64, 64, 3)


# Files that cannot be used: one clear reason each.

GOOD = encode(scene(9, 300, 900), quality=90)


def entropy_start(data):
    return data.index(b"\xff\xda")


BAD = [
    ("empty", b"", "empty", {"empty"}),
    ("text", b"hello, I am not a photo\n" * 50, "not a picture", {"not-a-picture"}),
    (
        "header only", GOOD[:300], "damaged|truncated|not a picture",
        {"damaged", "truncated", "not-a-picture"},
    ),
    ("cut inside the crop", GOOD[: entropy_start(GOOD) + 3000], "truncated", {"truncated"}),
    (
        "progressive cut", encode(scene(9, 300, 900), progressive=True)[:20000], "truncated",
        {"truncated"},
    ),
    ("1x1", encode(scene(0, 1, 1)), "too small: 1×1, the crop is 64×64", {"too-small"}),
    ("small", encode(scene(0, 100, 63)), "too small: 100×63", {"too-small"}),
    ("gif", encode(scene(0, 80, 80), "GIF"), "not a picture", {"not-a-picture"}),
    (
        "png cut", encode(scene(1, 300, 300), "PNG")[:9000], "truncated|damaged",
        {"truncated", "damaged"},
    ),
    (
        "large", lambda: encode(Image.new("1", (30000, 30000)), "PNG"), "too large to decode whole",
        {"too-large"},
    ),
    ("float tiff", encode(Image.new("F", (99, 99)), "TIFF"), "unsupported", {"unsupported"}),
]  # fmt: skip


@pytest.mark.parametrize(("data", "words", "codes"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_files_get_one_reason_and_its_code(data, words, codes):
    data = data() if callable(data) else data  # one takes a second to make
    with pytest.raises(PhotoError, match=words) as caught:
        read_photo(data, size=64)
    assert "\n" not in caught.value.reason
    assert caught.value.code in codes


def test_want_of_memory_has_a_code_of_its_own(monkeypatch):
    def starve(*_):
        raise MemoryError

    monkeypatch.setattr(Image.Image, "crop", starve)
    with pytest.raises(PhotoError, match="needs more memory") as caught:
        read_photo(GOOD, size=64)
    assert caught.value.code == "memory"
    assert caught.value.info.size == (300, 900)


def test_every_code_is_seen_in_these_tests():
    """`needs-extra` is in the tests of the extras, `memory` in the one above."""
    seen = set().union(*(codes for *_, codes in BAD))
    assert seen | {"needs-extra", "memory"} == set(PHOTO_CODES)


def test_an_error_survives_the_way_between_processes():
    info = PhotoInfo(3, 4, "JPEG")
    error = pickle.loads(pickle.dumps(PhotoError("damaged", "damaged: so", info, passing=True)))
    assert (error.code, error.reason, error.info, error.passing) == (
        *("damaged", "damaged: so"), info, True,
    )  # fmt: skip
    assert str(error) == "damaged: so"


def test_damaged_huffman_table_is_noticed():
    data = bytearray(GOOD)
    at = data.index(b"\xff\xc4")
    data[at + 5 : at + 21] = b"\xff" * 16
    with pytest.raises(PhotoError, match="damaged"):
        read_photo(bytes(data), size=64)


def test_cut_below_the_crop_is_used_and_said():
    data = GOOD[: int(len(GOOD) * 0.6)]
    photo = read_photo(data, size=64)
    np.testing.assert_array_equal(photo.pixels, full_decode(GOOD, 64))
    assert "ends early" in photo.note
    assert read_photo(GOOD, size=64).note == ""
    assert read_photo(GOOD + b"junk" * 999, size=64).note == ""


@pytest.mark.parametrize("progressive", [False, True])
def test_a_picture_that_ends_inside_the_crop_with_an_end_marker(progressive):
    """libjpeg fills the rest with gray, or leaves out the finer scans, without an error."""
    data = encode(scene(9, 300, 200), quality=90, progressive=progressive)
    right = full_decode(data, 128)
    start = entropy_start(data)
    wrong = noticed = 0
    for cut in range(start + 50, len(data) - 50, 97):
        try:
            pixels = read_photo(data[:cut] + b"\xff\xd9", size=128).pixels
        except PhotoError:
            noticed += 1
        else:
            wrong += int((pixels != right).any())
    assert noticed > 20
    assert wrong == 0


def test_zeroed_entropy_bytes_are_noticed():
    data = bytearray(GOOD)
    at = entropy_start(GOOD) + 400
    data[at : at + 40] = bytes(40)
    with pytest.raises(PhotoError, match="damaged: the coded pixels"):
        read_photo(bytes(data), size=64)


def test_a_changed_bit_of_the_coded_data_is_not_always_noticed():
    """Where codes still fit, no decoder can tell; docs/formats.md says so."""
    right, start = full_decode(GOOD, 64), entropy_start(GOOD) + 20
    wrong = 0
    for at in range(start, start + 2000, 50):
        data = bytearray(GOOD)
        data[at] ^= 8
        with contextlib.suppress(PhotoError):
            wrong += int((read_photo(bytes(data), size=64).pixels != right).any())
    assert wrong > 10


@pytest.mark.parametrize(
    ("mutation", "seed"), [(m, s) for m in ("flip", "cut", "splice") for s in range(25)]
)
def test_mutated_files_give_pixels_or_a_reason(mutation, seed):
    rng = np.random.default_rng(seed)
    kinds = ["JPEG", "PNG", "TIFF", "WEBP", "BMP"]
    data = bytearray(encode(scene(seed, 120, 160), kinds[seed % 5]))
    if mutation == "flip":
        for at in rng.integers(0, len(data), 20):
            data[at] ^= 1 << rng.integers(8)
    elif mutation == "cut":
        del data[rng.integers(len(data)) :]
    else:
        at = rng.integers(len(data))
        data[at:at] = bytes(rng.integers(0, 256, 30, dtype=np.uint8))
    try:
        outcome = read_photo(bytes(data), size=64).pixels.shape
    except PhotoError as error:
        outcome = error
    assert outcome == (64, 64, 3) or (outcome.code in PHOTO_CODES and outcome.reason)


PEAK = """
import re, sys
from samecam.photos import PhotoError, read_photo
data = open(sys.argv[1], "rb").read()
try:
    print(read_photo(data, size=512).pixels.shape)
except PhotoError as error:
    print(error.reason)
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024)
"""


@pytest.mark.parametrize(
    ("make", "outcome"),
    [
        (jpeg_bomb, "(512, 512, 3)"),
        (lambda: set_jpeg_size(encode(scene(0, 600, 700)), 65500, 65500), "damaged"),
        (lambda: encode(Image.new("1", (30000, 30000)), "PNG"), "too large"),
    ],
    ids=["jpeg bomb", "false claim", "png bomb"],
)
def test_bombs_stay_small_in_memory(tmp_path, make, outcome):
    file = tmp_path / "bomb"
    file.write_bytes(make())
    run = subprocess.run(
        [sys.executable, "-c", PEAK, str(file)], capture_output=True, text=True, check=True
    )
    result, peak = run.stdout.strip().rsplit("\n", 1)
    assert outcome in result
    assert int(peak) < 300


@pytest.mark.parametrize(
    "bad", [{"size": 63}, {"size": 5000}, {"offset": (-1, 0)}, {"portrait": "turn"}]
)
def test_wrong_arguments_are_named(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        read_photo(GOOD, **bad)
