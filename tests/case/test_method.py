"""What a method is given: which rows, which mask, which constants."""

import json
from collections import Counter

import numpy as np
import pytest

import samecam.cluster
from samecam import cluster_photos
from samecam.case import ClusteringSettings
from samecam.case.grouping import _method
from samecam.case.grouping._executor import executor_for
from samecam.case.grouping._method import group_photos
from samecam.compute import Resources, no_progress
from samecam.correlate import null_scale
from samecam.errors import SamecamError
from samecam.frames import Frame
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
        return self

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


@pytest.fixture
def stored(tmp_path):
    """Makes stores of 30 random numbers a photo."""
    made = []

    def make(statuses, dark=()):
        folder = tmp_path / f"store{len(made)}"
        store = DiskStore.create(folder, frame=Frame(30, 1), dtype="float32")
        made.append(store)
        rng = np.random.default_rng(0)
        for k, status in enumerate(statuses):
            row = rng.normal(size=30)
            meta = {"status": status, "dark": 0.76 if k in dark else 0.75}
            store.add(f"{k:03d}", row / np.linalg.norm(row), meta=meta)
        store.commit()
        return store

    yield make
    for store in made:
        store.close()


MIXED = ["good", "weak", "good", "good", "weak", "good"]


def group(store, name, **more):
    phases = []
    settings = ClusteringSettings(name, preset=more.pop("preset", "default"))
    resources = Resources(**{"workers": 1, "device": "cpu", "memory": 10**8, **more})
    labels, _ = group_photos(
        store, store.records(), settings, resources, lambda *call: phases.append(call)
    )
    return labels.tolist(), phases


def test_a_method_that_lets_weak_photos_join_gets_the_store_and_a_mask(methods, stored):
    store = stored(MIXED)
    labels, phases = group(store, "auto")
    method, X, given = methods[0]
    assert X is store.rows()
    assert (method.metric, method.memory) == ("correlation", 10**8)
    assert given["weak"].tolist() == [status == "weak" for status in MIXED]
    assert "colour" not in given  # which these fingerprints do not say
    assert labels == [0] * 6
    assert phases == [("Correlating", 0, 1)]


def test_another_gets_the_correlations_of_the_good_ones(methods, stored):
    store = stored(MIXED)
    labels, phases = group(store, "ssc")
    method, X, _ = methods[0]
    good = [0, 2, 3, 5]
    rows = store.rows().read(good)
    np.testing.assert_allclose(X, rows @ rows.T, atol=1e-6)
    assert (method.metric, method.n_pixels) == ("precomputed", 30)
    assert labels == [0, -1, 0, 0, -1, 0]
    assert [phase for phase, *_ in phases] == ["Correlating"] * 2 + ["Grouping"] * 2


def test_a_large_one_gets_the_good_rows_and_processes_where_it_can_use_them(methods, stored):
    labels, _ = group(stored(MIXED), "ls-ssc", workers=2)
    _, X, given = methods[0]
    assert isinstance(X, Subset)
    assert X.rows.tolist() == [0, 2, 3, 5]
    assert given["executor"].workers == 2
    assert labels == [0, -1, 0, 0, -1, 0]
    store = stored(["good"] * 4)
    group(store, "ls-ssc", workers=2)
    group(store, "ls-ssc", workers=1)
    assert methods[1][1] is methods[2][1] is store.rows()
    assert methods[1][2]["executor"].workers == 2
    assert methods[2][2]["executor"] is None


def test_rows_that_are_not_on_disk_go_to_no_process():
    rows, two = MemoryStore(30), Resources(workers=2, device="cpu")
    for source in (rows, Subset(rows, np.zeros(0, np.intp))):
        with executor_for(Large(), source, two) as executor:
            assert executor is None


@pytest.mark.parametrize(
    ("name", "preset", "left_out"),
    [
        ("ssc", "paper", True),
        ("ls-ssc", "paper", True),
        ("auto", "paper", False),
        ("ssc", "default", False),
    ],
)
def test_the_papers_dark_filter(methods, stored, monkeypatch, name, preset, left_out):
    monkeypatch.setattr(ClusteringSettings, "_published", lambda *_: {})
    store = stored(["good"] * 5, dark=(1, 4))
    labels, _ = group(store, name, preset=preset)
    assert labels == ([0, -1, 0, 0, -1] if left_out else [0] * 5)
    assert len(methods[0][1]) == (3 if left_out else 5)


@pytest.mark.parametrize("statuses", [["weak"] * 3, []])
def test_without_a_good_photo_there_is_no_group(methods, stored, statuses):
    labels, _ = group(stored(statuses), "auto")
    assert labels == [-1] * len(statuses)
    assert methods == []


class Rated(Recorder):
    """With rates, and a scale of chance that it is told of or measures."""

    def __init__(self, found_rate=0.02, join_rate=0.03, merge_rate=0.04, usual_scale=None, **more):
        super().__init__(**more)
        self.found_rate, self.join_rate, self.merge_rate = found_rate, join_rate, merge_rate
        self.usual_scale = usual_scale

    def get_params(self):
        names = ("found_rate", "join_rate", "merge_rate", "usual_scale")
        return {**super().get_params(), **{name: getattr(self, name) for name in names}}

    def fit(self, X, *, weak=None, progress=None):
        progress("Grouping", len(X), len(X))
        self.null_scale_ = 3 / np.sqrt(X.n_pixels)
        return self._note(X, weak=weak)


FRAMES = {Frame(40, 30): 12, Frame(30, 40): 9, Frame(20, 20): 3, Frame(70, 10): 1}


@pytest.fixture
def framed(tmp_path):
    """Random rows of several frames, in one store."""
    rng, numbers = np.random.default_rng(0), iter(np.random.default_rng(1).permutation(25))
    with DiskStore.create(tmp_path / "store", dtype="float32") as store:
        for frame, count in FRAMES.items():
            for _ in range(count):
                row = rng.normal(size=frame.n_pixels)
                store.add(f"{next(numbers):02d}", row, frame=frame, meta={"status": "good"})
        store.commit()
        yield store


def test_each_frame_has_its_share_of_the_rates_and_leans_on_those_before(
    methods, framed, monkeypatch
):
    monkeypatch.setitem(samecam.cluster.METHODS, "consolidated", Rated)
    labels, phases = group(framed, "auto")
    assert [X.frame for _, X, _ in methods] == list(FRAMES)[:3], "most photos first; one is none"
    for (method, X, _), count in zip(methods, (12, 9, 3), strict=True):
        assert len(X) == count
        assert method.found_rate == pytest.approx(0.02 * count / 25)
        assert method.merge_rate == pytest.approx(0.04 * count / 25)
        assert method.join_rate == 0.03, "what a photo joins by is of that photo alone"
    first, *rest = [method.usual_scale for method, *_ in methods]
    assert first is None
    assert rest == pytest.approx([3, 3])
    sizes = Counter(labels)
    assert (sizes.pop(-1), sorted(sizes.values())) == (1, [3, 9, 12])
    assert phases == [("Grouping", 12, 25), ("Grouping", 21, 25), ("Grouping", 24, 25)]


def test_with_one_frame_the_rates_are_whole_to_the_bit(methods, stored, monkeypatch):
    monkeypatch.setitem(samecam.cluster.METHODS, "consolidated", Rated)
    group(stored(MIXED), "auto")
    method, *_ = methods[0]
    assert (method.found_rate, method.merge_rate, method.usual_scale) == (0.02, 0.04, None)


def test_the_usual_scale_is_weighed_by_pairs_and_knows_nothing_from_few_photos():
    usual = _method._Usual()
    assert usual.value is None
    usual.add(0.5, Frame(10, 10), 7)
    usual.add(None, Frame(10, 10), 100)
    assert usual.value is None
    usual.add(0.2, Frame(10, 10), 8)  # 2 in units of 1/√100, by 28 pairs
    assert usual.value == pytest.approx(2)
    usual.add(0.1, Frame(40, 10), 20)  # also 2, by 190
    assert usual.value == pytest.approx(2)
    usual.add(0.1, Frame(10, 10), 20)  # 1, by 190
    assert usual.value == pytest.approx(np.sqrt((28 * 4 + 190 * 4 + 190) / (28 + 190 + 190)))


@pytest.mark.parametrize("n", [3, 10, 40])
def test_a_small_frame_leans_on_what_others_showed(n):
    """The usual counts as 100 pairs beside those there are: less and less."""
    gram = np.random.default_rng(n).normal(0, 0.02, (n, n))
    gram = np.tril(gram, -1) + np.tril(gram, -1).T + np.eye(n)
    d, usual = 10_000, 1.5
    alone, leaning = null_scale(gram, d), null_scale(gram, d, usual)
    if n < 8:  # too few to measure anything
        assert alone == pytest.approx(0.014)
        assert leaning == pytest.approx(0.015)
        return
    pairs = n * (n - 1) / 2
    assert leaning**2 == pytest.approx((100 * 0.015**2 + pairs * alone**2) / (100 + pairs))
    assert min(0.015, alone) < leaning < max(0.015, alone)
    assert null_scale(gram, None, usual) == null_scale(gram, None), "of unknown length"


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
    result = cluster_photos(tmp_path / "photos", tmp_path / "c")
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


def test_a_store_that_is_not_that_of_the_photos_is_a_bug(stored):
    store = stored(["good"] * 3)
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
