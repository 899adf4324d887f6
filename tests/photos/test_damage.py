"""A damaged photo is refused, or its pixels are the right ones."""

import io
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from samecam.photos import PhotoError, _blank, _jpeg_scans, _webp, read_photo
from tests.photos import damage
from tests.photos.damage import MAKERS, TAILS, blanked, photo, sky, sweep
from tests.photos.pictures import encode, scene

# The largest share of places that may go unnoticed. What stands in a file plainly can be told
# from black only by a torn edge, which is not there near the ends of a row. The zeros of a WebP
# file may happen to be decoded to as many bytes as were lost.
UNNOTICED = {"TIFF": 0.08, "BMP": 0.08, "TIFF tiles": 0.3, "WebP lossless": 0.005}


@cache
def made(kind):
    """A photo with texture and one almost without."""
    return photo(kind, scene(9, 300, 200)), photo(kind, sky(3, 300, 200))


@pytest.mark.parametrize("kind", MAKERS)
def test_no_lost_end_gives_wrong_pixels(kind):
    for data in made(kind):
        for lose in TAILS:
            tally = sweep(data, lose, 12)
            assert tally.wrong <= 2 * UNNOTICED.get(kind, 0) * 12, (lose.__name__, tally)
            assert tally.refused > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", MAKERS)
def test_no_lost_end_gives_wrong_pixels_wherever_it_is(kind):
    for data in made(kind):
        for lose in TAILS:
            tally = sweep(data, lose, 300)
            assert tally.wrong <= UNNOTICED.get(kind, 0) * 300, (lose.__name__, tally)


CHECKED = ("JPEG", "HEIC", "PNG", "TIFF LZW", "TIFF deflate", "TIFF tiles, deflate")


@pytest.mark.parametrize("count", [12, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", [k for k in MAKERS if k.startswith(CHECKED)])
def test_no_lost_sector_gives_wrong_pixels(kind, count):
    for data in made(kind):
        tally = sweep(data, blanked, count)
        assert tally.wrong == 0
        assert tally.refused > 0


def test_most_lost_sectors_of_the_other_kinds_are_noticed():
    for kind in ("WebP lossless", "WebP lossy", "BMP", "TIFF"):
        tally = sweep(made(kind)[0], blanked, 40)
        assert tally.wrong <= 0.2 * tally.refused, kind


@pytest.mark.slow
def test_no_real_photograph_loses_its_end_unnoticed(photos_dir):
    for file in sorted((photos_dir / "images").glob("*.jpg"))[::60]:
        pixels = np.asarray(Image.open(file).crop((0, 0, 300, 200)))
        for kind in MAKERS:
            data = photo(kind, pixels)
            for lose in TAILS:
                tally = sweep(data, lose, 25)
                assert tally.wrong <= 2 * UNNOTICED.get(kind, 0) * 25, (file.name, kind, tally)


# Sound photos that look suspicious are read.


def flat(width, height):
    """A picture without any detail, but for its first rows."""
    pixels = np.full((height, width, 3), 90, np.uint8)
    pixels[:20] = scene(1, width, 20)
    return pixels


@pytest.mark.parametrize("quality", [30, 75, 95])
@pytest.mark.parametrize("make", [sky, lambda _, w, h: flat(w, h), lambda s, w, h: scene(s, w, h)])
def test_sound_photos_are_read_whatever_they_show(make, quality):
    image = Image.fromarray(make(2, 640, 480))
    for options in ({}, {"optimize": True}, {"progressive": True}, {"restart_marker_rows": 1}):
        for mode in ("RGB", "L", "CMYK"):
            read_photo(encode(image.convert(mode), quality=quality, **options), size=256)
    for options in ({"quality": quality}, {"lossless": True, "method": 0}):
        read_photo(encode(image, "WEBP", **options), size=256)
    read_photo(encode(image, "BMP"), size=256)
    for compression in (None, "tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg"):
        read_photo(encode(image, "TIFF", compression=compression), size=256)


def test_zeros_that_a_sound_file_needs_are_told_from_those_of_a_hole():
    """Flat areas may be coded as zeros: by optimised tables, and by a quick WebP encoder."""
    jpeg = encode(flat(640, 480), quality=50, optimize=True)
    webp = encode(sky(3, 640, 480), "WEBP", lossless=True, method=0)
    assert _jpeg_scans.ZEROS in jpeg
    assert bytes(64) in webp
    assert _jpeg_scans.examine(jpeg, (0, 0, 640, 480)) == "whole"
    assert not _webp.has_hole(webp)
    at = jpeg.index(_jpeg_scans.ZEROS)
    longer = jpeg[:at] + bytes(100) + jpeg[at:]
    assert _jpeg_scans.examine(longer, (0, 0, 640, 480)) == "damaged"


def test_zeros_between_the_last_block_and_the_end_marker_are_harmless():
    """Some cameras fill up their buffers so; also where the coded data end in a zero."""
    data = made("JPEG 4:2:0")[0]
    assert _jpeg_scans.examine(data + bytes(700), (0, 0, 300, 200)) == "whole"
    gray = (Image.fromarray(scene(k, 8, 8)).convert("L").convert("RGB") for k in range(500))
    small = (encode(image, subsampling="4:4:4") for image in gray)  # colour is coded as zeros
    for sound in (data, next(d for d in small if d[-3] == 0 and d[-4] not in (0, 255))):
        padded = sound[:-2] + bytes(700) + b"\xff\xd9"
        assert _jpeg_scans.examine(padded, (0, 0, 300, 200)) == "whole"


def test_zeros_at_the_end_are_nothing_that_was_coded():
    data = made("JPEG optimized")[1]
    for at in range(len(data) // 3, len(data) // 2, 50):
        assert _jpeg_scans.examine(damage.zeros(data, at), (0, 0, 300, 200)) == "ended"


def test_black_areas_of_plain_pixels_are_no_holes():
    """Bars, corners and a night sky; rows that lie on sectors, too."""
    pixels = np.maximum(scene(4, 512, 400), 1)
    for black in (np.s_[:100], np.s_[300:], np.s_[:, :256], np.s_[100:140, 171:341], np.s_[50:]):
        for kind in ("BMP", "TIFF"):
            picture = pixels.copy()
            picture[black] = 0
            read_photo(encode(picture, kind), size=64)
    night = np.where(np.random.default_rng(1).random((400, 512, 1)) < 0.002, pixels, 0)
    read_photo(encode(night.astype(np.uint8), "BMP"), size=64)


def test_a_black_frame_on_sectors_is_no_hole_and_a_lost_sector_is():
    picture = np.maximum(scene(4, 2048, 60)[..., 0], 1)
    framed = picture.copy()
    framed[20:30, 512:1024] = 0
    for pixels, hole in ((picture, False), (framed, False)):
        assert _blank.has_hole(pixels.tobytes(), [(0, pixels.size)], 2048) == hole
    for sectors in (1, 2, 9):
        data = bytearray(picture.tobytes())
        data[5 * 2048 + 512 : 5 * 2048 + 512 * (1 + sectors)] = bytes(512 * sectors)
        assert _blank.has_hole(bytes(data), [(0, picture.size)], 2048)


@pytest.mark.parametrize("compression", ["none", "jpeg", "deflate"])
def test_a_big_tiff_is_read(compression):
    """Its directory is another one, of which nothing may be concluded."""
    pytest.importorskip("pyvips")
    data = damage.tiles(Image.fromarray(scene(4, 300, 200)), compression=compression, bigtiff=True)
    assert data[2] == 43
    read_photo(data, size=128)


# The walk through the codes.

WALKED = [k for k in MAKERS if k.startswith("JPEG") and "TIFF" not in k]


@pytest.mark.parametrize("kind", WALKED)
def test_the_walk_ends_where_the_coded_data_do(kind):
    """All blocks are there with every byte, and not without the last few."""
    for data in made(kind):
        everything = (0, 0, 300, 200)
        assert _jpeg_scans.examine(data, everything) == "whole"
        assert _jpeg_scans.examine(data[:-2], everything) == "whole"
        assert _jpeg_scans.examine(data[:-5], everything) == "ended"
        assert _jpeg_scans.examine(data[:-5] + b"\xff\xd9", everything) == "ended"


@pytest.mark.parametrize("kind", [k for k in WALKED if "progressive" not in k])
def test_a_part_needs_no_more_than_its_own_blocks(kind):
    """What the walk asks for is no more than what the pixels depend on, but for a few blocks."""
    data = made(kind)[0]
    right = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))[:64, :64]
    start = data.index(b"\xff\xda")
    first = None
    for at in range(start + 20, len(data), 23):
        closed = damage.closed(data, at)
        pixels = np.asarray(Image.open(io.BytesIO(closed)).convert("RGB"))[:64, :64]
        whole = _jpeg_scans.examine(closed, (0, 0, 64, 64)) == "whole"
        assert not whole or (pixels == right).all()
        if first is None and (pixels == right).all():
            first = at
        if whole:
            assert at - first < 0.05 * len(data)
            return
    pytest.fail("never whole")


@pytest.mark.parametrize("kind", [*WALKED, "JPEG in TIFF, gray"])
def test_a_loss_inside_the_header_of_a_scan_is_noticed(kind):
    data = made(kind)[1]
    start = data.rindex(b"\xff\xda") if "TIFF" in kind else data.index(b"\xff\xda")
    for at in range(start - 4, start + 24):
        for lose in TAILS:
            assert damage.read(lose(data, at)) is None, (at - start, lose.__name__)


def test_a_coding_that_is_not_followed_is_not_judged():
    data = made("JPEG 4:4:4")[1]
    assert _jpeg_scans.examine(b"", (0, 0, 9, 9)) == "unknown"
    assert _jpeg_scans.examine(data[:30], (0, 0, 9, 9)) == "unknown"
    at = data.index(b"\xff\xc0")
    arithmetic = data[: at + 1] + b"\xc9" + data[at + 2 :]
    assert _jpeg_scans.examine(arithmetic, (0, 0, 9, 9)) == "unknown"
    without = data.replace(b"\xff\xc4", b"\xff\xe4")
    assert _jpeg_scans.examine(without, (0, 0, 9, 9)) == "unknown"


def test_what_is_lost_below_the_part_that_is_used_does_not_matter():
    data = encode(scene(9, 300, 900), quality=90)
    for lose in (damage.closed, damage.zeros, damage.rescued):
        pixels = read_photo(lose(data, len(data) // 2), size=64).pixels
        np.testing.assert_array_equal(pixels, read_photo(data, size=64).pixels)


def test_reasons_are_one_sentence():
    data = made("JPEG CMYK")[0]
    with pytest.raises(PhotoError, match="truncated: the picture ends inside") as caught:
        read_photo(damage.closed(data, len(data) // 3), size=128)
    assert caught.value.code == "truncated"
    with pytest.raises(PhotoError, match="damaged: the coded pixels are not what") as caught:
        read_photo(blanked(data, len(data) // 3), size=128)
    assert caught.value.code == "damaged"


def test_the_documentation_has_the_measured_counts():
    root = Path(__file__).parents[2]
    text = (root / "docs" / "formats.md").read_text(encoding="utf-8")
    document = json.loads((root / "benchmarks" / "results" / "damage.json").read_text())
    rows = document["result"]["wrong"]
    told = [row for row in rows if any(list(row.values())[1:-1])]
    for row in told:
        assert f"| {' | '.join(map(str, row.values()))} |" in text
    bits = sorted(row["flipped"] for row in rows if row not in told)
    ends = " | ".join(["0"] * 6)
    assert f"| the other {len(bits)} | {ends} | {bits[0]} to {bits[-1]} |" in text
    assert [sound["refused"] for sound in document["result"]["sound"].values()] == [[], []]


def test_a_second_compression_with_half_the_steps_is_sound():
    """Its coefficients are all even: bits that refine them are zeros for long stretches."""
    for seed in range(2):
        pixels = np.random.default_rng(seed).integers(0, 256, (400, 400, 3)).astype(np.uint8)
        first = Image.open(io.BytesIO(encode(pixels, quality=30)))
        tables = [[max(1, v // 2) for v in table] for table in first.quantization.values()]
        again = io.BytesIO()
        first.convert("RGB").save(again, "JPEG", qtables=tables, progressive=True)
        assert read_photo(again.getvalue(), size=256).note == ""


def test_a_photo_that_ends_below_the_crop_may_have_a_flat_area_in_it():
    noise = np.random.default_rng(0).normal(128, 6, (900, 900, 3))
    pixels = np.clip(noise, 0, 255).astype(np.uint8)
    pixels[100:300, 100:420] = 0
    data = encode(pixels, quality=60, optimize=True)
    photo = read_photo(data[: len(data) * 9 // 10], size=512)
    assert "ends early" in photo.note


def test_a_lossless_webp_with_black_areas_is_sound():
    for seed in range(12):
        pixels = np.random.default_rng(seed).integers(0, 256, (128, 128, 3)).astype(np.uint8)
        pixels[: 10 * seed] = 0
        for turned in (pixels, pixels[::-1]):
            data = encode(turned, "WEBP", lossless=True, quality=30, method=0)
            np.testing.assert_array_equal(read_photo(data, size=128).pixels, turned)
