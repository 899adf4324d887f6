"""Nothing that is printed acts on the terminal, whatever files and cameras are called."""

import ast
import errno
import io
import json
import os
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import samecam.cli
from samecam.cli import cli, main
from samecam.cli._output import print_json, say, show, tell
from samecam.cli._progress import Phases
from samecam.cli._text import counted, printable
from samecam.errors import SamecamError
from tests.case.conftest import write
from tests.case.studied import compare_here
from tests.cli.test_evaluate import write_case, write_truth
from tests.cli.typed import typed
from tests.photos.pictures import encode, scene

EVIL = "\x1b]0;owned\x07\x1b[2J\r\b\x7f\x9b31m\u202e\u2066\u2028\u2029\u200f\ufeff\udc9b\n\t"
# What a name may hold on the command line: anything but NUL, and surrogates only for odd bytes.
TEXT = st.text(
    st.one_of(
        st.sampled_from(EVIL),
        st.characters(exclude_characters="\0", exclude_categories=["Cs"]),
    ),
    max_size=20,
)
NAME = TEXT.filter(lambda name: name not in ("", ".", "..") and "/" not in name)


def is_harmless(text):
    """Printable but for line breaks, and every character has bytes."""
    text.encode()
    return all(c == "\n" or c.isprintable() for c in text)


def printed(function, *arguments, **options):
    out, error = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(error):
        function(*arguments, **options)
    return out.getvalue(), error.getvalue()


def calls(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)
        elif isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr"):
            yield ast.unparse(node)


def test_everything_printed_goes_through_one_function():
    printing = ("echo", "secho", "print", "pprint", "write", "Console", "show", "stdout", "stderr")
    seen = set()
    for file in sorted(Path(samecam.cli.__file__).parent.glob("*.py")):
        tree = ast.parse(file.read_text())
        names = {name for name in calls(tree) if name.split(".")[-1] in printing}
        seen |= {(file.name, name) for name in names if name != "show"}
    assert seen == {
        ("_output.py", "click.echo"),
        ("_progress.py", "Console"),
        ("_progress.py", "sys.stderr"),  # is it a terminal?
        ("__init__.py", "sys.stderr"),  # closed, where nobody reads on
        ("_failures.py", "stream.write"),  # to a file, for us
    }


@given(st.text())
def test_one_line_stays_one_line(text):
    for function, stream in ((show, 0), (tell, 1)):
        shown = printed(function, f"a {text} b")[stream]
        assert is_harmless(shown)
        assert shown.count("\n") == 1
    shown = printed(say, [text, text], quiet=False)[0]
    assert is_harmless(shown)
    assert shown.count("\n") == 2


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_is_ascii_and_the_same_again(value):
    shown = printed(print_json, value)[0]
    assert is_harmless(shown)
    assert shown.isascii()
    assert json.loads(shown) == value


@given(st.text(min_size=1))
def test_progress(label):
    with mock.patch("samecam.cli._progress._LINE_SECONDS", 0):
        out, error = printed(_work, label)
    assert out == ""
    assert is_harmless(error)


def _work(label):
    with Phases(quiet=False) as phases:
        phases(label, 1, 2)
        phases.note(label)
        phases(label, 2, 2)


@pytest.mark.parametrize("name", sorted(cli.commands))
@given(first=TEXT, second=TEXT)
def test_arguments_of_every_command(name, first, second):
    """Whatever is wrong with them."""
    words = {
        "cluster": ("--method", first, second),
        "extract": (f"/no/{first}", "-o", f"/no/{second}"),
        "compare": (f"/no/{first}", "--methods", second),
        "export": (f"/no/{first}", "--format", second),
        "simulate": ("-o", f"/no/{first}", "--size", second),
        "experiment": (f"no {first}", "--results", f"/no/{second}"),
        "doctor": (first or "x", second),
    }.get(name, (f"/no/{first}", f"/no/{second}", f"--{second}"))
    code, out, error = typed(name, *words)
    assert code in (1, 2)
    assert "Traceback" not in error
    assert is_harmless(out)
    assert is_harmless(error)


@given(TEXT)
def test_commands_and_options_that_are_none(word):
    for words in ((f"x{word}",), (f"--{word}x",), ("cluster", f"--{word}x"), ("-" + word,)):
        code, out, error = typed(*words)
        assert code in (0, 2)
        assert is_harmless(out)
        assert is_harmless(error)


@given(paths=st.lists(NAME, min_size=1, max_size=3, unique=True), camera=TEXT.filter(str.strip))
def test_evaluate(tmp_path_factory, paths, camera):
    folder = tmp_path_factory.mktemp("evaluate")
    case = write_case(folder / "case", dict.fromkeys((f"a/{path}" for path in paths), 0))
    truth = write_truth(folder / "t.csv", {f"b/{path}": camera for path in paths})
    code, out, error = typed("evaluate", case, "--truth", truth)
    assert is_harmless(out)
    assert is_harmless(error)
    assert code in (0, 1)


def test_a_bug_is_a_sentence_and_a_file_to_send(monkeypatch, tmp_path):
    def fail(**_):
        raise RuntimeError(EVIL)

    monkeypatch.setattr(cli.commands["doctor"], "callback", fail)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code, _, error = typed("doctor")
    assert code == 70
    assert error.count("\n") == 1
    assert "nobody foresaw (RuntimeError: " in error
    assert is_harmless(error)
    (written,) = tmp_path.iterdir()
    assert repr(str(written)) in error
    assert "Traceback (most recent call last):\n" in written.read_text()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    code, _, error = typed("doctor")
    assert code == 70
    assert "please send this line" in error


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (OSError(errno.EIO, "Input/output error", "a\nb"), "'a\\nb': Input/output error."),
        (OSError(errno.EIO, "Input/output error"), "The system says: Input/output error."),
        (OSError(errno.ENFILE, "x"), "This process may not open as many files as it needs: "),
        (MemoryError(), "This process gets too little memory, or too few threads: "),
    ],
)
def test_what_the_system_refuses_is_a_sentence(monkeypatch, raised, told):
    def fail(**_):
        raise raised

    monkeypatch.setattr(cli.commands["doctor"], "callback", fail)
    code, _, error = typed("doctor")
    assert (code, error.count("\n")) == (1, 1)
    assert error.startswith(f"Error: {told}")


def test_warnings_and_errors(monkeypatch):
    def warn(**_):
        warnings.showwarning(UserWarning(EVIL), UserWarning, "x.py", 1)
        raise SamecamError(EVIL)

    monkeypatch.setattr(cli.commands["doctor"], "callback", warn)
    code, _, error = typed("doctor")
    assert code == 1
    assert error == f"Warning: {printable(EVIL)}\nError: {printable(EVIL)}\n"
    assert is_harmless(error)


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    """A folder of photos with evil names and cameras, and one for cases."""
    root = tmp_path_factory.mktemp("evil")
    exif = Image.Exif()
    exif[0x010F] = exif[0x0110] = exif[0x0131] = EVIL.replace("\udc9b", "")
    for k, name in enumerate(("\x1b[31m\r", "\u202e\u2066\n", os.fsdecode(b"\x9b\xff"), "\x07")):
        write(root / "photos" / f"{name}{k}.jpg", encode(scene(k, 90, 80), exif=exif))
    write(root / "photos" / "\x1b[2Jno.jpg", b"no photo")
    write(root / "photos" / "\x1b[2Jagain.jpg", b"no photo")
    write(root / "more" / "\u2028\x1b[0m.jpg", encode(scene(9, 90, 80), exif=exif))
    return root


def test_every_command_on_a_case_of_evil_names(evil, monkeypatch):
    compare_here(monkeypatch)
    case, photos = evil / "case \x1b[31m\x07", evil / "photos"
    truth = evil / "t\r.csv"
    write_truth(truth, dict.fromkeys(os.listdir(photos), "\x1bcamera"))
    written = evil / "\x1b.csv"
    for words, codes in (
        (("extract", photos, "-o", evil / "\x07other", "--dry-run"), (0,)),
        (("cluster", photos, "-o", case), (3,)),
        (("cluster", photos, "-o", case), (3,)),
        (("add", case, evil / "more"), (3, 0)),
        (("match", case, evil / "more", photos), (1,)),  # it has no group
        (("match", "--reference", photos, "--size", 64, evil / "more", photos), (3,)),
        (("verify", case), (0, 4)),
        (("report", case, "--no-thumbnails"), (0,)),
        (("export", case, "--format", "csv", "-o", written), (0,)),
        (("evaluate", case, "--truth", truth), (0,)),
        (("compare", case, "--methods", "average-linkage", "--truth", truth), (0,)),
        (("tune", case, "--truth", truth), (1,)),
    ):
        code, out, error = typed(*words)
        assert code in codes, (words, out, error)
        assert is_harmless(out), words
        assert is_harmless(error), words
        assert "Traceback" not in error
        assert out or error


def test_help_when_nothing_is_typed():
    code, out, error = typed()
    assert code == 2
    assert out == ""
    assert error.splitlines()[0] == "Usage: samecam [OPTIONS] COMMAND [ARGS]..."
    assert "Commands:" in error


def test_wrong_usage_names_the_command_and_where_help_is():
    code, _, error = typed("export", "x")
    assert code == 2
    assert error.splitlines() == [
        "Usage: samecam export [OPTIONS] CASE",
        "Try 'samecam export --help' for help.",
        "",
        "Error: Missing option '--format'. Choose from: csv, json, vics, case",
    ]


def test_interrupted(monkeypatch):
    def interrupt(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.commands["doctor"], "callback", interrupt)
    assert typed("doctor") == (130, "", "\nInterrupted.\n")


def test_one_is_one():
    assert (counted(1, "file"), counted(0, "file"), counted(2, "file")) == (
        *("1 file", "0 files", "2 files"),
    )


def test_the_entry_point_is_main():
    assert samecam.cli.main is main
