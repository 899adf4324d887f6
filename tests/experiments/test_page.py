"""docs/results.md, made of the results: every number in it is theirs."""

import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from samecam.errors import SamecamError
from samecam.experiments import EXPERIMENTS, read_result, results_page, write_page
from samecam.experiments._results import REAL
from samecam.pages import digest, digest_in

ROOT = Path(__file__).parents[2]
RESULTS, DOCS = ROOT / "results", ROOT / "docs"
STEMS = sorted(path.stem for path in RESULTS.glob("*.json"))


def test_every_experiment_has_its_result():
    missing = [name for name in EXPERIMENTS if name not in STEMS]
    assert not missing, f"make them: samecam experiment NAME [--quick], for {missing}"
    assert "not made yet" not in (DOCS / "results.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("stem", STEMS)
def test_every_result_tells_where_it_comes_from(stem):
    document = read_result(RESULTS / f"{stem}.json")
    assert document["experiment"] == stem.removesuffix(REAL)
    assert (document["kind"] == "real") == stem.endswith(REAL)
    assert {"commit", "versions", "device", "processor", "cores", "quick", "seeds"} <= set(document)
    assert document["result"]["runs"], "every run is listed"
    assert document["command"].startswith(f"samecam experiment {document['experiment']}")
    if document["kind"] == "real":
        assert document["photographs"], "which photographs, so that it can be made again"
        assert all(len(one["sha256"]) == 64 for one in document["photographs"])
    picture = ET.fromstring((RESULTS / f"{stem}.svg").read_text(encoding="utf-8"))
    assert picture.tag.endswith("svg")


@pytest.mark.parametrize("stem", STEMS)
def test_every_picture_is_of_its_result(stem):
    result = read_result(RESULTS / f"{stem}.json")["result"]
    picture = (RESULTS / f"{stem}.svg").read_text(encoding="utf-8")
    assert digest_in(picture) == digest(result), "draw it again: samecam experiment NAME"


def test_the_page_names_the_photographs(tmp_path):
    document = read_result(RESULTS / "sizes-real.json")
    sha = "0123456789abcdef" * 4
    document["photographs"] = [{"photos": "real photographs, 2 cameras, 9 files", "sha256": sha}]
    (tmp_path / "sizes-real.json").write_text(json.dumps(document), encoding="utf-8")
    page = results_page(tmp_path, tmp_path)
    assert "**Photographs** (2 cameras, 9 files, `0123456789ab`):" in page
    assert sha not in page


def test_twins_and_photographs_of_an_experiment_stand_together():
    page = results_page(RESULTS, DOCS)
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    assert headings == [f"## {name}" for name in EXPERIMENTS]
    section = page[page.index("## sizes") : page.index("## few-images")]
    assert section.count("![sizes](../results/sizes-real.svg)") == section.count("![") == 1
    assert section.index("**Photographs** (22 cameras, 412 files") < section.index("**Simulated**")
    assert "[picture](../results/sizes.svg)" in section
    assert section.count("\n|---|") == 1, "a long table of twins is left out"
    section = page[page.index("## threshold") : page.index("## hyperparameters")]
    assert section.count("\n|---|") == 2, "a short one is not"


def test_the_page_is_short():
    assert len(results_page(RESULTS, DOCS).split()) <= 250 * len(EXPERIMENTS)


def test_a_changed_number_changes_the_page(tmp_path):
    shutil.copytree(RESULTS, tmp_path / "results")
    before = results_page(tmp_path / "results", tmp_path)
    path = tmp_path / "results" / "rivals-table.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["result"]["rows"][0]["f"] = 0.1234
    path.write_text(json.dumps(document), encoding="utf-8")
    assert results_page(tmp_path / "results", tmp_path) != before


def test_links_are_relative_to_the_page(tmp_path):
    shutil.copytree(RESULTS, tmp_path / "results")
    (tmp_path / "docs").mkdir()
    path = write_page(tmp_path / "results", tmp_path / "docs")
    assert path == tmp_path / "docs" / "results.md"
    assert "](../results/rivals-table.svg)" in path.read_text(encoding="utf-8")


def test_no_results_make_a_page_that_says_so(tmp_path):
    page = results_page(tmp_path, tmp_path)
    assert page.count("not made yet") == len(EXPERIMENTS)


def test_foreign_files_are_named(tmp_path):
    path = tmp_path / "outliers.json"
    for text, words in (
        ("{", "cannot be read"),
        ("{}", "no result of an experiment"),
        ('{"format": "samecam-result", "version": 1}', "of another version of samecam"),
    ):
        path.write_text(text)
        with pytest.raises(SamecamError, match=f"outliers.json' .*{words}"):
            results_page(tmp_path, tmp_path)
