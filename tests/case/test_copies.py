"""Copies of one picture: named, grouped with their original, and no camera by themselves."""

import csv
import io
import json
import shutil
import sqlite3
import threading

import numpy as np
import pytest
from PIL import Image, ImageOps

from samecam import cluster_photos
from samecam.case import add_photos, extract_photos, open_case, open_store, verify_case
from samecam.case.extraction import _extract, noise_in_common
from samecam.compute import Resources
from samecam.errors import SamecamError
from samecam.report import write_report
from samecam.report.export import export_case
from tests.case.conftest import write

SIZE = (640, 480)


def photo(seed, pattern=None, noise=4.0, shot=0):
    """Shapes, a camera's pattern, and noise of this shot."""
    rng = np.random.default_rng(seed)
    picture = np.full((SIZE[1], SIZE[0]), 120.0)
    for _ in range(150):
        y, x = rng.integers(0, SIZE[1]), rng.integers(0, SIZE[0])
        h, w = rng.integers(16, 120, 2)
        picture[y : y + h, x : x + w] = rng.integers(40, 210)
    if pattern is not None:
        picture *= 1 + pattern
    picture += np.random.default_rng([seed, shot]).normal(0, noise, picture.shape)
    return Image.fromarray(np.clip(np.rint(picture), 0, 255).astype(np.uint8)).convert("RGB")


def jpeg(image, quality=92, **more):
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality, **more)
    return buffer.getvalue()


def taken(moment):
    exif = Image.Exif()
    exif[0x0110], exif[0x0132] = "Model", moment
    return exif


def copies_of(image):
    return {
        "again.jpg": jpeg(image, 70),
        "half.jpg": jpeg(image.resize((320, 240)), 80),
        "small.jpg": jpeg(image.resize((200, 150)), 50),
        "larger half.jpg": jpeg(image.resize((480, 360)), 80),
        "turned.jpg": jpeg(image.transpose(Image.Transpose.ROTATE_90), 80),
        "turned right.jpg": jpeg(image.transpose(Image.Transpose.ROTATE_270), 75),
        "mirrored.jpg": jpeg(ImageOps.mirror(image), 80),
        "gray.jpg": jpeg(ImageOps.grayscale(image), 80),
        "lossless.png": png(image),
    }


def png(image):
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def rows(case):
    with open(case / "images.csv", newline="") as stream:
        return {row["path"]: row for row in csv.DictReader(stream)}


def copied(case):
    return {path: row["copy_of"] for path, row in rows(case).items() if row["copy_of"]}


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    """Nine copies of one photo, four other photos, and three shots of an unmoving scene."""
    folder = tmp_path_factory.mktemp("copies") / "photos"
    original = photo(1)
    write(folder / "original.jpg", jpeg(original, 95, exif=taken("2026:01:02 03:04:05")))
    for name, data in copies_of(original).items():
        write(folder / f"sent/{name}", data)
    for k in range(4):
        write(folder / f"other {k}.jpg", jpeg(photo(10 + k)))
    for k in range(3):
        write(folder / f"still {k}.jpg", jpeg(photo(20, shot=k)))
    write(folder / "sent/turned (1).jpg", (folder / "sent/turned.jpg").read_bytes())
    return folder


@pytest.fixture(scope="module")
def case(disk, tmp_path_factory):
    target = tmp_path_factory.mktemp("copies") / "case"
    cluster_photos(disk, target, search="off")  # looking for views has tests of its own
    return target


def test_copies_say_of_what_and_other_photos_are_none(disk, case):
    names = sorted(path.name for path in (disk / "sent").iterdir() if "(1)" not in path.name)
    assert copied(case) == dict.fromkeys((f"sent/{name}" for name in names), "original.jpg")
    row = rows(case)["sent/half.jpg"]
    assert (row["status"], row["reason"]) == ("copy", "a copy of original.jpg")
    assert rows(case)["sent/turned (1).jpg"]["status"] == "duplicate"


def test_copies_are_no_camera_and_have_the_group_of_their_original(disk, case, tmp_path):
    paths = {photo.path for photo in open_case(case).used}
    assert not any(path.startswith("sent/") for path in paths)
    photos = {photo.path: photo for photo in open_case(case).photos}
    assert photos["sent/turned (1).jpg"].original == "original.jpg"
    assert photos["sent/half.jpg"].original == "original.jpg"
    assert photos["original.jpg"].original == ""
    only = tmp_path / "only"
    shutil.copytree(disk / "sent", only)
    shutil.copy(disk / "original.jpg", only)
    assert cluster_photos(only, tmp_path / "case").sizes == []
    assert verify_case(case).agrees


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_a_copy_does_not_depend_on_the_order(disk, case, tmp_path, workers):
    """Photos that come one after another, in any number of runs, end in the same catalogue."""
    names = sorted(str(path.relative_to(disk)) for path in disk.rglob("*.*"))
    grown = tmp_path / "photos"
    for some in (names[5::2], names[::3], names):
        for name in some:
            write(grown / name, (disk / name).read_bytes())
        extract_photos(grown, tmp_path / "case", resources=Resources(workers=workers))
    assert (tmp_path / "case/images.csv").read_bytes() == (case / "images.csv").read_bytes()
    with open_store(tmp_path / "case") as store, open_store(case) as other:
        records = [r for r in store.records() if r.meta["status"] != "duplicate"]
        assert [(r.key, {**r.meta, "modified": 0}) for r in records] == [
            (r.key, {**r.meta, "modified": 0})
            for r in other.records()
            if r.meta["status"] != "duplicate"
        ]


def test_a_run_that_is_killed_while_it_looks_for_copies_goes_on(disk, case, tmp_path, monkeypatch):
    class KilledError(Exception):
        pass

    def killed(*_):
        raise KilledError

    monkeypatch.setattr(_extract, "mark_copies", killed)
    with pytest.raises(KilledError):
        extract_photos(disk, tmp_path / "case")
    monkeypatch.undo()
    extract_photos(disk, tmp_path / "case")
    assert (tmp_path / "case/images.csv").read_bytes() == (case / "images.csv").read_bytes()


def test_a_run_that_is_stopped_while_it_looks_for_copies_goes_on(disk, case, tmp_path, monkeypatch):
    monkeypatch.setattr("samecam.case.extraction._copies._TOLD", 1)
    stop = threading.Event()

    def progress(phase, done, _):
        if phase == "Looking for copies" and done > 3:
            stop.set()

    assert extract_photos(disk, tmp_path / "case", progress=progress, stop=stop).interrupted
    assert not (tmp_path / "case/images.csv").exists()
    assert not extract_photos(disk, tmp_path / "case").interrupted
    assert (tmp_path / "case/images.csv").read_bytes() == (case / "images.csv").read_bytes()


def test_copies_are_looked_for_once(disk, case, tmp_path, monkeypatch):
    target = tmp_path / "case"
    shutil.copytree(case, target)
    monkeypatch.setattr(
        "samecam.evidence.alike_pictures", lambda *_: pytest.fail("looked for again")
    )
    extract_photos(disk, target)
    assert copied(target) == copied(case)


def test_a_copy_stands_for_itself_when_its_original_has_become_another(disk, tmp_path):
    shutil.copytree(disk, tmp_path / "photos")
    extract_photos(tmp_path / "photos", tmp_path / "case")
    write(tmp_path / "photos/original.jpg", jpeg(photo(99)))
    extract_photos(tmp_path / "photos", tmp_path / "case")
    of = set(copied(tmp_path / "case").values())
    assert len(of) == 1
    assert of < {f"sent/{name}" for name in copies_of(photo(1))}
    fresh = tmp_path / "fresh"
    extract_photos(tmp_path / "photos", fresh)
    assert (fresh / "images.csv").read_bytes() == (tmp_path / "case/images.csv").read_bytes()


def test_photos_taken_at_different_moments_are_no_copies(tmp_path):
    image = photo(1)
    for k in range(2):
        data = jpeg(image, 90 - k, exif=taken(f"2026:01:02 03:04:0{k}"))
        write(tmp_path / f"photos/{k}.jpg", data)
    write(tmp_path / "photos/2.jpg", jpeg(image, 80))
    extract_photos(tmp_path / "photos", tmp_path / "case")
    assert copied(tmp_path / "case") == {"2.jpg": "0.jpg"}


def test_an_added_photo_is_a_copy_of_what_is_there_even_if_it_is_larger(disk, tmp_path):
    small = tmp_path / "small"
    for path in (*disk.glob("other*"), *disk.glob("still*"), disk / "sent/half.jpg"):
        write(small / path.name, path.read_bytes())
    case = tmp_path / "case"
    before = cluster_photos(small, case, search="off")
    more = tmp_path / "more"
    for name in ("original.jpg", "sent/gray.jpg"):
        write(more / name, (disk / name).read_bytes())
    result = add_photos(case, more)
    assert result.new == {}
    wanted = {f"added 1/{name}": "half.jpg" for name in ("original.jpg", "sent/gray.jpg")}
    assert copied(case) == wanted
    assert result.clustering.paths == before.paths
    assert add_photos(case, more).new == {}
    assert copied(case) == wanted
    assert verify_case(case).agrees


@pytest.mark.parametrize(
    "change",
    [
        """json_set(meta, '$.status', 'good')""",
        """json_set(meta, '$.copy_of', '')""",
        """json_remove(meta, '$.aside')""",
        """json_set(meta, '$.aside', json('["skipped", "", ""]'))""",
        """json_set(meta, '$.aside', json('["good", "", 3]'))""",
    ],
)
def test_a_catalogue_with_an_odd_copy_is_refused(case, tmp_path, change):
    shutil.copytree(case, tmp_path / "case")
    with sqlite3.connect(tmp_path / "case/fingerprints/catalogue.sqlite") as db:
        db.execute(f"UPDATE records SET meta = {change} WHERE json_extract(meta, '$.copy_of') > ''")
    with pytest.raises(SamecamError, match="cannot be used"):
        open_store(tmp_path / "case")


def test_with_a_square_no_copies_are_looked_for(disk, tmp_path):
    from samecam.case import ExtractionSettings

    extract_photos(disk, tmp_path / "case", ExtractionSettings(size=64))
    assert copied(tmp_path / "case") == {}


# --- services and graphics --------------------------------------------------------------


def test_a_file_may_look_like_the_copy_of_a_service(tmp_path):
    image = photo(1).resize((1280, 960))
    write(tmp_path / "photos/a.jpg", jpeg(image, 80, progressive=True))
    write(tmp_path / "photos/b.jpg", jpeg(image, 93))
    extract_photos(tmp_path / "photos", tmp_path / "case")
    table = rows(tmp_path / "case")
    assert table["a.jpg"]["service"] == "WhatsApp or Telegram"
    assert table["b.jpg"]["service"] == ""


def test_graphics_found_no_group(tmp_path):
    """Drawn areas in the same places correlate perfectly, and are no camera."""
    rng = np.random.default_rng(0)
    for k in range(6):
        page = np.full((480, 640), 200, np.uint8)
        page[::40, 40:300] = page[20::40, 320:600] = 30  # lines that all of them have
        page[200:280, 20 * k : 20 * k + 200] = rng.integers(20, 230)
        write(tmp_path / f"photos/{k}.png", png(Image.fromarray(page)))
    result = cluster_photos(tmp_path / "photos", tmp_path / "case")
    table = rows(tmp_path / "case")
    assert {row["status"] for row in table.values()} == {"weak"}
    assert {row["reason"].split(":")[0] for row in table.values()} == {"looks like a graphic"}
    assert result.sizes == []


def test_the_report_and_exports_name_copies_with_the_group_of_their_original(tmp_path):
    pattern = np.random.default_rng(5).normal(0, 0.02, SIZE[::-1])
    for k in range(6):
        write(tmp_path / f"photos/{k}.jpg", jpeg(photo(30 + k, pattern), 95))
    write(tmp_path / "photos/sent.jpg", jpeg(photo(33, pattern).resize((320, 240)), 80))
    write(tmp_path / "photos/sent (1).jpg", (tmp_path / "photos/sent.jpg").read_bytes())
    case = tmp_path / "case"
    assert cluster_photos(tmp_path / "photos", case, search="off").sizes == [6]
    assert copied(case) == {"sent.jpg": "3.jpg"}
    page = write_report(case, thumbnails=False).read_text()
    row = page[page.index("a copy of 3.jpg") :]
    assert '<a href="#camera-0">0</a>' in row[: row.index("</tr>")]
    export_case(case, "json", output=tmp_path / "export.json")
    files = {f["path"]: f for f in json.loads((tmp_path / "export.json").read_text())["files"]}
    assert files["sent.jpg"]["copy_of"] == "3.jpg"
    assert {file["group"] for file in files.values()} == {0}


@pytest.mark.parametrize(("side", "noise"), [(255, 0), (256, 1)])
def test_of_few_pixels_no_noise_is_in_common(side, noise):
    """Neither in a case nor in a reference."""
    residual = np.random.default_rng(0).standard_normal((side, side)).astype(np.float32)
    assert noise_in_common(residual, residual, 0) == pytest.approx(noise)
