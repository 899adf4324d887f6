"""What a method is given: which rows, which mask, which constants."""

import json

import numpy as np
import pytest

import samecam.cluster
from samecam import cluster_photos
from samecam.case import ClusteringSettings, ExtractionSettings
from samecam.case.grouping import _method
from samecam.case.grouping._method import group_photos
from samecam.compute import Resources, no_progress
from samecam.errors import SamecamError
from samecam.store import DiskStore, MemoryStore, Subset
from tests.case.conftest import write
from tests.photos.pictures import encode, scene


class Recorder:
    """An estimator that groups by the first number of a row and remembers what it was given."""

    calls: list = []  # noqa: RUF012

    def __init__(self, metric="correlation", memory=0, n_pixels=None, **options):
        self.metric, self.memory, self.n_pixels, self.options = metric, memory, n_pixels, options

    def get_params(self):
        return {"metric": self.metric, "memory": self.memory, "n_pixels": self.n_pixels}

    def set_params(self, **params):
        vars(self).update(params)

    def check_parameters(self):
        pass

    def _note(self, X, **given):
        self.calls.append((self, X, given))
        self.labels_ = np.zeros(len(X), dtype=np.intp)
        return self


class Plain(Recorder):
    def fit(self, X):
        return self._note(X)


class Joining(Recorder):
    def fit(self, X, *, weak=None, progress=None):
        progress("Correlating", 0, 1)
        return self._note(X, weak=weak)


class Large(Recorder):
    def fit(self, X, *, progress=None, executor=None):
        progress("Splitting", 0, 1)
        return self._note(X, executor=executor)


@pytest.fixture
def methods(monkeypatch):
    monkeypatch.setattr(Recorder, "calls", [])
    for name, kind in (("consolidated", Joining), ("ssc", Plain), ("ls-ssc", Large)):
        monkeypatch.setitem(samecam.cluster.METHODS, name, kind)
    return Recorder.calls


def filled(store, statuses, dark=()):
    rng = np.random.default_rng(0)
    for k, status in enumerate(statuses):
        row = rng.normal(size=store.n_pixels)
        meta = {"status": status, "dark": 0.76 if k in dark else 0.75}
        store.add(f"{k:03d}", row / np.linalg.norm(row), meta=meta)
    store.commit()
    return store


MIXED = ["good", "weak", "good", "good", "weak", "good"]


def group(store, name, **more):
    phases = []
    settings = ClusteringSettings(name, preset=more.pop("preset", "default"))
    resources = Resources(**{"workers": 1, "device": "cpu", "memory": 10**8, **more})
    labels, _ = group_photos(
        store, store.records(), settings, resources, lambda *call: phases.append(call)
    )
    return labels.tolist(), phases


def test_a_method_that_lets_weak_photos_join_gets_the_store_and_a_mask(methods):
    store = filled(MemoryStore(30), MIXED)
    labels, phases = group(store, "auto")
    method, X, given = methods[0]
    assert X is store
    assert (method.metric, method.memory) == ("correlation", 10**8)
    assert given["weak"].tolist() == [status == "weak" for status in MIXED]
    assert labels == [0] * 6
    assert phases == [("Correlating", 0, 1)]


def test_another_gets_the_correlations_of_the_good_ones(methods):
    store = filled(MemoryStore(30), MIXED)
    labels, phases = group(store, "ssc")
    method, X, _ = methods[0]
    good = [0, 2, 3, 5]
    rows = store.read(good)
    np.testing.assert_allclose(X, rows @ rows.T, atol=1e-6)
    assert (method.metric, method.n_pixels) == ("precomputed", 30)
    assert labels == [0, -1, 0, 0, -1, 0]
    assert [phase for phase, *_ in phases] == ["Correlating"] * 2 + ["Grouping"] * 2


def test_a_large_one_gets_the_good_rows_and_processes_where_it_can_use_them(methods, tmp_path):
    labels, _ = group(filled(MemoryStore(30), MIXED), "ls-ssc", workers=2)
    _, X, given = methods[0]
    assert isinstance(X, Subset)
    assert X.rows.tolist() == [0, 2, 3, 5]
    assert given["executor"] is None
    assert labels == [0, -1, 0, 0, -1, 0]
    with DiskStore.create(tmp_path / "store", n_pixels=30) as store:
        filled(store, ["good"] * 4)
        group(store, "ls-ssc", workers=2)
        group(store, "ls-ssc", workers=1)
    assert methods[1][1] is methods[2][1] is store
    assert methods[1][2]["executor"].workers == 2
    assert methods[2][2]["executor"] is None


@pytest.mark.parametrize(
    ("name", "preset", "left_out"),
    [
        ("ssc", "paper", True),
        ("ls-ssc", "paper", True),
        ("auto", "paper", False),
        ("ssc", "default", False),
    ],
)
def test_the_papers_dark_filter(methods, monkeypatch, name, preset, left_out):
    monkeypatch.setattr(ClusteringSettings, "_published", lambda *_: {})
    store = filled(MemoryStore(30), ["good"] * 5, dark=(1, 4))
    labels, _ = group(store, name, preset=preset)
    assert labels == ([0, -1, 0, 0, -1] if left_out else [0] * 5)
    assert len(methods[0][1]) == (3 if left_out else 5)


@pytest.mark.parametrize("statuses", [["weak"] * 3, []])
def test_without_a_good_photo_there_is_no_group(methods, statuses):
    labels, _ = group(filled(MemoryStore(30), statuses), "auto")
    assert labels == [-1] * len(statuses)
    assert methods == []


def test_the_papers_constants():
    paper = ClusteringSettings("ssc-nc", preset="paper")
    assert paper.estimator().gamma == "paper"
    assert ClusteringSettings("ssc-nc", {"gamma": 0.2}, preset="paper").estimator().gamma == 0.2
    assert ClusteringSettings("ssc-nc").estimator().gamma == "auto"
    ClusteringSettings("auto", preset="paper").estimator()
    with pytest.raises(SamecamError, match="preset"):
        ClusteringSettings(preset="papper")
    if "ls-ssc" in samecam.cluster.METHODS:
        assert ClusteringSettings("ls-ssc", preset="paper").estimator().preset == "paper"
        assert ClusteringSettings("ls-ssc").estimator().preset == "default"


def test_weak_photos_join_the_camera_that_took_them(tmp_path):
    """Planted: two strong patterns; two photos of each are half over-exposed."""
    rng = np.random.default_rng(5)
    patterns = rng.normal(0, 0.06, (2, 160, 160, 1))
    for k in range(24):
        picture = scene(k, 160, 160).astype(float) * (1 + patterns[k % 2])
        if k < 4:
            picture[:80] = 255
        write(
            tmp_path / "photos" / f"{k:02d}.png",
            encode(np.clip(picture, 0, 255).astype("u1"), "PNG"),
        )
    result = cluster_photos(tmp_path / "photos", tmp_path / "c", ExtractionSettings(size=160))
    assert result.extraction.counts["weak"] == 4
    assert len(result.sizes) == 2
    joined = result.labels[:4]
    strong = result.labels[4:6]
    assert (joined >= 0).any(), "weak photos may join"
    for k in range(4):
        assert joined[k] in (-1, strong[k % 2])
    content = json.loads((tmp_path / "c" / "clusters.json").read_text())
    assert sum(group["size"] for group in content["clusters"]) == np.count_nonzero(
        result.labels >= 0
    )


def test_a_store_that_is_not_that_of_the_photos_is_a_bug():
    store = filled(MemoryStore(30), ["good"] * 3)
    with pytest.raises(RuntimeError, match="store"):
        group_photos(store, store.records()[:2], ClusteringSettings(), Resources(), no_progress)


def test_only_what_stays_on_a_gpu_is_budgeted_by_its_memory(monkeypatch):
    free = {"cpu": 10, "cuda:0": 100}
    monkeypatch.setattr(_method.compute, "default_memory", free.__getitem__)
    there = Resources(device="cuda:0")
    assert _method.grouping_memory(ClusteringSettings(), there) == 100
    for method in ("ls-ssc", "ssc-nc", "lin-ls"):
        assert _method.grouping_memory(ClusteringSettings(method), there) == 10
        assert _method.grouping_memory(ClusteringSettings(method), Resources(memory=7)) == 7
    assert _method.grouping_memory(ClusteringSettings("ls-ssc"), Resources(device="cpu")) == 10
