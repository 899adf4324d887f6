"""Leads of other methods over ours: found, explained and told."""

import numpy as np

from samecam.experiments import Run, Study
from samecam.experiments._leads import leads, tell_leads

# Two cameras of four photos: ours keeps the first in two groups, the other method in one.
TRUTH = np.array([0, 0, 0, 0, 1, 1, 1, 1])
OURS = np.array([0, 0, 2, 2, 1, 1, 1, 1])
OTHER = np.array([0, 0, 0, 0, 1, 1, 1, -1])


def planted(folder, precision=1.0, f=0.9):
    study = Study(folder)
    runs, rows = [], []
    for method, labels, (p, score) in (
        ("ours", OURS, (1.0, 0.89)),
        ("lin-ls", OTHER, (precision, f)),
    ):
        key = f"set/{method}/0"
        study.run(key, lambda labels=labels: Run({"truth": TRUTH, "labels": labels}, {}))
        about = {"configuration": "set", "method": method, "label": method.upper()}
        runs.append({**about, "key": key})
        rows.append({**about, "runs": 1, "f": score, "precision": p})
    return study, {"runs": runs, "rows": rows}


def test_a_lead_is_laid_to_the_camera_that_ours_keeps_apart(tmp_path):
    (lead,) = leads(*planted(tmp_path))
    assert lead["label"] == "LIN-LS"
    assert (lead["photos"], lead["groups"], lead["share"]) == (4, 2, 1.0)
    told = tell_leads([lead])
    assert "LIN-LS 1: 1 by a camera that ours keeps in several groups" in told


def test_a_lead_that_costs_precision_or_is_small_is_none(tmp_path):
    assert leads(*planted(tmp_path / "a", precision=0.99)) == []
    assert leads(*planted(tmp_path / "b", f=0.8915)) == []
    assert tell_leads([]).startswith("None is ahead by more than .002")


def test_no_reason_is_given_where_there_is_none(tmp_path):
    (lead,) = leads(*planted(tmp_path))
    one = tell_leads([{**lead, "groups": 1}])
    assert "in several groups" not in one
    assert "1 by photos of one camera that ours leaves alone" in one
    assert " by " not in tell_leads([{**lead, "share": 0.3}])
    assert "1 by fewer wrong pairs" in tell_leads([{**lead, "share": 0.0}])
