"""`samecam benchmark`, its page, and the result that is committed."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

import samecam
from benchmarks import benchmark_page
from samecam.cli import cli
from samecam.cluster import RIVALS
from samecam.datasets import fixed_sets, fixed_version
from samecam.errors import SamecamError
from samecam.experiments._methods import METHODS
from samecam.experiments.benchmarking import _benchmark, _result
from samecam.pages import share
from samecam.report import write_benchmark
from samecam.report.benchmark import _page
from tests.cli.typed import typed
from tests.experiments.small_sets import SMALL
from tests.experiments.test_benchmark import SPEC

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "results" / "benchmark" / "benchmark.json"
HOSTILE = '<img src=x onerror="alert(1)">'


class Seen(HTMLParser):
    """Elements of a page with their attributes, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *each) for each in attrs]

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def call(*words):
    return CliRunner().invoke(cli, ["benchmark", *map(str, words)])


@pytest.fixture(scope="module")
def committed():
    return json.loads(COMMITTED.read_text(encoding="utf-8"))


@pytest.mark.usefixtures("here")
def test_the_command_writes_both_and_prints_the_table(tmp_path):
    said = call("ours", SPEC + "Broken", "-o", tmp_path / "out", "--sets", "a,b")
    assert said.exit_code == 0, said.output
    lines = said.stdout.splitlines()
    assert lines[0].split() == ["method", *("F", "P", "R", "ARI"), "groups", "unclustered",
                                "seconds", "sets"]  # fmt: skip
    assert lines[1].split()[:7] == ["ours", *["1.0000"] * 4, "5/5", "2"]
    assert lines[2].split()[0] == "Broken"
    assert "Broken gives no answer on a: labels are" in said.stdout
    page = tmp_path / "out" / "benchmark.html"
    assert lines[-1] == f"Written: {tmp_path}/out/benchmark.json, {page}"
    seen = Seen(page.read_text(encoding="utf-8"))
    assert "script" not in seen.tags
    assert "img" not in seen.tags
    assert {value for _, name, value in seen.attributes if name in ("src", "href")} == {
        *("#methods", "#picture", "#sets", "#figures", "#cite", "#made", "benchmark.json"),
    }
    policy = [value for tag, name, value in seen.attributes if tag == "meta" and name == "content"]
    assert any(text.startswith("default-src 'none'") for text in policy)
    for words in ("1 ours 1 1 1 1 5 / 5 2", "a photos", "Broken gives no answer on b", "Phan"):
        assert words in seen.text
    again = call("ours", SPEC + "Broken", "-o", tmp_path / "out", "--sets", "a,b", "--json")
    assert json.loads(again.stdout) == json.loads((tmp_path / "out/benchmark.json").read_text())


def test_a_set_that_comes_out_different_is_said_and_ends_with_4(here, tmp_path):
    here(b=replace(SMALL["b"], sha256="0" * 64))
    code, said, _ = typed("benchmark", "hdbscan", "-o", tmp_path)
    assert code == 4
    assert "The set 'b' comes out different here" in said
    text = Seen((tmp_path / "benchmark.html").read_text(encoding="utf-8")).text
    assert "comes out different here" in text
    assert "not used" in text


def test_help_names_all_methods():
    text = " ".join(call("--help").output.split())
    shown = text.split("Methods of the project: ")[1].rstrip(".")
    shown = shown.replace("and published by others ", "").split(", ")
    assert sorted(shown) == sorted(METHODS)
    assert set(RIVALS) < set(METHODS)


def test_wrong_words_are_errors():
    for words, message in (
        (["--sets", ","], "no set is named"),
        (["--runs", "0"], "'0' is not a whole number, 1 or more"),
        (["--limit", "0"], "'0' is not a number of seconds above 0"),
    ):
        said = call(*words)
        assert said.exit_code == 2
        assert message in said.output


def test_names_on_the_page_do_nothing(committed):
    content = json.loads(
        json.dumps(committed).replace("average linkage", HOSTILE.replace('"', "'"))
    )
    page = _page.render({**content, "failures": [HOSTILE], "processor": HOSTILE})
    seen = Seen(page)
    assert "img" not in seen.tags
    assert HOSTILE in seen.text


def test_what_is_no_benchmark_is_an_error(tmp_path, committed):
    file = tmp_path / "benchmark.json"
    with pytest.raises(SamecamError, match="is not there: run samecam benchmark first"):
        write_benchmark(tmp_path)
    for content, words in (
        ({"format": "other"}, "is no result of a benchmark"),
        ([], "is no result of a benchmark"),
        ({**committed, "version": 2}, "of another version"),
        ({**committed, "ranking": [{}]}, r"cannot be read \(ranking\[0\] has no 'method'\)"),
    ):
        file.write_text(json.dumps(content))
        with pytest.raises(SamecamError, match=words):
            write_benchmark(tmp_path)
    assert not (tmp_path / "benchmark.html").exists()
    file.write_text(json.dumps(committed))
    assert write_benchmark(tmp_path) == tmp_path / "benchmark.html"


def test_both_rooms_name_the_same_files():
    assert (*(_result.FORMAT, _result.VERSION, _result.FILE),) == (
        _page._FORMAT,
        _page._VERSION,
        _page._FILE,
    )


def test_citations_are_those_of_the_project():
    cff = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    ours, paper = _benchmark._CITE
    ours = ours.format(version=samecam.__version__, sets=fixed_version())
    assert re.search(r"^  - name: (.+)$", cff, re.M)[1] in ours
    assert re.search(r'^title: "(.+)"$', cff, re.M)[1] in ours
    assert f"Version {re.search(r'^version: (.+)$', cff, re.M)[1]}," in ours
    assert re.search(r"^date-released: (\d+)", cff, re.M)[1] in ours
    reference = cff.split("references:")[1]
    for name in ("title", "journal", "year"):
        assert re.search(rf"^    {name}: (.+)$", reference, re.M)[1] in paper
    for family in re.findall(r"family-names: (.+)", reference):
        assert family in paper


def test_the_committed_result_is_of_all_methods_on_the_sets_there_are(committed):
    assert committed["sets_version"] == fixed_version()
    assert {one["name"]: (one["sha256"], one["failed"]) for one in committed["sets"]} == {
        name: (one.sha256, "") for name, one in fixed_sets().items()
    }
    assert [one["method"] for one in committed["methods"]] == list(METHODS)
    places = {(row["configuration"], row["method"]) for row in committed["result"]["rows"]}
    assert places == {(name, method) for name in fixed_sets() for method in METHODS}
    assert committed["command"].startswith("samecam benchmark all")
    assert committed["commit"]
    assert "+" not in committed["commit"], "made of files that are in no commit"
    f = [one["f"] for one in committed["ranking"]]
    assert f == sorted(f, reverse=True)


def test_the_docs_have_the_numbers_of_the_committed_result(committed):
    parts = benchmark_page.generated(committed)
    first = committed["ranking"][0]
    assert f"| {share(first['precision'], 3)} |" in parts["ranking"]
    other = json.loads(json.dumps(committed))
    other["ranking"][0]["recall"] *= 0.5
    other["result"]["rows"][0]["f"] *= 0.5
    changed = benchmark_page.generated(other)
    assert all(changed[name] != parts[name] for name in parts)
