"""A laboratory's labelled photos in, a validation out: figures, files, page, command, errors."""

import csv
import json
import os
import re
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from samecam import Resources
from samecam.case import Criteria, ExtractionSettings, validate_photos
from samecam.case.validating._comparisons import RELATIONS, Compared
from samecam.case.validating._criteria import check, verdict
from samecam.case.validating._figures import curves, figures
from samecam.case.validating._labelled import label, load_truth
from samecam.errors import ParameterError, SamecamError
from samecam.evidence import every_comparison
from samecam.files import write_atomically
from samecam.metrics import cllr, elub, tippett
from samecam.report import write_validation
from samecam.report.validation._page import render
from samecam.simulate import simulate_photos
from samecam.store import Frame, MemoryStore, Record
from tests.once import made_once
from tests.processes import run

HOSTILE = os.fsdecode(b'x\xff\n"<img src=x onerror=alert(1)>.jpg')
ODD = os.fsdecode(b"p\xfe.jpg")
CAMERA = '<script>alert("x")</script>'
SUPPORT = "largest likelihood ratio stated, against the empirical upper bound (ELUB)"
FILES = ("validation.json", "validation.html", "llr.csv")


def take(folder):
    """Four cameras of two models, a twin under a hostile name, a file that is no photo."""
    simulate_photos(folder, cameras=4, images=6, models=2, size=(320, 240), seed=3, workers=2)
    with open(folder / "truth.csv", newline="") as stream:
        rows = [(row["path"], row["camera"]) for row in csv.DictReader(stream)]
    (folder / rows[1][0]).rename(folder / "images" / ODD)
    rows[1] = (f"images/{ODD}", rows[1][1])
    first = rows[0][1]
    rows = [(path, CAMERA if camera == first else camera) for path, camera in rows]
    shutil.copy(folder / rows[0][0], folder / "images" / HOSTILE)
    (folder / "images" / "text.jpg").write_bytes(b"no photo at all")
    more = [(f"images/{HOSTILE}", CAMERA), ("images/text.jpg", CAMERA), ("images/lost.jpg", CAMERA)]
    with open(folder / "truth.csv", "w", newline="", errors="surrogateescape") as stream:
        csv.writer(stream).writerows([("path", "camera"), *rows[:-1], *more])


@pytest.fixture(scope="session")
def photos(tmp_path_factory):
    return made_once(tmp_path_factory, "photos to validate with", take)


@pytest.fixture(scope="session")
def made(photos, tmp_path_factory):
    """The validation that a run makes if nobody disturbs it; nobody changes it."""
    output = tmp_path_factory.mktemp("validated") / "output"
    result = validate_photos(photos / "images", photos / "truth.csv", output)
    write_validation(result)
    return result


def read(folder):
    return {name: (folder / name).read_bytes() for name in FILES}


def llrs(folder):
    with open(folder / "llr.csv", newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def column(rows, name, hypothesis):
    return np.array([float(row[name]) for row in rows if row["hypothesis"] == hypothesis])


def write_truth(file, rows, header="path,camera"):
    file.write_text("\n".join([header, *(",".join(row) for row in rows)]) + "\n")
    return file


def test_every_photo_is_compared_with_every_camera(made):
    content, rows = made.content, llrs(made.output)
    assert json.loads((made.output / "validation.json").read_bytes()) == content
    compared, cameras = content["photos"]["compared"], len(content["cameras"])
    assert cameras == 4
    assert compared >= 20
    assert "p\\udcfe.jpg" in {row["path"] for row in rows}, "UTF-8, whatever a path is"
    assert len(rows) == compared * cameras == len({(r["path"], r["camera"]) for r in rows})
    overall = content["overall"]
    same = [r for r in rows if r["hypothesis"] == "H1"]
    assert overall["n_same"] == len(same) == compared
    assert overall["n_different"] == len(rows) - compared
    assert all(r["camera"] == r["true_camera"] and r["label"] == "1" for r in same)
    sizes = {camera["name"]: camera["photos"] for camera in content["cameras"]}
    for row in rows:
        left_out = row["hypothesis"] == "H1"
        assert int(row["camera_photos"]) == sizes[row["camera"]] - left_out


def test_relations_follow_models(made):
    models = {camera["name"]: camera["model"] for camera in made.content["cameras"]}
    assert len(set(models.values())) == 2, "as EXIF states"
    assert {camera["model_from"] for camera in made.content["cameras"]} == {"exif"}
    for row in llrs(made.output):
        own, other = models[row["true_camera"]], models[row["camera"]]
        wanted = RELATIONS[0 if row["label"] == "1" else 1 if own == other else 2]
        assert row["relation"] == wanted
        assert (row["true_model"], row["camera_model"]) == (own, other)


def test_figures_are_those_of_the_table(made):
    rows, content = llrs(made.output), made.content
    value, raw = (
        {h: column(rows, name, h) for h in ("H1", "H2")} for name in ("llr", "llr_uncapped")
    )
    overall = content["overall"]
    assert overall["cllr"] == pytest.approx(cllr(value["H1"], value["H2"]))
    assert overall["elub"] == pytest.approx(elub(raw["H1"], raw["H2"]))
    assert overall["misleading_different"] == np.mean(value["H2"] > 0)
    assert max(v.max() for v in value.values()) <= content["cap"]
    p = column(rows, "p_value", "H2")
    assert [row["claimed"] for row in overall["counted"]] == [0.1, 0.01, 0.001, 0.0001]
    assert all(row["count"] == (p <= row["claimed"]).sum() for row in overall["counted"])
    assert all(row["few"] == (row["count"] < 20) for row in overall["counted"])
    shares = content["curves"]["tippett"]
    np.testing.assert_allclose(shares["same camera"], tippett(value["H1"], shares["log_ratio"]))
    pools = content["curves"]["pools"]
    assert sum(pool["same"] for pool in pools) == len(value["H1"])
    by = {(each["by"], each["value"]) for each in content["by"]}
    assert {("frame", "320x240"), ("file", "JPEG")} <= by
    assert {value for kind, value in by if kind == "relation"} == set(RELATIONS[1:3])


def test_what_is_not_used_is_listed_with_its_reason(made):
    photos = made.content["photos"]
    reasons = {each["path"]: (each["status"], each["reason"]) for each in photos["not_used"]}
    assert reasons[HOSTILE][0] == "duplicate"
    assert reasons["text.jpg"][0] == "skipped"
    assert reasons["text.jpg"][1]
    assert photos["not_found"] == ["images/lost.jpg"]
    assert len(photos["not_in_truth"]) == 1


def test_the_page_says_it_all_and_nothing_acts_in_it(made):
    page = (made.output / "validation.html").read_text("utf-8")
    assert "<script" not in page
    assert "onerror=alert(1)>" not in page.replace("&gt;", "")
    assert "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;" in page
    assert "default-src &#39;none&#39;" in page
    assert not re.search(r'(src|href)="(?!#|validation\.json|llr\.csv)', page)
    for words in ("Propositions", "H1", "H2", "Validation criteria", "accuracy", "calibration"):
        assert words in page
    for words in ("discriminating power", "range of support", "Tippett plot", "Limits", "Clopper"):
        assert words in page
    assert page.count("<svg") == 3
    assert made.verdict in page
    assert all(each["value"] in page for each in made.content["checks"])
    assert not re.search(r"\b(nan|inf|None|Undefined)\b", page.split("</style>")[1])


def test_a_frame_of_one_camera_has_its_row(made):
    """Where no other camera is, figures that need one are not there, and the table stands."""
    alone = figures(synthetic(n_different=0), "frame", "8x6").as_dict()
    page = render({**made.content, "by": [alone, *made.content["by"]]})
    tables = re.findall(r'<table class="figures">(.*?)</table>', page, re.S)
    assert any("8 × 6" in table for table in tables)
    for table in tables:
        widths = {len(re.findall(r"<t[hd][ >]", row)) for row in table.split("<tr>")[1:]}
        assert widths == {13}


def test_again_and_elsewhere_it_gives_the_same_files(made, photos, tmp_path):
    elsewhere = validate_photos(photos / "images", photos / "truth.csv", tmp_path / "output")
    write_validation(elsewhere)
    assert read(tmp_path / "output") == read(made.output)
    again = validate_photos(photos / "images", photos / "truth.csv", tmp_path / "output")
    assert again.extraction.done == 0
    write_validation(again)
    assert read(tmp_path / "output") == read(made.output)


def test_stopped_and_begun_again_it_ends_with_the_same_files(made, photos, tmp_path, monkeypatch):
    monkeypatch.setattr("samecam.case.extraction._extract.COMMIT_SECONDS", 0.0)
    stop = threading.Event()

    def stop_soon(phase, done, _):
        if phase == "Extracting" and done:
            stop.set()

    def validate(**options):
        truth = photos / "truth.csv"
        return validate_photos(photos / "images", truth, tmp_path / "output", **options)

    stopped = validate(progress=stop_soon, stop=stop, resources=Resources(workers=1))
    assert stopped.interrupted
    assert 0 < stopped.extraction.done < 26
    assert stopped.verdict == ""
    assert os.listdir(tmp_path / "output") == ["case"]
    with pytest.raises(SamecamError, match="was interrupted"):
        write_validation(stopped)

    def killed(path, content):
        if path.name == "validation.json":
            raise KeyboardInterrupt
        write_atomically(path, content)

    with monkeypatch.context() as patched:
        patched.setattr("samecam.case.validating._files.write_atomically", killed)
        with pytest.raises(KeyboardInterrupt):
            validate()
    assert sorted(os.listdir(tmp_path / "output")) == ["case", "llr.csv"]
    write_validation(validate())
    assert read(tmp_path / "output") == read(made.output)


def test_the_command(made, photos, tmp_path):
    words = ("validate", photos / "images", "--truth", photos / "truth.csv", "-o", tmp_path / "out")
    code, out, error = run(*words)
    assert code == 3, "a file was skipped"
    assert "not used: text.jpg" in out
    assert "Compared: " in out
    assert str(tmp_path / "out" / "validation.html") in out
    assert "\x1b" not in out + error
    assert read(tmp_path / "out") == read(made.output)
    code, out, _ = run(*words, "--json", "--quiet", "--cllr", "0.9")
    content = json.loads(out)
    assert code == 3
    assert content["criteria"]["cllr"] == 0.9
    assert content["checks"][0]["criterion"] == "at most 0.9"
    assert content["run"]["done"] == 0
    code, _, error = run(*words, "--eer", "0.7")
    assert code == 1
    assert "--eer is 0.7; give a number above 0, and 0.5 at most." in error


def refused(photos, truth, output, message, **options):
    with pytest.raises(SamecamError, match=message):
        validate_photos(photos / "images", truth, output, **options)


def test_truths_with_which_nothing_can_be_validated(photos, tmp_path):
    file, output = tmp_path / "truth.csv", tmp_path / "output"
    names = sorted(path.name for path in (photos / "images").glob("IMG*"))
    write_truth(file, [(name, f"camera {k}") for k, name in enumerate(names)])
    refused(photos, file, output, "names no camera twice: .*name two photos or more of each")
    write_truth(file, [(name, "camera") for name in names])
    refused(photos, file, output, "names one camera alone")
    two = [(names[0], "a", "X"), (names[1], "a", "Y"), (names[2], "b", "")]
    write_truth(file, two, "path,camera,model")
    refused(photos, file, output, "'a' two models, 'X' and 'Y'")
    assert not output.exists(), "told before the work"
    write_truth(file, [("other.jpg", "a"), ("others.jpg", "a"), ("more.jpg", "b")])
    refused(photos, file, output, "None of the 26 files has the name of one in")


def test_folders_that_are_not_for_the_result(photos, tmp_path):
    truth = photos / "truth.csv"
    (tmp_path / "file").write_text("")
    refused(photos, truth, tmp_path / "file", "is a file: name a folder")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    refused(photos, truth, tmp_path / "full", "is not empty and holds no validation")
    refused(photos, truth, photos / "images" / "here", "lies among the photos")
    (tmp_path / "own").mkdir()
    shutil.copy(truth, tmp_path / "own" / "llr.csv")
    refused(photos, tmp_path / "own" / "llr.csv", tmp_path / "own", "would be written over")


def test_cameras_that_share_no_frame_cannot_be_told_apart(tmp_path):
    rows = []
    for k, size in enumerate([(200, 150), (240, 160)]):
        simulate_photos(tmp_path / str(k), cameras=1, images=3, size=size, seed=k, workers=1)
        for file in (tmp_path / str(k) / "images").iterdir():
            (tmp_path / "images").mkdir(exist_ok=True)
            file.rename(tmp_path / "images" / f"{k}{file.name}")
            rows.append((f"{k}{file.name}", f"camera {k}"))
    truth = write_truth(tmp_path / "truth.csv", rows)
    refused(tmp_path, truth, tmp_path / "out", "No two cameras have photos of one width and height")
    squares = ExtractionSettings(size=128)
    result = validate_photos(tmp_path / "images", truth, tmp_path / "squares", squares)
    assert result.content["frames"] == [
        {"frame": "128x128", "photos": 6, "cameras": 2, "comparisons": 12}
    ]


def test_models_of_the_truth_count_before_those_of_exif(tmp_path):
    rows = [("1.jpg", "a", "Nova 7"), ("2.jpg", "a", ""), ("3.jpg", "b", ""), ("4.jpg", "b", "")]
    truth = load_truth(write_truth(tmp_path / "truth.csv", rows, "path,camera,model"))
    records = [
        Record(f"{k}.jpg", "", {"status": "good", "make": "Acme", "model": model}, Frame(8, 8))
        for k, model in ((1, "Z"), (2, "Z"), (3, "Q1"), (4, "Acme Q2"), (5, None))
    ]
    found = label(records, truth)
    assert [(c.name, c.model, c.model_from) for c in found.cameras] == [
        ("a", "Nova 7", "truth"),
        ("b", "Acme Q1", "exif"),
    ]
    assert found.of.tolist() == [0, 0, 1, 1]
    assert found.not_in_truth == ["5.jpg"]


def synthetic(n_same=400, n_different=20000, bold=1.0, cap=3.0, seed=0):
    """Comparisons whose scores follow two normal laws, with their likelihood ratios."""
    from scipy.stats import norm

    rng = np.random.default_rng(seed)
    score = np.concatenate([rng.normal(6, 1, n_same), rng.normal(0, 1, n_different)])
    relation = np.concatenate([np.zeros(n_same), np.full(n_different, 2)]).astype(np.int8)
    n = len(score)
    zeros = np.zeros(n, dtype=np.intp)
    return Compared(
        zeros, zeros, relation, np.full(n, 9), score, bold * (6 * score - 18) / np.log(10),
        norm.sf(score / bold), np.full(n, cap),
    )  # fmt: skip


def outcome(given, **criteria):
    checks = check(figures(given), float(given.cap.max()), Criteria(**criteria))
    return verdict(checks), {each.metric: each.passed for each in checks}


def test_ratios_that_are_right_pass_and_bold_ones_fail():
    good, passed = outcome(synthetic())
    assert good == "passed"
    assert all(passed.values())
    bold = synthetic()
    bold.p_value[:] = bold.p_value**1.5  # claims that chance is rarer than it is
    verdict_of_bold, passed = outcome(bold)
    assert verdict_of_bold == "failed"
    assert passed["Cllr"] is True
    assert passed["share of other cameras at a claimed rate of 0.01"] is False
    misleading = synthetic(cap=9)
    misleading.log_ratio[-500:] = 5
    verdict_of_misleading, passed = outcome(misleading)
    assert verdict_of_misleading == "failed"
    assert passed["share of other cameras with a likelihood ratio of 1,000 or more"] is False
    assert passed[SUPPORT] is False


def test_too_few_comparisons_decide_nothing():
    few, passed = outcome(synthetic(n_same=12))
    assert few == "not decided"
    assert set(passed.values()) == {None}
    few, passed = outcome(synthetic(n_different=300, cap=4))
    assert passed[SUPPORT] is None, "300 that all are told apart support 300, not 10,000"
    assert few == "not decided"
    with pytest.raises(ParameterError, match="cllr is 0; give a number above 0"):
        Criteria(cllr=0)


def test_infinite_ratios_leave_figures_that_json_can_hold():
    given = synthetic(n_same=30, n_different=60)
    given.log_ratio[0], given.log_ratio[-1] = -np.inf, -np.inf
    plain = figures(given).as_dict()
    assert plain["cllr"] is None
    json.dumps([plain, curves(given)], allow_nan=False)


def test_members_and_strangers_have_ratios():
    rng = np.random.default_rng(5)
    patterns, d = rng.normal(size=(3, 4000)), 4000
    labels = np.array([0] * 8 + [1] * 8 + [2])
    rows = 0.2 * patterns[labels] + rng.normal(size=(17, d))
    rows -= rows.mean(axis=1, keepdims=True)
    store = MemoryStore(d)
    for k, row in enumerate(rows):
        store.add(f"{k:02d}", (row / np.linalg.norm(row)).astype(np.float32))
    store.commit()
    every = every_comparison(store, labels, memory=2**28)
    own = labels[:16, None] == np.arange(2)
    assert every.log_ratio[:16, :2][own].min() > 1
    assert every.log_ratio[:16, :2][~own].max() < 1
    assert np.isnan(every.log_ratio[16, 2]), "nothing is left of it"
    assert np.isfinite(every.log_ratio[:16, 2]).all()
    assert np.isfinite(every.log_ratio[16, :2]).all()
    assert np.abs(every.score[:16, :2][~own]).mean() < 2


@pytest.mark.validator
def test_lir_reads_the_table(made):
    from lir.data.datasets.feature_data_csv import FeatureDataCsvFileParser
    from lir.data.models import LLRData
    from lir.metrics import cllr as cost

    page = (Path(__file__).parents[2] / "docs" / "validation.md").read_text("utf-8")
    others = re.findall(r'"(\w+)"', re.search(r"ignore_columns=\[(.*?)\]", page, re.S)[1])
    read_by_lir = FeatureDataCsvFileParser(
        made.output / "llr.csv", label_column="label", ignore_columns=others
    ).get_instances()
    data = read_by_lir.replace_as(LLRData)
    assert cost(data) == pytest.approx(made.content["overall"]["cllr"], abs=1e-6)
