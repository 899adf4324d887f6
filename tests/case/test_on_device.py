"""Decoded photos to rows on a device: the same case as the workers make."""

import csv
import json
import threading
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

from samecam.case import (
    ClusteringSettings,
    ExtractionSettings,
    cluster_photos,
    extract_photos,
    open_store,
    verify_case,
)
from samecam.case.extraction import _device, _worker
from samecam.case.extraction._device import BATCH, HELD, DeviceStage
from samecam.case.extraction._dispatch import OnDevice
from samecam.case.extraction._worker import ExtractionTask, Outcome
from samecam.case.folder import Case
from samecam.compute import Resources
from samecam.errors import SamecamError
from samecam.fingerprint import fingerprint, fingerprints
from samecam.photos import scan
from samecam.simulate import simulate_photos
from tests.case.conftest import SIZE, keys_of, row_of
from tests.photos.pictures import scene

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

SQUARE = ExtractionSettings(size=SIZE, dtype="float32")
KINDS = {
    "square": SQUARE,
    "whole frame": ExtractionSettings(),
    "bits": ExtractionSettings(dtype="bits"),
    "2bits": ExtractionSettings(dtype="2bits"),
}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def shards(tmp_path):
    (tmp_path / "store" / "shards").mkdir(parents=True)
    return tmp_path / "store"


def crop(seed):
    return np.ascontiguousarray(scene(seed, SIZE, SIZE))


def stored_row(store, outcome):
    """The row a float32 shard holds where an outcome says it lies."""
    name = store / "shards" / outcome.place.frame.name / f"{outcome.place.shard:05d}.f32"
    return np.fromfile(name, dtype="<f4").reshape(-1, SIZE * SIZE)[outcome.place.row]


def table(path):
    with open(path, newline="") as stream:
        return list(csv.DictReader(stream))


def agree(one, other, kind):
    """Rows of one photo from two devices, which add up in another order."""
    if kind == "square":
        np.testing.assert_allclose(one, other, atol=2e-6)
    else:  # a step of int8 here and there, a bit of a pixel with hardly any residual
        assert one @ other > (0.999 if "bits" in kind else 0.9999)


@pytest.mark.parametrize("kind", KINDS)
def test_a_case_made_through_it_is_the_one_the_workers_make(pile, tmp_path, monkeypatch, kind):
    settings, seen = KINDS[kind], set()
    extract_photos([pile], tmp_path / "cpu", settings, resources=Resources(workers=1))
    monkeypatch.setattr(_worker, "_settings", settings)
    with Case(tmp_path / "device", settings, [str(pile)]) as case:
        stage = DeviceStage(settings, case.store.folder, "torch-cpu")
        for file in scan([pile]):
            outcome, pixels = _worker.decode(ExtractionTask(file.path, file.file, frozenset(seen)))
            seen.add(outcome.sha256)
            stage.put(outcome, pixels, file.path)
        done = stage.finish(force=True)
        stage.close()
        assert sorted(tag for _, tag in done) == [file.path for file in scan([pile])]
        for outcome, tag in done:
            assert outcome.path == tag
            meta = outcome.meta()
            case.store.add_placed(tag, outcome.place, sha256=outcome.sha256, meta=meta)
        case.store.commit()
        assert case.store.verify() == []
        with open_store(tmp_path / "cpu") as expected:
            assert case.store.frames == expected.frames
            assert keys_of(case.store) == keys_of(expected)
            for key in keys_of(expected):
                agree(row_of(case.store, key), row_of(expected, key), kind)
            metas = {r.key: r.meta for r in expected.records()}
        for outcome, tag in done:
            if outcome.status != "duplicate":
                wanted = dict(metas[tag])
                flat = wanted.pop("flat")
                assert outcome.meta() == {**wanted, "flat": pytest.approx(flat, abs=0.01)}
    by_tag = {tag: outcome for outcome, tag in done}
    flat = by_tag["b/flat.png"]
    assert (flat.status, flat.place) == ("unusable", None)
    assert flat.reason == "no noise residual: the picture is flat"


def test_batches_are_whole_unless_forced(shards, monkeypatch):
    sizes = []

    def counted(pictures, **options):
        sizes.append(len(pictures))
        return fingerprints(pictures, **options)

    monkeypatch.setattr(_device, "fingerprints", counted)
    stage = DeviceStage(SQUARE, shards, "torch-cpu")
    crops = [crop(k) for k in range(5)]
    tags = [object() for _ in range(2 * BATCH + 3)]

    def put(numbers):
        for k in numbers:
            stage.put(Outcome(str(k), status="good"), crops[k % 5], tags[k])

    put(range(BATCH - 1))
    assert stage.finish() == []
    put(range(BATCH - 1, len(tags)))
    done = stage.finish()
    assert [tag for _, tag in done] == tags[: 2 * BATCH]
    assert stage.waiting == 3
    last = stage.finish(force=True)
    assert [tag for _, tag in last] == tags[2 * BATCH :]
    assert stage.finish(force=True) == []
    assert sizes == [BATCH, BATCH, 3]
    for k, (outcome, _) in enumerate(done + last):
        assert (outcome.path, outcome.status) == (str(k), "good")
        assert set(outcome.seconds) == {"residual", "write"}
    stage.close()
    for outcome, _ in (done[0], done[BATCH + 1], last[2]):
        expected = fingerprint(crops[int(outcome.path) % 5])
        np.testing.assert_allclose(stored_row(shards, outcome), expected, atol=2e-6)


def test_it_holds_no_more_than_it_may():
    stage = DeviceStage(SQUARE, None, "torch-cpu")
    pixels = crop(0)
    for k in range(HELD):
        assert not stage.full
        stage.put(Outcome(str(k)), pixels, k)
    assert stage.full
    with pytest.raises(ValueError, match="call finish first"):
        stage.put(Outcome("more"), pixels, 0)
    stage.put(Outcome("not decoded"), None, -1)
    assert stage.waiting == HELD
    assert [tag for _, tag in stage.finish()] == [-1, *range(HELD)]
    assert not stage.full


def test_flat_pictures_and_finer_levels_among_others(shards):
    stage = DeviceStage(SQUARE, shards, "torch-cpu")
    fine = crop(1).astype(np.float32) + np.float32(0.4)
    flat = np.full((SIZE, SIZE, 3), 90, np.uint8)
    for tag, pixels in enumerate([crop(0), flat, fine, crop(2)]):
        stage.put(Outcome(str(tag), status="good"), pixels, tag)
    done = stage.finish(force=True)
    stage.close()
    assert [outcome.status for outcome, _ in done] == ["good", "unusable", "good", "good"]
    assert done[1][0].seconds == {}
    assert [outcome.place.row for outcome, _ in done if outcome.place] == [0, 1, 2]
    for (outcome, _), pixels in zip(done[::2], [crop(0), fine], strict=True):
        np.testing.assert_allclose(stored_row(shards, outcome), fingerprint(pixels), atol=2e-6)


def test_pictures_of_several_frames_wait_each_with_its_own(shards, monkeypatch):
    monkeypatch.setattr(_device, "BATCH", 2)
    stage = DeviceStage(ExtractionSettings(), shards, "torch-cpu")
    shapes = [(90, 80), (64, 70), (90, 80), (64, 70), (100, 64)]
    for k, (width, height) in enumerate(shapes):
        luma = np.ascontiguousarray(scene(k, width, height)[..., 1])
        stage.put(Outcome(str(k), status="good", sha256=f"{k:064x}"), luma, k)
    done = stage.finish()
    assert sorted(tag for _, tag in done) == [0, 1, 2, 3]
    assert stage.waiting == 1
    done += stage.finish(force=True)
    stage.close()
    for outcome, k in done:
        assert outcome.place.frame == shapes[k]
        assert 0 <= outcome.flat < 0.1


def test_as_many_pictures_wait_as_memory_allows(monkeypatch):
    luma = np.zeros((80, 100), np.uint8)
    monkeypatch.setattr(_device, "_HELD_BYTES", 3 * luma.nbytes)
    stage = DeviceStage(ExtractionSettings(), None, "torch-cpu")
    for k in range(3):
        assert not stage.full
        stage.put(Outcome(str(k)), luma, k)
    assert stage.full


@pytest.mark.parametrize(("pixels", "most"), [(100, 24), (2**26, 16), (200_000_000, 5), (2**31, 4)])
def test_as_many_pictures_are_decoded_ahead_as_memory_allows(pixels, most):
    class Pool:
        workers = 4

        def submit(self, *_):
            return Future()

    stage = DeviceStage(ExtractionSettings(), None, "torch-cpu")
    ahead = OnDevice(Pool(), 1.0, stage, pixels)
    count = 0
    while ahead.wants():
        ahead.put(ExtractionTask("a", "a"))
        count += 1
    assert count == most


def test_crops_of_another_size_and_a_lost_store():
    stage = DeviceStage(SQUARE, Path("/nowhere/store"), "torch-cpu")
    with pytest.raises(ValueError, match=r"shape \(32, 64, 3\)"):
        stage.put(Outcome("a"), crop(0)[:32], None)
    stage.put(Outcome("a"), crop(0), None)
    with pytest.raises(SamecamError, match="cannot be written"):
        stage.finish(force=True)


@pytest.mark.parametrize("size", [256, None])
def test_a_case_by_one_command_on_a_device(tmp_path, monkeypatch, size):
    monkeypatch.setattr(_device, "BATCH", 8)
    pile = tmp_path / "sim" / "images"
    simulate_photos(tmp_path / "sim", cameras=2, images=12, size=(400, 304), seed=2)
    settings = (ExtractionSettings(size=size), ClusteringSettings())
    host = cluster_photos([pile], tmp_path / "cpu", *settings, resources=Resources(workers=2))
    stop = threading.Event()

    def soon(phase, done, _total):
        if phase == "Extracting" and done:
            stop.set()

    words = {"resources": Resources(workers=2, device="torch-cpu")}
    first = cluster_photos(
        [pile], tmp_path / "device", *settings, stop=stop, progress=soon, **words
    )
    assert first.extraction.interrupted
    result = cluster_photos([pile], tmp_path / "device", *settings, **words)
    assert not result.extraction.interrupted
    assert result.paths == host.paths
    assert (result.labels == host.labels).all()
    assert result.labels.max() >= 1
    tables = [table(tmp_path / name / "images.csv") for name in ("device", "cpu")]
    for there, here in zip(*tables, strict=True):
        flat = [float(row.pop("flat") or 0) for row in (there, here)]
        assert flat[0] == pytest.approx(flat[1], abs=1e-4)  # pixels at the edge of being flat
        assert there == here
    info = json.loads((tmp_path / "device/case.json").read_text())
    assert info["device"] == "torch-cpu"
    assert info["clustering"]["details"]["device"] == "torch-cpu"
    assert info["clustering"]["details"]["memory_bytes"] > 0
    checked = verify_case(tmp_path / "device")
    assert checked.replayed
    assert not checked.relabelled


def test_a_replay_without_the_device_that_grouped_says_so(pile, tmp_path):
    cluster_photos([pile], tmp_path / "c", resources=Resources(workers=1))
    file = tmp_path / "c" / "case.json"
    info = json.loads(file.read_text())
    info["clustering"]["details"]["device"] = "cuda:77 (Some GPU)"
    info["clustering"]["details"]["memory_bytes"] = 2**50
    file.write_text(json.dumps(info))
    checked = verify_case(tmp_path / "c")
    assert checked.replayed
    assert checked.other_device == "cuda:77 (Some GPU)"
    assert not checked.relabelled
