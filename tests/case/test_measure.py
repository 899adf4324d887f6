"""Widths and heights of photos, from their headers alone, before any is decoded."""

import json
import os
import shutil
import struct
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image

from samecam.case import cluster_photos, plan_extraction
from samecam.case.extraction import _worker, measure_photos
from samecam.compute import Resources
from samecam.frames import Frame
from samecam.photos import scan
from tests.case.conftest import write
from tests.photos.pictures import encode, jpeg_bomb, scene, set_jpeg_size
from tests.processes import PATIENCE, command, ctrl_c, run, run_apart, wait_for

FAULTS = Path(__file__).parent / "faults"


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
    """Twenty photos, one of them smaller than the others, and a text."""
    for k in range(19):
        write(tmp_path / "photos" / f"{k:02d}.jpg", encode(scene(k, 160, 120)))
    write(tmp_path / "photos" / "small.jpg", encode(scene(50, 100, 120)))
    write(tmp_path / "photos" / "text.jpg", b"none")
    return tmp_path / "photos"


@pytest.mark.parametrize("workers", [1, 2])
def test_frames_are_counted(photos, monkeypatch, workers):
    """Whatever the batches; files without a header that can be read do not count."""
    told = []
    monkeypatch.setattr("samecam.case.extraction._measure._BATCH", 3)
    counted = measure_photos(
        scan([photos]),
        Resources(workers=workers),
        lambda *call: told.append(call),
        threading.Event(),
    )
    assert counted == Counter({Frame(160, 120): 19, Frame(100, 120): 1})
    assert told[-1] == ("Measuring", 21, 21)


def test_only_what_is_not_done_is_measured(photos, tmp_path, monkeypatch):
    cluster_photos([photos], tmp_path / "c")
    for k in range(3):
        write(photos / f"tiny{k}.jpg", encode(scene(60 + k, 90, 80)))
    real, seen = measure_photos, []

    def noting(files, *more):
        seen.extend(item.path for item in files)
        return real(files, *more)

    monkeypatch.setattr("samecam.case.extraction._prepare.measure_photos", noting)
    plan = plan_extraction([photos], tmp_path / "c")
    assert seen == ["tiny0.jpg", "tiny1.jpg", "tiny2.jpg"]
    assert [(c.frame, c.files, c.photos) for c in plan.frames] == [
        (Frame(160, 120), 0, 19),
        (Frame(90, 80), 3, 3),
        (Frame(100, 120), 0, 1),
    ]
    assert (plan.files, plan.photos) == (3, 23)


def test_a_case_that_is_done_starts_no_processes_to_measure(photos, tmp_path, monkeypatch):
    """A server of workers takes a second of the processor to load."""
    cluster_photos([photos], tmp_path / "c")

    def refuse(*_, **__):
        raise AssertionError

    monkeypatch.setattr("samecam.case.extraction._measure.compute.LocalPool", refuse)
    assert cluster_photos([photos], tmp_path / "c").extraction.done == 0


def test_what_cannot_be_read_for_its_size_takes_nothing(photos, tmp_path):
    """No memory, no disk, and no refusal for want of them."""
    for k in range(4):
        huge = set_jpeg_size(encode(scene(70 + k, 90, 80)), 65000, 65000)
        write(photos / f"huge{k}.jpg", huge)
        write(photos / f"flag{k}.png", encode(scene(80 + k, 63, 600), "PNG"))
    plan = plan_extraction([photos], tmp_path / "c")
    assert [cost.frame for cost in plan.frames] == [Frame(160, 120), Frame(100, 120)]
    assert plan.disk_bytes < 2**20
    result = cluster_photos([photos], tmp_path / "c", resources=Resources(memory=2**25))
    assert result.extraction.counts["good"] == 20
    assert result.extraction.reasons["skipped"] == {"too large": 4, "too small": 4, "no photo": 1}


def test_only_pictures_of_sizes_that_cannot_be_read(tmp_path):
    """They are photos: each says why it is not used."""
    write(tmp_path / "photos" / "small.jpg", encode(scene(1, 63, 90)))
    result = cluster_photos([tmp_path / "photos"], tmp_path / "c")
    assert result.extraction.reasons["skipped"] == {"too small": 1}


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
        write(photos / f"{k}.jpg", encode(scene(k, 100, 90)))
    write(photos / "hang.jpg", encode(scene(20, 100, 90)) + b"HANG-HERE")
    write(photos / "crash.jpg", encode(scene(21, 100, 90)) + b"CRASH-HERE")
    code, out, error = run_apart(
        *("extract", photos, "-o", tmp_path / "case", "--timeout", 2, "--json"), module_path=FAULTS
    )
    assert code == 3, error
    answer = json.loads(out)
    assert answer["counts"]["good"] == 8
    assert answer["frames"] == {"100x90": 8}


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
