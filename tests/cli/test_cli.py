"""Words typed, exit codes, what is printed where."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

import samecam.case
from samecam._version import __version__
from samecam.cli import cli
from samecam.photos import READ
from tests.case.conftest import SIZE, run, write
from tests.photos.pictures import encode, scene


@pytest.fixture
def photos(tmp_path):
    for k in range(3):
        write(tmp_path / "photos" / f"{k}.jpg", encode(scene(k, 90, 90)))
    return tmp_path / "photos"


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom click.testing import CliRunner\nfrom samecam.cli import cli\n"
        "assert CliRunner().invoke(cli, ['--help']).exit_code == 0\n"
        "heavy = {'numba', 'sklearn', 'scipy', 'numpy', 'PIL', 'torch', 'rich', 'pebble'}\n"
        "sys.exit(' '.join(heavy & set(sys.modules)) or 0)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", [None, *sorted(cli.commands)])
def test_every_command_has_help(name):
    result = CliRunner().invoke(cli, [name, "--help"] if name else ["--help"])
    assert result.exit_code == 0
    if name:
        assert cli.commands[name].help
        assert {"--json", "--quiet"} <= set(result.output.replace(",", " ").split())


def test_version():
    assert CliRunner().invoke(cli, ["--version"]).output == f"samecam, version {__version__}\n"


def test_extract_prints_the_summary_on_stdout_and_progress_on_stderr(photos, tmp_path):
    code, out, error = run("extract", photos, "-o", tmp_path / "c")
    assert code == 0
    assert out.startswith("3 files: 3 good.\n3 done in ")
    assert "about" in error
    assert "Extracting: 3/3" in error


def test_extract_json_and_quiet(photos, tmp_path):
    words = ("extract", photos, "-o", tmp_path / "c")
    code, out, error = run(*words, "--json", "--quiet")
    assert (code, error) == (0, "")
    result = json.loads(out)
    assert result["counts"]["good"] == 3
    assert result["done"] == 3
    code, out, error = run(*words, "--quiet")
    assert (code, out, error) == (0, "", "")


def test_skipped_files_give_exit_code_three(photos, tmp_path):
    write(photos / "notes.txt", b"hello")
    code, out, _ = run("extract", photos, "-o", tmp_path / "c", "-q")
    assert (code, out) == (3, "")


def test_dry_run_tells_and_writes_nothing(photos, tmp_path):
    words = ("extract", photos, "-o", tmp_path / "c", "--dry-run")
    for size, row, frame in (((), 90 * 90, "90x90"), (("--size", SIZE), 2 * SIZE**2, "64x64")):
        code, out, _ = run(*words, *size)
        assert code == 0
        assert out.startswith("3 files")
        assert out.count("\n") == 1, "one frame has no line of its own"
        code, out, _ = run(*words, *size, "--json")
        plan = json.loads(out)
        assert (plan["files"], plan["photos"]) == (3, 3)
        assert 3 * row <= plan["disk_bytes"] < 3 * (row + 4096)
        (cost,) = plan["frames"]
        assert (cost["frame"], cost["files"], cost["disk_bytes"]) == (frame, 3, 3 * row)
        assert plan["fits"] is True
        assert plan["seconds"] > 0
    assert not (tmp_path / "c").exists()


def test_dry_run_lists_frames_and_the_rarest_together(photos, tmp_path):
    for k in range(9):
        for n in range(2):
            write(photos / f"{k}-{n}.jpg", encode(scene(20 + 2 * k + n, 100 + k, 80)))
    write(photos / "rare.jpg", encode(scene(50, 200, 70)))
    words = ("extract", photos, "-o", tmp_path / "c", "--dry-run")
    code, out, _ = run(*words)
    assert code == 0
    first, *lines = out.splitlines()
    assert first.startswith("22 files, ")
    assert [line.split(",")[0] for line in lines] == [
        "  90×90: 3 photos",
        *(f"  {100 + k}×80: 2 photos" for k in range(7)),
        "  3 other sizes: 5 photos",
    ]
    frames = json.loads(run(*words, "--json")[1])["frames"]
    assert [cost["photos"] for cost in frames] == [3, *[2] * 9, 1]
    assert frames[-1]["frame"] == "200x70"
    assert not (tmp_path / "c").exists()


def test_errors_are_one_line_and_exit_code_one(tmp_path):
    code, out, error = run("extract", tmp_path / "no\nsuch", "-o", tmp_path / "c")
    assert (code, out) == (1, "")
    assert error.startswith("Error: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["extract"],
        ["extract", "x"],
        ["extract", "x", "-o", "c", "--size", "63"],
        ["extract", "x", "-o", "c", "--size", "large"],
        ["cluster", "x", "-o", "c", "--size", "4097"],
        ["cluster", "x", "-o", "c", "--method", "magic"],
        ["cluster", "x", "-o", "c", "--false-alarm", "2"],
        ["extract", "x", "-o", "c", "--offset", "3"],
        ["extract", "x", "-o", "c", "--workers", "0"],
        ["extract", "x", "-o", "c", "--timeout", "0"],
        ["extract", "x", "-o", "c", "--sigma", "much"],
        ["cluster", "x", "-o", "c", "--memory", "much"],
        ["cluster", "x", "-o", "c", "--gamma", "-1"],
        ["cluster", "x", "-o", "c", "--seed", "1.5"],
        ["extract", "x", "-o", "c", "--device", "gpu"],
        ["cluster", "x", "-o", "c", "--device", "cuda:first"],
        ["add", "c", "x", "--device", ""],
        ["simulate", "-o", "d", "--size", "big"],
        ["unknown"],
    ],
)
def test_wrong_usage_is_exit_code_two(words):
    assert run(*words)[0] == 2


def test_doctor():
    result = CliRunner().invoke(cli, ["doctor", "--json"])
    offers = json.loads(result.output)
    assert offers["cores"] >= 1
    assert offers["memory_bytes"] > 2**28
    assert offers["formats"]["JPEG"] is True
    assert list(offers["formats"]) == READ.split(", ")
    assert "numpy" in offers["versions"]
    text = CliRunner().invoke(cli, ["doctor"]).output
    assert "cores" in text
    for name, there in offers["extras"].items():
        assert bool(offers["extra_versions"][name]) == there
        assert offers["extra_versions"][name] is None or offers["extra_versions"][name] in text


def test_doctor_shows_every_gpu(monkeypatch):
    gpus = [
        {"device": f"cuda:{k}", "name": "H", "memory_bytes": 2**34, "free_bytes": 2**33}
        for k in range(2)
    ]
    offers = {**samecam.case.doctor(), "gpus": gpus}
    monkeypatch.setattr(samecam.case, "doctor", lambda: offers)
    lines = CliRunner().invoke(cli, ["doctor"]).output.splitlines()
    shown = [line for line in lines if line.startswith("GPU ")]
    assert shown == [f"GPU        cuda:{k}: H, 16.0 GB, 8.0 GB free" for k in range(2)]


def test_a_device_that_is_not_there_is_told_before_any_work(photos, tmp_path):
    for words in (("extract", photos), ("cluster", photos)):
        code, out, error = run(*words, "-o", tmp_path / "c", "--device", "cuda:99")
        assert (code, out) == (1, "")
        assert "'cuda:99'" in error
        assert error.endswith(("or cpu.\n", "choose cpu.\n"))
    code, _, error = run(
        *("extract", photos, "-o", tmp_path / "c", "--device", "cuda", "--scheduler", "local")
    )
    assert code == 1
    assert "do not go together" in error
    assert not (tmp_path / "c").exists()


def test_the_device_used_stands_in_the_case_and_makes_no_other_answer(photos, tmp_path):
    words = ("cluster", photos, "-o", tmp_path / "c", "--no-report", "--json")
    code, out, error = run(*words, "--device", "cpu")
    assert code == 0, error
    info = json.loads((tmp_path / "c" / "case.json").read_text())
    assert info["device"] == "cpu"
    assert info["clustering"]["details"]["device"] == "cpu"
    code, out, error = run(*words, "--device", "auto")
    assert code == 0, error
    assert json.loads(out)["seconds"] == 0, "the answer stands"


def test_simulate_then_extract(tmp_path):
    words = ("simulate", "-o", tmp_path / "sim", "--cameras", 2, "--images", 2, "--size", "96x80")
    code, out, _ = run(*words, "--json")
    assert code == 0
    assert json.loads(out)["photos"] == 4
    truth = (tmp_path / "sim" / "truth.csv").read_text().splitlines()
    assert truth[0] == "path,camera"
    assert len(truth) == 5
    code, out, _ = run("extract", tmp_path / "sim" / "images", "-o", tmp_path / "c", "--json")
    assert code == 0
    assert sum(json.loads(out)["counts"].values()) == 4


def test_simulate_a_disk_of_several_sizes_with_additions(tmp_path):
    words = ("simulate", "-o", tmp_path / "sim", "--cameras", 2, "--images", 2, "--outliers", 1)
    words += ("--size", "96x80", "--size", "80X96", "--thumbnails", 3, "--bright-corners", 1)
    words += ("--letterbox", 1, "--screenshots", 1, "--odd-sizes", 1)
    code, out, _ = run(*words, "--quiet", "--json")
    assert code == 0
    counts = {"photos": 8, "thumbnails": 3, "screenshots": 1}
    assert json.loads(out) == {"folder": str(tmp_path / "sim"), **counts}
    assert len((tmp_path / "sim" / "truth.csv").read_text().splitlines()) == 1 + 8
    assert len(list((tmp_path / "sim" / "images").iterdir())) == 12
    code, out, _ = run(*words)
    assert code == 0
    assert out.startswith("8 photos, 3 thumbnails and 1 screenshot in ")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("--size", "96x80", "--size", "96x63"), "--size is 96x63: give at least"),
        (("--size", "96x80", "--size", "80x96", "--models", 1), "--size is given 2 times for"),
        (("--size", "96x80", "--thumbnails", 5), "--thumbnails is 5: give at most"),
    ],
)
def test_simulate_names_the_option_that_is_wrong(tmp_path, words, wanted):
    given = ("simulate", "-o", tmp_path / "sim", "--cameras", 2, "--images", 2)
    code, _, error = run(*given, *words)
    assert code == 1
    assert error.startswith(f"Error: {wanted}")
    assert not (tmp_path / "sim").exists()


def test_the_help_names_the_methods_defaults():
    from samecam.cluster import METHODS

    text = " ".join(CliRunner().invoke(cli, ["cluster", "--help"]).output.split())
    known = {name: METHODS[name]().get_params() for name in METHODS}
    for method, option in (
        ("consolidated", "found_rate"),
        ("consolidated", "join_rate"),
        ("consolidated", "merge_rate"),
        ("ls-ssc", "false_alarm"),
    ):
        if method in known:
            words = text.split(f"--{option.replace('_', '-')} ")[1].split("[default: ")[1]
            assert float(words.split("]")[0]) == known[method][option], option
    for name in ("auto", *METHODS):
        assert name in text


def test_cluster_errors_name_what_was_typed(photos, tmp_path):
    for words, wanted in (
        (("--gamma", 0.1), "has no option --gamma"),
        (("--method", "ssc", "--clusters", 99), "--clusters is 99 but there are 3 images"),
        (("--memory", "10"), "memory budget is 10 B"),
        (("--size", 80, "--sigma", 0), "--sigma is 0.0"),
        (("--offset", "16,0"), "--offset is for squares, and the whole frame is used: give a size"),
        (("--at", "centre"), "--at is for squares"),
        (("--dtype", "float16"), "--dtype is 'float16'; whole frames are kept as 'bits',"),
        (("--size", 80, "--dtype", "bits"), "--dtype is 'bits', which is for whole frames"),
    ):
        code, out, error = run("cluster", photos, "-o", tmp_path / "c", *words)
        assert (code, out) == (1, ""), words
        assert wanted in error.splitlines()[-1]


def test_the_summary_is_for_people(photos, tmp_path):
    write(photos / "notes.txt", b"hello")
    write(photos / "tiny.jpg", encode(scene(9, 40, 40)))
    case = tmp_path / "a case"
    code, out, error = run("cluster", photos, "-o", case)
    assert code == 3
    lines = out.splitlines()
    assert lines[0] == "5 files: 3 good, 2 skipped (1 no photo, 1 too small)."
    assert lines[1].endswith("of no camera.")
    assert lines[2].startswith("Took ")
    assert f"samecam evaluate '{case}' --truth TRUTH.csv" in out
    assert "Extracting: 5/5" in error
    assert "Measuring" not in error
    assert "40×40" not in error, "what is too small will not be compared"


def test_a_folder_without_photos_names_all_formats_that_are_read(tmp_path):
    write(tmp_path / "photos" / "notes.txt", b"hello")
    code, _, error = run("cluster", tmp_path / "photos", "-o", tmp_path / "c")
    assert code == 1
    assert f"a photo samecam reads ({READ})" in error
    assert {"HEIC", "raw"} <= set(READ.split(", "))


def test_one_file_is_one_file(tmp_path):
    write(tmp_path / "photos" / "1.jpg", encode(scene(1, 90, 90)))
    words = ("extract", tmp_path / "photos", "-o", tmp_path / "c", "--workers", 1)
    code, out, error = run(*words)
    assert code == 0
    assert out.startswith("1 file: 1 good.\n")
    assert error.startswith("1 file, ")
    assert " with 1 worker and " in error
    code, out, _ = run("cluster", tmp_path / "photos", "-o", tmp_path / "c", "--no-report")
    assert "1 photo of no camera" in out


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no /proc")
@pytest.mark.parametrize("words", [("--dry-run",), (), ("--quiet",)])
def test_where_nothing_can_be_written_that_is_said(photos, words):
    code, out, error = run("extract", photos, "-o", "/proc/x", *words)
    assert (code, out) == (1, "")
    assert "free disk" not in error
    assert "/proc/x" in error
    assert "cannot be written" in error or "Nothing can be written" in error


@pytest.mark.parametrize("command", ["match", "add"])
def test_the_case_comes_first(photos, tmp_path, command):
    case = tmp_path / "a case"
    assert run("extract", photos, "-o", case, "-q")[0] == 0
    code, _, error = run(command, photos / "1.jpg", case)
    assert code == 2
    last = error.splitlines()[-1]
    assert last.startswith("Error: The first argument must be the case folder; ")
    assert "1.jpg' is no folder." in last
    assert last.endswith(f"Did you mean: samecam {command} '{case}' {photos / '1.jpg'}")
    code, _, error = run(command, photos, case)
    assert code == 2
    assert "is a folder without a case. Did you mean: " in error
    if command == "add":  # two photos are compared with each other by match
        code, _, error = run(command, photos / "1.jpg", photos / "2.jpg")
        assert code == 2
        assert "case.json" not in error
        assert error.endswith("1.jpg' is no folder.\n")
    code, _, error = run(command, photos, photos / "2.jpg")
    assert code == 1
    assert "is no case folder: it has no case.json" in error


def test_completion_of_the_shell():
    """As docs/formats.md tells: the script, and what it asks for."""
    environment = {**os.environ, "_SAMECAM_COMPLETE": "bash_source"}
    started = [sys.executable, "-c", "from samecam.cli import main; main()"]
    script = subprocess.run(started, env=environment, capture_output=True, text=True, check=True)
    assert "_SAMECAM_COMPLETE=bash_complete" in script.stdout
    assert "complete -o nosort -F" in script.stdout
    for typed, wanted in (("samecam clu", "cluster"), ("samecam cluster --met", "--method")):
        environment |= {
            "_SAMECAM_COMPLETE": "bash_complete",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(len(typed.split()) - 1),
        }
        offered = subprocess.run(
            started, env=environment, capture_output=True, text=True, check=True
        )
        assert f"plain,{wanted}" in offered.stdout.split()
