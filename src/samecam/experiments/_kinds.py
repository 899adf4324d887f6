"""Piles whose photos are of several kinds: scored, drawn and told kind by kind."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from samecam import pages
from samecam.experiments._experiment import Result
from samecam.experiments._piles import (
    STEPS,
    main_groups,
    outcome,
    owners,
    pair_scores,
    steps_of,
)
from samecam.experiments._study import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SCORES = {"f": "F", "precision": "precision", "recall": "recall"}


def score_kinds(run: Run, kinds: Sequence[str], own: int) -> dict[str, Any]:
    """Scores of the originals ("rows"), and what became of each kind of photo ("kinds").

    Parameters
    ----------
    run : of a pile; its array `kind` has the number of each photo's kind
    kinds : their names
    own : how many of them, the first ones, are originals of cameras to be found
    """
    rows, counted = [], []
    for step in steps_of(run):
        truth, labels, kind = (run.arrays[part] for part in ("truth", step, "kind"))
        ours = kind < own
        rows.append({"search": STEPS[step], **pair_scores(truth[ours], labels[ours])})
        main, owner = main_groups(truth[ours], labels[ours]), owners(truth[ours], labels[ours])
        for k, name in enumerate(kinds):
            of = kind == k
            if of.any():
                counts = outcome(truth[of], labels[of], main, owner)
                counted.append({"search": STEPS[step], "kind": name, **counts})
    return {"rows": rows, "kinds": counted}


def plot_kinds(result: Result, words: Mapping[str, str]) -> "Figure":
    """F, precision and recall on the left; on the right how much of each kind is placed."""
    from samecam.experiments import _pictures

    figure = _pictures.blank(10, 3.6)
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.6))
    scored = {row["search"]: [row[name] for name in _SCORES] for row in result["rows"]}
    _pictures.paired(left, list(_SCORES.values()), scored, "pairs of photos")
    kinds = _kinds(result)
    _pictures.paired(
        right,
        [f"{words[kind].split(',')[0]} ({_cell(result, 'off', kind)['photos']})" for kind in kinds],
        {step: [_share(_cell(result, step, kind)) for kind in kinds] for step in scored},
        "share of the photos placed at their camera",
    )
    _pictures.explain(figure, left)
    _pictures.note(figure, "off: groups of one frame; on: cameras, groups joined by views")
    return figure


def scored_words(result: Result) -> str:
    """F, precision, groups and photos in none, off and on."""
    scored = [
        f"{row['search']} F {pages.share(row['f'])}, precision {pages.share(row['precision'])}, "
        f"{row['n_clusters']} groups, {row['n_unclustered']} photos in none"
        for row in result["rows"]
    ]
    return "; ".join(scored)


def kinds_table(result: Result, words: Mapping[str, str]) -> str:
    """A row a kind: photos, share that is placed off and on, photos at a wrong camera.

    Kinds of the same words are one row.
    """
    steps = [row["search"] for row in result["rows"]]
    head = ["view", "photos", *(f"placed, {step}" for step in steps), f"wrong, {steps[-1]}"]
    rows = []
    for word in dict.fromkeys(words[kind] for kind in _kinds(result)):
        kinds = [kind for kind in _kinds(result) if words[kind] == word]
        cells = [_sum([_cell(result, step, kind) for kind in kinds]) for step in steps]
        shares = [pages.percent(_share(cell)) for cell in cells]
        rows.append([word, str(cells[0]["photos"]), *shares, str(cells[-1]["wrong"])])
    return pages.table(head, rows)


def _sum(cells: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    return {name: sum(cell[name] for cell in cells) for name in ("photos", "placed", "wrong")}


def _kinds(result: Result) -> list[str]:
    return list(dict.fromkeys(row["kind"] for row in result["kinds"]))


def _cell(result: Result, search: str, kind: str) -> Mapping[str, Any]:
    for row in result["kinds"]:
        if (row["search"], row["kind"]) == (search, kind):
            return dict(row)
    return {"photos": 0, "placed": 0, "wrong": 0}


def _share(row: Mapping[str, Any]) -> float:
    return float(row["placed"] / row["photos"]) if row["photos"] else 0.0
