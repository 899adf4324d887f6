"""The same command again: what changed meanwhile is said, and nothing that was done is lost."""

import json
import os
import shutil
import threading

import numpy as np
import pytest
from click.testing import CliRunner

from samecam.case import (
    cluster_fingerprints,
    cluster_photos,
    extract_photos,
    open_case,
    stop_on_signals,
    verify_case,
)
from samecam.case.extraction import _worker
from samecam.case.extraction._duplicates import likely_duplicates
from samecam.case.grouping import _cluster
from samecam.cli import cli
from samecam.compute import Resources, no_progress
from samecam.frames import Frame
from samecam.photos import PhotoFile
from tests.photos.pictures import encode, scene

ONE = Resources(workers=1, device="cpu")


@pytest.fixture
def rows(tmp_path):
    """Fingerprints of three cameras, four photos each, and two of nobody's."""
    rng = np.random.default_rng(5)
    cameras = rng.normal(size=(3, 3000))
    X = np.vstack([c + 0.8 * rng.normal(size=(4, 3000)) for c in cameras])
    np.save(tmp_path / "rows.npy", np.vstack([X, rng.normal(size=(2, 3000))]))
    return tmp_path / "rows.npy"


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(5):
        (folder / f"{k}.jpg").write_bytes(encode(scene(k, 90, 80)))
    return folder


def call(*words):
    return CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)


def test_groups_are_saved_before_they_are_weighed(rows, tmp_path, monkeypatch):
    """What hours of grouping gave survives a failure of the evidence, and is not done again."""
    case = tmp_path / "case"
    wanted = cluster_fingerprints(rows, tmp_path / "whole", resources=ONE)

    def fail(*_, **__):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(_cluster, "weigh", fail)
        with pytest.raises(MemoryError):
            cluster_fingerprints(rows, case, resources=ONE)
    with monkeypatch.context() as patch:
        patch.setattr(_cluster, "group_photos", lambda *_, **__: pytest.fail("grouped again"))
        again = cluster_fingerprints(rows, case, resources=ONE)
    np.testing.assert_array_equal(again.labels, wanted.labels)
    for name in ("clusters.csv", "clusters.json", "evidence.csv"):
        assert (case / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert verify_case(case).agrees


def test_a_report_belongs_to_the_tables_it_was_made_from(photos, tmp_path):
    case = tmp_path / "case"
    words = ("cluster", photos, "-o", case, "--quiet", "--workers", 1)
    assert call(*words).exit_code == 0
    before = (case / "report.html").read_text()
    assert call(*words).exit_code == 0
    assert (case / "report.html").read_text() == before
    (photos / "notes.txt").write_text("no photo")
    shutil.copy(photos / "0.jpg", photos / "copy of 0.jpg")
    extract_photos([photos], case, resources=ONE)
    stale = verify_case(case)
    assert any("report.html" in trouble or "not finished" in trouble for trouble in stale.troubles)
    call(*words)
    page = (case / "report.html").read_text()
    assert "notes.txt" in page
    assert "copy of 0.jpg" in page
    assert verify_case(case).agrees
    (case / "report.html").write_text(before)
    assert any("other tables" in trouble for trouble in verify_case(case).troubles)


def test_a_report_that_was_changed_is_seen_and_made_anew(rows, tmp_path):
    case = tmp_path / "case"
    words = ("cluster", "--fingerprints", str(rows), "-o", str(case), "--quiet")
    assert call(*words).exit_code == 0
    page = (case / "report.html").read_bytes()
    assert verify_case(case).agrees
    (case / "report.html").write_bytes(page.replace(b"</html>", b"<p>Not so.</p></html>"))
    (trouble,) = verify_case(case).troubles
    assert "or was changed" in trouble
    assert call(*words).exit_code == 0
    assert b"Not so" not in (case / "report.html").read_bytes()
    assert verify_case(case).agrees


def test_photos_that_are_gone_or_changed_are_named(photos, tmp_path):
    case = tmp_path / "case"
    first = cluster_photos([photos], case, resources=ONE).extraction
    assert (first.missing, first.changed) == ([], [])
    (photos / "1.jpg").unlink()
    (photos / "2.jpg").write_bytes(encode(scene(77, 90, 80)))
    os.utime(photos / "3.jpg", (1, 1))  # another time, the same bytes
    again = cluster_photos([photos], case, resources=ONE).extraction
    assert again.missing == ["1.jpg"]
    assert again.changed == ["2.jpg"]
    told = call("cluster", photos, "-o", case, "--workers", 1)
    assert "1 photo of the case is no longer there" in told.output
    assert "1.jpg" in told.output


def test_a_table_changed_outside_is_told_and_kept(rows, tmp_path):
    case = tmp_path / "case"
    words = ("cluster", "--fingerprints", rows, "-o", case)
    first = call(*words)
    assert "changed outside" not in first.output
    table = (case / "clusters.csv").read_text()
    edited = table.replace(",0,", ",1,", 1)
    (case / "clusters.csv").write_text(edited)
    again = call(*words)
    assert "clusters.csv had been changed outside samecam" in again.output
    assert (case / "clusters.csv").read_text() == table
    assert (case / "clusters.changed.csv").read_text() == edited
    assert "changed outside" not in call(*words).output
    assert verify_case(case).agrees


def test_a_stop_asked_for_while_grouping_is_kept(rows, tmp_path, monkeypatch):
    stop, group = threading.Event(), _cluster.group_photos

    def asked(*given, **more):
        stop.set()
        return group(*given, **more)

    monkeypatch.setattr(_cluster, "group_photos", asked)
    result = cluster_fingerprints(rows, tmp_path / "case", resources=ONE, stop=stop)
    assert stop.is_set()
    assert result.extraction.interrupted
    monkeypatch.undo()
    assert cluster_fingerprints(rows, tmp_path / "case", resources=ONE).sizes == [4, 4, 4]


def test_after_the_photos_are_read_a_signal_is_obeyed_at_once(rows, tmp_path, monkeypatch):
    seen, weigh = [], _cluster.weigh
    with stop_on_signals() as stop:

        def look(*given, **more):
            seen.append((stop.at_once, stop.is_set()))
            return weigh(*given, **more)

        monkeypatch.setattr(_cluster, "weigh", look)
        cluster_fingerprints(rows, tmp_path / "case", resources=ONE, stop=stop)
    assert seen == [(True, False)]


def test_the_original_of_identical_files_is_the_plainer_one(tmp_path):
    names = ["Copy of beach.jpg", "beach.jpg", "a/beach.jpg", "beach (1).jpg", "Beach - Kopie.jpg"]
    files = []
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"the same bytes")
        files.append(PhotoFile(name, str(path)))
    older = tmp_path / "coast.jpg"
    older.write_bytes(b"the same bytes")
    os.utime(older, (1, 1))
    files.append(PhotoFile("coast.jpg", str(older)))
    for order in (files, files[::-1]):
        (alike,) = likely_duplicates(order)
        assert [item.path for item in alike][:3] == ["coast.jpg", "beach.jpg", "a/beach.jpg"]


def test_the_case_says_which_file_a_duplicate_equals(photos, tmp_path):
    shutil.copy(photos / "0.jpg", photos / "Copy of 0.jpg")
    cluster_photos([photos], tmp_path / "case", resources=ONE)
    by_path = {photo.path: photo for photo in open_case(tmp_path / "case").photos}
    assert by_path["Copy of 0.jpg"].duplicate_of == "0.jpg"
    assert by_path["0.jpg"].duplicate_of == ""


def test_flushing_rows_leaves_no_descriptor_open(tmp_path, monkeypatch):
    (tmp_path / "shards" / "90x80").mkdir(parents=True)
    (tmp_path / "shards" / "90x80" / "00003.i8").write_bytes(b"rows")
    outcome = _worker.Outcome("a.jpg", place=_worker.Placement(Frame(90, 80), 3, 0, 0, 1.0))
    before = set(os.listdir("/proc/self/fd"))

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_worker.os, "fsync", full)
    with pytest.raises(_worker.SamecamError, match="No space left"):
        _worker.flush_rows(tmp_path, [outcome])
    assert set(os.listdir("/proc/self/fd")) == before


def test_what_a_record_says_is_a_fact(photos, tmp_path):
    """Kinds of reasons are codes, not words cut out of sentences."""
    (photos / "text.jpg").write_text("no photo: really, (none)")
    (photos / "small.png").write_bytes(encode(scene(1, 40, 40), "PNG"))
    case = tmp_path / "case"
    result = extract_photos([photos], case, resources=ONE, progress=no_progress)
    assert result.reasons["skipped"] == {"no photo": 1, "too small": 1}
    with open_case(case).open_store() as store:
        codes = {record.key: record.meta["code"] for record in store.records()}
    assert codes["text.jpg"] == "not-a-picture"
    assert codes["small.png"] == "too-small"
    assert codes["0.jpg"] == ""
    assert json.loads((case / "case.json").read_text())["counts"]["skipped"] == 2
