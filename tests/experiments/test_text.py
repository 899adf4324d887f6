"""What is said and drawn of the rows of a result."""

import pytest

from samecam import pages
from samecam.experiments import _grid, _paper, _pictures, medium, outliers, rivals_table
from samecam.experiments._text import failures, standing


def planted(ours, other):
    rows = [
        {
            "configuration": "A",
            "method": m,
            "label": m,
            "f": f,
            "runs": 1,
            "precision": 1.0,
            "recall": 0.7,
            "n_clusters": 5,
            "n_cameras": 5,
            "n_unclustered": alone,
        }
        for m, f, alone in (("ours", ours, 7), ("msc", other, 0))
    ]
    return {"rows": rows}


def test_where_ours_is_behind_is_said():
    assert _grid.behind(planted(0.9, 0.8)) == []
    behind = _grid.behind(planted(0.8, 0.9))
    assert [(row["method"], row["f"], row["ours"]) for row in behind] == [("msc", 0.9, 0.8)]
    assert standing(planted(0.8, 0.9), ["A"]) == (
        "**Ahead of ours in F**: msc on A (.900 against .800; ours leaves 7 alone)."
    )
    assert "(.80001 against .80000;" in standing(planted(0.8, 0.80001), ["A"])
    assert "(1 against .9997;" in standing(planted(0.9997, 1.0), ["A"])
    for level in (0.8, 0.9):
        assert standing(planted(0.9, level), ["A"]) == "In F, no method is ahead of ours."


def test_who_is_ahead_is_told_by_place():
    both = planted(0.8, 0.9)
    third = {**both["rows"][1], "method": "mrf", "label": "mrf", "f": 0.95}
    other = [{**row, "configuration": "B"} for row in planted(0.9, 0.7)["rows"]]
    result = {"rows": [*both["rows"], third, *other]}
    assert standing(result, ["A", "B"]) == (
        "**Ahead of ours in F** on 1 of 2: mrf and msc on A (up to .950 against .800; ours leaves "
        "7 alone)."
    )
    assert standing(planted(0.9, 0.7), ["A", "B"]).endswith("on any of the 2.")


def test_the_best_is_first_whoever_it_is():
    result = planted(0.8, 0.9)
    for row, seconds in zip(result["rows"], (2.0, 0.25), strict=True):
        row["seconds"] = seconds
    assert _grid.best_first(result, ["A"]) == [("msc", "msc"), ("ours", "ours")]
    # Level in F: precision tells, and then time.
    ours, other = (row | {"f": 0.9} for row in result["rows"])
    assert _grid.best_first({"rows": [ours | {"precision": 0.9}, other]}, ["A"])[0][0] == "msc"
    assert _grid.best_first({"rows": [ours, other]}, ["A"])[0][0] == "msc"
    slow = {"rows": [ours, other | {"seconds": 3.0}]}
    assert _grid.best_first(slow, ["A"])[0][0] == "ours"
    # One that failed comes last, and what another place has does not count.
    failed = {"configuration": "A", "method": "ccc", "label": "CCC", "runs": 0, "failed": "no"}
    slow["rows"].append(failed)
    assert [method for method, _ in _grid.best_first(slow, ["A"])] == ["ours", "msc", "ccc"]


@pytest.mark.parametrize(
    ("mean", "spread", "text"),
    [
        *((0.9, 0.02, ".90 ± .02"), (0.9997, 0.0002, ".9997 ± .0002"), (1, 0.0, "1")),
        *((0.9, 0.0, ".90"), (0.9, 0.0007, ".90"), (1, 0.02, "1 ± .02")),
    ],
)
def test_a_spread_has_the_digits_of_its_mean(mean, spread, text):
    row = {"f": mean, "f_spread": spread, "runs": 10}
    assert pages.with_spread(row) == text
    assert pages.with_spread({**row, "runs": 1}) == text.partition(" ")[0]


def test_a_failure_is_told_with_its_reason():
    def run(place, **more):
        return {"configuration": place, "method": "msc", "label": "MSC", **more}

    runs = [
        *(run("A", failed="X is odd."), run("A", failed="X is odd.")),
        *(run("B", failed="X is odd."), run("B", f=1.0)),
        run("C", f=1.0),
    ]
    assert failures({"runs": runs}) == ["MSC gives no answer on A and B (1 of 2 runs): X is odd."]
    assert failures({"rows": []}) == []


def test_strangers_that_join_are_held_against_the_rate():
    ours = {"method": "ours", "label": "ours", "strangers": 50.0, "strangers_left": 47.0}
    other = {"method": "hdbscan", "label": "HDBSCAN", "strangers_left": 50.0}
    (said,) = outliers._let_in({"ours": ours, "hdbscan": other})
    assert said == (
        "Ours lets in 3 of 50 strangers, where its `join_rate` of 1 % would be 0.5 on average and "
        "3 or more come up in 1.4% of all draws; **fewer get in with HDBSCAN**."
    )
    (usual,) = outliers._let_in({"ours": {**ours, "strangers_left": 49.0}})
    assert "1 or more come up in 39.5% of all draws." in usual
    assert outliers._let_in({"ours": {**ours, "strangers_left": 50.0}}) == []
    from samecam.cluster import METHODS as KNOWN

    assert KNOWN["consolidated"]().join_rate == outliers._JOIN_RATE


def phan(names, scores, printed=()):
    """A result of the table of Phan 2017: {method: F on each}."""
    rows = [
        dict.fromkeys(("f", "precision", "recall"), f)
        | dict.fromkeys(("f_spread", "n_unclustered"), 0.0)
        | {"configuration": name, "method": method, "label": method.upper(), "runs": 1}
        | {"n_clusters": 4.0, "n_cameras": 3.0}
        for method, values in scores.items()
        for name, f in zip(names, values, strict=True)
    ]
    return {"configurations": names, "printed": list(printed), "rows": rows, "runs": [],
            "notes": [], "skipped": []}  # fmt: skip


def test_all_collections_in_one_line_of_a_method():
    result = phan(["A", "B"], {"ours": [1, 0.9], "msc": [0.5, 0.5]}) | {"collection": "vision"}
    assert "| **OURS** | .950 | .90 (B) | 0 |" in medium.VISION.text(result)
    result["rows"][3] = {**result["rows"][3], "runs": 0, "failed": "no"}
    assert "| MSC | .250 | .50 | 0 |" in medium.VISION.text(result), "failed is F 0"


def test_rivals_are_ranked_by_what_is_there():
    small = phan(["all"], {"ours": [0.2], "msc": [0.3], "mrf": [0.9], "ccc": [0.6]})
    assert [key for key, _ in rivals_table._methods(small)] == ["ours", "mrf", "ccc", "msc"]
    names = ["phan-D1", "phan-D2", "phan-D4"]
    scores = {"ours": [1, 1, 1], "msc": [1, 0.5, 0.5], "mrf": [0.1, 0.6, 0.6]}
    assert [key for key, _ in rivals_table._methods(phan(names, scores))][1:] == ["mrf", "msc"]


def test_what_is_printed_stands_beside_what_is_found():
    entry = next(
        e for e in _paper.RIVALS_TABLE if (e.method, e.configuration[-2:]) == ("msc", "D2")
    )
    names = ["phan-D2"]
    result = phan(names, {"ours": [0.9], "msc": [0.9997]}, [_paper.as_json(entry)])
    text = rivals_table.EXPERIMENT.text(result)
    assert "| MSC | .9997 (.80) |" in text
    figure = rivals_table.EXPERIMENT.plot(result)
    assert [text.get_text() for text in figure.axes[1].texts] == ["", ".80, 21.7/10"]
    without = rivals_table.EXPERIMENT.plot(phan(["all"], {"ours": [0.9], "msc": [0.8]}))
    assert len(without.axes) == 1


def test_a_single_point_is_not_hidden_and_counts_are_whole():
    figure = _pictures.blank(4, 3)
    ax = figure.subplots()
    _pictures.line(ax, "ours", "ours", [30, 74], [0, 1], [0, 0])
    _pictures.line(ax, "lin-ls", "Lin-LS", [30], [0], [0])
    _pictures.at_cameras(ax, [74, 30, 30])
    _pictures.whole_numbers(ax)
    ours, alone = (container.lines[0] for container in ax.containers)
    assert alone.get_zorder() > ours.get_zorder()
    assert alone.get_markerfacecolor() == "none"
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["30", "74"]
    assert all(tick == round(tick) for tick in ax.get_yticks())


def test_bars_have_the_digits_of_the_table():
    figure = _pictures.blank(4, 3)
    ax = figure.subplots()
    rows = [_pictures.Bar("ours", "ours", 0.999749, 0.0, None)]
    _pictures.bars(ax, rows, "F", pages.share)
    assert [text.get_text() for text in ax.texts] == [".9997"]
