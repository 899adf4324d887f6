"""Photos of several frames in one case: each compared with its own, whatever lies beside them."""

import csv
import json
import shutil
import signal
from collections import Counter

import numpy as np
import pytest

from samecam import cluster_photos, correlate
from samecam.case import (
    ClusteringSettings,
    ExtractionSettings,
    add_photos,
    compare_methods,
    open_case,
    open_store,
    tune_case,
    used_photos,
    verify_case,
)
from samecam.case.grouping import _cluster, group_photos
from samecam.case.grouping._evidence import weigh
from samecam.cluster import METHODS, ConsolidatedSSC
from samecam.cluster.consolidate import _batches
from samecam.compute import Resources, no_progress
from samecam.errors import SamecamError
from samecam.frames import Frame
from samecam.report import write_report
from samecam.report._correlations import correlations
from tests.case.conftest import row_of
from tests.case.many import ALONE, FRAMES, GROUPS, by_camera, groups_of, make_pile
from tests.case.studied import compare_here
from tests.processes import run, run_apart

TABLES = ("images.csv", "clusters.csv", "evidence.csv", "clusters.json")
KINDS = {
    "int8": ExtractionSettings(),
    "bits": ExtractionSettings(dtype="bits"),
    "2bits": ExtractionSettings(dtype="2bits"),
}


@pytest.fixture(scope="module")
def pile(tmp_path_factory):
    return make_pile(tmp_path_factory.mktemp("frames") / "photos")


@pytest.fixture(scope="module", params=KINDS)
def made(request, pile, tmp_path_factory):
    case = tmp_path_factory.mktemp("frames") / "case"
    return cluster_photos(pile.folder, case, KINDS[request.param])


@pytest.fixture(scope="module")
def whole(pile, tmp_path_factory):
    """By one process: all rows of a frame lie in one shard."""
    case = tmp_path_factory.mktemp("frames") / "case"
    return cluster_photos(pile.folder, case, resources=Resources(workers=1))


@pytest.fixture
def case(whole, tmp_path):
    """A copy: free to be spoilt."""
    shutil.copytree(whole.case, tmp_path / "case")
    return tmp_path / "case"


def table(path):
    with open(path, newline="") as stream:
        return list(csv.DictReader(stream))


def truth_of(pile, path):
    rows = "".join(f"{name},{camera}\n" for name, camera in pile.camera.items())
    path.write_text(f"path,camera\n{rows}")
    return path


def same_tables(one, other, names=TABLES):
    for name in names:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


# The answer


def test_every_camera_is_one_group_and_no_group_mixes_frames(pile, made):
    assert groups_of(made.paths, made.labels.tolist()) == by_camera(pile)
    assert made.sizes == GROUPS
    assert made.n_unclustered == ALONE
    assert made.labels.max() == len(GROUPS) - 1
    for group in made.groups:
        assert {pile.frame[path] for path in group.paths} == {group.frame}
        near = made.groups[group.nearest] if group.nearest is not None else None
        assert near is None or near.frame == group.frame, "groups of two frames are not compared"


def test_evidence_of_a_run_that_goes_on_is_the_same(pile, made, tmp_path, monkeypatch):
    """It comes from the store alone, and before from correlations that grouping had computed."""
    shutil.copytree(made.case, tmp_path / "case")
    (tmp_path / "case" / "evidence.csv").unlink()
    monkeypatch.setattr(_cluster, "group_photos", lambda *_, **__: pytest.fail("grouped again"))
    with open_store(made.case) as store:
        settings = ExtractionSettings(dtype=store.dtype)
    cluster_photos(pile.folder, tmp_path / "case", settings)
    same_tables(tmp_path / "case", made.case)


def test_correlations_of_bits_are_kept_for_the_evidence(made, monkeypatch):
    used, sums = [], correlate.photo_sums

    def seen(*given, gram, **more):
        used.append(gram is not None)
        return sums(*given, gram=gram, **more)

    monkeypatch.setattr(correlate, "photo_sums", seen)
    with open_store(made.case) as store, correlate.KeptGrams() as kept:
        photos, resources = used_photos(store), Resources(workers=1).resolve()
        given = (store, photos, ClusteringSettings(), resources, no_progress)
        labels, _ = group_photos(*given, kept=kept)
        weigh(store, photos, labels, {}, 2**28, no_progress, kept=kept)
        assert set(used) == {store.dtype in ("bits", "2bits")}


def test_every_table_says_the_frame(pile, made):
    for row in table(made.case / "clusters.csv"):
        assert row["frame"] == pile.frame[row["path"]]
    for row in table(made.case / "images.csv"):
        assert f"{row['width']}x{row['height']}" == pile.frame[row["path"]]
    cameras = json.loads((made.case / "clusters.json").read_text())["clusters"]
    frames = [group["frame"] for camera in cameras for group in camera["groups"]]
    assert frames == [group.frame for group in made.groups]
    counts = Counter(pile.frame.values())
    assert {f.name: n for f, n in made.extraction.frames.items()} == counts
    assert list(made.extraction.frames.values()) == sorted(counts.values(), reverse=True)
    assert {photo.frame for photo in open_case(made.case).used} == FRAMES
    facts = json.loads((made.case / "case.json").read_text())["clustering"]["details"]["frames"]
    assert set(facts) == FRAMES
    for name, fact in facts.items():
        assert (fact.get("null_scale") or 0) > 0 or counts[name] == 1


def test_photos_are_compared_with_the_groups_of_their_frame_alone(pile, made):
    within = Counter(group.frame for group in made.groups)
    for row in table(made.case / "evidence.csv"):
        assert int(row["comparisons"]) == within[pile.frame[row["path"]]]
        for name in ("cluster", "nearest"):
            if row[name] not in ("", "-1"):
                assert made.groups[int(row[name])].frame == pile.frame[row["path"]]


def test_rows_of_each_frame_have_a_folder_and_a_length_of_their_own(pile, made):
    kinds = {"auto": ("i8", 0), "bits": ("bits", 8), "2bits": ("2bits", 16)}
    with open_store(made.case) as store:
        assert {frame.name for frame in store.frames} == FRAMES
        ending, word = kinds[store.dtype]
        for frame in store.frames:
            folder = store.folder / "shards" / frame.name
            row = word * -(-frame.n_pixels // 64) or frame.n_pixels
            count = Counter(pile.frame.values())[frame.name]
            assert {path.suffix for path in folder.iterdir()} == {f".{ending}"}
            assert sum(path.stat().st_size for path in folder.iterdir()) == count * row


# What changes nothing


@pytest.mark.parametrize("workers", [1, 3])
def test_neither_workers_nor_the_order_of_files_change_a_byte(pile, made, tmp_path, workers):
    settings = ExtractionSettings(dtype=open_case(made.case).info["extraction"]["dtype"])
    files = pile.files[::-1] if workers == 1 else [*pile.files[1::2], *pile.files[::2]]
    resources = Resources(workers=workers)
    result = cluster_photos(files, tmp_path / "case", settings, resources=resources)
    assert groups_of(result.paths, result.labels) == groups_of(made.paths, made.labels)
    same_tables(tmp_path / "case", made.case)


def test_a_budget_that_forces_batches_gives_the_same_answer(pile, made, tmp_path, monkeypatch):
    settings = ExtractionSettings(dtype=open_case(made.case).info["extraction"]["dtype"])
    monkeypatch.setattr(_batches, "_FEWEST", 5)
    monkeypatch.setattr(_batches, "_PAIR_BYTES", 2**20)
    real, batched = ConsolidatedSSC._in_batches, []

    def noting(self, source, *more):
        batched.append((source.frame.name, self.batch_size))
        return real(self, source, *more)

    monkeypatch.setattr(ConsolidatedSSC, "_in_batches", noting)
    resources = Resources(memory=2**24, workers=1)
    result = cluster_photos(pile.folder, tmp_path / "case", settings, resources=resources)
    assert {name for name, _ in batched} == {"96x80", "80x96", "112x72"}
    np.testing.assert_array_equal(result.labels, made.labels)
    same_tables(tmp_path / "case", made.case, ("images.csv", "clusters.csv", "evidence.csv"))


def test_what_lies_beside_a_frame_does_not_change_its_evidence(pile, whole, tmp_path):
    """Correlations, groups and scores of the largest frame."""
    alone = tmp_path / "alone"
    alone.mkdir()
    for name, frame in pile.frame.items():
        if frame == "96x80":
            shutil.copy(pile.folder / name, alone / name)
    result = cluster_photos(alone, tmp_path / "case")
    assert groups_of(result.paths, result.labels)[0] <= by_camera(pile)[0]
    mine = {row["path"]: row for row in table(tmp_path / "case" / "evidence.csv")}
    both = {row["path"]: row for row in table(whole.case / "evidence.csv")}
    for path, row in mine.items():
        for name in ("correlation", "score", "nearest_correlation", "margin", "pce", "comparisons"):
            assert row[name] == both[path][name]


# Killed and gone on with

HOOK = """
import sys
if '-c' not in sys.argv[:1]:
    import os, signal
    import samecam.case.grouping._method as m, samecam.case.grouping._evidence as e
    def dying(real, calls=[]):
        def call(*given, **more):
            calls.append(0)
            if len(calls) == 3:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*given, **more)
        return call
"""
KILLS = {
    "while frames are grouped": "    m._FrameWork.grouped = dying(m._FrameWork.grouped)\n",
    "while frames are compared": "    e.replace = dying(e.replace)\n",
    "while chance is measured": "    e.chances_of = dying(e.chances_of)\n",
}


@pytest.mark.parametrize("moment", KILLS)
def test_killed_between_two_frames_it_goes_on_to_the_same_bytes(pile, whole, tmp_path, moment):
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(HOOK + KILLS[moment])
    words = ("cluster", pile.folder, "-o", tmp_path / "case", "--no-report", "--quiet")
    assert run_apart(*words, module_path=tmp_path / "hook")[0] == -signal.SIGKILL
    assert not (tmp_path / "case" / "clusters.json").exists()
    assert run(*words)[0] == 0
    same_tables(tmp_path / "case", whole.case)
    assert verify_case(tmp_path / "case").agrees


# Damage


def test_a_damaged_row_of_one_frame_is_named_and_no_other(pile, case):
    shard = case / "fingerprints" / "shards" / "80x96" / "00000.i8"
    data = bytearray(shard.read_bytes())
    data[-1] ^= 1
    shard.write_bytes(data)
    result = verify_case(case)
    (damaged,) = result.damaged
    assert pile.frame[damaged] == "80x96"
    assert result.rows == len(pile.camera)
    assert not result.replayed
    code, out, _ = run("verify", case)
    assert code == 4
    assert damaged in out


@pytest.mark.parametrize("what", ["shard", "folder", "cut"])
def test_a_frame_whose_rows_are_gone_is_named(pile, case, what):
    shard = case / "fingerprints" / "shards" / "112x72" / "00000.i8"
    if what == "cut":
        shard.write_bytes(shard.read_bytes()[:100])
    elif what == "shard":
        shard.unlink()
    else:
        shutil.rmtree(shard.parent)
    code, out, _ = run("verify", case)
    assert code == 4
    assert "112x72/00000.i8' is gone or cut short" in out
    code, _, error = run("cluster", pile.folder, "-o", case, "--quiet")
    assert (code, error.count("\n")) == (1, 1)
    assert "112x72/00000.i8' is gone or cut short" in error


# More photos, of frames old and new


def test_added_photos_of_a_new_frame_make_groups_of_their_own(pile, whole, case, tmp_path):
    more = {"n": ((72, 88), 4), "a": ((96, 80), 3), "o": ((64, 64), 1)}
    added = make_pile(tmp_path / "more", more, seed=41)
    result = add_photos(case, added.folder)
    kept = dict(zip(whole.paths, whole.labels.tolist(), strict=True))
    names = {f"added 1/{name}": camera for name, camera in added.camera.items()}
    assert set(result.new) == set(names)
    assert result.moved == []
    old = next(label for path, label in kept.items() if pile.camera[path] == "a")
    for path, group in result.new.items():
        wanted = {"a": old, "o": None, "n": None}[names[path]]
        assert (result.was[group] if group >= 0 else None) == wanted
    (new,) = {group for path, group in result.new.items() if names[path] == "n"}
    assert result.clustering.groups[new].frame == "72x88"
    assert [names[path] for path, group in result.new.items() if group == -1] == ["o"]
    for path, label in zip(result.clustering.paths, result.clustering.labels, strict=True):
        if path in kept:
            assert (result.was[label] if label >= 0 else -1) == kept[path]
    with open_store(case) as store:
        assert Frame(72, 88) in store.frames
    assert verify_case(case).agrees


# Every command


@pytest.mark.parametrize("method", METHODS)
def test_every_method_takes_frames_of_few_photos(whole, method):
    """One photo, two, three, six: none is an error, and no frame's groups meet another's."""
    with open_store(whole.case) as store:
        used = used_photos(store)
        labels, details = group_photos(
            store,
            used,
            ClusteringSettings(method),
            Resources(workers=1, device="cpu", memory=2**28),
            no_progress,
        )
    assert set(details["frames"]) == FRAMES
    for label in range(labels.max() + 1):
        assert len({used[k].frame for k in np.flatnonzero(labels == label)}) == 1
    assert labels[[photo.frame == (120, 66) for photo in used]].tolist() == [-1]


def test_methods_are_compared_over_all_frames(pile, case, tmp_path, monkeypatch):
    compare_here(monkeypatch)
    truth = truth_of(pile, tmp_path / "truth.csv")
    rows = compare_methods(case, ["consolidated", "lin-ls"], truth=truth).rows
    assert [row.failure for row in rows] == ["", ""]
    (ours,) = (row for row in rows if row.method == "consolidated")
    assert (ours.groups, ours.unclustered) == (len(GROUPS), ALONE)
    assert ours.scores.f == 1


def test_what_holds_for_one_frame_alone_is_refused_for_several(pile, case, tmp_path):
    settings = ClusteringSettings("ssc-nc", {"n_clusters": 2})
    with pytest.raises(SamecamError, match="n_clusters is for photos of one width and height"):
        cluster_photos(pile.folder, case, clustering=settings)
    code, _, error = run(
        *("cluster", pile.folder, "-o", case, "--method", "ssc-nc", "--clusters", 2, "--quiet")
    )
    assert code == 1
    assert error.startswith("Error: --clusters is for photos of one width and height, and these")
    truth = truth_of(pile, tmp_path / "truth.csv")
    with pytest.raises(SamecamError, match=f"{len(FRAMES)} widths and heights.*with a size"):
        tune_case(case, truth)


def test_progress_counts_the_photos_of_all_frames(pile, tmp_path):
    seen = {}

    def told(phase, done, total):
        seen.setdefault(phase, []).append((done, total))

    cluster_photos(pile.folder, tmp_path / "case", progress=told, resources=Resources(workers=1))
    count = len(pile.camera)
    grouped = count - ALONE + 2  # strangers beside a camera are looked at too
    for phase, total in (
        *(("Measuring", count), ("Extracting", count), ("Correlating", count)),
        *(("Grouping", count), ("Weighing evidence", None), ("Comparing members", count - ALONE)),
    ):
        dones, totals = zip(*seen[phase], strict=True)
        assert list(dones) == sorted(dones), phase
        assert set(totals) == {total or grouped}, phase
        assert dones[-1] <= totals[-1], phase


def test_a_report_compares_photos_of_one_frame_alone(pile, case):
    with open_store(case) as store:
        given = correlations(open_case(case), store, 2**28, no_progress)
        rows = {name: row_of(store, name) for name in pile.camera}
    order = [name for group in open_case(case).groups for name in group.paths]
    assert sorted(given.labels.tolist()[: len(order)]) == given.labels.tolist()[: len(order)]
    frames = list(given.scales)
    for k, row in enumerate(given.gram):
        here = [name for name, frame in pile.frame.items() if frame == frames[given.frames[k]]]
        same = given.frames == given.frames[k]
        assert not row[~same].any()
        products = [[rows[a] @ rows[b] for b in here] for a in here]
        closest = min(np.abs(np.sort(p) - np.sort(row[same])).max() for p in products)
        assert closest < 1e-4, "as one of the photos of its frame correlates with the others"


@pytest.mark.parametrize("most", [2000, 7])
def test_a_report_of_all_frames(case, monkeypatch, most):
    """Also where so few photos are drawn that some frames have none."""
    monkeypatch.setattr("samecam.report._correlations.MOST", most)
    page = write_report(case, thumbnails=False).read_text()
    assert "in units of chance" in page
    assert page.count('class="block') == len(GROUPS) or most < 2000
