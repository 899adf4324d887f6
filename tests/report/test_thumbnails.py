"""Small pictures from any bytes: the embedded one, the picture itself, or a reason."""

import base64
import hashlib
import io
import os
import struct
import subprocess
import sys
from concurrent.futures import Future

import numpy as np
import pytest
from PIL import Image

from samecam import compute
from samecam.case import CasePhoto
from samecam.report import _thumbnails
from samecam.report._thumbnails import Thumbnail, ThumbnailTask, thumbnail
from tests.photos.pictures import encode, jpeg_bomb, scene
from tests.processes import PATIENCE

RED, BLUE = (220, 20, 20), (20, 20, 220)


def flat(colour, width=400, height=300, **options):
    return encode(Image.new("RGB", (width, height), colour), quality=90, **options)


def exif_with(thumb, orientation=1):
    """An EXIF block with an orientation and an embedded thumbnail, byte by byte."""
    first = struct.pack("<HHHIHHI", 1, 0x0112, 3, 1, orientation, 0, 8 + 18)
    start = 8 + 18 + 2 + 3 * 12 + 4
    second = struct.pack("<H", 3)
    second += struct.pack("<HHIHH", 0x0103, 3, 1, 6, 0)
    second += struct.pack("<HHII", 0x0201, 4, 1, start)
    second += struct.pack("<HHII", 0x0202, 4, 1, len(thumb))
    second += struct.pack("<I", 0)
    return b"Exif\0\0" + b"II*\0\x08\0\0\0" + first + second + thumb


def made(tmp_path, data, side=96, sha256=None):
    path = tmp_path / "photo"
    path.write_bytes(data)
    digest = hashlib.sha256(data).hexdigest() if sha256 is None else sha256
    return thumbnail(ThumbnailTask("p", os.fspath(path), digest, side))


def picture(made: Thumbnail):
    assert made.reason == ""
    head = "data:image/jpeg;base64,"
    assert made.uri.startswith(head)
    image = Image.open(io.BytesIO(base64.b64decode(made.uri[len(head) :])))
    assert image.size == (made.width, made.height)
    return image


def colour(image):
    return np.asarray(image, dtype=float).mean(axis=(0, 1))


def test_the_embedded_thumbnail_is_taken(tmp_path):
    data = flat(BLUE, exif=exif_with(flat(RED, 160, 120)))
    image = picture(made(tmp_path, data))
    assert image.size == (96, 72)
    assert np.abs(colour(image) - RED).max() < 8


@pytest.mark.parametrize(
    "embedded",
    [flat(RED, 160, 160), b"", b"\xff\xd8\xff no jpeg", flat(RED, 1600, 1200)],
    ids=["proportions", "nothing", "damaged", "huge"],
)
def test_another_embedded_one_is_not(tmp_path, embedded):
    image = picture(made(tmp_path, flat(BLUE, exif=exif_with(embedded))))
    assert np.abs(colour(image) - BLUE).max() < 8


def test_it_is_turned_as_exif_says(tmp_path):
    half = np.zeros((300, 400, 3), np.uint8)
    half[:, :200] = 255
    data = encode(half, exif=exif_with(b"", orientation=6))
    image = np.asarray(picture(made(tmp_path, data)).convert("L"))
    assert image.shape == (96, 72)
    assert image[:40].mean() > 250
    assert image[-40:].mean() < 5


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "WEBP", "BMP"])
def test_other_formats(tmp_path, kind):
    pixels = scene(1, 200, 100)
    image = picture(made(tmp_path, encode(pixels, kind)))
    assert image.size == (96, 48)
    assert np.abs(colour(image) - pixels.mean(axis=(0, 1))).max() < 6


def test_sixteen_bits_and_transparency(tmp_path):
    deep = Image.fromarray(np.full((50, 50), 40000, np.uint16))
    assert np.abs(colour(picture(made(tmp_path, encode(deep, "PNG")))) - 156).max() < 4
    clear = Image.new("RGBA", (50, 50), (*RED, 128))
    assert picture(made(tmp_path, encode(clear, "PNG"))).mode == "RGB"


def test_heif(tmp_path):
    heif = pytest.importorskip("pillow_heif")
    stream = io.BytesIO()
    heif.from_pillow(Image.new("RGB", (128, 96), RED)).save(stream)
    assert np.abs(colour(picture(made(tmp_path, stream.getvalue()))) - RED).max() < 12


def test_no_metadata_gets_into_the_page(tmp_path):
    exif = Image.Exif()
    exif[0x010F] = "SECRETMAKER"
    data = flat(BLUE, exif=exif)
    assert b"SECRETMAKER" in data
    image = picture(made(tmp_path, data))
    assert not image.getexif()
    assert "icc_profile" not in image.info


def test_a_jpeg_of_900_megapixels_is_drawn_reduced(tmp_path):
    assert picture(made(tmp_path, jpeg_bomb(), side=64)).size == (64, 64)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no photo"),
        (b"hello", "no photo"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 60, "cannot be drawn"),
        (flat(BLUE)[:200], "cannot be drawn"),
    ],
)
def test_reasons(tmp_path, data, reason):
    assert made(tmp_path, data).reason == reason


def test_a_changed_or_lost_file_is_not_shown(tmp_path):
    assert made(tmp_path, flat(BLUE), sha256="0" * 64).reason == "changed since"
    assert (
        thumbnail(ThumbnailTask("p", os.fspath(tmp_path / "nowhere"), "", 96)).reason
        == "cannot be read"
    )
    os.mkfifo(tmp_path / "pipe")
    assert thumbnail(ThumbnailTask("p", os.fspath(tmp_path / "pipe"), "", 96)).reason == "no photo"


def test_mutated_files_are_drawn_or_refused(tmp_path):
    rng = np.random.default_rng(0)
    data = bytearray(flat(BLUE, 80, 60, exif=exif_with(flat(RED, 40, 30))))
    for _ in range(60):
        bad = bytearray(data)
        for at in rng.integers(0, 700, 4):
            bad[at] = rng.integers(256)
        result = made(tmp_path, bytes(bad))
        assert bool(result.uri) != bool(result.reason)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (compute.TaskTimeoutError(), "took too long"),
        (compute.WorkerDiedError(-11), "decoder crashed"),
        (RuntimeError("x"), "cannot be drawn: RuntimeError"),
    ],
)
def test_a_crash_or_long_work_is_a_reason(error, reason):
    future = Future()
    future.set_exception(error)
    assert _thumbnails._outcome(future).reason == reason


def test_workers_that_cannot_live_end_it():
    future = Future()
    future.set_exception(compute.PoolBrokenError("broken"))
    with pytest.raises(compute.PoolBrokenError):
        _thumbnails._outcome(future)


def test_one_bad_file_costs_one_picture(made_rows):
    rows, files = made_rows
    result = _thumbnails.make_thumbnails(
        rows,
        files,
        side=64,
        resources=compute.Resources(workers=2),
        timeout=20,
        progress=compute.no_progress,
    )
    assert [bool(result[row.path].uri) for row in rows] == [True, False, True, False]
    assert result[rows[3].path].reason == "not found"


@pytest.fixture
def made_rows(tmp_path):
    rows, files = [], {}
    for k, data in enumerate([flat(BLUE), b"nothing", flat(RED)]):
        file = tmp_path / f"{k}.jpg"
        file.write_bytes(data)
        digest = hashlib.sha256(data).hexdigest()
        rows.append(CasePhoto(f"{k}.jpg", digest, "good", "", {}))
        files[f"{k}.jpg"] = os.fspath(file)
    rows.append(CasePhoto("gone.jpg", "", "good", "", {}))
    return rows, files


def test_what_decoders_print_is_not_shown(tmp_path):
    """A JPEG inside of a TIFF, damaged: the library prints what it does not like."""
    data = bytearray(encode(scene(3, 128, 128), "TIFF", compression="jpeg"))
    data[data.find(b"\xff\xda") + 1] = 0xF5
    (tmp_path / "a.tif").write_bytes(data)
    task = ThumbnailTask("a.tif", str(tmp_path / "a.tif"), hashlib.sha256(data).hexdigest(), 96)
    direct = "thumbnail(task)"
    in_worker = "compute.LocalPool(1).submit(thumbnail, task).result()"
    said = {}
    for way in (direct, in_worker):
        script = (
            "from samecam import compute\n"
            "from samecam.report._thumbnails import ThumbnailTask, thumbnail\n"
            f"if __name__ == '__main__':\n    task = {task!r}\n    print({way}.reason)\n"
        )
        (tmp_path / "script.py").write_text(script)
        words = [sys.executable, str(tmp_path / "script.py")]
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
        assert done.stdout == "cannot be drawn\n"
        said[way] = done.stderr
    assert "marker" in said[direct]
    assert said[in_worker] == ""
