import io

import numpy as np
import pytest
from PIL import Image

from samecam.photos import jpeg_facts, likely_service
from samecam.photos._service import scaled


def saved(long_edge, quality=80, *, table="libjpeg", progressive=True, halved=True, exif=False):
    picture = Image.fromarray(np.zeros((long_edge * 3 // 4, long_edge, 3), np.uint8))
    more = {"qtables": [list(scaled(table, quality))] * 2} if table == "mozjpeg" else {}
    if table == "libjpeg":
        more = {"quality": quality}
    if exif:
        tags = Image.Exif()
        tags[0x0110] = "Model"
        more["exif"] = tags
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", progressive=progressive, subsampling=2 if halved else 0, **more)
    return buffer.getvalue()


@pytest.mark.parametrize("quality", [1, 30, 49, 50, 70, 75, 80, 95, 100])
def test_tables_are_those_that_libjpeg_writes(quality):
    facts = jpeg_facts(saved(64, quality))
    assert facts.luma == scaled("libjpeg", quality)
    assert (facts.width, facts.height) == (64, 48)
    assert facts.halved
    assert facts.progressive


@pytest.mark.parametrize(
    ("data", "service"),
    [
        (saved(1600, 80, table="mozjpeg"), "WhatsApp"),
        (saved(1599, 80, table="mozjpeg"), "WhatsApp"),
        (saved(1024, 75), "WhatsApp"),
        (saved(1280, 80), "WhatsApp or Telegram"),
        (saved(1280, 80, progressive=False), "Telegram"),
        (saved(1600, 70, progressive=False), "Signal"),
        (saved(2048, 75, progressive=False), "Signal"),
        (saved(2048, 75), "WhatsApp or Signal or Facebook"),
        (saved(4096, 75, progressive=False), "Signal"),
        (saved(4096, 85), "X"),
        (saved(1080, 85), "Instagram"),
        (saved(1920, 85), "Facebook"),
        (saved(1600, 70, table="mozjpeg"), ""),
        (saved(1600, 90), ""),
        (saved(1500, 80), ""),
        (saved(1280, 80, exif=True), ""),
        (saved(1280, 80, halved=False), ""),
    ],
)
def test_a_file_looks_like_what_saves_such_files(data, service):
    assert likely_service(data) == service


def test_the_mark_of_meta_tells_whatever_the_size():
    data = saved(700, 90)
    note = b"Photoshop 3.0\x008BIM\x04\x04\x00\x00\x00\x00\x00\x0dFBMD01000abc"
    marked = data[:2] + b"\xff\xed" + (len(note) + 2).to_bytes(2, "big") + note + data[2:]
    assert likely_service(marked) == "Facebook or Instagram"


def test_no_bytes_are_too_odd():
    rng = np.random.default_rng(0)
    data = saved(1280, 80)
    for end in range(0, 700, 3):
        likely_service(data[:end])
    for _ in range(300):
        mutated = bytearray(data[:700])
        for at in rng.integers(2, 700, 5):
            mutated[at] = rng.integers(256)
        likely_service(bytes(mutated))
    assert likely_service(b"") == likely_service(b"\x89PNG") == ""
