"""Several methods on one case: rows, scores as evaluate has them, failures with their reason."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from samecam.case import (
    ClusteringSettings,
    ComparedMethod,
    cluster_fingerprints,
    compare_methods,
    open_store,
)
from samecam.case.folder import used_photos
from samecam.case.grouping._method import group_photos
from samecam.case.studies._compare import chosen_methods
from samecam.case.studies._compare_plot import svg
from samecam.case.studies._compare_rank import best_first, remark_on_ours
from samecam.cli import cli
from samecam.cluster import METHODS, RIVALS
from samecam.compute import Resources, no_progress
from samecam.errors import SamecamError
from samecam.metrics import scores
from samecam.simulate import fingerprints
from tests.case.studied import compare_here
from tests.case.worlds import tree


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A case of 40 fingerprints by 3 cameras, a duplicate and a broken row, and its truth."""
    root = tmp_path_factory.mktemp("made")
    X, labels = fingerprints([16, 14, 10], 0.2, 1024, seed=3)
    X = np.vstack([X, X[:1], np.full((1, X.shape[1]), np.nan, np.float32)])
    cameras = [*labels.tolist(), int(labels[0]), 0]
    names = [f"photo {k:02d}" for k in range(len(X))]
    np.save(root / "X.npy", X)
    (root / "names.txt").write_text("".join(f"{name}\n" for name in names))
    rows = [f"{name},camera {camera}\n" for name, camera in zip(names, cameras, strict=True)]
    (root / "truth.csv").write_text("path,camera\n" + "".join(rows))
    cluster_fingerprints(root / "X.npy", root / "case", names=root / "names.txt")
    return root


@pytest.fixture(scope="module")
def compared(made):
    before = tree(made / "case")
    result = compare_methods(
        made / "case", ["ssc-nc", "consolidated", "lin-ls"], truth=made / "truth.csv"
    )
    after = tree(made / "case")
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {"compare.json", "compare.svg"}
    return result


def evaluated(made):
    words = ["evaluate", str(made / "case"), "--truth", str(made / "truth.csv"), "--json"]
    return json.loads(CliRunner().invoke(cli, words).stdout)["scores"]


def of(compared, method):
    """The row of a method."""
    return next(row for row in compared.rows if row.method == method)


def test_a_row_a_method(compared):
    assert {row.method: row.input for row in compared.rows} == {
        "ssc-nc": "correlations",
        "consolidated": "correlations",
        "lin-ls": "fingerprints",
    }
    assert [row.failure for row in compared.rows] == [""] * 3
    assert compared.photos == 40
    for row in compared.rows:
        assert row.seconds > 0
        assert 30 * 2**20 < row.peak_memory < 4 * 2**30


def test_scores_are_those_of_evaluate(made, compared):
    """The case was grouped by the default method, so both must say the same to the pair."""
    row = of(compared, "consolidated")
    ours = row.scores.as_dict()
    assert ours == evaluated(made)
    assert ours["n_images"] == 42
    assert ours["n_unclustered"] == row.unclustered + 1  # the broken row
    assert compared.scaled == ""


def test_every_row_is_what_the_method_answers(made, compared):
    with open_store(made / "case") as store:
        used = used_photos(store)
        for row in compared.rows:
            labels, _ = group_photos(
                store,
                used,
                ClusteringSettings(row.method),
                Resources(workers=1, device="cpu", memory=2**30),
                no_progress,
            )
            assert row.groups == labels.max() + 1
            assert row.unclustered == np.count_nonzero(labels < 0)


def test_the_file_holds_the_result(made, compared):
    told = json.loads((made / "case" / "compare.json").read_text())
    assert told == json.loads(json.dumps(compared.as_dict()))
    assert told["format"] == "samecam-compare"
    (ours,) = (row for row in told["methods"] if row["method"] == "consolidated")
    assert ours["scores"] == evaluated(made)


def test_the_picture(made, compared):
    root = ET.fromstring((made / "case" / "compare.svg").read_text())
    words = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert {row.method for row in compared.rows} <= set(words)
    assert "F, precision, recall" in words
    assert f"{compared.rows[0].scores.f:.3f}" in words


def test_bars_are_as_long_as_their_numbers():
    rows = [
        {"method": "a<b", "failure": "", "scores": None, "unclustered": 5, "seconds": 4.0,
         "peak_memory": 2**20},
        {"method": "c", "failure": "x", "scores": None, "unclustered": None, "seconds": None,
         "peak_memory": None},
        {"method": "d", "failure": "", "scores": None, "unclustered": 10, "seconds": 1.0,
         "peak_memory": 2**21},
    ]  # fmt: skip
    root = ET.fromstring(svg(rows))
    bars = [e for e in root.iter() if e.tag.endswith("rect") and "fill" in e.attrib][1:]
    lengths = [float(bar.attrib["width"]) for bar in bars]
    assert np.divide(lengths[::2], lengths[1::2]) == pytest.approx([0.5, 4, 0.5])
    assert max(lengths) == lengths[1] == lengths[2] == lengths[5] == 150  # the longest fill it
    assert "c (failed)" in [e.text for e in root.iter()]


def test_without_room_for_correlations_the_answer_is_the_same(made, compared, monkeypatch):
    compare_here(monkeypatch)
    small = compare_methods(
        made / "case", ["consolidated"], truth=made / "truth.csv", memory=14_000
    )
    assert small.correlating is None
    assert small.rows[0].input == "fingerprints"
    if not small.rows[0].failure:
        assert small.rows[0].scores == of(compared, "consolidated").scores
    else:  # too little for the method itself: it says so
        assert "memory" in small.rows[0].failure


def row(method, labels=(0, 0, 1, 1), seconds=1.0, failure=""):
    """A method that groups four photos by two cameras in that way."""
    found = None if failure else scores(list("aabb"), np.array(labels))
    return ComparedMethod(method, "correlations", failure, scores=found, seconds=seconds)


def test_the_best_is_first_whoever_it_is():
    """By F, then precision, then time; what failed comes last."""
    whole, split, alone = (0, 0, 1, 1), (0, 0, 1, 2), (0, 0, -1, -1)
    rows = [
        row("failed", failure="no"),
        row("consolidated", alone),
        row("mixed", (0, 0, 0, 0)),
        row("slow", whole, 9.0),
        row("fast", whole, 0.5),
        row("split", split),
    ]
    ranked = best_first(rows)
    assert [one.method for one in ranked] == [
        *("fast", "slow", "consolidated", "split", "mixed", "failed")
    ]
    assert remark_on_ours(ranked) == (
        "consolidated is not first, fast is: F 0.6667 against 1.0000, precision 1.0000 against "
        "1.0000, recall 0.5000 against 1.0000, unclustered 2 against 0, seconds 1.00 against 0.50."
    )
    exact, rough = row("exact", split, 9.0), row("rough", split, 0.5)
    rough = replace(rough, scores=replace(rough.scores, precision=0.5))
    assert best_first([rough, exact]) == [exact, rough], "level in F"
    assert remark_on_ours(best_first([row("consolidated"), row("msc", split)])) == ""
    assert remark_on_ours(best_first([row("msc", split)])) == ""
    failed = best_first([row("consolidated", failure="no"), row("msc", split)])
    assert remark_on_ours(failed) == "consolidated is not first, msc is: it gave no answer."
    # Without a truth, in the order asked for.
    plain = [ComparedMethod("b", "correlations"), ComparedMethod("a", "correlations")]
    assert best_first(plain) == plain
    assert remark_on_ours([ComparedMethod("consolidated", "correlations"), *plain]) == ""


def test_a_case_of_a_part_is_scored_on_that_part(made, tmp_path, monkeypatch):
    compare_here(monkeypatch)
    whole = (made / "truth.csv").read_text()
    more = "".join(f"elsewhere {k},camera {k % 5}\n" for k in range(500))
    (tmp_path / "truth.csv").write_text(whole + more)
    here = {"truth": tmp_path / "truth.csv", "out": tmp_path / "of part.json"}
    part = compare_methods(made / "case", ["average-linkage"], **here)
    all_of_it = compare_methods(made / "case", ["average-linkage"], truth=made / "truth.csv")
    assert part.rows[0].scores == all_of_it.rows[0].scores
    assert part.scaled == (
        "Scaled to 3 cameras, 42 photos: the truth has 5 cameras, 542 photos, and what is not in "
        "the case is left out."
    )
    assert json.loads((tmp_path / "of part.json").read_text())["scaled"] == part.scaled
    assert part.scaled in (tmp_path / "of part.svg").read_text()


def test_without_truth_there_are_no_scores(made, monkeypatch):
    compare_here(monkeypatch)
    row = compare_methods(made / "case", ["average-linkage"]).rows[0]
    assert row.scores is None
    assert row.groups is not None


def test_failures_are_listed_with_their_reason(made, tmp_path, monkeypatch):
    """One is killed, one ends itself, one finds fault with its input; the last still runs."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\n"
        "task = sys.orig_argv[-1]\n"
        "if '\"bloy\"' in task: os.kill(os.getpid(), 9)\n"
        "if '\"mrf\"' in task: print('boom', file=sys.stderr); os._exit(3)\n"
        "if '\"ccc\"' in task:\n"
        "    from samecam.cluster.rivals import CCC\n"
        "    def fail(self, gram): raise ValueError('gram is odd; give another')\n"
        "    CCC._group = fail\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    rows = compare_methods(
        made / "case", ["bloy", "mrf", "ccc", "average-linkage"], truth=made / "truth.csv"
    ).rows
    assert [row.failure for row in rows] == [
        "",
        "Its process was ended by SIGKILL, perhaps for want of memory.",
        "Its process failed: boom",
        "gram is odd; give another.",
    ]
    assert [row.scores is None for row in rows] == [False, True, True, True]
    assert not list((made / "case").glob(".compare*"))


def test_a_time_out_ends_the_process(made):
    row = compare_methods(made / "case", ["msc"], timeout=0.05).rows[0]
    assert row.failure == "It took longer than 0.05 seconds."
    with pytest.raises(SamecamError, match="timeout is 0: give seconds above 0"):
        compare_methods(made / "case", ["msc"], timeout=0)


def test_which_methods_are_meant():
    assert chosen_methods(["all"]) == list(METHODS)
    assert chosen_methods(["msc", "ssc", "msc"]) == ["msc", "ssc"]
    assert set(RIVALS) < set(METHODS)
    with pytest.raises(SamecamError, match="'auto' is no method: choose all, consolidated"):
        chosen_methods(["auto"])
    with pytest.raises(SamecamError, match="No method was named"):
        chosen_methods([])


def test_what_is_wrong_with_the_case_is_an_error(made, tmp_path):
    with pytest.raises(SamecamError, match="is no case folder"):
        compare_methods(tmp_path, ["msc"])
    other = tmp_path / "other.csv"
    other.write_text("path,camera\nelsewhere.jpg,c\n")
    with pytest.raises(SamecamError, match="None of the 42 photos of the case"):
        compare_methods(made / "case", ["msc"], truth=other)
