"""Memory budgets that cannot do are refused before any work; those that can change nothing."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from samecam.case import ClusteringSettings, ExtractionSettings, cluster_fingerprints
from samecam.case.extraction import Job
from samecam.case.grouping._budget import check_budget, frame_counts, surely_used
from samecam.compute import Resources
from samecam.errors import SamecamError
from samecam.frames import Frame
from samecam.simulate import fingerprints
from samecam.store import Record
from tests.case.conftest import SIZE, make_photos
from tests.processes import run


@pytest.mark.parametrize("more", [("--size", SIZE), ()])
def test_too_little_memory_is_told_before_a_photo_is_read(tmp_path, more):
    make_photos(tmp_path / "photos", count=12)
    case = tmp_path / "case"
    words = ("cluster", tmp_path / "photos", "-o", case, *more, "--memory", "1M")
    code, out, error = run(*words)
    assert (code, out) == (1, "")
    assert error == (
        "Error: Weighing the evidence takes 16.0 MB of memory at least, and the memory budget is "
        "1.0 MB: raise it.\n"
    )
    assert not case.exists()


@pytest.mark.parametrize(
    ("photos", "side", "method", "memory", "words"),
    [
        (100, 1024, "consolidated", 40 * 2**20, "Weighing the evidence takes 52.0 MB"),
        (2_000_000, 256, "consolidated", 2**24, "Grouping 2000000 photos by 'consolidated'"),
        (5000, 256, "ssc-nc", 90 * 2**20, "Grouping 5000 photos by 'ssc-nc' takes 97.8 MB"),
    ],
)
def test_what_each_phase_takes_at_least(photos, side, method, memory, words):
    settings, budget = ClusteringSettings(method), Resources(memory=memory, device="cpu")
    large, small = {Frame(side, side): photos}, {Frame(64, 64): 3}
    for frames in (large, {**large, **small}, {**small, **large}):
        with pytest.raises(SamecamError, match=words):
            check_budget(frames, "float16", settings, budget)
        check_budget(frames, "float16", settings, Resources(memory=2**30, device="cpu"))
    check_budget(small, "float16", settings, budget)


def test_a_frame_of_bits_takes_less_than_its_pixels_as_floats():
    frames = {Frame(4000, 3000): 50, Frame(640, 480): 50}
    settings, budget = ClusteringSettings(), Resources(memory=100 * 2**20, device="cpu")
    check_budget(frames, "auto", settings, budget)
    with pytest.raises(SamecamError, match="Weighing the evidence takes .* MB"):
        check_budget(frames, "float16", settings, budget)


def test_one_large_photo_among_others_takes_no_memory():
    large, small = Frame(20_000, 10_000), Frame(640, 480)
    frames = Counter({small: 50, large: 1})
    job = Job(Path("case"), [], [], ExtractionSettings(), frames)
    used = [Record(str(k), frame=frame) for k, frame in enumerate(frames.elements())]
    settings, budget = ClusteringSettings(), Resources(memory=100 * 2**20, device="cpu")
    for few in (surely_used(job), frame_counts(used)):
        check_budget(few, "auto", settings, budget)
    frames[large] = 2
    with pytest.raises(SamecamError, match="Weighing the evidence takes 762.9 MB"):
        check_budget(surely_used(job), "auto", settings, budget)


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
