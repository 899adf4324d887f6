"""The figures of the method: sparse against dense, the merging threshold, hyperparameters."""

import base64
import json

import numpy as np
import pytest

from samecam.cluster import PUBLISHED_REGRESSOR, GroupPairs
from samecam.errors import SamecamError
from samecam.experiments import (
    _hyper_sets,
    hyperparameters,
    results_page,
    sparse_vs_dense,
    threshold,
)
from samecam.experiments._experiment import Context
from samecam.experiments._paper import GAMMAS
from samecam.experiments._results import conduct
from samecam.experiments._study import Study
from samecam.pages import digest, digest_in, svg
from samecam.simulate import gram, simulate_photos


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photographs")
    simulate_photos(folder, cameras=2, images=12, size=(160, 144), workers=1)
    return folder


def conducted(experiment, context):
    """Run, score, and go through JSON, as the framework does."""
    experiment.run(context)
    made = context.study.made
    experiment.run(context)
    assert context.study.made == made > 0
    result = json.loads(json.dumps(experiment.score(context.study, context)))
    again = json.loads(json.dumps(experiment.score(Study(context.study.folder), context)))
    assert result == again
    assert result["runs"]
    assert svg(experiment.plot(result)) == svg(experiment.plot(result))
    return result, experiment.text(result)


def test_separation_is_what_pairs_say():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 14)
    matrix = np.round(rng.standard_normal((14, 14)), 1)
    same = truth[:, None] == truth
    pairs = [(i, j) for i in range(14) for j in range(14) if i != j]
    inside = [matrix[p] for p in pairs if same[p]]
    outside = [matrix[p] for p in pairs if not same[p]]
    wins = sum((a > b) + 0.5 * (a == b) for a in inside for b in outside)
    numbers = sparse_vs_dense.separation(matrix, same)
    assert numbers["auc"] == pytest.approx(wins / len(inside) / len(outside))
    mass = sum(max(a, 0) for a in inside)
    assert numbers["within"] == pytest.approx(mass / (mass + sum(max(b, 0) for b in outside)))
    assert numbers["between"] == pytest.approx(np.mean([b > 0 for b in outside]))
    assert numbers["inside"] == pytest.approx(np.mean([a > 0 for a in inside]))


def test_a_picture_of_blocks():
    told = sparse_vs_dense._levels(np.kron(np.eye(2), np.ones((75, 75))))
    assert (told["side"], told["photos_a_square"]) == (75, 2)
    levels = np.frombuffer(base64.b64decode(told["levels"]), np.uint8).reshape(75, 75)
    assert (levels[:37, :37] == 255).all()
    assert not levels[:37, 38:].any()
    assert levels[37, 37] in (127, 128)  # half of this square is in neither block


def small_pictures(monkeypatch):
    monkeypatch.setattr(sparse_vs_dense, "SIDE", 128)
    monkeypatch.setattr(sparse_vs_dense, "_PHOTO", (160, 144))
    monkeypatch.setattr(sparse_vs_dense, "CAMERAS", 2)
    monkeypatch.setattr(sparse_vs_dense, "QUICK_EACH", 12)


def test_sparse_against_dense(monkeypatch, tmp_path):
    small_pictures(monkeypatch)
    monkeypatch.setattr(sparse_vs_dense, "_VAR_PRNU", 0.02)
    context = Context(Study(tmp_path / "study"), quick=True, workers=1)
    result, words = conducted(sparse_vs_dense.EXPERIMENT, context)
    synthetic, simulated = result["sets"]
    assert (synthetic["kind"], simulated["kind"]) == ("synthetic", "simulated")
    assert synthetic["photos"] == 24
    # The filter costs some of what the model without it gives.
    assert synthetic["same_mean"] == pytest.approx(result["expected_synthetic"], rel=0.4)
    for one in result["sets"]:
        assert one["sparse"]["numbers"]["within"] > one["dense"]["numbers"]["within"]
        assert f"{one['sparse']['numbers']['within']:.1%}" in words


def test_sparse_against_dense_on_photographs(monkeypatch, tmp_path, photographs):
    small_pictures(monkeypatch)
    context = Context(Study(tmp_path / "study"), quick=True, data=photographs, workers=1)
    result, words = conducted(sparse_vs_dense.EXPERIMENT, context)
    assert [one["kind"] for one in result["sets"]] == ["real"]
    assert "real photographs" in words
    assert str(photographs) not in json.dumps(result)


def test_thresholds_of_all_rules():
    n = np.array([2.0, 10.0, 50.0])
    rho = np.array([0.01, 0.02, 0.1])
    pairs = GroupPairs(n, n, rho, rho, np.zeros(3))
    by_rule = threshold.thresholds(pairs, 0.003, 512**2)
    for k in range(3):
        h = n[k] * rho[k] / (1 + (n[k] - 1) * rho[k])
        white = 1 / 512
        assert by_rule["ours"][k] == pytest.approx(max(3.0902 * 0.003, h / 2), rel=1e-4)
        paper = max(3.0902 * white, float(PUBLISHED_REGRESSOR(n[k], n[k], rho[k], rho[k])))
        assert by_rule["ls-ssc"][k] == pytest.approx(paper, rel=1e-4)
        lin = max(3.0902 * white, h - 3.0902 * white * (1 - h**2))
        assert by_rule["lin-ls"][k] == pytest.approx(lin, rel=1e-4)


def test_the_threshold_as_groups_grow(monkeypatch, tmp_path):
    monkeypatch.setattr(threshold, "SIDE", 128)
    monkeypatch.setattr(threshold, "_NULL", 0.0105)
    monkeypatch.setattr(threshold, "_EACH", 40)
    monkeypatch.setattr(threshold, "STRENGTHS", {"usual": 0.08, "strong": 0.3})
    context = Context(Study(tmp_path / "study"), quick=True)
    result, words = conducted(threshold.EXPERIMENT, context)
    assert result["replications"] == 200
    for panel in result["panels"]:
        assert [row["size"] for row in panel["rows"]] == [2, 3, 5, 8, 12, 20]
        medians = [row["one"]["median"] for row in panel["rows"]]
        assert medians == sorted(medians)
        for row in panel["rows"]:
            assert abs(row["two"]["median"]) < 0.02
        grown = panel["rows"][-1]
        assert grown["two"]["high"] < grown["rules"]["ours"]["threshold"] < grown["one"]["low"]
        assert grown["rules"]["ours"]["missed"] == grown["rules"]["ours"]["wrong"] == 0
    # Small groups of strong cameras can never pass the published regressor.
    strong = result["panels"][1]["rows"][0]["rules"]
    assert strong["ls-ssc"]["missed"] > 0.9 > 0.1 > strong["ours"]["missed"]
    for panel in result["panels"]:
        assert f"| {panel['name']} cameras, ρ = {panel['strength']:g} |" in words


def test_quick_pairs_are_the_first_of_all(monkeypatch, tmp_path):
    monkeypatch.setattr(threshold, "REPLICATIONS", 400)
    monkeypatch.setattr(threshold, "SIDE", 64)
    monkeypatch.setattr(threshold, "_EACH", 8)
    monkeypatch.setattr(threshold, "STRENGTHS", {"usual": 0.1})
    study = Study(tmp_path / "study")
    threshold.EXPERIMENT.run(Context(study, quick=True))
    quick = threshold.EXPERIMENT.score(study, Context(study, quick=True))
    threshold.EXPERIMENT.run(Context(study))
    full = threshold.EXPERIMENT.score(study, Context(study))
    assert full["replications"] == 400
    assert [run for run in full["runs"] if run["seed"] == 0] == quick["runs"]
    assert full["panels"] != quick["panels"]


def test_the_threshold_on_photographs(monkeypatch, tmp_path, photographs):
    monkeypatch.setattr(threshold, "SIDE", 128)
    context = Context(Study(tmp_path / "study"), quick=True, data=photographs, workers=1)
    result, words = conducted(threshold.EXPERIMENT, context)
    photos = result["panels"][0]["photos"]  # over-exposed ones are left out
    assert 16 < sum(photos) <= 24
    sizes = [n for n in threshold.SIZES if n <= min(photos) // 2]
    assert [row["size"] for row in result["panels"][0]["rows"]] == sizes
    assert f"| two real cameras, {photos[0]} and {photos[1]} photos |" in words
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "truth.csv").write_text("path,camera\na.jpg,x\n")
    (tmp_path / "one" / "a.jpg").write_bytes(b"")
    alone = Context(Study(tmp_path / "other"), quick=True, data=tmp_path / "one")
    for experiment in (threshold, sparse_vs_dense, hyperparameters):
        with pytest.raises(SamecamError, match="give"):
            experiment.EXPERIMENT.run(alone)


def test_a_result_names_its_photographs(monkeypatch, tmp_path, photographs):
    """By how many they are, and a digest that other photographs would not have."""
    monkeypatch.setattr(threshold, "SIDE", 128)
    where = {"study": tmp_path / "study", "results": tmp_path / "results", "quick": True}
    document = conduct("threshold", data=photographs, workers=1, **where)
    (named,) = document["photographs"]
    assert named["photos"] == "real photographs, 2 cameras, 24 files"
    given = json.loads((tmp_path / "study/runs/real/correlations.json").read_text())["parameters"]
    assert named["sha256"] == given["sha256"]
    picture = (tmp_path / "results/threshold-real.svg").read_text()
    assert digest_in(picture) == digest(document["result"])
    page = results_page(tmp_path / "results", tmp_path)
    assert f"**Photographs** (2 cameras, 24 files, `{named['sha256'][:12]}`)" in page
    assert str(photographs) not in json.dumps(document)


def test_the_worst_of_every_rule_is_told_and_where_ours_misses_more():
    def row(size, ours, paper):
        rules = {rule: {"missed": 0.0, "wrong": 0.0} for rule in threshold.RULES}
        rules["ours"]["missed"] = ours
        rules["ls-ssc"] = {"missed": paper, "wrong": 0.014 / size}
        return {"size": size, "rules": rules}

    panel = {"name": "usual", "strength": 0.02, "rows": [row(2, 0.3, 0.2), row(3, 0.0004, 0.4)]}
    text = threshold.EXPERIMENT.text({"replications": 9, "panels": [panel]})
    assert "| usual cameras, ρ = 0.02 | 30.0% / 0.0% | 40.0% / 0.7% | 0.0% / 0.0% |" in text
    assert "ours misses more** than the paper's regressor at n = 2 (joins up to 0.7%) and" in text
    panel["rows"] = panel["rows"][1:]
    assert "misses more" not in threshold.EXPERIMENT.text({"replications": 9, "panels": [panel]})


def chosen(f=(1.0, 1.0), spread=0.4):
    """A result of the choice of hyperparameters, as small as it can be drawn."""
    etas = [{"eta": None, "f": 1.0}] + [
        {"eta": eta, "f": value, "iterations": 40, "excess": 1e-6}
        for eta, value in zip((1.0, 1.3), f, strict=True)
    ]
    tried = [{"gamma": g, "f": 1.0, "cost": 1.0, "precision": 1.0} for g in (1e-4, 1e-3, 1e-2)]
    tried.append({"gamma": 0.02, "f": 0.5, "cost": 2.0, "precision": 0.5})
    auto = {"gamma": 5e-3, "f": 0.98, "cost": 1.0, "precision": 0.97}
    gammas = [
        {"set": name, "side": 512, "photos": 9, "rows": tried, "auto": auto,
         "paper": tried[1], "by_cost": tried[0], "best": tried[0]}
        for name in ("dev", "weak")
    ]  # fmt: skip
    numbers = {"precision": 0.9, "ld_over_lg": 0.1}
    rows = [
        {"K": 5, "rounds": r, **numbers, **{f"{name}_spread": spread for name in numbers}}
        for r in (0, 1)
    ]
    recycling = [
        {"set": "Da5", "preset": preset, "rows": rows, "chosen": {"K": 5, "rounds": 0}}
        for preset in ("paper", "default")
    ]
    return {
        "etas": {"set": "dev", "photos": 9, "rows": etas},
        "gammas": gammas,
        "recycling": recycling,
        "batches": 6,
        "printed": {"eta": 1.0},
    }


def test_the_text_on_choices():
    text = hyperparameters.EXPERIMENT.text(chosen())
    assert "| dev | 512 | .980 (0.005) | 1 (0.001) | 1 (0.0001) |" in text
    assert (
        "**2σ₀ is behind the published γ** on the twin of the paper's development set and " in text
    )
    assert "at 512 (.980 against 1)" in text
    assert "more than twice the published γ at 0 of 2 sizes" in text
    assert "cameras that are found: no set with more" in text
    better = chosen()
    better["recycling"][0]["rows"][1] |= {"ld_over_lg": 0.5, "precision": 0.8}
    said = hyperparameters.EXPERIMENT.text(better)
    assert "published constants on twin of Da5 from 10% to 50%, precision from .900 to .800" in said


def test_nothing_in_the_picture_of_choices_lies_on_something_else():
    figure = hyperparameters.EXPERIMENT.plot(chosen())
    eta, gamma, _, precision, cameras, _ = figure.axes
    assert [text.get_text() for text in eta.texts] == ["F 1 for every η"]
    differ = hyperparameters.EXPERIMENT.plot(chosen(f=(0.9, 0.8))).axes[0].texts
    assert [text.get_text() for text in differ] == ["F .900", "F .800"]
    assert differ[0].xyann[1] > 0 > differ[1].xyann[1]
    figure.draw_without_rendering()
    legend, plane = gamma.get_legend().get_window_extent(), gamma.get_window_extent()
    assert legend.y1 < plane.y0
    for ax, low in ((precision, 0.5), (cameras, 0.0)):
        (bars,) = ax.containers[0].lines[2]
        ends = np.array([segment[:, 1] for segment in bars.get_segments()])
        assert ends.min() == pytest.approx(low)
        assert ends.max() <= 1
        assert max(ax.get_yticks()) <= 1 + 1e-9


@pytest.fixture
def small_choice(monkeypatch):
    monkeypatch.setattr(hyperparameters, "QUICK_ETAS", (0.5, 1.0))
    monkeypatch.setattr(hyperparameters, "CANDIDATES", (1e-3, 5e-3, 0.02, 0.9))
    monkeypatch.setattr(hyperparameters, "_QUICK_STEP", 1)
    monkeypatch.setattr(hyperparameters, "QUICK_NEIGHBOURS", (3, 5))
    monkeypatch.setattr(hyperparameters, "ROUNDS", 2)
    monkeypatch.setattr(hyperparameters, "BATCHES", 2)


@pytest.mark.usefixtures("small_choice")
def test_hyperparameters(monkeypatch, tmp_path):
    def drawn(_name, side=512):
        scale = 0.0027 * 512 / side
        simulated = gram([12, 15, 18], 0.05, n_pixels=side**2, null_scale=scale, photo_cv=0.2)
        return _hyper_sets.Correlated(simulated.gram, simulated.labels, side)

    monkeypatch.setattr(hyperparameters, "simulated_set", drawn)
    context = Context(Study(tmp_path / "study"), quick=True)
    result, words = conducted(hyperparameters.EXPERIMENT, context)
    assert [row["eta"] for row in result["etas"]["rows"]] == [None, 0.5, 1.0]
    assert all(-1e-6 < row["excess"] < 1e-2 for row in result["etas"]["rows"])
    assert [(e["set"], e["side"]) for e in result["gammas"]] == [
        ("dev", 512), *(("weak", side) for side in (256, 512, 768, 1024))
    ]  # fmt: skip
    for entry in result["gammas"]:
        assert entry["rows"][-1]["f"] == 0  # nobody correlates that much
        assert entry["rows"][-1]["cost"] is None
        every = [*entry["rows"], entry["auto"], entry["paper"]]
        assert entry["best"]["f"] == max(row["f"] for row in every)
        least = min(row["cost"] for row in entry["rows"] if row["cost"] is not None)
        assert entry["by_cost"]["cost"] == least
        assert entry["auto"]["gamma"] == pytest.approx(2 * 0.0027 * 512 / entry["side"], rel=0.25)
        assert entry["paper"]["gamma"] == 2 * GAMMAS[entry["side"]]
    assert len(result["recycling"]) == 4
    assert all(len(entry["rows"]) == 2 * 3 for entry in result["recycling"])
    parts = [run["part"] for run in result["runs"]]
    assert parts.count("recycling") == 4 * 2 * 3
    for name in ("η", "γ", "K = 5 and recycling"):
        assert f"**{name}" in words


def test_the_sets_that_are_simulated():
    """Sides change the spread of strangers, and nothing else."""
    small, large = (_hyper_sets.simulated_set("weak", side) for side in (256, 1024))
    assert (small.truth == large.truth).all()
    apart = small.truth[:, None] != small.truth
    assert small.gram[apart].std() == pytest.approx(4 * large.gram[apart].std(), rel=1e-3)
    dev = _hyper_sets.simulated_set("dev", 256)
    assert dev.n_pixels == 256**2
    assert dev.gram[dev.truth[:, None] != dev.truth].std() == pytest.approx(0.0054, rel=0.01)


@pytest.mark.long
@pytest.mark.usefixtures("small_choice")
def test_hyperparameters_on_photographs(photos_dir, tmp_path):
    context = Context(Study(tmp_path / "study"), quick=True, data=photos_dir)
    result, _ = conducted(hyperparameters.EXPERIMENT, context)
    assert [entry["side"] for entry in result["gammas"]] == [256, 512, 768, 1024]
    assert max(row["f"] for row in result["gammas"][1]["rows"]) > 0.85
