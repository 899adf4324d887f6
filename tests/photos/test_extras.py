"""HEIC, raw, and regions of PNG and TIFF: the very pixels, the same with and without extras."""

import importlib.util
import io
import struct
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from samecam.case import ExtractionSettings, extract_photos
from samecam.compute import Resources
from samecam.photos import PhotoError, looks_like_picture, read_photo
from samecam.photos import _vips as fast
from tests.photos import extras
from tests.photos.pictures import encode, scene


def needs(module, extra):
    missing = importlib.util.find_spec(module) is None
    return pytest.mark.skipif(
        missing, reason=f"needs the extra {extra!r}: pip install 'samecam[{extra}]'"
    )


needs_heif, needs_raw, needs_vips = (
    needs("pillow_heif", "heif"), needs("rawpy", "raw"), needs("pyvips", "vips"),
)  # fmt: skip


def without(monkeypatch, module):
    """As on a machine where a module is not installed."""
    monkeypatch.setitem(sys.modules, module, None)


# HEIC


@needs_heif
def test_a_heic_gives_the_very_pixels():
    pixels = scene(3, 150, 120)
    data = extras.heic(pixels, make="Phones Inc")
    photo = read_photo(data, size=64, offset=(5, 9))
    np.testing.assert_array_equal(photo.pixels, pixels[9:73, 5:69])
    assert (photo.info.format, photo.info.width, photo.info.height) == ("HEIC", 150, 120)
    assert photo.info.exif.make == "Phones Inc"
    assert looks_like_picture(data[:32])


@needs_heif
@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_turned_heic_is_turned_back(orientation):
    """The writer stores the orientation as `irot` and `imir`, which libheif applies."""
    pixels = scene(5, 200, 120)
    data = extras.heic(pixels, orientation)
    assert (orientation == 1) == (b"irot" not in data and b"imir" not in data)
    photo = read_photo(data, size=64, offset=(30, 20))
    np.testing.assert_array_equal(photo.pixels, pixels[20:84, 30:94])
    assert photo.info.exif.orientation == str(orientation)
    assert (photo.info.width, photo.info.height) == (200, 120)


@needs_heif
def test_a_heic_of_ten_bits_keeps_its_levels():
    levels = np.linspace(0, 1023, 80 * 90 * 3).astype(np.uint16).reshape(80, 90, 3)
    photo = read_photo(extras.heic(levels << 6), size=64)
    assert photo.pixels.dtype == np.float32
    np.testing.assert_allclose(photo.pixels, levels[:64, :64] * (255 / 1023), atol=1e-4)


@needs_heif
def test_a_gray_heic_and_one_turned_on_demand():
    gray = scene(6, 100, 222)[..., 1]
    photo = read_photo(
        extras.heic(gray, chroma=420, matrix_coefficients=1), size=64, portrait="rotate"
    )
    whole = np.rot90(gray, k=-1)[:64, :64]
    np.testing.assert_array_equal(photo.pixels, np.repeat(whole[..., None], 3, axis=2))


@needs_heif
def test_a_heic_that_cannot_be_used_has_one_reason(monkeypatch):
    data = extras.heic(scene(3, 150, 120))
    for cut in (40, 400, len(data) // 2, len(data) - 1):
        with pytest.raises(PhotoError, match="damaged|truncated") as caught:
            read_photo(data[:cut], size=64)
        assert "\n" not in caught.value.reason
        assert caught.value.code in ("damaged", "truncated")
    with pytest.raises(PhotoError, match="too small: 150×120"):
        read_photo(data, size=128)
    monkeypatch.setattr("samecam.photos._header.MOST_PIXELS", 16000)
    with pytest.raises(PhotoError, match="too large to decode whole: over 16000 pixels"):
        read_photo(data, size=64)


@pytest.mark.parametrize(("module", "extra"), [("pillow_heif", "heif"), ("rawpy", "raw")])
def test_without_the_extra_the_reason_names_it(monkeypatch, module, extra):
    data = b"\0\0\0\x18ftypheic" + bytes(200)
    if extra == "raw":
        data = extras.dng(extras.mosaic_of(scene(1, 80, 80)))
    without(monkeypatch, module)
    with pytest.raises(PhotoError, match=f"needs samecam's extra '{extra}'") as caught:
        read_photo(data, size=64)
    assert caught.value.code == "needs-extra"
    assert caught.value.passing, "another time it may be installed"
    assert caught.value.info.format in ("HEIC", "RAW")


# Raw


def expected_cells(sites, pattern, black=64, white=1023):
    """The policy, slowly: each cell by itself."""
    height, width = sites.shape[0] // 2, sites.shape[1] // 2
    cells = np.zeros((height, width, 3))
    for y in range(height):
        for x in range(width):
            for colour in range(3):
                four = sites[2 * y : 2 * y + 2, 2 * x : 2 * x + 2].ravel().astype(float)
                mine = [v for v, c in zip(four, pattern, strict=True) if c == colour]
                share = (np.mean(mine) - black) / (white - black)
                cells[y, x, colour] = 255 * np.sqrt(min(max(share, 0), 1))
    return cells


@needs_raw
@pytest.mark.parametrize("pattern", [extras.RGGB, extras.BGGR, extras.GRBG])
def test_a_raw_photo_is_its_cells_without_demosaicing(pattern):
    sites = np.random.default_rng(1).integers(0, 1023, (150, 170)).astype(np.uint16)
    data = extras.dng(sites, pattern, make="Sensors Ltd", orientation=6)
    photo = read_photo(data, size=64, offset=(7, 3))
    assert photo.pixels.dtype == np.float32
    wanted = expected_cells(sites, pattern)[3:67, 7:71]
    np.testing.assert_allclose(photo.pixels, wanted, atol=1e-3)
    assert (photo.info.format, photo.info.width, photo.info.height) == ("RAW", 85, 75)
    assert (photo.info.exif.make, photo.info.exif.orientation) == ("Sensors Ltd", "6")
    assert "not comparable with JPEG" in photo.note


@needs_raw
def test_black_is_zero_and_the_white_level_is_white():
    sites = np.full((160, 160), 64, np.uint16)
    sites[:, 80:] = 1023
    pixels = read_photo(extras.dng(sites), size=64).pixels
    np.testing.assert_array_equal(pixels[:, :40], 0)
    np.testing.assert_array_equal(pixels[:, 40:], 255)


@needs_raw
def test_the_preview_of_a_raw_photo_is_never_taken_for_it():
    sites = extras.mosaic_of(scene(2, 90, 80))
    data = extras.with_preview(extras.dng(sites), scene(9, 200, 200))
    assert Image.open(io.BytesIO(data)).size == (200, 200), "what a TIFF reader takes"
    photo = read_photo(data, size=64)
    assert photo.info.format == "RAW"
    np.testing.assert_allclose(photo.pixels, scene(2, 90, 80)[:64, :64], atol=8)


def test_a_plain_tiff_is_no_raw_photo():
    for options in ({}, {"compression": "tiff_lzw"}):
        data = encode(scene(3, 100, 100), "TIFF", **options)
        assert read_photo(data, size=64).info.format == "TIFF"


@needs_raw
def test_a_raw_photo_that_cannot_be_used_has_one_reason(monkeypatch):
    data = extras.dng(extras.mosaic_of(scene(2, 90, 80)))
    with pytest.raises(PhotoError, match="too small: 90×80"):
        read_photo(data, size=128)
    with pytest.raises(PhotoError, match="raw|damaged"):
        read_photo(data[:600], size=64)
    with pytest.raises(PhotoError, match="raw|damaged") as caught:
        read_photo(b"FUJIFILMCCD-RAW " + bytes(500), size=64)
    assert caught.value.code in ("damaged", "unsupported")
    monkeypatch.setattr("samecam.photos._header.MOST_PIXELS", 16000)
    with pytest.raises(PhotoError, match="too large to decode whole"):
        read_photo(data, size=64)


@needs_raw
def test_a_raw_photo_without_a_two_by_two_pattern_is_refused():
    linear = extras.dng(extras.mosaic_of(scene(2, 90, 80)), photometric=34892)
    with pytest.raises(PhotoError, match="raw|unsupported|too small") as caught:
        read_photo(linear, size=64)
    assert caught.value.info.format == "RAW"


# Regions


def both(data, monkeypatch, **crop):
    """What is read with the extra and without it: pixels or a reason."""
    used, answers = [], []
    real = fast.crop

    def watched(*arguments):
        used.append(real(*arguments) is not None)
        return real(*arguments)

    for function in (watched, lambda *_: None):
        monkeypatch.setattr(fast, "crop", function)
        try:
            answers.append(read_photo(data, **crop))
        except PhotoError as error:
            answers.append(error.reason)
    monkeypatch.setattr(fast, "crop", real)
    return (*answers, any(used))


def same(one, other):
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    equal = np.array_equal(one.pixels, other.pixels) and one.pixels.dtype == other.pixels.dtype
    return equal and (one.info, one.note) == (other.info, other.note)


KINDS = [
    ("PNG", "RGB", {}, True), ("PNG", "L", {}, True), ("PNG", "RGBA", {}, True),
    ("PNG", "LA", {}, True), ("PNG", "P", {}, False), ("PNG", "1", {}, False),
    ("PNG", "I;16", {}, False), ("TIFF", "RGB", {}, True), ("TIFF", "L", {}, True),
    ("TIFF", "RGB", {"tiffinfo": {278: 7}}, True), ("TIFF", "RGB", {"tiffinfo": {274: 6}}, True),
    ("TIFF", "RGB", {"compression": "tiff_lzw"}, False), ("TIFF", "CMYK", {}, False),
    ("TIFF", "L", {"tiffinfo": {262: 0}}, None),
]  # fmt: skip


@needs_vips
@pytest.mark.parametrize(("kind", "mode", "options", "quick"), KINDS)
def test_a_region_has_the_pixels_of_the_whole(kind, mode, options, quick, monkeypatch):
    image = Image.fromarray(scene(4, 190, 160))
    image = image.convert("L").convert(mode) if mode in ("I;16", "LA") else image.convert(mode)
    data = encode(image, kind, **options)
    one, other, used = both(data, monkeypatch, size=64, offset=(17, 23))
    assert not isinstance(one, str), one
    assert same(one, other)
    assert quick is None or used == quick


@needs_vips
@pytest.mark.parametrize("seed", range(60))
def test_damaged_files_have_one_answer_with_and_without(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    kind = ("PNG", "TIFF")[seed % 2]
    data = bytearray(encode(scene(seed, 100, 300), kind))
    for _ in range(20):
        mutant = bytearray(data)
        where = rng.integers(0, len(data) if seed % 3 else 120, 1 + rng.integers(4))
        for at in where:
            mutant[at] ^= 1 << rng.integers(8)
        if seed % 5 == 0:
            del mutant[rng.integers(len(mutant)) :]
        one, other, _ = both(bytes(mutant), monkeypatch, size=64)
        assert same(one, other), (one, other)


@needs_vips
@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_damage_far_below_the_crop_is_not_overlooked(kind, monkeypatch):
    """What a region does not touch decides too: the whole file is read, or none of it."""
    data = encode(scene(1, 100, 3000), kind)
    one, other, used = both(data, monkeypatch, size=64)
    assert used
    assert same(one, other)
    noticed = 0
    for at in range(len(data) - 4000, len(data) - 100, 300):
        mutant = bytearray(data)
        mutant[at] ^= 8
        for damaged in (bytes(mutant), data[:at]):
            one, other, _ = both(damaged, monkeypatch, size=64)
            assert same(one, other), (one, other)
            noticed += isinstance(other, str)
    assert noticed >= 10


@needs_vips
def test_without_vips_nothing_changes(monkeypatch):
    pixels = scene(4, 100, 100)
    without(monkeypatch, "pyvips")
    photo = read_photo(encode(pixels, "PNG"), size=64)
    np.testing.assert_array_equal(photo.pixels, pixels[:64, :64])


# In the workers


@needs_heif
@needs_raw
@needs_vips
def test_all_of_them_in_the_isolated_workers(tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / "a.heic").write_bytes(extras.heic(scene(1, 100, 90)))
    (photos / "b.dng").write_bytes(extras.dng(extras.mosaic_of(scene(2, 90, 80))))
    (photos / "c.png").write_bytes(encode(scene(3, 100, 90), "PNG"))
    (photos / "d.tif").write_bytes(encode(scene(4, 100, 90), "TIFF"))
    (photos / "e.heic").write_bytes(extras.heic(scene(5, 100, 90))[:900])
    case = extract_photos(
        [photos], tmp_path / "case", ExtractionSettings(size=64), resources=Resources(workers=1)
    )
    assert (case.counts["good"], case.counts["skipped"]) == (4, 1)
    rows = (tmp_path / "case" / "images.csv").read_text().splitlines()
    assert ",RAW," in rows[2]
    assert "not comparable with JPEG" in rows[2]


def test_no_decoder_is_loaded_before_it_is_needed():
    code = (
        "import sys, samecam.photos\n"
        "print([m for m in ('pillow_heif', 'rawpy', 'pyvips') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@needs_raw
def test_a_pattern_the_library_makes_no_sense_of_is_one_reason(monkeypatch):
    """What it says of a damaged file varies from run to run; the table must not."""
    from samecam.photos import _raw

    class Odd:
        @property
        def raw_pattern(self):
            raise NotImplementedError("filters: 148")

    assert not _raw._has_cells(Odd())
    monkeypatch.setattr(_raw, "_has_cells", lambda _: False)
    with pytest.raises(PhotoError, match="unsupported: the raw data have no 2×2 colour pattern"):
        read_photo(extras.dng(extras.mosaic_of(scene(2, 90, 80))), size=64)


@needs_raw
@pytest.mark.parametrize(
    ("tag", "becomes", "number"),
    [(33422, 33423, None), (33422, 33422, 7), (50710, 50710, 9)],
)
def test_colours_that_a_file_does_not_tell_are_not_made_up(tag, becomes, number):
    """LibRaw has them from memory that nobody wrote: a file was read at times, at others not."""
    data = bytearray(extras.dng(extras.mosaic_of(scene(2, 90, 80))))
    at = data.index(struct.pack("<HH", tag, 1))
    data[at : at + 2] = struct.pack("<H", becomes)
    if number is not None:
        data[at + 9] = number
    with pytest.raises(PhotoError, match="unsupported: the raw data have no 2×2 colour pattern"):
        read_photo(bytes(data), size=64)
