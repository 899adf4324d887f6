"""`samecam cluster --tuned`: what was chosen is used, recorded, and replayed."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from samecam.case import ClusteringSettings, read_tuned, verify_case
from samecam.cli import cli
from samecam.errors import SamecamError
from samecam.simulate import fingerprints
from tests.case.conftest import write
from tests.photos.pictures import encode, scene

# Merges whatever chance does not explain.
CHOSEN = {"gamma": 0.02, "n_neighbours": 4, "recycling": 1, "threshold": [0.0, 0.0, -1.0]}


def run(*words):
    result = CliRunner().invoke(cli, list(map(str, words)), standalone_mode=False)
    return result.return_value, result.stdout, result.exception


def tuned(path, n_pixels=4096, options=CHOSEN, **changes):
    content = {"format": "samecam-tune", "version": 1, "n_pixels": n_pixels, "options": options}
    path.write_text(json.dumps({**content, **changes}))
    return path


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    file = tmp_path_factory.mktemp("vectors") / "X.npy"
    np.save(file, fingerprints([20, 25, 30], 0.08, 4096, camera_spread=0.2, photo_cv=0.3)[0])
    return file


def cluster(vectors, case, *words):
    begin = ("cluster", "--fingerprints", vectors, "-o", case, "--no-report", "--quiet")
    return run(*begin, *words)


def options_of(case):
    entry = json.loads((case / "case.json").read_text())["clustering"]
    parameters = entry["details"]["parameters"]
    return entry["options"], {name: parameters[name] for name in CHOSEN}


def test_all_four_are_used_and_recorded(vectors, tmp_path):
    file = tuned(tmp_path / "tune.json")
    words = ("--method", "ls-ssc", "--tuned", file)
    assert cluster(vectors, tmp_path / "c", *words)[0] == 0
    assert options_of(tmp_path / "c") == (CHOSEN, CHOSEN)
    before = (tmp_path / "c" / "case.json").read_bytes()
    assert cluster(vectors, tmp_path / "c", *words)[0] == 0
    assert (tmp_path / "c" / "case.json").read_bytes() == before, "the answer stands"


def test_options_beside_it_win(vectors, tmp_path):
    file = tuned(tmp_path / "tune.json")
    words = ("--gamma", "auto", "--recycling", 3, "--false-alarm", 0.01)
    cluster(vectors, tmp_path / "c", "--method", "ls-ssc", "--tuned", file, *words)
    wanted = {**CHOSEN, "gamma": "auto", "recycling": 3}
    assert options_of(tmp_path / "c") == ({**wanted, "false_alarm": 0.01}, wanted)


def test_verify_replays_it(vectors, tmp_path):
    """Without the file; and if the threshold were forgotten, it would show."""
    file = tuned(tmp_path / "tune.json")
    case = tmp_path / "c"
    words = ("--method", "ls-ssc", "--batch-size", 25, "--preset", "paper", "--json")
    _, told, _ = cluster(vectors, case, *words, "--tuned", file)
    assert json.loads(told)["sizes"] == [30, 25, 20]
    file.unlink()
    result = verify_case(case)
    assert result.replayed
    assert result.agrees
    info = json.loads((case / "case.json").read_text())
    del info["clustering"]["options"]["threshold"]
    (case / "case.json").write_text(json.dumps(info))
    assert verify_case(case).relabelled, "the published threshold splits them"


def test_only_for_the_method_that_takes_all_of_it(vectors, tmp_path):
    file = tuned(tmp_path / "tune.json")
    for method, advice in (("auto", ""), ("ncuts", ""), ("ssc-nc", ", or γ alone, which is 0.02")):
        _, _, error = cluster(vectors, tmp_path / "c", "--method", method, "--tuned", file)
        name = "consolidated" if method == "auto" else method
        assert str(error) == (
            f"{str(file)!r} holds parameters of the method 'ls-ssc', and the method is {name!r}: "
            f"choose ls-ssc{advice}, or leave the file out."
        )
    assert not (tmp_path / "c").exists()


def test_another_size_is_refused(vectors, tmp_path):
    file = tuned(tmp_path / "tune.json", 16384)
    _, _, error = cluster(vectors, tmp_path / "c", "--method", "ls-ssc", "--tuned", file)
    assert str(error) == (
        f"{str(file)!r} was chosen on fingerprints of 128×128 pixels, and these are of 64×64 "
        "pixels: γ holds for one size, so give the same size, or tune on photos at this one."
    )
    assert not (tmp_path / "c").exists()


def test_another_size_of_photos_is_refused_before_they_are_read(tmp_path):
    side = 64
    for k in range(4):
        write(tmp_path / "photos" / f"{k}.png", encode(scene(k, 100, 90), "PNG"))
    begin = ("cluster", tmp_path / "photos", "-o", tmp_path / "c", "--method", "ls-ssc")
    file, size = tuned(tmp_path / "tune.json", 512**2), ("--size", side)
    for more in (("--quiet",), ()):
        _, _, error = run(*begin, *more, *size, "--tuned", file)
        assert f"512×512 pixels, and these are of {side}×{side} pixels" in str(error)
        assert not (tmp_path / "c").exists()
    tuned(file, side**2)
    code, _, error = run(*begin, *size, "--tuned", file, "--no-report", "--quiet")
    assert code == 0, error
    tuned(file, 512**2)
    _, _, error = run(*begin, *size, "--tuned", file, "--no-report", "--quiet")
    assert f"512×512 pixels, and these are of {side}×{side} pixels" in str(error)


def test_whole_frames_of_its_length_use_it_and_no_other_does(tmp_path):
    """Which frames there are is known when they are read; fingerprints are kept all the same."""
    for k in range(4):
        write(tmp_path / "photos" / f"{k}.png", encode(scene(k, 64, 64), "PNG"))
    file = tuned(tmp_path / "tune.json", 64**2)
    begin = ("cluster", tmp_path / "photos", "-o", tmp_path / "c", "--method", "ls-ssc", "--quiet")
    code, _, error = run(*begin, "--tuned", file, "--no-report")
    assert code == 0, error
    assert options_of(tmp_path / "c") == (CHOSEN, CHOSEN)
    for k in range(2):  # one alone would be compared with nobody
        write(tmp_path / "photos" / f"wide{k}.png", encode(scene(8 + k, 80, 64), "PNG"))
    _, _, error = run(*begin, "--tuned", file, "--no-report")
    assert "64×64 pixels, and these are of 5120 numbers" in str(error)
    code, _, error = run(*begin, "--no-report")
    assert code == 0, error


def test_files_that_are_none(vectors, tmp_path):
    file = tmp_path / "tune.json"
    damaged = "is not as samecam tune writes it"
    none = "is no result of samecam tune: name a file that it wrote"
    for content, sentence in (
        ("{", none),
        ("[1]", none),
        ("{}", none),
        (b"\xff\xfe", none),
        ('{"format": "samecam-case", "version": 1}', none),
        ({"version": 2}, "has the version 2 of its format, and this samecam reads 1: tune again"),
        ({"version": None}, "has the version None of its format"),
        ({"n_pixels": "many"}, damaged),
        ({"n_pixels": 0}, damaged),
        ({"options": None}, damaged),
        ({"options": {"gamma": 0.1}}, damaged),
        ({"options": {**CHOSEN, "solver": "exact"}}, damaged),
        ({"options": {**CHOSEN, "gamma": -1}}, f"{damaged} (gamma is -1; give a positive"),
        ({"options": {**CHOSEN, "threshold": [1, 2]}}, f"{damaged} (threshold is [1, 2];"),
        ({"options": {**CHOSEN, "recycling": "x"}}, f"{damaged} (recycling is 'x';"),
    ):
        if isinstance(content, dict):
            tuned(file, **content)
        else:
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(SamecamError) as error:
            read_tuned(file)
        assert str(error.value).startswith(f"{str(file)!r} {sentence}"), content
    _, _, error = cluster(vectors, tmp_path / "c", "--method", "ls-ssc", "--tuned", tmp_path / "no")
    assert "cannot be read: No such file or directory; name a file that" in str(error)
    with pytest.raises(SamecamError, match="Is a directory"):
        read_tuned(tmp_path)


def test_in_python(tmp_path):
    chosen = read_tuned(tuned(tmp_path / "tune.json"))
    settings = ClusteringSettings("ls-ssc", {"gamma": 0.5}, tuned=chosen)
    assert settings.options == {**CHOSEN, "gamma": 0.5}
    assert settings.estimator().threshold == [0.0, 0.0, -1.0]
    plain = ClusteringSettings("ls-ssc", {**CHOSEN, "gamma": 0.5})
    assert settings.as_dict() == plain.as_dict(), "the same answer, wherever it was read"
