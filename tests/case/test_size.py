"""The size that is chosen by itself: from headers alone, the same every time, and kept."""

import json
import os
import shutil
import struct
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from samecam.case import (
    SIZES,
    ExtractionSettings,
    choose_size,
    cluster_photos,
    extract_photos,
    plan_extraction,
)
from samecam.case.extraction import _worker
from samecam.case.extraction._size import _largest_side
from samecam.errors import SamecamError
from samecam.photos import PhotoError, read_photo
from tests.case.conftest import write
from tests.photos.pictures import encode, jpeg_bomb, scene
from tests.processes import PATIENCE, command, ctrl_c, run, run_apart, wait_for

FAULTS = Path(__file__).parent / "faults"
AUTO = ExtractionSettings()


def slow_choice(sides):
    """The rule, word by word."""
    for size in sorted(SIZES, reverse=True):
        if sum(side >= size for side in sides) / len(sides) >= 0.95:
            return size
    return 256


@given(st.lists(st.integers(200, 1100), min_size=1, max_size=60))
def test_the_rule(sides):
    dimensions = [(side, side + 7) for side in sides]
    if max(sides) < 256:
        with pytest.raises(SamecamError, match="256"):
            choose_size(dimensions, AUTO)
        return
    choice = choose_size(dimensions, AUTO)
    assert choice.size == slow_choice(sides)
    assert choice.photos == len(sides)
    assert choice.excluded == sum(side < choice.size for side in sides)


@pytest.mark.parametrize(("large", "expected"), [(20, 1024), (19, 1024), (18, 512)])
def test_ninety_five_per_cent_is_enough_and_less_is_not(large, expected):
    dimensions = [(4000, 3000)] * large + [(640, 512)] * (20 - large)
    assert choose_size(dimensions, AUTO).size == expected


def test_few_large_enough_photos_are_taken_and_none_is_an_error():
    choice = choose_size([(300, 300)] * 2 + [(200, 200)] * 8, AUTO)
    assert (choice.size, choice.excluded) == (256, 8)
    with pytest.raises(SamecamError, match="None of the 3 photos .* like 192"):
        choose_size([(200, 300)] * 3, AUTO)
    with pytest.raises(SamecamError, match="nothing to compare"):
        choose_size([(20, 30)] * 3, AUTO)


@given(
    st.integers(64, 150), st.integers(64, 150), st.integers(0, 40), st.integers(0, 40),
    st.sampled_from(["keep", "rotate"]),
)  # fmt: skip
def test_a_photo_allows_what_extraction_allows(width, height, x, y, portrait):
    settings = ExtractionSettings(offset=(x, y), portrait=portrait)
    side = _largest_side(width, height, settings)
    data = encode(np.full((height, width, 3), 99, np.uint8), "PNG")
    for size, fits in ((side, True), (side + 1, False)):
        if not 64 <= size <= 4096:
            continue
        wanted = nullcontext() if fits else pytest.raises(PhotoError, match="too small")
        with wanted:
            read_photo(data, size=size, offset=(x, y), portrait=portrait)


def long_header(pixels):
    """A JPEG with 300 kB of comments before its frame header."""
    data = encode(pixels)
    comment = b"\xff\xfe" + struct.pack(">H", 60002) + b"x" * 60000
    return data[:2] + 5 * comment + data[2:]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (encode(scene(1, 90, 70)), (90, 70)),
        (encode(scene(1, 90, 70))[:800], (90, 70)),
        (encode(scene(1, 90, 70), "PNG"), (90, 70)),
        (encode(scene(1, 500, 400), "TIFF"), (500, 400)),
        (encode(scene(1, 700, 600), "WEBP", lossless=True), (700, 600)),
        (encode(scene(1, 90, 70), "BMP"), (90, 70)),
        (long_header(scene(1, 90, 70)), (90, 70)),
        (encode(Image.fromarray(scene(1, 90, 70)), "TIFF", exif={0x0112: 6}), (90, 70)),
        (b"no photo", None),
        (b"\xff\xd8\xff and then nothing", None),
        (b"", None),
    ],
)
def test_headers_of_every_format(tmp_path, data, expected):
    if isinstance(data, bytes):
        write(tmp_path / "x", data)
    assert _worker.measure((str(tmp_path / "x"),)) == [expected]


def test_nothing_is_decoded_and_nothing_blocks(tmp_path):
    write(tmp_path / "bomb.jpg", jpeg_bomb())
    os.mkfifo(tmp_path / "pipe.jpg")
    names = ("bomb.jpg", "pipe.jpg", "gone.jpg")
    began = time.process_time()
    sizes = _worker.measure(tuple(str(tmp_path / name) for name in names))
    assert sizes == [(30000, 30000), None, None]
    assert time.process_time() - began < 2


@pytest.fixture
def photos(tmp_path):
    """Twenty photos, one of them too small for 512."""
    for k in range(19):
        write(tmp_path / "photos" / f"{k:02d}.jpg", encode(scene(k, 560, 520)))
    write(tmp_path / "photos" / "small.jpg", encode(scene(50, 500, 520)))
    write(tmp_path / "photos" / "text.jpg", b"none")
    return tmp_path / "photos"


def test_the_choice_is_made_told_recorded_and_kept(photos, tmp_path):
    case = tmp_path / "c"
    code, out, error = run("extract", photos, "-o", case)
    assert code == 3, error
    assert "Size 512 is chosen, which 19 of 20 photos (95 %) allow; 1 is too small" in error
    assert "2 skipped (1 no photo, 1 too small)" in out
    info = json.loads((case / "case.json").read_text())
    assert info["extraction"]["size"] == 512
    assert info["size_choice"]["allowing"] == {"256": 20, "512": 19, "768": 0, "1024": 0}
    # Photos that would change the choice do not change the case.
    for k in range(9):
        write(photos / f"tiny{k}.jpg", encode(scene(60 + k, 300, 300)))
    again = extract_photos([photos], case)
    assert (again.size, again.choice, again.done) == (512, None, 9)
    assert again.reasons["skipped"] == {"too small": 10, "no photo": 1}
    with pytest.raises(SamecamError, match="made with size 512, not 256"):
        extract_photos([photos], case, ExtractionSettings(size=256))
    assert plan_extraction([photos], tmp_path / "new").size == 256
    assert not (tmp_path / "new").exists()


def test_no_photo_at_all_is_an_error(tmp_path):
    (tmp_path / "empty").mkdir()
    for words in (("cluster",), ("extract",), ("extract", "--dry-run")):
        for more in ((), ("--size", 64)):
            place = (tmp_path / "empty", "-o", tmp_path / "c")
            code, out, error = run(*words, *place, *more)
            assert (code, out) == (1, "")
            assert "There is no photo in" in error
    write(tmp_path / "texts" / "a.txt", b"text")
    code, _, error = run("cluster", tmp_path / "texts", "-o", tmp_path / "c")
    assert code == 1
    assert "None of the 1 files" in error
    assert not (tmp_path / "c").exists()


def test_photos_that_are_gone_leave_a_case_that_still_answers(photos, tmp_path):
    first = cluster_photos([photos], tmp_path / "c")
    shutil.rmtree(photos)
    photos.mkdir()
    again = cluster_photos([photos], tmp_path / "c")
    assert again.paths == first.paths


def test_a_header_that_hangs_or_crashes_costs_that_file_alone(tmp_path):
    photos = tmp_path / "photos"
    for k in range(8):
        write(photos / f"{k}.jpg", encode(scene(k, 300, 300)))
    write(photos / "hang.jpg", encode(scene(20, 300, 300)) + b"HANG-HERE")
    write(photos / "crash.jpg", encode(scene(21, 300, 300)) + b"CRASH-HERE")
    code, out, error = run_apart(
        *("extract", photos, "-o", tmp_path / "case", "--timeout", 2, "--json"), module_path=FAULTS
    )
    assert code == 3, error
    answer = json.loads(out)
    assert answer["counts"]["good"] == 8
    assert answer["size_choice"]["photos"] == 8


def test_stopped_while_measuring(photos, tmp_path):
    stop = threading.Event()
    stop.set()
    result = cluster_photos([photos], tmp_path / "c", stop=stop)
    assert result.extraction.interrupted
    assert not (tmp_path / "c").exists()
    gate = tmp_path / "gate"
    write(photos / "00.jpg", (photos / "00.jpg").read_bytes() + b"WAIT-FOR" + os.fsencode(gate))
    process = command("cluster", photos, "-o", tmp_path / "c", "--workers", 1, module_path=FAULTS)
    assert wait_for(Path(f"{gate}.reached").exists)
    ctrl_c(process)
    gate.touch()
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, error.decode()
    assert "Interrupted" in error.decode()
    assert not (tmp_path / "c").exists()
