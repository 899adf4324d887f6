"""From files to a case: every file has its row, and nothing depends on chance."""

import csv
import hashlib
import json
import os
import resource

import numpy as np
import pytest

import samecam.case.extraction._extract
import samecam.case.extraction._prepare
from samecam.case import (
    COLUMNS,
    AuditLog,
    ExtractionSettings,
    check_log,
    extract_photos,
    open_store,
)
from samecam.case.folder import Case
from samecam.compute import Resources
from samecam.errors import SamecamError
from samecam.fingerprint import fingerprint, frame_row
from samecam.frames import Frame
from samecam.photos import PhotoFile, read_frame, read_photo, scan
from samecam.store import BitRows
from tests.case.conftest import EXPECTED, SIZE, keys_of, row_of, same_answer, write
from tests.photos.pictures import encode, scene

SQUARE = ExtractionSettings(size=SIZE)
BITS, PAIRS = (ExtractionSettings(dtype=dtype) for dtype in ("bits", "2bits"))
KINDS = {"whole frame": ExtractionSettings(), "bits": BITS, "2bits": PAIRS, "square": SQUARE}


def table(case):
    with open(case / "images.csv", encoding="utf-8", errors="surrogateescape", newline="") as f:
        return {row["path"]: row for row in csv.DictReader(f)}


@pytest.fixture(scope="module", params=KINDS)
def made(request, pile, tmp_path_factory):
    """A case of the pile, and the settings it was made with."""
    settings = KINDS[request.param]
    folder = tmp_path_factory.mktemp("case") / "CASE"
    result = extract_photos([pile], folder, settings, resources=Resources(workers=2))
    assert not result.interrupted
    return folder, settings


@pytest.fixture(scope="module")
def case(pile, tmp_path_factory):
    folder = tmp_path_factory.mktemp("case") / "CASE"
    extract_photos([pile], folder, resources=Resources(workers=2))
    return folder


def test_every_file_has_a_row_with_its_status(pile, made):
    case, settings = made
    rows = table(case)
    assert list(rows) == [f.path for f in scan([pile])]
    assert list(next(iter(rows.values()))) == list(COLUMNS)
    for path, row in rows.items():
        assert row["status"] == EXPECTED.get(path, "good"), path
        assert bool(row["reason"]) == (row["status"] != "good"), path
    assert rows["c/twin.jpg"]["reason"] == "same bytes as a01.jpg"
    assert rows["c/text again.txt"]["reason"] == "same bytes as b/text.jpg"
    needed = "at least 64×64 pixels are needed" if settings.size is None else "the crop is 64×64"
    assert rows["b/small.jpg"]["reason"] == f"too small: 63×200, {needed}"
    assert rows["b/empty.jpg"]["reason"] == "empty file"
    assert rows["b/flat.png"]["reason"] == "no noise residual: the picture is flat"


def test_the_table_tells_the_file(pile, made):
    case, settings = made
    row = table(case)["a03.jpg"]
    data = (pile / "a03.jpg").read_bytes()
    assert row["sha256"] == hashlib.sha256(data).hexdigest()
    assert int(row["bytes"]) == len(data)
    assert (row["width"], row["height"], row["format"]) == ("123", "200", "JPEG")
    assert float(row["saturated"]) == 0.0
    weak = table(case)["b/weak.png"]
    # 30 of 100 rows, of which the square has 64.
    assert float(weak["saturated"]) == (30 / 100 if settings.size is None else 30 / 64)
    assert repr(float(weak["saturated"])) == weak["saturated"]
    bright = (pile / "b/weak.png").read_bytes()
    flat = frame_row(read_frame(bright).pixels, key="0" * 64, dtype="bits").flat
    assert flat > 0.05
    assert weak["flat"] == (repr(round(flat, 6)) if settings.size is None else "")


def expected_row(data, settings):
    """The fingerprint of a file, the short way."""
    if settings.size is not None:
        row = fingerprint(read_photo(data, size=settings.size).pixels)
        return row.astype(np.float16).astype(np.float32)
    pixels, key = read_frame(data).pixels, hashlib.sha256(data).hexdigest()
    kind = "int8" if settings.dtype == "auto" else settings.dtype
    values, scale = frame_row(pixels, key=key, dtype=kind)[:2]
    if kind == "int8":
        return values * np.float32(scale)
    return BitRows(values[np.newaxis], pixels.size).read()[0]


def test_the_store_holds_the_fingerprints_of_good_and_weak_photos(pile, made):
    case, settings = made
    rows = table(case)
    wanted = [p for p, row in rows.items() if row["status"] in ("good", "weak")]
    with open_store(case) as store:
        assert keys_of(store) == wanted
        assert [r.sha256 for r in store.records() if r.has_row] == [
            rows[p]["sha256"] for p in wanted
        ]
        for path in ("a00.jpg", "b/weak.png", wanted[-1]):
            expected = expected_row((pile / path).read_bytes(), settings)
            np.testing.assert_array_equal(row_of(store, path), expected)
        frames = {r.frame for r in store.records() if r.has_row}
        assert store.frames == sorted(frames)
        if settings.size is None:
            sizes = {(int(rows[p]["width"]), int(rows[p]["height"])) for p in wanted}
            assert frames == sizes
        else:
            assert frames == {Frame(SIZE, SIZE)}


def test_one_worker_and_another_path_give_the_same_bytes(own_pile, case, tmp_path):
    extract_photos([own_pile], tmp_path / "one", resources=Resources(workers=1))
    assert same_answer(tmp_path / "one", case)


def test_the_same_command_does_nothing_twice(own_pile, tmp_path):
    first = extract_photos([own_pile], tmp_path / "c", resources=Resources(workers=2))
    images = (tmp_path / "c" / "images.csv").read_bytes()
    again = extract_photos([own_pile], tmp_path / "c", resources=Resources(workers=2))
    assert first.done == len(scan([own_pile]))
    assert again.done == 0
    assert (tmp_path / "c" / "images.csv").read_bytes() == images


def test_new_changed_and_vanished_files(own_pile, tmp_path):
    extract_photos([own_pile], tmp_path / "c")
    write(own_pile / "d/new.jpg", encode(scene(99, 90, 90)))
    write(own_pile / "a00.jpg", encode(scene(98, 90, 90)))
    before = table(tmp_path / "c")
    (own_pile / "a02.jpg").unlink()
    result = extract_photos([own_pile], tmp_path / "c")
    assert result.done == 2
    rows = table(tmp_path / "c")
    assert rows["d/new.jpg"]["status"] == "good"
    assert rows["a00.jpg"]["sha256"] != before["a00.jpg"]["sha256"]
    assert rows["a02.jpg"] == before["a02.jpg"], "what was taken from a file stays"


def twins(tmp_path):
    """a.jpg and b.jpg, the same photo, extracted; and the case."""
    photos = tmp_path / "photos"
    write(photos / "a.jpg", encode(scene(1, 90, 90)))
    write(photos / "b.jpg", encode(scene(1, 90, 90)))
    extract_photos([photos], tmp_path / "c")
    return photos, tmp_path / "c"


def statuses(case):
    with open_store(case) as store:
        keys = keys_of(store)
    rows = table(case)
    assert keys == [p for p, row in rows.items() if row["status"] in ("good", "weak")]
    return {p: (row["status"], row["reason"]) for p, row in rows.items()}


DUPLICATE_OF_A = ("duplicate", "same bytes as a.jpg")


def test_a_touched_original_stays_the_original(tmp_path):
    photos, case = twins(tmp_path)
    os.utime(photos / "a.jpg", (1, 1))
    assert extract_photos([photos], case).done == 1, "time alone makes it to be done again"
    assert statuses(case) == {"a.jpg": ("good", ""), "b.jpg": DUPLICATE_OF_A}


def test_a_duplicate_whose_original_changed_is_done_again(tmp_path):
    photos, case = twins(tmp_path)
    write(photos / "a.jpg", encode(scene(2, 90, 90)))
    write(photos / "c.jpg", encode(scene(1, 90, 90)))
    extract_photos([photos], case)
    found = statuses(case)
    assert found["a.jpg"] == ("good", "")
    assert sorted([found["b.jpg"][0], found["c.jpg"][0]]) == ["duplicate", "good"]
    rows = table(case)
    assert rows["b.jpg"]["sha256"] == rows["c.jpg"]["sha256"]
    assert extract_photos([photos], case).done == 0


def test_bytes_seen_before_under_another_name_are_a_duplicate(tmp_path):
    photos, case = twins(tmp_path)
    (photos / "b.jpg").rename(photos / "c.jpg")
    (photos / "a.jpg").rename(photos / "d.jpg")
    extract_photos([photos], case)
    assert statuses(case) == {
        "a.jpg": ("good", ""),
        **dict.fromkeys(("b.jpg", "c.jpg", "d.jpg"), DUPLICATE_OF_A),
    }


def test_a_duplicate_has_the_data_of_its_twin(tmp_path):
    _, case = twins(tmp_path)
    rows = table(case)
    for name in ("width", "height", "format", "saturated", "sha256", "bytes"):
        assert rows["a.jpg"][name] == rows["b.jpg"][name] != ""


def test_what_could_not_be_read_and_is_gone_leaves_no_row(tmp_path):
    photos, case = twins(tmp_path)
    (photos / "dangling.jpg").symlink_to(tmp_path / "gone")
    extract_photos([photos], case)
    assert "dangling.jpg" in table(case)
    (photos / "dangling.jpg").unlink()
    extract_photos([photos], case)
    assert "dangling.jpg" not in table(case)


def test_names_with_any_line_break_survive_the_table(tmp_path):
    names = ["a\rb.jpg", "c\r\nd.jpg", 'e"f,g.jpg', " h .jpg"]
    for k, name in enumerate(names):
        write(tmp_path / "photos" / name, encode(scene(k, 80, 80)))
    extract_photos(tmp_path / "photos", tmp_path / "c")
    assert sorted(table(tmp_path / "c")) == sorted(names)


def test_inputs_are_never_changed(own_pile, tmp_path):
    def state():
        return {
            p: (p.stat().st_mtime_ns, p.stat().st_size, p.is_file() and p.read_bytes())
            for p in sorted(own_pile.rglob("*"))
        }

    before = state()
    extract_photos([own_pile], tmp_path / "c")
    assert state() == before


def test_files_that_cannot_be_opened_or_are_no_files(tmp_path):
    photos = tmp_path / "photos"
    write(photos / "good.jpg", encode(scene(1, 80, 80)))
    (photos / "io-error.jpg").symlink_to("/proc/self/mem")
    (photos / "dangling.jpg").symlink_to(tmp_path / "gone")
    os.mkfifo(photos / "pipe.jpg")
    result = extract_photos([photos], tmp_path / "c")
    rows = table(tmp_path / "c")
    assert result.counts["good"] == 1
    assert rows["io-error.jpg"]["reason"] == "cannot be read: Input/output error"
    assert rows["dangling.jpg"]["reason"].startswith("no longer there")
    assert rows["pipe.jpg"]["reason"] == "not a regular file"
    (photos / "dangling.jpg").unlink()
    write(photos / "dangling.jpg", encode(scene(2, 80, 80)))
    extract_photos([photos], tmp_path / "c")
    assert table(tmp_path / "c")["dangling.jpg"]["status"] == "good", "tried again"


def test_a_file_that_vanishes_during_the_run(own_pile, tmp_path, monkeypatch):
    found = [*scan([own_pile]), PhotoFile("z.jpg", str(own_pile / "z.jpg"))]
    monkeypatch.setattr(samecam.case.extraction._prepare, "scan", lambda _: found)
    result = extract_photos([own_pile], tmp_path / "c")
    assert table(tmp_path / "c")["z.jpg"]["reason"].startswith("no longer there")
    assert result.counts["good"] == 13


def test_many_same_sized_twins(tmp_path):
    photos = tmp_path / "photos"
    for k in range(6):
        write(photos / f"x{k}.bmp", encode(scene(k % 2, 80, 80), "BMP"))
    extract_photos([photos], tmp_path / "c", resources=Resources(workers=2))
    rows = table(tmp_path / "c")
    assert [rows[f"x{k}.bmp"]["status"] for k in range(6)] == ["good"] * 2 + ["duplicate"] * 4
    assert rows["x4.bmp"]["reason"] == "same bytes as x0.bmp"
    assert rows["x5.bmp"]["reason"] == "same bytes as x1.bmp"


def test_the_log_names_every_file_and_hangs_together(pile, case):
    lines = [json.loads(line) for line in (case / "log.jsonl").read_text().splitlines()]
    assert sorted(e["path"] for e in lines if e["event"] == "file") == [
        f.path for f in scan([pile])
    ]
    assert [lines[0]["event"], lines[-1]["event"]] == ["saved", "extracted"]
    assert check_log(case / "log.jsonl") is None
    changed = (case / "log.jsonl").read_text().replace('"good"', '"weak"', 1)
    (case / "changed.jsonl").write_text(changed)
    first = next(k for k, e in enumerate(lines) if e.get("status") == "good")
    assert check_log(case / "changed.jsonl") == first + 2
    (case / "changed.jsonl").unlink()


def test_the_log_is_whole_after_a_write_that_failed_half_way(tmp_path):
    log = AuditLog(tmp_path / "log.jsonl")
    log.add("one")
    log.flush()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for k in range(20):
        log.add("more", number=k)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(SamecamError, match="cannot be written"):
            log.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    log.close()
    assert check_log(tmp_path / "log.jsonl") is None
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 21


def test_a_case_among_the_photos_is_refused(own_pile, tmp_path):
    for inside in (own_pile / "case", own_pile, own_pile / "b" / "c" / "d"):
        for argument in (own_pile, f"{own_pile}/*", f"{own_pile}/**"):
            with pytest.raises(SamecamError, match="lies among the photos"):
                extract_photos([argument], inside)
    (tmp_path / "link").symlink_to(own_pile)
    with pytest.raises(SamecamError, match="lies among the photos"):
        extract_photos([own_pile], tmp_path / "link" / "case")
    assert not (own_pile / "case").exists()


def test_too_little_room_is_told_before_the_work(own_pile, tmp_path, monkeypatch):
    monkeypatch.setattr(samecam.case.extraction._extract, "free_bytes", lambda _: 150_000)
    with pytest.raises(SamecamError, match="are free for"):
        extract_photos([own_pile], tmp_path / "c")


@pytest.mark.parametrize("settings", [ExtractionSettings(), SQUARE])
def test_files_that_are_no_pictures_need_no_room(tmp_path, monkeypatch, settings):
    write(tmp_path / "photos" / "a.jpg", encode(scene(1, 90, 90)))
    for k in range(30):
        write(tmp_path / "photos" / f"{k}.txt", b"text %d" % k)
    monkeypatch.setattr(samecam.case.extraction._extract, "free_bytes", lambda _: 150_000)
    result = extract_photos([tmp_path / "photos"], tmp_path / "c", settings)
    assert result.counts["good"] == 1
    assert result.counts["skipped"] == 30


def test_two_threads_cannot_hold_one_case(tmp_path):
    with (
        Case(tmp_path / "c", ExtractionSettings(), ["x"]),
        pytest.raises(SamecamError, match="in use by this process"),
    ):
        Case(tmp_path / "c", ExtractionSettings(), ["x"])
    Case(tmp_path / "c", ExtractionSettings(), ["x"]).close()


def test_real_photographs(photos_dir, tmp_path):
    names = "\n".join(str(photos_dir / "images" / f"{k:04d}.jpg") for k in range(0, 412, 30))
    (tmp_path / "list.txt").write_text(names)
    result = extract_photos([f"@{tmp_path / 'list.txt'}"], tmp_path / "c")
    assert sum(result.counts.values()) == 14
    assert result.counts["skipped"] == 0
    with open_store(tmp_path / "c") as store:
        for frame in store.frames:
            X = store.rows(frame).read()
            np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, atol=1e-3)
