"""Memory budgets that cannot do are refused before any work; those that can change nothing."""

import numpy as np
import pytest

from samecam.case import ClusteringSettings, cluster_fingerprints
from samecam.case.grouping._budget import check_budget
from samecam.compute import Resources
from samecam.errors import SamecamError
from samecam.simulate import fingerprints
from tests.case.conftest import SIZE, make_photos
from tests.processes import run


def test_too_little_memory_is_told_before_a_photo_is_read(tmp_path):
    make_photos(tmp_path / "photos", count=12)
    case = tmp_path / "case"
    words = ("cluster", tmp_path / "photos", "-o", case, "--size", SIZE, "--memory", "1M")
    code, out, error = run(*words)
    assert (code, out) == (1, "")
    assert error == (
        "Error: Weighing the evidence takes 16.0 MB of memory at least, and the memory budget is "
        "1.0 MB: raise it.\n"
    )
    assert not case.exists()


@pytest.mark.parametrize(
    ("photos", "pixels", "method", "memory", "words"),
    [
        (100, 2**20, "consolidated", 40 * 2**20, "Weighing the evidence takes 52.0 MB"),
        (2_000_000, 2**16, "consolidated", 2**24, "Grouping 2000000 photos by 'consolidated'"),
        (5000, 2**16, "ssc-nc", 90 * 2**20, "Grouping 5000 photos by 'ssc-nc' takes 97.8 MB"),
    ],
)
def test_what_each_phase_takes_at_least(photos, pixels, method, memory, words):
    settings, budget = ClusteringSettings(method), Resources(memory=memory, device="cpu")
    with pytest.raises(SamecamError, match=words):
        check_budget(photos, pixels, settings, budget)
    check_budget(photos, pixels, settings, Resources(memory=2**30, device="cpu"))


def test_a_budget_too_small_for_a_replay_is_no_difference(tmp_path):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(700, 64)))
    words = ("cluster", "--fingerprints", tmp_path / "rows.npy", "-o", tmp_path / "case")
    assert run(*words, "--method", "ssc-nc", "--quiet", "--no-report")[0] == 0
    code, out, error = run("verify", tmp_path / "case", "--memory", "1M")
    assert (code, out) == (1, "")
    assert error.startswith("Error: Grouping 700 photos by 'ssc-nc' takes ")


def test_the_smallest_budget_that_is_taken_gives_the_same_answer(tmp_path):
    np.save(tmp_path / "rows.npy", fingerprints([8, 8, 8], 0.3, 4096)[0])
    answers = [
        cluster_fingerprints(
            tmp_path / "rows.npy", tmp_path / str(memory), resources=Resources(memory=memory)
        )
        for memory in (16 * 2**20, 2**30)
    ]
    np.testing.assert_array_equal(answers[0].labels, answers[1].labels)
    for name in ("clusters.csv", "clusters.json", "evidence.csv", "images.csv"):
        few, many = (answer.case / name for answer in answers)
        assert few.read_bytes() == many.read_bytes()
