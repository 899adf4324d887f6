"""`samecam compare`: words in, a table out."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from samecam.case import cluster_fingerprints
from samecam.cli import cli
from samecam.cli._methods import METHODS as NAMES
from samecam.cluster import METHODS
from samecam.errors import SamecamError
from samecam.simulate import fingerprints
from tests.case.studied import compare_here


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("made")
    X, labels = fingerprints([12, 12], 0.2, 1024)
    np.save(root / "X.npy", X)
    rows = [f"row {k:06d},c{label}\n" for k, label in enumerate(labels)]
    (root / "truth.csv").write_text("path,camera\n" + "".join(rows))
    cluster_fingerprints(root / "X.npy", root / "case")
    return root


def compare(*words):
    return CliRunner().invoke(cli, ["compare", *map(str, words)], standalone_mode=False)


def test_one_table(made, monkeypatch):
    compare_here(monkeypatch)
    result = compare(made / "case", "--methods", "average-linkage, msc", "--truth", made / "truth.csv")  # noqa: E501  # fmt: skip
    assert result.return_value == 0, result.exception
    lines = result.stdout.splitlines()
    head = ["method", "F", "P", "R", "ARI", "Lp/Lg", "groups", "unclustered", "seconds", "memory"]
    assert lines[0].split() == head
    assert {line.split()[0] for line in lines[1:3]} == {"average-linkage", "msc"}
    told = json.loads((made / "case" / "compare.json").read_text())["methods"]
    for line, row in zip(lines[1:3], told, strict=True):
        cells = line.split()
        assert cells[0] == row["method"]
        assert cells[1] == f"{row['scores']['f']:.4f}"
        assert cells[5] == f"{row['scores']['lp_over_lg']:.4f}"
        assert cells[6:8] == [str(row["groups"]), str(row["unclustered"])]
    assert "Correlating the 24 photos took" in result.stdout
    assert "compare.svg" in result.stdout
    assert "Scaled to" not in result.stdout


def test_what_was_scaled_and_why_ours_is_not_first_is_said(made, monkeypatch):
    """Of half a truth; and a method that does as well as ours in less time comes before it."""
    compare_here(monkeypatch)
    lines = (made / "truth.csv").read_text() + "elsewhere,c7\n"
    (made / "more.csv").write_text(lines)
    words = (made / "case", "--methods", "consolidated,msc", "--truth", made / "more.csv")
    said = compare(*words).stdout
    assert "\nScaled to 2 cameras, 24 photos: the truth has 3 cameras, 25 photos, and" in said
    first = said.splitlines()[1].split()[0]
    assert ("consolidated is not first, msc is: F " in said) == (first == "msc")
    told = json.loads(compare(*words, "--json").stdout)
    assert bool(told["remark"]) == (told["methods"][0]["method"] == "msc")


def test_json_and_failures(made, monkeypatch):
    monkeypatch.setattr("samecam.case.studies._compare._correlate", lambda *_: None)
    result = compare(made / "case", "--methods", "msc", "--json", "--quiet", "--timeout", 0.05)
    assert json.loads(result.stdout)["methods"][0]["failure"].startswith("It took longer")
    assert result.stderr == ""
    result = compare(made / "case", "--methods", "msc", "--timeout", 0.05)
    assert "msc               failed: It took longer than 0.05 seconds." in result.stdout


def test_without_truth(made, monkeypatch):
    compare_here(monkeypatch)
    result = compare(made / "case", "--methods", "msc")
    assert result.stdout.splitlines()[1].split()[1:6] == ["–"] * 5


def test_wrong_words(made, tmp_path):
    result = CliRunner().invoke(cli, ["compare", str(made / "case"), "--methods", "msc,what"])
    assert result.exit_code == 2
    assert "'what' is no method; choose all, consolidated" in result.output
    result = compare(tmp_path, "--methods", "msc")
    assert isinstance(result.exception, SamecamError)
    assert "is no case folder" in str(result.exception)


def test_the_names_are_those_of_the_library():
    assert sorted(NAMES) == sorted(METHODS)
