"""More photos into a case: as if they had been there, named, listed, resumable."""

import csv
import json
import os
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from samecam import cluster_fingerprints, cluster_photos
from samecam.case import ClusteringSettings, add_photos, check_log, open_store, verify_case
from samecam.case.grouping import _add as adding
from samecam.case.grouping import _cluster as grouping
from samecam.case.grouping._cameras import each_a_camera
from samecam.cluster import ConsolidatedSSC
from samecam.compute import Resources
from samecam.errors import SamecamError
from samecam.files import write_atomically
from samecam.simulate import fingerprints, gram
from tests.case.conftest import keys_of, row_of
from tests.case.worlds import WHOLE, copied, shared_world, tree


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return shared_world(tmp_path_factory, WHOLE)


@pytest.fixture
def case(world, tmp_path):
    return copied(world.case, tmp_path / "case")


@pytest.fixture(scope="module")
def added(world, tmp_path_factory):
    """What adding the photos held back gives, undisturbed."""
    case = copied(world.case, tmp_path_factory.mktemp("added") / "case")
    return add_photos(case, world.root / "held")


def table(path):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
        return {row["path"]: int(row["cluster"]) for row in csv.DictReader(stream)}


def events(case, kind):
    lines = (Path(case) / "log.jsonl").read_text().splitlines()
    return [line for line in map(json.loads, lines) if line["event"] == kind]


def alone_apart(labels):
    """Photos in no group as groups of their own."""
    return np.where(labels < 0, len(labels) + np.arange(len(labels)), labels)


# --- the method -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sizes", [[20] * 15, [60, 40, 30, 20, 10, 8, 6, 5, 4, 3] * 2])
def test_adding_a_tenth_in_five_rounds_ends_as_a_run_from_scratch(sizes, seed):
    drawn = gram(sizes, mean=0.02, seed=seed)
    order = np.random.default_rng(seed).permutation(len(drawn.gram))
    matrix = drawn.gram[np.ix_(order, order)]
    method = ConsolidatedSSC(metric="precomputed", n_pixels=512**2)
    first, n = round(0.9 * len(matrix)), len(matrix)
    labels = method.fit(matrix[:first, :first]).labels_
    for count in np.linspace(first, n, 6).astype(int)[1:]:
        start = np.full(count, -1)
        start[: len(labels)] = labels
        labels = method.fit(matrix[:count, :count], start=start).labels_
    scratch = method.fit(matrix).labels_
    assert adjusted_rand_score(alone_apart(scratch), alone_apart(labels)) > 0.99
    truth = drawn.labels[order]
    assert adjusted_rand_score(truth, labels) > adjusted_rand_score(truth, scratch) - 0.01


def test_an_answer_to_begin_with_stays_and_no_other_is_represented():
    drawn = fingerprints([12, 9, 7], mean=0.05, n_pixels=20_000, seed=1)
    method = ConsolidatedSSC()
    labels = method.fit(drawn.X).labels_
    assert method.n_clusters_ == 3
    np.testing.assert_array_equal(method.fit(drawn.X, start=labels).labels_, labels)
    assert method.report_.n_images == np.count_nonzero(labels < 0)
    # Whatever the groups are called, and if one photo is put elsewhere.
    shuffled = np.where(labels >= 0, 40 - 7 * labels, -1)
    shuffled[0] = shuffled[-1]
    np.testing.assert_array_equal(method.fit(drawn.X, start=shuffled).labels_, labels)


@pytest.mark.parametrize("start", [[0, 1], np.zeros(28), [[0] * 28]])
def test_a_start_of_another_shape_is_refused(start):
    drawn = fingerprints([12, 9, 7], mean=0.05, n_pixels=500, seed=1)
    with pytest.raises(ValueError, match="start has shape"):
        ConsolidatedSSC().fit(drawn.X, start=start)


def test_groups_go_on_in_the_group_with_most_of_their_photos():
    before = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, -1, -1])
    after = np.array([1, 1, 1, 2, 0, 0, 0, 0, 0, 0, 3])
    assert adding.former_groups(before, after) == [1, 0, None, None]
    assert adding.former_groups(before, np.full(11, -1)) == []


# --- the case ---------------------------------------------------------------------------


def test_new_photos_join_and_the_old_are_not_read(world, case):
    with open_store(case) as store:
        before = {key: row_of(store, key) for key in keys_of(store)}
    hidden = world.root / "kept"
    hidden.rename(world.root / "elsewhere")  # the old drive is not there
    try:
        result = add_photos(case, world.root / "held")
    finally:
        (world.root / "elsewhere").rename(hidden)
    assert result.folder == "added 1"
    assert result.clustering.extraction.done == 9
    groups = {path.split("/")[-1]: group for path, group in result.new.items()}
    assert len(groups) == 9
    joined = {name: group for name, group in groups.items() if group >= 0}
    assert len(joined) >= 7
    for move in result.moved:  # photos that had no group may find one now
        assert move.was == -1
        assert result.was[move.now] == world.group_of(world.truth[move.path])
    for name, group in joined.items():
        camera = world.truth[name]
        assert result.was[group] == world.group_of(camera)
    assert all(path.startswith("added 1/IMG_") for path in result.new)
    with open_store(case) as store:
        assert len(keys_of(store)) == len(before) + 9
        for key, row in before.items():
            np.testing.assert_array_equal(row_of(store, key), row)
    assert table(case / "clusters.csv") == dict(
        zip(result.clustering.paths, result.clustering.labels.tolist(), strict=True)
    )
    line = events(case, "added")[-1]
    assert {e["path"]: e["cluster"] for e in line["new"]} == result.new
    assert line["was"] == result.was
    assert check_log(case / "log.jsonl") is None
    info = json.loads((case / "case.json").read_text())
    assert info["added"] == [{"folder": "added 1", "sources": [str(world.root / "held")]}]
    assert info["sources"] == [str(world.root / "kept")]
    assert info["state"] == "clustered"
    # Only photos without a group were represented.
    alone = sum(group < 0 for group in table(world.case / "clusters.csv").values())
    (facts,) = info["clustering"]["details"]["frames"].values()
    assert facts["solver"]["n_images"] == 9 + alone


def test_files_that_could_not_be_read_keep_their_row(world, tmp_path):
    shutil.copytree(world.root / "kept", tmp_path / "photos")
    os.symlink(tmp_path / "nothing", tmp_path / "photos" / "dangling.jpg")
    cluster_photos(tmp_path / "photos", tmp_path / "case", WHOLE, search="off")
    add_photos(tmp_path / "case", sorted((world.root / "held").iterdir())[0])
    text = (tmp_path / "case" / "images.csv").read_text()
    assert "dangling.jpg,,," in text
    assert "added 1/" in text


def test_it_ends_as_one_run_over_all(world, added, tmp_path):
    (tmp_path / "all").mkdir()
    for folder in ("kept", "held"):
        for file in (world.root / folder).iterdir():
            shutil.copy(file, tmp_path / "all" / file.name)
    scratch = cluster_photos(tmp_path / "all", tmp_path / "scratch", WHOLE, search="off")
    mine = {
        path.split("/")[-1]: k for path, k in table(added.clustering.case / "clusters.csv").items()
    }
    labels = np.array([mine[path] for path in scratch.paths])
    assert adjusted_rand_score(alone_apart(scratch.labels), alone_apart(labels)) > 0.99


def test_a_new_camera_makes_a_new_group_and_numbers_are_told(world, case):
    result = add_photos(case, world.root / "strangers")
    fresh = [k for k, was in enumerate(result.was) if was is None]
    assert len(fresh) == 1
    members = [path for path, k in result.new.items() if k == fresh[0]]
    assert len(members) >= 12
    assert sorted(w for w in result.was if w is not None) == [0, 1, 2]
    old = {path: k for path, k in table(world.case / "clusters.csv").items() if k >= 0}
    now = table(case / "clusters.csv")
    moved = {m.path for m in result.moved}
    for path, before in old.items():
        assert path in moved or result.was[now[path]] == before


def test_the_same_again_does_nothing_and_more_files_are_the_same_round(world, case, tmp_path):
    folder = tmp_path / "more"
    folder.mkdir()
    files = sorted((world.root / "held").iterdir())
    for file in files[:4]:
        shutil.copy(file, folder / file.name)
    add_photos(case, folder)
    before = tree(case)
    again = add_photos(case, folder)
    assert (again.clustering.extraction.done, again.new, again.moved) == (0, {}, [])
    assert again.clustering.seconds == 0
    after = tree(case)
    changed = {name for name in after if before.get(name) != after[name]}
    assert changed <= {"case.json", "log.jsonl", "fingerprints/catalogue.sqlite"}
    shutil.copy(files[5], folder / files[5].name)
    more = add_photos(case, folder)
    assert list(more.new) == [f"added 1/{files[5].name}"]
    other = tmp_path / "other" / "more"
    other.mkdir(parents=True)
    shutil.copy(files[6], other / files[0].name)
    shutil.copy(files[0], other / "twin.jpg")
    second = add_photos(case, other)
    assert list(second.new) == [f"added 2/{files[0].name}"]
    assert second.clustering.extraction.counts["duplicate"] == 1
    assert verify_case(case).agrees


def test_new_files_of_the_first_source_keep_their_names(world, tmp_path):
    shutil.copytree(world.root / "kept", tmp_path / "photos")
    cluster_photos(tmp_path / "photos", tmp_path / "case", WHOLE, search="off")
    new = sorted((world.root / "held").iterdir())[0]
    shutil.copy(new, tmp_path / "photos" / new.name)
    result = add_photos(tmp_path / "case", tmp_path / "photos")
    assert result.folder == ""
    assert list(result.new) == [new.name]
    assert "added" not in json.loads((tmp_path / "case" / "case.json").read_text())


def test_clustering_again_is_from_scratch_and_takes_all(world, case):
    add_photos(case, world.root / "held")
    count = len(table(case / "clusters.csv"))
    again = cluster_photos(world.root / "kept", case, WHOLE, search="off")
    assert again.extraction.done == 0
    assert len(again.paths) == count
    assert "start" not in json.loads((case / "case.json").read_text())["clustering"]
    assert verify_case(case).agrees
    after = add_photos(case, world.root / "held")  # there is nothing to add any more
    assert after.clustering.seconds == 0


def test_workers_and_places_do_not_matter(world, added, tmp_path):
    wanted = (added.clustering.case / "clusters.csv").read_bytes()
    for workers in (1, 2):
        root = tmp_path / f"place {workers}"
        shutil.copytree(world.root / "kept", root / "kept")
        shutil.copytree(world.root / "held", root / "new ones")
        cluster_photos(
            root / "kept", root / "case", WHOLE, search="off", resources=Resources(workers=workers)
        )
        add_photos(root / "case", root / "new ones", resources=Resources(workers=workers))
        assert (root / "case" / "clusters.csv").read_bytes() == wanted


@pytest.mark.parametrize("when", ["extracting", "grouping", "writing", "table written"])
def test_stopped_anywhere_it_goes_on_to_the_same_answer(world, case, added, monkeypatch, when):
    wanted = (added.clustering.case / "clusters.csv").read_bytes()

    def fail(*_, **__):
        raise KeyboardInterrupt

    def fail_after_the_table(path, text):
        write_atomically(path, text)
        if path.name == "clusters.csv":
            raise KeyboardInterrupt

    stop = threading.Event()
    faults = {
        "extracting": ("samecam.case.extraction._extract.COMMIT_SECONDS", 0),
        "grouping": ("samecam.case.grouping._add.find_groups", fail),
        "writing": ("samecam.case.grouping._answer.Answer.write", fail),
        "table written": ("samecam.case.grouping._answer.write_atomically", fail_after_the_table),
    }
    monkeypatch.setattr(*faults[when])
    if when == "extracting":
        words = {
            "resources": Resources(workers=1),
            "progress": lambda phase, done, _: phase == "Extracting" and done and stop.set(),
            "stop": stop,
        }
        first = add_photos(case, world.root / "held", **words)
        assert first.clustering.extraction.interrupted
        assert 0 < first.clustering.extraction.done < 9
    else:
        with pytest.raises(KeyboardInterrupt):
            add_photos(case, world.root / "held")
    monkeypatch.undo()
    assert not verify_case(case).agrees
    result = add_photos(case, world.root / "held")
    assert (case / "clusters.csv").read_bytes() == wanted
    assert result.new == added.new
    assert verify_case(case).agrees


def test_photos_that_move_are_listed_and_logged(world, case, monkeypatch):
    real, before = grouping.group_photos, table(world.case / "clusters.csv")
    left = next(path for path, group in before.items() if group == 2)

    def moved(store, photos, *words, **options):
        labels, details = real(store, photos, *words, **options)
        labels = labels.copy()
        labels[[photo.key for photo in photos].index(left)] = -1
        return labels, details

    monkeypatch.setattr(grouping, "group_photos", moved)
    no_views = lambda _, __, groups, *___: each_a_camera(groups)  # noqa: E731
    monkeypatch.setattr(grouping, "group_cameras", no_views)
    result = add_photos(case, world.root / "held")
    now = table(case / "clusters.csv")
    assert adding.Move(left, 2, -1) in result.moved
    changed = {
        path: (group, now[path])
        for path, group in before.items()
        if group != (result.was[now[path]] if now[path] >= 0 else -1)
    }
    assert {m.path: (m.was, m.now) for m in result.moved} == changed
    logged = events(case, "added")[-1]["moved"]
    assert [(e["path"], e["was"], e["cluster"]) for e in logged] == [
        (m.path, m.was, m.now) for m in result.moved
    ]


def test_paths_stay_inside_the_case(world, case, tmp_path):
    files = sorted((world.root / "held").iterdir())
    outside, folder = tmp_path / "outside", tmp_path / "in"
    outside.mkdir()
    folder.mkdir()
    shutil.copy(files[0], outside / "away.jpg")
    os.symlink(outside / "away.jpg", folder / "link.jpg")
    os.symlink(outside, folder / "linked")
    os.symlink("/", outside / "root")
    shutil.copy(files[1], folder / "..jpg")
    (outside / "root").unlink()
    before = set(os.listdir(tmp_path))
    result = add_photos(case, [f"{folder}/../in", files[2]])
    with open_store(case) as store:
        keys = [record.key for record in store.records()]
    new = [key for key in keys if key.startswith("added 1/")]
    assert len(new) == 4
    for key in keys:
        assert not key.startswith("/")
        assert ".." not in key.split("/")
    assert set(os.listdir(tmp_path)) == before
    assert result.clustering.extraction.done == 4
    written = (case / "clusters.json").read_text() + (case / "clusters.csv").read_text()
    assert str(tmp_path) not in written


def test_what_cannot_be_added_to_says_so(world, case, tmp_path):
    with pytest.raises(SamecamError, match="no case folder"):
        add_photos(tmp_path / "nothing", world.root / "held")
    with pytest.raises(SamecamError, match="lies among the photos"):
        add_photos(case, tmp_path)
    with pytest.raises(SamecamError, match="timeout is 0"):
        add_photos(case, world.root / "held", resources=Resources(timeout=0))
    (tmp_path / "empty").mkdir()
    with pytest.raises(SamecamError, match="There is no photo in"):
        add_photos(case, tmp_path / "empty")
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(9, 400)))
    cluster_fingerprints(tmp_path / "x.npy", tmp_path / "brought")
    with pytest.raises(SamecamError, match="made from a file of fingerprints"):
        add_photos(tmp_path / "brought", world.root / "held")
    cluster_photos(world.root / "kept", case, WHOLE, ClusteringSettings("ssc"), search="off")
    with pytest.raises(SamecamError, match="grouped by 'ssc', which cannot let photos join later"):
        add_photos(case, world.root / "held")


def test_groups_that_were_changed_are_not_begun_with(world, case):
    path = case / "clusters.csv"
    path.write_text(path.read_text().replace(",0,", ",1,", 1))
    with pytest.raises(SamecamError, match="not as they were written"):
        add_photos(case, world.root / "held")
