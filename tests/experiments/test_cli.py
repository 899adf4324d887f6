"""`samecam experiment`: names, page, and the words and JSON of a run."""

import json
import os
import subprocess
import sys

from click.testing import CliRunner

from samecam.cli import cli
from samecam.errors import SamecamError
from samecam.experiments import EXPERIMENTS, Study


def call(*arguments):
    return CliRunner().invoke(cli, ["experiment", *map(str, arguments)])


def test_list_names_them_all():
    said = call("list")
    assert said.exit_code == 0
    assert [line.split()[0] for line in said.output.splitlines()] == list(EXPERIMENTS)
    assert list(json.loads(call("list", "--json").output)) == list(EXPERIMENTS)


def test_unknown_names_are_errors():
    said = call("nonsense")
    assert said.exit_code == 1
    assert "'nonsense' is no experiment: choose from sparse-vs-dense" in str(said.exception)


def test_a_run_and_its_page(tmp_path, small_table):
    small_table("ours", "mrf")
    where = ("-o", tmp_path / "study", "--results", tmp_path / "results")
    said = call("rivals-table", "--quick", *where)
    assert said.exit_code == 0, said.output
    assert "F, in brackets in print" in said.stdout
    assert "| **ours** |" in said.stdout
    assert f"Written: {tmp_path}/results/rivals-table.json" in said.stdout
    again = call("rivals-table", "--quick", "--json", "--quiet", *where)
    document = json.loads(again.stdout)
    assert document == json.loads((tmp_path / "results/rivals-table.json").read_text())
    page = call("page", "--results", tmp_path / "results", "--docs", tmp_path / "docs")
    assert page.exit_code == 0
    text = (tmp_path / "docs/results.md").read_text()
    assert "## rivals-table" in text
    assert "quick" in text


def test_as_many_runs_as_are_asked_for(tmp_path, small_table):
    small_table("ours", "mrf")
    said = call("rivals-table", "--quick", "--runs", 2, "--json", "--quiet", "-o",
                tmp_path / "study", "--results", tmp_path / "results")  # fmt: skip
    document = json.loads(said.stdout)
    assert document["seeds"] == [0, 1]
    assert document["repeats"] == 2
    assert document["command"] == "samecam experiment rivals-table --quick --runs 2"


def test_two_at_once_on_one_study(tmp_path):
    """The second says that the first is at it, before it does anything."""
    command = [sys.executable, "-m", "samecam", "experiment", "rivals-table", "--quick", "--quiet"]
    command += ["-o", str(tmp_path / "study"), "--results", str(tmp_path / "results")]
    held = Study(tmp_path / "study")
    held.hold()
    said = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (said.returncode, held.keys()) == (1, [])
    assert said.stderr == (
        f"Error: '{tmp_path}/study' is in use by process {os.getpid()}: wait until it ends, or "
        "name another folder.\n"
    )


def test_a_study_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    for folder in ("file", "file/study"):
        said = call("rivals-table", "--quick", "-o", tmp_path / folder)
        assert said.exit_code == 1
        assert type(said.exception) is SamecamError
        assert str(tmp_path / folder) in str(said.exception)


def test_data_is_refused_where_it_has_no_meaning(tmp_path):
    said = call("few-images", "--data", tmp_path)
    assert said.exit_code == 1
    assert "has no form for real collections" in str(said.exception)
