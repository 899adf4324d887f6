"""`samecam tune`: a case and its truth in, parameters out."""

import json
import os

import numpy as np
import pytest
from click.testing import CliRunner

from samecam.case import cluster_fingerprints, extract_photos, tune_case
from samecam.cli import cli
from samecam.errors import SamecamError
from samecam.simulate import fingerprints


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("made")
    X, labels = fingerprints([20, 25, 30], 0.08, 4096, camera_spread=0.2, photo_cv=0.3)
    np.save(root / "X.npy", X)
    rows = [f"row {k:06d},c{label}\n" for k, label in enumerate(labels)]
    (root / "truth.csv").write_text("path,camera\n" + "".join(rows))
    cluster_fingerprints(root / "X.npy", root / "case")
    return root


def tune(*words):
    return CliRunner().invoke(cli, ["tune", *map(str, words)], standalone_mode=False)


def test_words_file_and_picture(made):
    before = (made / "case" / "clusters.csv").read_bytes()
    result = tune(made / "case", "--truth", made / "truth.csv", "--runs", 2)
    assert result.return_value == 0, result.exception
    told = json.loads((made / "case" / "tune.json").read_text())
    assert told["format"] == "samecam-tune"
    assert (told["photos"], told["cameras"], told["n_pixels"]) == (75, 3, 4096)
    gamma = told["options"]["gamma"]
    assert gamma == told["gamma"]["chosen"] == told["gamma"]["by_f"]
    at = next(row for row in told["gamma"]["curve"] if row["gamma"] == gamma)
    assert at["f"] > 0.95
    assert len(told["gamma"]["curve"]) == 25
    chosen = told["k_and_recycling"]
    assert chosen["n_batches"] == 2
    assert len(chosen["curve"]) == 6 * 7
    assert told["merge_regressor"]["correlation"] > 0
    assert f"--method ls-ssc --gamma {gamma:.3g}" in result.stdout
    assert f"n_neighbours={chosen['n_neighbours']}" in result.stdout
    assert (made / "case" / "tune.svg").read_text().startswith("<?xml")
    assert (made / "case" / "clusters.csv").read_bytes() == before


def test_the_options_work(made):
    """What is told to be given can be given, and groups these photos."""
    from samecam.case import ClusteringSettings
    from samecam.metrics import read_truth, scores

    found = tune_case(made / "case", made / "truth.csv", runs=1, out=made / "found.json")
    settings = ClusteringSettings("ls-ssc", found.options())
    again = cluster_fingerprints(made / "X.npy", made / "case", settings)
    truth = read_truth(made / "truth.csv")
    group = {path: group.id for group in again.groups for path in group.paths}
    assert scores(list(truth.values()), [group.get(path, -1) for path in truth]).f > 0.95


def test_elsewhere_fewer_and_by_cost(made, tmp_path):
    words = (made / "case", "--truth", made / "truth.csv", "--runs", 1, "--photos", 40)
    result = tune(*words, "-o", tmp_path / "new.json", "--by", "cost", "--json", "--quiet")
    told = json.loads(result.stdout)
    assert told == json.loads((tmp_path / "new.json").read_text())
    assert (told["photos"], told["known"]) == (40, 75)
    assert told["options"]["gamma"] == told["gamma"]["by_cost"]
    assert result.stderr == ""
    picture = (tmp_path / "new.svg").read_bytes()
    tune(*words, "-o", tmp_path / "new.json", "--by", "cost", "--quiet")
    assert told == json.loads((tmp_path / "new.json").read_text())
    assert (tmp_path / "new.svg").read_bytes() == picture


def test_photos_without_a_camera_are_left_out(made, tmp_path):
    lines = (made / "truth.csv").read_text().splitlines()
    (tmp_path / "part.csv").write_text("\n".join(lines[:46]) + "\n")
    found = tune_case(made / "case", tmp_path / "part.csv", runs=1, out=tmp_path / "part.json")
    assert found.photos == 45


def test_sentences(made, tmp_path):
    (tmp_path / "other.csv").write_text("path,camera\nx.jpg,a\n")
    result = tune(made / "case", "--truth", tmp_path / "other.csv")
    assert isinstance(result.exception, SamecamError)
    assert "None of the 75 good photos of the case has the file name" in str(result.exception)
    lines = (made / "truth.csv").read_text().splitlines()
    one = [line for line in lines if line.endswith(",c0")]
    (tmp_path / "one.csv").write_text("\n".join(["path,camera", *one]) + "\n")
    result = tune(made / "case", "--truth", tmp_path / "one.csv")
    assert str(result.exception) == "the photos are of 1 camera; give those of two or more."
    result = tune(tmp_path, "--truth", made / "truth.csv")
    assert "is no case folder" in str(result.exception)
    result = CliRunner().invoke(cli, ["tune", str(made / "case")])
    assert result.exit_code == 2


@pytest.mark.long
def test_on_photographs(photos_dir, tmp_path):
    """Learnt on real photographs, the parameters group them well."""
    extract_photos([photos_dir], tmp_path / "case", workers=os.cpu_count())
    found = tune_case(tmp_path / "case", photos_dir / "truth.csv", runs=2)
    assert max(found.gamma.f) > 0.85
    assert found.regressor.explained > 0.5
    assert found.recycling.precision.max() > 0.9
