"""`samecam experiment`: names, page, and the words and JSON of a run."""

import json

import pytest
from click.testing import CliRunner

from samecam.cli import cli
from samecam.experiments import EXPERIMENTS, rivals_table
from samecam.experiments._methods import METHODS


def call(*arguments):
    return CliRunner().invoke(cli, ["experiment", *map(str, arguments)])


def test_list_names_them_all():
    said = call("list")
    assert said.exit_code == 0
    assert [line.split()[0] for line in said.output.splitlines()] == list(EXPERIMENTS)
    assert list(json.loads(call("list", "--json").output)) == list(EXPERIMENTS)


def test_unknown_names_are_sentences():
    said = call("nonsense")
    assert said.exit_code == 1
    assert "'nonsense' is no experiment: choose from sparse-vs-dense" in str(said.exception)


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(rivals_table, "METHODS", {k: METHODS[k] for k in ("ours", "mrf")})


@pytest.mark.usefixtures("quick")
def test_a_run_and_its_page(tmp_path):
    where = ("-o", tmp_path / "study", "--results", tmp_path / "results")
    said = call("rivals-table", "--quick", *where)
    assert said.exit_code == 0, said.output
    assert "| **ours** |" in said.stdout
    assert f"Written: {tmp_path}/results/rivals-table.json" in said.stdout
    again = call("rivals-table", "--quick", "--json", "--quiet", *where)
    found = json.loads(again.stdout)
    assert found == json.loads((tmp_path / "results/rivals-table.json").read_text())
    page = call("page", "--results", tmp_path / "results", "--docs", tmp_path / "docs")
    assert page.exit_code == 0
    text = (tmp_path / "docs/results.md").read_text()
    assert "## rivals-table" in text
    assert "quick" in text


def test_data_is_refused_where_it_has_no_meaning(tmp_path):
    said = call("few-images", "--data", tmp_path)
    assert said.exit_code == 1
    assert "has no form for real collections" in str(said.exception)
