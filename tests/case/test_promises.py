"""Nothing is sent, no pickle is loaded, photos stay as they are, paths stay inside."""

import ast
import csv
import functools
import hashlib
import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import samecam
from tests.photos.pictures import encode, scene
from tests.processes import run, run_apart

SOURCE = Path(samecam.__file__).parent
# Modules that speak to other machines, or run what a file says.
FORBIDDEN = {
    *("asyncio", "ftplib", "http", "imaplib", "poplib", "requests", "smtplib", "socket"),
    *("socketserver", "ssl", "telnetlib", "urllib", "webbrowser", "xmlrpc"),
    *("cloudpickle", "dill", "joblib", "marshal", "pickle", "shelve"),
}
TELLTALE = """
import os, sys

def watch(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "urllib.Request"):
        tell(event, arguments)
    elif event in ("socket.connect", "socket.bind"):
        if not isinstance(arguments[1], (str, bytes)):  # those are names of local pipes
            tell(event, arguments)

def tell(event, arguments):
    with open({told!r}, "a") as stream:
        stream.write(f"{{event}} {{arguments[1:]}}\\n")

sys.addaudithook(watch)
"""
# Several commands in one process; it says the exit code of each.
IN_TURN = """
import json, sys
from samecam.cli import main

for words in json.loads(sys.argv.pop()):
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as end:
        print("exit", end.code, file=sys.stderr)
"""


@functools.cache
def modules():
    return [(p, ast.parse(p.read_text(encoding="utf-8"))) for p in sorted(SOURCE.rglob("*.py"))]


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_no_module_imports_what_speaks_to_other_machines_or_loads_pickles():
    places = ((str(p.relative_to(SOURCE)), tree) for p, tree in modules())
    imports = {(place, name) for place, tree in places for name in imported(tree)}
    assert len(imports) > 100
    imports = {pair for pair in imports if pair[1] != "urllib.parse"}  # it quotes names, no more
    # Asks the scheduler that was named, and nobody else.
    imports.remove(("compute/_dask_connect.py", "asyncio"))
    # The review listens on this machine alone (tests/review/test_security.py) and opens a browser.
    imports.remove(("review/_run.py", "socket"))
    imports -= {(f"review/{name}.py", "asyncio") for name in ("_server", "_pictures")}
    imports.remove(("cli/_review.py", "webbrowser"))
    assert not [pair for pair in imports if pair[1].split(".")[0] in FORBIDDEN]


def test_the_review_listens_on_this_machine_alone():
    (tree,) = (tree for path, tree in modules() if path == SOURCE / "review" / "_run.py")
    binds = [
        ast.unparse(node.args[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".bind")
    ]
    hosts = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "HOST"
    ]
    assert (binds, hosts) == (["(HOST, port)"], ["127.0.0.1"])


def test_every_numpy_file_is_loaded_without_pickles():
    loads = 0
    for path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("np.load", "numpy.load"):
                given = {k.arg: ast.unparse(k.value) for k in node.keywords}
                assert given.get("allow_pickle", "False") == "False", path
                loads += 1
            assert not (isinstance(node, ast.Name) and node.id in ("eval", "exec")), path
    assert loads >= 1


class Bomb:
    def __init__(self, file):
        self._file = file

    def __reduce__(self):
        return (open, (str(self._file), "w"))


@pytest.mark.parametrize("kind", ["object array", "bare pickle"])
def test_a_file_of_fingerprints_that_is_a_pickle_is_refused_and_not_run(tmp_path, kind):
    file, mark = tmp_path / "evil.npy", tmp_path / "it ran"
    if kind == "object array":
        np.save(file, np.array([Bomb(mark)], dtype=object), allow_pickle=True)
    else:
        file.write_bytes(pickle.dumps(Bomb(mark)))
    code, _, error = run("cluster", "--fingerprints", file, "-o", tmp_path / "case")
    assert code == 1
    assert "Traceback" not in error
    assert not mark.exists()


def test_nothing_is_sent_anywhere(tmp_path):
    photos, case, told = tmp_path / "photos", tmp_path / "case", tmp_path / "told"
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(TELLTALE.format(told=str(told)))
    photos.mkdir()
    for k in range(4):
        (photos / f"{k}.png").write_bytes(encode(scene(k, 80, 90), "PNG"))
    commands = (
        ("cluster", photos, "-o", case),
        *(("export", case, "--format", kind) for kind in ("csv", "json", "vics", "case")),
        ("doctor",),
    )
    words = json.dumps([[str(word) for word in words] for words in commands])
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(hook), *sys.path))),
    }
    script = [sys.executable, "-c", IN_TURN, words]
    done = subprocess.run(script, env=environment, capture_output=True, text=True)
    assert done.stderr.count("exit 0\n") == len(commands), done.stderr
    assert not told.exists(), told.read_text()
    run_apart("--version", module_path=_caller(tmp_path, hook))
    assert "socket.connect" in told.read_text(), "the telltale must be able to tell"


def _caller(tmp_path, hook):
    """The same telltale, in a process that does try to speak."""
    folder = tmp_path / "caller"
    folder.mkdir()
    tries = (
        "\nimport socket\ns = socket.socket()\ns.settimeout(0.1)\n"
        "try:\n    s.connect(('127.0.0.1', 9))\nexcept OSError:\n    pass\n"
    )
    (folder / "sitecustomize.py").write_text((hook / "sitecustomize.py").read_text() + tries)
    return folder


def everything(folder, but):
    """Hash and time of each file below a folder, without those below another."""
    states = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and but not in path.parents:
            status = path.stat()
            states[path] = (hashlib.sha256(path.read_bytes()).hexdigest(), status.st_mtime_ns)
    return states


def test_paths_stay_inside_whatever_the_arguments_are(tmp_path, monkeypatch):
    world = tmp_path / "world"
    for name in ("a/one.jpg", "b/two.jpg", "b/deep/three.jpg", "c/four.jpg"):
        path = world / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode(scene(len(name) + ord(name[0]), 80, 90)))
    (world / "a" / "out").symlink_to(world / "c")  # a link to a folder elsewhere
    (world / "a" / "up.jpg").symlink_to("../b/two.jpg")
    (world / "a" / "loop").symlink_to("..")
    (world / "list.txt").write_text(f"../b/two.jpg\n{world / 'c' / 'four.jpg'}\n../b/../c\n")
    case = tmp_path / "case"
    before = everything(world, but=case)
    monkeypatch.chdir(world / "a")
    arguments = ("../b", world / "a", "../b/../c/*.jpg", "@../list.txt", "./../b/deep/../deep")
    code, _, error = run("cluster", *arguments, "-o", case)
    assert code == 3, error  # the list is found, too, and no photo
    with open(case / "images.csv", encoding="utf-8", newline="") as stream:
        paths = [row["path"] for row in csv.DictReader(stream)]
    assert len(paths) >= 8
    for path in paths:
        assert not path.startswith("/")
        assert not {"..", ".", ""} & set(path.split("/")), path
    assert everything(world, but=case) == before, "photos and all beside them are as they were"
    outside = [p for p in tmp_path.iterdir() if p not in (world, case)]
    assert outside == []


@pytest.mark.parametrize("column", ["shard", "frame"])
@pytest.mark.parametrize("place", ["../../outside", "/etc/passwd", "../80x90"])
def test_a_row_of_the_catalogue_cannot_point_outside(tmp_path, column, place):
    import sqlite3

    from samecam.case import open_store

    photos, case = tmp_path / "photos", tmp_path / "case"
    photos.mkdir()
    (photos / "a.jpg").write_bytes(encode(scene(1, 80, 90)))
    assert run("extract", photos, "-o", case)[0] == 0
    with sqlite3.connect(case / "fingerprints" / "catalogue.sqlite") as catalogue:
        catalogue.execute(f"UPDATE records SET {column} = ?", (place,))
    catalogue.close()
    opened = []
    real = os.open
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            os, "open", lambda p, *a, **k: opened.append(os.fspath(p)) or real(p, *a, **k)
        )
        with pytest.raises(Exception), open_store(case) as store:  # noqa: B017, PT011
            store.rows().read()
    inside = str(case.resolve())
    assert not [p for p in opened if not os.path.realpath(p).startswith(inside)]


LINKED = (
    *("lock", "log.jsonl", "case.json", "images.csv", "fingerprints", "fingerprints/shards"),
    *("fingerprints/catalogue.sqlite", "fingerprints/shards/80x90"),
    "fingerprints/shards/80x90/00000.i8",
)


@pytest.mark.parametrize("name", LINKED)
def test_a_link_planted_in_a_case_is_refused(tmp_path, name):
    photos, case, outside = tmp_path / "photos", tmp_path / "case", tmp_path / "outside"
    photos.mkdir()
    (photos / "a.jpg").write_bytes(encode(scene(1, 80, 90)))
    assert run("extract", photos, "-o", case)[0] == 0
    shutil.move(case / name, outside)
    (case / name).symlink_to(outside)
    before = everything(outside.parent, but=case)
    (photos / "b.jpg").write_bytes(encode(scene(2, 80, 90)))
    code, _, error = run("extract", photos, "-o", case)
    assert code == 1
    assert "is a link" in error
    (photos / "b.jpg").unlink()
    assert everything(outside.parent, but=case) == before
