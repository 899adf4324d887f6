"""`samecam tune`: a case and its truth in, parameters out."""

import json
import os
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import samecam.cluster
from samecam.case import ClusteringSettings, cluster_fingerprints, extract_photos, tune_case
from samecam.cli import cli
from samecam.cli._tune import _edge_lines
from samecam.cluster import RecyclingSelection
from samecam.compute import Resources
from samecam.errors import SamecamError
from samecam.metrics import read_truth, scores
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


@pytest.fixture(scope="module")
def tuned(made):
    """What the command says, and what it writes; the case's answer is left alone."""
    before = (made / "case" / "clusters.csv").read_bytes()
    result = tune(made / "case", "--truth", made / "truth.csv", "--runs", 2)
    assert result.return_value == 0, result.exception
    assert (made / "case" / "clusters.csv").read_bytes() == before
    return result, json.loads((made / "case" / "tune.json").read_text())


def test_words_file_and_picture(made, tuned):
    result, told = tuned
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
    assert f"--method ls-ssc --tuned {made / 'case' / 'tune.json'}\n" in result.stdout
    assert f"--method ssc-nc --gamma {gamma:.3g}" in result.stdout
    edge_is_told(told["gamma"], result.stdout)
    assert (made / "case" / "tune.svg").read_text().startswith("<?xml")


def edge_is_told(gamma, words):
    """Strong cameras: the best F goes on to the end of the range, and the words say so."""
    assert gamma["at_edge"]
    assert gamma["plateau"][1] == gamma["curve"][-1]["gamma"]
    nearest = min(
        (row["gamma"] for row in gamma["curve"] if row["gamma"] >= gamma["plateau"][0]),
        key=lambda value: abs(np.log(value / gamma["default"])),
    )
    assert gamma["chosen"] == nearest
    assert f"from {gamma['plateau'][0]:.2g} to 0.02, an end of what was tried" in words
    assert f"twice the scale of chance, {gamma['default']:.2g}" in words


def test_the_edge_is_told_only_where_it_decides():
    told = {"by": "f", "at_edge": True, "plateau": (0.001, 0.02), "default": 0.004}
    for changes, lines in (({}, 2), ({"by": "cost"}, 0), ({"at_edge": False}, 0)):
        result = SimpleNamespace(gamma=SimpleNamespace(**{**told, **changes}))
        assert len(_edge_lines(result)) == lines


def test_what_is_handed_out_was_run(made, tmp_path, monkeypatch):
    """K and R are chosen with the γ and the threshold that the file names, and with the seed."""
    given = {}

    def select(gram, cameras, **options):
        given.update(options, photos=len(gram), cameras=len(set(cameras.tolist())))
        return RecyclingSelection(8, 1, (5, 8), *np.ones((2, 2, 2, options["runs"])))

    monkeypatch.setattr(samecam.cluster, "select_k_and_recycling", select)
    out = tmp_path / "new.json"
    tune_case(made / "case", made / "truth.csv", out=out, runs=2, most=40, seed=3)
    told = json.loads(out.read_text())
    options = told["options"]
    assert (options["n_neighbours"], options["recycling"]) == (8, 1)
    assert list(given["threshold"]) == options["threshold"]
    law = [told["merge_regressor"][name] for name in ("size", "correlation", "bias")]
    assert options["threshold"] == law
    assert given["gamma"] == options["gamma"]
    assert (given["random_state"], given["runs"]) == (3, 2)
    assert (given["photos"], given["cameras"], given["n_pixels"]) == (40, 3, 4096)


def test_the_options_work(made, tuned, tmp_path):
    """What is told to be given can be given, and groups these photos."""
    settings = ClusteringSettings("ls-ssc", tuned[1]["options"])
    again = cluster_fingerprints(made / "X.npy", tmp_path / "case", settings)
    truth = read_truth(made / "truth.csv")
    group = {path: group.id for group in again.groups for path in group.paths}
    assert scores(list(truth.values()), [group.get(path, -1) for path in truth]).f > 0.95


def test_another_file_fewer_photos_and_by_cost(made, tmp_path):
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
    tuned = tune_case(made / "case", tmp_path / "part.csv", runs=1, out=tmp_path / "part.json")
    assert tuned.photos == 45


def test_errors(made, tmp_path):
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


@pytest.fixture
def no_work(monkeypatch):
    """Nothing may be computed before what was typed has been judged."""

    def never(*_, **__):
        raise AssertionError("the work was begun")

    monkeypatch.setattr("samecam.case.studies._tune._correlate", never)


@pytest.mark.usefixtures("no_work")
def test_a_file_that_cannot_be_is_refused_before_the_work(made, tmp_path):
    words = (made / "case", "--truth", made / "truth.csv", "-o")
    for name in ("out.svg", "out.SVG"):
        result = tune(*words, tmp_path / name)
        assert isinstance(result.exception, SamecamError)
        assert "has the name of a picture" in str(result.exception)
        assert str(tmp_path / "out.json") in str(result.exception)
    (tmp_path / "taken.svg").mkdir()
    (tmp_path / "a file").touch()
    for name, message in (
        ("no/such/out.json", "No such file or directory; name a file elsewhere with -o."),
        ("a file/out.json", "Not a directory; name a file elsewhere with -o."),
        (".", "is a folder: name a file."),
        ("taken.json", "is a folder: name a file."),
    ):
        result = tune(*words, tmp_path / name)
        assert isinstance(result.exception, SamecamError)
        assert str(result.exception).endswith(message)
    for path in (made / "case" / "case.json", made / "case" / "new.json", made / "truth.csv"):
        result = tune(*words, path)
        assert "among the case's own files, or the truth: name" in str(result.exception)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a file", "taken.svg"]


@pytest.mark.usefixtures("no_work")
def test_too_few_photos_drawn(made, tmp_path):
    rows = [f"row {k:06d},c{k % 12}\n" for k in range(75)]
    (tmp_path / "many.csv").write_text("path,camera\n" + "".join(rows))
    result = tune(made / "case", "--truth", tmp_path / "many.csv", "--photos", 8)
    assert str(result.exception).startswith("--photos is 8, and among so many of the 75 photos")
    assert str(result.exception).endswith("not two cameras and 4 photos of one: look at more.")


@pytest.mark.long
def test_on_photographs(photos_dir, tmp_path):
    """Learnt on real photographs, the parameters group them well."""
    extract_photos([photos_dir], tmp_path / "case", resources=Resources(workers=os.cpu_count()))
    tuned = tune_case(tmp_path / "case", photos_dir / "truth.csv", runs=2)
    assert max(tuned.gamma.f) > 0.85
    assert tuned.regressor.explained > 0.5
    assert tuned.recycling.precision.max() > 0.9
