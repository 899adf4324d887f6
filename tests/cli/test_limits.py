"""Limits of a process that are too small for the work: one sentence, or the right answer."""

import resource
import shutil
import subprocess
import sys

import pytest

from tests.case.conftest import write
from tests.photos.pictures import encode, scene
from tests.processes import PATIENCE, end, run, run_apart, start


@pytest.fixture
def photos(tmp_path):
    for k in range(3):
        write(tmp_path / "photos" / f"{k}.jpg", encode(scene(k, 90, 90)))
    return tmp_path / "photos"


def limited(*words, **limits):
    """Run a command whose process may have so much: exit code, output, errors."""

    def limit():
        for name, amount in limits.items():
            number = getattr(resource, f"RLIMIT_{name}")
            resource.setrlimit(number, (amount, resource.getrlimit(number)[1]))

    code, out, error = run_apart(*words, preexec_fn=limit)
    assert "Traceback" not in error
    return code, out, error


@pytest.mark.parametrize("space", [2**27, 3 * 2**28])
@pytest.mark.parametrize("command", ["doctor", "extract", "cluster"])
def test_too_little_address_space_is_one_sentence(photos, tmp_path, command, space):
    more = () if command == "doctor" else (photos, "-o", tmp_path / "case")
    code, out, error = limited(command, *more, AS=space)
    assert (code, out) == (1, "")
    assert error.count("\n") == 1
    assert "ulimit -v" in error
    assert not (tmp_path / "case").exists()


def test_too_few_open_files_are_a_sentence(photos, tmp_path):
    words = ("extract", photos, "-o", tmp_path / "case")
    code, _, error = limited(*words, NOFILE=16)
    assert code == 1
    assert "ulimit" in error.splitlines()[-1]


def test_what_a_process_was_not_given_is_a_sentence(monkeypatch):
    from samecam import compute

    for error in (
        MemoryError(),
        RuntimeError("can't start new thread"),
        ImportError("x.so: failed to map segment from shared object"),
        OSError(24, "Too many open files"),
    ):
        monkeypatch.setattr(compute, "machine", raising(error))
        code, out, said = run("doctor")
        assert (code, out, said.count("\n")) == (1, "", 1)
        assert "raise" in said


def raising(error):
    def fail(*_):
        raise error

    return fail


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare")
def test_no_room_in_shared_memory_is_a_sentence(photos, tmp_path):
    """A pool shares locks with its processes, which lie in /dev/shm."""
    mount = "mount -t tmpfs -o size=4k,ro tmpfs /dev/shm"
    if subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    words = [sys.executable, "-m", "samecam", "extract", photos, "-o", tmp_path / "case"]
    typed = " ".join(f"'{word}'" for word in words)
    process = start(["unshare", "-m", "sh", "-c", f"{mount} && {typed}"], stdout=-1, stderr=-1)
    try:
        error = process.communicate(timeout=PATIENCE)[1].decode()
    finally:
        end(process)
    assert process.returncode == 1
    assert "Traceback" not in error
    assert "/dev/shm" in error.splitlines()[-1]
