"""Rows of whole pictures: what is kept of the residual, and what is random."""

import hashlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from samecam.fingerprint import FrameRow, NoResidualError, frame_row
from samecam.fingerprint._frame import STEPS
from samecam.fingerprint._quantise import random_word, to_bits
from tests.fingerprint.test_residual import picture
from tests.reference import residual as reference

SHAPES = [(64, 64), (127, 65), (101, 4000), (130, 201)]


def key(number):
    return hashlib.sha256(str(number).encode()).hexdigest()


def signs(row, count):
    """+1 and −1 of a row of bits."""
    bits = np.unpackbits(row.values.astype("<u8").view(np.uint8), bitorder="little")
    assert not bits[count:].any()
    return bits[:count].astype(np.int8) * 2 - 1


def clipped(seed, shape, half="left"):
    """A picture of which one half is white."""
    pixels = picture(seed, shape)
    pixels[:, : shape[1] // 2] = 255
    return pixels if half == "left" else pixels[:, ::-1]


@pytest.mark.parametrize("shape", SHAPES)
def test_bits_are_the_signs_of_the_reference(shape):
    pixels = picture(1, shape)
    expected = reference.fingerprint(pixels, spins=2, weigh=True)
    row = frame_row(pixels, key=key(1), dtype="bits")
    assert isinstance(row, FrameRow)
    assert row.values.dtype == np.uint64
    assert row.values.shape == (-(-pixels.size // 64),)
    assert row.scale == pytest.approx(pixels.size**-0.5)
    got = signs(row, pixels.size)
    raw = reference.weighed(reference.spun_plane(pixels, spins=2), pixels).ravel()
    clear = np.abs(expected) > 0.15 * pixels.size**-0.5
    clear &= np.abs(raw) > 0.15 * raw.std()
    np.testing.assert_array_equal(got[clear], np.sign(expected[clear]))
    assert clear.mean() > 0.7


@pytest.mark.parametrize("shape", SHAPES)
def test_two_bits_are_sign_and_size_of_the_reference(shape):
    pixels = picture(1, shape)
    expected = reference.fingerprint(pixels, spins=2, weigh=True) * pixels.size**0.5
    row = frame_row(pixels, key=key(1), dtype="2bits")
    assert row.values.shape == (2 * -(-pixels.size // 64),)
    got, small = (signs(FrameRow(row.values[k::2], 1, 0), pixels.size) for k in (0, 1))
    raw = reference.weighed(reference.spun_plane(pixels, spins=2), pixels).ravel()
    clear = (np.abs(expected) > 0.04) & (np.abs(raw) > 0.04 * raw.std())
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(got[clear], np.sign(expected[clear]))
    sizes = np.abs(expected)
    edge = np.abs(sizes - 1) < 1e-3
    told = ~edge & (np.abs(raw) > 0.04 * raw.std())  # a pixel without residual is small
    np.testing.assert_array_equal((small > 0)[told], sizes[told] <= 1)
    values = got * np.where(small > 0, 1, 3)
    assert row.scale * np.linalg.norm(values) == pytest.approx(1)


def test_two_bits_of_pixels_without_residual_are_random_and_small():
    shape = (400, 600)
    rows = [frame_row(clipped(s, shape), key=key(s), dtype="2bits") for s in (1, 2)]
    halves = [
        [signs(FrameRow(row.values[k::2], 1, 0), 240000).reshape(shape)[:, :180] for row in rows]
        for k in (0, 1)
    ]
    (a, b), small = halves
    assert abs(np.mean(a * b)) < 5 / np.sqrt(a.size)
    assert abs(a.mean()) < 5 / np.sqrt(a.size)
    assert all((part == 1).all() for part in small)


def test_what_the_means_alone_make_large_is_small():
    """A pixel without residual in a row whose mean is far from 0."""
    block, means = np.zeros((1, 70), np.float32), np.full(1, -5, np.float32)
    block[0, 7] = 2
    shifts, packed = np.zeros((16, 70), np.float32), np.zeros(24, np.uint64)
    words = np.empty(4, np.uint64)
    given = (np.float32(0.1), np.float32(1), np.uint64(1), packed.view(np.uint8), packed)
    to_bits(block, 0, means, shifts, *given, words, 2)
    assert [int(word) for word in words[1::2]] == [2**64 - 1 - 2**7, 2**6 - 1]
    assert int(words[0]) >> 7 & 1


@pytest.mark.parametrize("shape", SHAPES)
def test_bytes_are_the_reference_in_steps_of_an_eighth(shape):
    pixels = picture(2, shape)
    expected = reference.fingerprint(pixels, spins=2, weigh=True) * pixels.size**0.5 * 8
    row = frame_row(pixels, key=key(1), dtype="int8")
    assert row.values.dtype == np.int8
    assert row.values.shape == (pixels.size,)
    assert row.scale * np.linalg.norm(row.values.astype(float)) == pytest.approx(1)
    kept = row.values != 0
    np.testing.assert_allclose(row.values[kept], expected.clip(-127, 127)[kept], atol=0.501)
    assert np.mean(kept) > 0.8


@pytest.mark.parametrize("dtype", ["bits", "2bits", "int8"])
def test_one_spin_is_the_filter_as_published(dtype):
    pixels = picture(5, (130, 201))
    row = frame_row(pixels, key=key(5), dtype=dtype, spins=1, weigh=False)
    assert not np.array_equal(row.values, frame_row(pixels, key=key(5), dtype=dtype).values)
    if dtype == "int8":
        expected = reference.fingerprint(pixels) * pixels.size**0.5 * 8
        kept = row.values != 0
        np.testing.assert_allclose(row.values[kept], expected.clip(-127, 127)[kept], atol=0.501)


@given(h=st.integers(64, 140), w=st.integers(64, 140), seed=st.integers(0, 99))
def test_the_same_picture_gives_the_same_row(h, w, seed):
    pixels = picture(seed, (h, w))
    pixels[: h // 3] = 255
    for dtype in ("bits", "2bits", "int8"):
        rows = [frame_row(pixels, key=key(seed), dtype=dtype) for _ in range(2)]
        rows.append(frame_row(pixels.astype(np.float32), key=key(seed), dtype=dtype))
        for row in rows[1:]:
            np.testing.assert_array_equal(row.values, rows[0].values)
            assert row[1:] == rows[0][1:]


@pytest.mark.parametrize("dtype", ["bits", "2bits", "int8"])
def test_a_residual_that_is_made_twice_gives_the_same_row(dtype, monkeypatch):
    for shape in SHAPES:
        pixels = picture(4, shape)
        kept = frame_row(pixels, key=key(4), dtype=dtype)
        with monkeypatch.context() as patch:
            patch.setattr("samecam.fingerprint._frame.MOST_KEPT", 0)
            again = frame_row(pixels, key=key(4), dtype=dtype)
        np.testing.assert_array_equal(kept.values, again.values)
        assert kept[1:] == again[1:]


def test_threads_do_not_disturb_each_other():
    pictures = [picture(k, (150 + 10 * (k % 3), 140)) for k in range(9)]

    def row(number):
        return frame_row(pictures[number], key=key(number), dtype="bits").values.tobytes()

    alone = [row(k) for k in range(9)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(row, range(9))) == alone


def test_the_means_of_rows_columns_and_phases_are_gone():
    pixels = picture(5, (320, 330)).astype(np.float32)
    pixels[::8] += 4
    pixels[:, ::8] += 4
    row = frame_row(pixels, key=key(5), dtype="int8")
    plane = row.values.reshape(320, 330) / STEPS
    means = [plane.mean(axis=0), plane.mean(axis=1)]
    means.append([plane[a::16, b::16].mean() for a in range(16) for b in range(16)])
    for part in means:
        assert np.abs(part).max() < 0.06
    raw = reference.residual_plane(pixels)
    assert np.abs((raw / raw.std()).mean(axis=0)).max() > 0.3


def test_clipped_halves_of_two_photos_have_nothing_in_common():
    shape = (400, 600)
    rows = [frame_row(clipped(s, shape), key=key(s), dtype="bits") for s in (1, 2)]
    a, b = (signs(row, 240000).reshape(shape)[:, :180] for row in rows)
    assert abs(np.mean(a * b)) < 5 / np.sqrt(a.size)
    assert abs(a.mean()) < 5 / np.sqrt(a.size)
    for row in rows:
        assert 0.2 < row.flat < 0.52


def test_random_bits_depend_on_the_file_and_the_place_alone():
    shape = (400, 600)
    pixels = clipped(1, shape)
    brighter = pixels.copy()
    brighter[:, 300:] = 255 - brighter[:, 300:]
    a, b, other = (
        signs(frame_row(p, key=key(k), dtype="bits"), 240000).reshape(shape)[:, :180]
        for p, k in ((pixels, 1), (brighter, 1), (pixels, 2))
    )
    np.testing.assert_array_equal(a, b)
    assert abs(np.mean(a * other)) < 5 / np.sqrt(a.size)


def test_random_words_are_splitmix64():
    """The first numbers of its author's program for the seed 1234567."""
    known = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [int(random_word(np.uint64(1234567), k)) for k in range(3)] == known


def test_bytes_are_zero_where_nothing_was_recorded():
    shape = (400, 600)
    row = frame_row(clipped(3, shape), key=key(3), dtype="int8")
    values = row.values.reshape(shape)
    assert not values[:, :180].any()
    assert np.mean(values[:, 320:] != 0) > 0.8


def test_a_pattern_is_recognised_again():
    rng = np.random.default_rng(0)
    prnu = rng.normal(0, 0.02, (256, 256))
    shots = [
        np.clip(120 * (1 + prnu) + rng.normal(0, 2, prnu.shape), 0, 255).astype(np.uint8)
        for _ in range(2)
    ]
    other = np.clip(120 + rng.normal(0, 2, prnu.shape), 0, 255).astype(np.uint8)
    for dtype, least in (("bits", 0.1), ("int8", 0.2)):
        a, b, c = (frame_row(s, key=key(n), dtype=dtype) for n, s in enumerate((*shots, other)))
        vectors = [
            (signs(r, 65536) if dtype == "bits" else r.values.astype(float)) * r.scale
            for r in (a, b, c)
        ]
        assert vectors[0] @ vectors[1] > least
        assert abs(vectors[0] @ vectors[2]) < 5 / 256


@pytest.mark.parametrize("level", [0, 17, 255])
def test_flat_pictures_have_no_residual(level):
    with pytest.raises(NoResidualError, match="flat"):
        frame_row(np.full((128, 128), level, dtype=np.uint8), key=key(1), dtype="bits")


def test_wrong_arguments_are_named():
    pixels = picture(1, (64, 64))
    with pytest.raises(ValueError, match="dtype"):
        frame_row(pixels, key=key(1), dtype="float16")
    for bad in ("", "abc", "z" * 64, "0x" + "1" * 62):
        with pytest.raises(ValueError, match="key"):
            frame_row(pixels, key=bad, dtype="bits")
    with pytest.raises(ValueError, match="sigma"):
        frame_row(pixels, key=key(1), dtype="bits", sigma=0)
    with pytest.raises(ValueError, match=r"\(h, w\)"):
        frame_row(np.zeros((64, 64, 3)), key=key(1), dtype="bits")


PEAK = """
import re, sys, numpy
from samecam.photos import frame_exposure, read_frame
from samecam.fingerprint import frame_row

def row_of(data):
    pixels = read_frame(data).pixels
    frame_exposure(pixels)
    return frame_row(pixels, key="0" * 64, dtype="bits").values.nbytes

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])

row_of(open(sys.argv[1], "rb").read())
before = peak()
print(row_of(open(sys.argv[2], "rb").read()), peak() - before)
"""


@pytest.mark.slow
def test_the_largest_frame_takes_little_more_than_its_luma(tmp_path):
    """200 megapixels: one byte a pixel, the row, and rings of rows: under 300 MB in all."""
    width, height = 16320, 12240
    for name, size in (("small.jpg", (64, 64)), ("large.jpg", (width, height))):
        tile = Image.fromarray(picture(1, (1020, 1020)))
        image = Image.new("L", size)
        for y in range(0, size[1], 1020):
            for x in range(0, size[0], 1020):
                image.paste(tile, (x, y))
        image.save(tmp_path / name, quality=50)
    run = subprocess.run(
        [sys.executable, "-c", PEAK, *(str(tmp_path / n) for n in ("small.jpg", "large.jpg"))],
        capture_output=True,
        text=True,
        check=True,
    )
    length, kilobytes = map(int, re.findall(r"\d+", run.stdout))
    assert length == width * height // 8
    assert kilobytes < 300_000 * 1000 / 1024
