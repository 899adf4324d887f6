"""Decoded photos to rows on a device: the same case as the workers make."""

import json
import threading
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
from samecam.case.extraction._worker import ExtractionTask, Outcome
from samecam.case.folder import Case
from samecam.compute import Resources
from samecam.errors import SamecamError
from samecam.fingerprint import fingerprint, fingerprints
from samecam.photos import scan
from samecam.simulate import simulate_photos
from samecam.store import Record
from tests.case.conftest import SIZE
from tests.photos.pictures import scene

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

SETTINGS = ExtractionSettings(size=SIZE, dtype="float32")


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


def row_of(store, outcome):
    """The row a float32 shard holds where an outcome says it lies."""
    name = store / "shards" / f"{outcome.place.shard:05d}.f32"
    return np.fromfile(name, dtype="<f4").reshape(-1, SIZE * SIZE)[outcome.place.row]


def decoder(monkeypatch, settings):
    """The worker's own steps up to the pixels, in this process."""
    kept = []

    def keep(pixels, **_):
        kept.append(pixels)
        return np.zeros(pixels.size // 3, dtype=np.float32)

    monkeypatch.setattr(_worker, "_settings", settings)
    monkeypatch.setattr(_worker, "_writer", None)
    monkeypatch.setattr(_worker, "fingerprint", keep)

    def decode(task):
        outcome = _worker.extract(task)
        return outcome, kept.pop() if kept else None

    return decode


def test_a_case_made_through_it_is_the_one_the_workers_make(pile, tmp_path, monkeypatch):
    extract_photos([pile], tmp_path / "cpu", SETTINGS, resources=Resources(workers=1))
    decode, seen = decoder(monkeypatch, SETTINGS), set()
    with Case(tmp_path / "device", SETTINGS, [str(pile)]) as case:
        stage = DeviceStage(SETTINGS, case.store.folder, "torch-cpu")
        for file in scan([pile]):
            outcome, pixels = decode(ExtractionTask(file.path, file.file, frozenset(seen)))
            seen.add(outcome.sha256)
            stage.put(outcome, pixels, file.path)
        done = stage.finish(force=True)
        stage.close()
        assert sorted(tag for _, tag in done) == [file.path for file in scan([pile])]
        for outcome, tag in done:
            assert outcome.path == tag
            place = outcome.place
            record = Record(tag, outcome.sha256, outcome.meta(), has_row=place is not None)
            case.store.add_placed(record, place)
        case.store.commit()
        assert case.store.verify() == []
        with open_store(tmp_path / "cpu") as expected:
            assert list(case.store.keys) == list(expected.keys)
            np.testing.assert_allclose(case.store.read(), expected.read(), atol=2e-6)
            metas = {r.key: r.meta for r in expected.records()}
        for outcome, tag in done:
            if outcome.status != "duplicate":
                assert outcome.meta() == metas[tag]
    flat = next(outcome for outcome, tag in done if tag == "b/flat.png")
    assert (flat.status, flat.place) == ("unusable", None)
    assert flat.reason == "no noise residual: the crop is flat"


def test_batches_are_whole_unless_forced(shards, monkeypatch):
    sizes = []

    def counted(pictures, **options):
        sizes.append(len(pictures))
        return fingerprints(pictures, **options)

    monkeypatch.setattr(_device, "fingerprints", counted)
    stage = DeviceStage(SETTINGS, shards, "torch-cpu")
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
        np.testing.assert_allclose(row_of(shards, outcome), expected, atol=2e-6)


def test_it_holds_no_more_than_it_may():
    stage = DeviceStage(SETTINGS, None, "torch-cpu")
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
    stage = DeviceStage(SETTINGS, shards, "torch-cpu")
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
        np.testing.assert_allclose(row_of(shards, outcome), fingerprint(pixels), atol=2e-6)


def test_crops_of_another_size_and_a_lost_store():
    stage = DeviceStage(SETTINGS, Path("/nowhere/store"), "torch-cpu")
    with pytest.raises(ValueError, match=r"shape \(32, 64, 3\)"):
        stage.put(Outcome("a"), crop(0)[:32], None)
    stage.put(Outcome("a"), crop(0), None)
    with pytest.raises(SamecamError, match="cannot be written"):
        stage.finish(force=True)


def test_a_case_by_one_command_on_a_device(tmp_path, monkeypatch):
    monkeypatch.setattr(_device, "BATCH", 8)
    pile = tmp_path / "sim" / "images"
    simulate_photos(tmp_path / "sim", cameras=3, images=16, size=(512, 384), seed=2)
    settings = (ExtractionSettings(size=256), ClusteringSettings())
    host = cluster_photos([pile], tmp_path / "cpu", *settings, resources=Resources(workers=2))
    stop = threading.Event()

    def soon(_phase, done, _total):
        if done:
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
    assert (tmp_path / "device/images.csv").read_bytes() == (
        tmp_path / "cpu/images.csv"
    ).read_bytes()
    info = json.loads((tmp_path / "device/case.json").read_text())
    assert info["device"] == "torch-cpu"
    assert info["clustering"]["details"]["device"] == "torch-cpu"
    assert info["clustering"]["details"]["memory_bytes"] > 0
    checked = verify_case(tmp_path / "device")
    assert checked.replayed
    assert not checked.relabelled


def test_a_replay_without_the_device_that_grouped_says_so(pile, tmp_path):
    cluster_photos([pile], tmp_path / "c", SETTINGS, resources=Resources(workers=1))
    file = tmp_path / "c" / "case.json"
    info = json.loads(file.read_text())
    info["clustering"]["details"]["device"] = "cuda:77 (Some GPU)"
    info["clustering"]["details"]["memory_bytes"] = 2**50
    file.write_text(json.dumps(info))
    checked = verify_case(tmp_path / "c")
    assert checked.replayed
    assert checked.other_device == "cuda:77 (Some GPU)"
    assert not checked.relabelled
